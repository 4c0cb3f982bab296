"""Dedupe keys of a commit, shared by all sources."""

from __future__ import annotations

from contextkit.models import ContextItem


def dedup_keys(item: ContextItem) -> list[str]:
    """Return `sha:…`, and `file:…` for a one-file commit."""
    keys = [f"sha:{item.metadata.get('sha') or item.id}"]
    files = item.metadata.get("files_changed") or []
    # A commit from a host's own searcher has no count beside its list.
    if len(files) == 1 and (item.metadata.get("file_count") or 1) == 1:
        keys.append(f"file:{files[0]}")
    return keys
