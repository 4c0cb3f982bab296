"""Open files, as reported by settings or an agent's host."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

from contextkit import Record, Records
from contextkit.errors import StoreError

_ID = "open-files"
_LASTS = timedelta(days=1)


def in_workspace(root: Path, path: str) -> str | None:
    """Return a file's path in the workspace, with `/`.

    None for one that is not below it.
    """
    given = Path(path)
    if given.is_absolute():
        if not given.is_relative_to(root):
            return None
        given = given.relative_to(root)
    parts = PurePosixPath(given.as_posix()).parts
    return "/".join(parts) if parts and ".." not in parts else None


def remember_open(records: Records, paths: Sequence[str]) -> None:
    """Store the open files, replacing the previous ones."""
    if paths:
        records.put([Record(id=_ID, text="\n".join(paths), fields={"files": list(paths)})])
    else:
        records.delete(_ID)


def known_open(records: Records) -> list[str]:
    """Return the last reported files.

    There are none a day later, and none if the store fails.
    """
    try:
        found = records.get(_ID)
    except StoreError:
        return []
    for record in found:
        if datetime.now(UTC) - record.created_at < _LASTS:
            return [str(path) for path in record.fields.get("files", ())]
    return []
