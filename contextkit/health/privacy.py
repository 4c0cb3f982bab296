"""Whether other users can read what is stored."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from contextkit.health.finding import Finding, warning
from contextkit.private_files import is_wide

__all__ = ["privacy_findings"]

PART = "store"


def privacy_findings(folder: Path, own: Collection[str]) -> Iterator[Finding]:
    """A warning where others have rights to a folder that could not be narrowed.

    Args:
        folder: the folder; it need not be there.
        own: what we call the files and folders in it.
    """
    if not hasattr(os, "geteuid") or not folder.exists():
        return
    owner = folder.stat().st_uid
    if owner != os.geteuid():
        yield warning(
            PART,
            f"{folder} belongs to the user {owner}, who can read what you store there",
            "set store.path or CONTEXTKIT_HOME to a folder of your own",
        )
    elif is_wide(folder):
        wide = sum(1 for name in own for _ in _open_to_others(folder / name))
        if wide:
            yield warning(
                PART,
                f"other users have rights to {wide:,} files and folders in {folder}",
                f"`chmod -R go= {folder}` where nobody else needs them",
            )


def _open_to_others(path: Path) -> Iterator[Path]:
    """What others have rights to and come to: what is in a private folder is private."""
    if is_wide(path):
        yield path
        for each in path.iterdir() if path.is_dir() else ():
            yield from _open_to_others(each)
