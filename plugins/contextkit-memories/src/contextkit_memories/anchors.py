"""What a memory mentions of its workspace, as its record has it.

Only what exists when the memory is written becomes an anchor. So names of other projects, plans
and plain prose are never reported as gone.

An anchor is a tuple of texts:

| anchor | meaning |
|---|---|
| `("path", text, path, …)` | a file or folder as written, and where it is in the workspace |
| `("name", text, path, …)` | a name that code uses, and some of the files |
| `("word", text, path, …)` | a plain word that code defines, and some of the files |
| `("commit", text, sha, seconds)` | a commit as written, its full sha and its time |
"""

from __future__ import annotations

from contextkit.sources import InvalidEntryError
from contextkit_memories.occurrences import DEFINED, USED

Anchor = tuple[str, ...]

MAX_ANCHORS = 30
WITNESSES = 4
"""The most files that an anchor has."""

NEEDED = {"name": USED, "word": DEFINED}
"""How a file must contain a name of each kind."""

_KINDS = frozenset({"path", "commit", *NEEDED})
_MAX_PART = 1000
_PARTS_OF_COMMIT = 4


def stored_anchors(value: object) -> tuple[Anchor, ...]:
    """Check anchors, which may come from an imported record."""
    if not isinstance(value, (list, tuple)) or len(value) > MAX_ANCHORS:
        raise InvalidEntryError(f"anchors must be a list of at most {MAX_ANCHORS}")
    return tuple(map(_checked, value))


def _checked(anchor: object) -> Anchor:
    if (
        isinstance(anchor, (list, tuple))
        and 3 <= len(anchor) <= 2 + WITNESSES
        and all(isinstance(part, str) and 0 < len(part) <= _MAX_PART for part in anchor)
        and anchor[0] in _KINDS
        and (anchor[0] != "commit" or len(anchor) == _PARTS_OF_COMMIT)
    ):
        return tuple(anchor)
    raise InvalidEntryError(f"an anchor is a list such as ['path', 'a.py', 'a.py'], got {anchor!r}")


def is_whole_path(anchor: Anchor) -> bool:
    """Whether it names one place in the workspace, not a file's name or last folders."""
    return anchor[0] == "path" and anchor[1].rstrip("/") == anchor[2]
