"""When each source's records were last brought up to date with the workspace."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from contextkit.health.finding import Finding, fine, warning
from contextkit.index_run import state_folder
from contextkit.registry import SourceRegistry
from contextkit.store.base import RecordStore

__all__ = ["index_findings"]

PART = "index"
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def index_findings(
    registry: SourceRegistry, store: RecordStore | None, project: str
) -> Iterator[Finding]:
    """One finding for each source that has something to index.

    Args:
        registry: the plugins.
        store: the store, or None where there is none.
        project: the project whose records are meant.
    """
    folder = state_folder(store, project) if store is not None else None
    for name in registry.sources:
        if not registry.implements(name, "contextkit_index"):
            continue
        at = _last(folder / f"{name}.json") if folder is not None else None
        if at is None:
            text = f"{name}: this project was not indexed yet"
            yield warning(PART, text, "`contextkit index`; `contextkit assemble` does it as well")
        else:
            yield fine(PART, f"{name}: something new was last indexed {_ago(time.time() - at)}")


def _last(state: Path) -> float | None:
    try:
        return state.stat().st_mtime
    except OSError:
        return None


def _ago(seconds: float) -> str:
    for length, unit in _UNITS:
        count = int(seconds // length)
        if count >= 1:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "less than a minute ago"
