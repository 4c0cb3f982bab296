"""Which lines of which files a context shows, whatever its format and what it leaves out."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from contextkit import ContextItem

__all__ = ["shown_lines"]


def shown_lines(items: Iterable[ContextItem], folder: Path) -> dict[str, set[int]]:
    """File -> the numbers of its lines that items show.

    An item tells its file and its range of lines. The lines of its text are compared with the
    file's lines in that range, so that headings, fences and elided lines do not count.

    Args:
        items: those of a context; the ones without a file and a range show no lines.
        folder: the work tree.
    """
    shown: dict[str, set[int]] = {}
    for item in items:
        place = _place(item.metadata)
        if place is None:
            continue
        path, first, last = place
        lines = _lines(folder / path)[first - 1 : last]
        found = _found(item.content.splitlines(), lines)
        shown.setdefault(path, set()).update(first + number for number in found)
    return shown


def _place(metadata: Mapping[str, object]) -> tuple[str, int, int] | None:
    path, first, last = (metadata.get(key) for key in ("file_path", "start_line", "end_line"))
    if isinstance(path, str) and isinstance(first, int) and isinstance(last, int):
        return path, first, last
    return None


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8", errors="replace").split("\n") if file.is_file() else []


def _found(text: Sequence[str], lines: Sequence[str]) -> set[int]:
    """The places of a file's lines that a text has; blank ones where both neighbours are shown."""
    bare = [_bare(line) for line in lines]
    wanted = [place for place, line in enumerate(bare) if line]
    matcher = difflib.SequenceMatcher(
        None,
        [each for line in text if (each := _bare(line))],
        [bare[place] for place in wanted],
        autojunk=False,
    )
    found = {
        wanted[block.b + step]
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    }
    for before, after in itertools.pairwise(wanted):
        if {before, after} <= found:
            found.update(range(before, after))
    return found


def _bare(line: str) -> str:
    """A line without indent and without a line number in front of it."""
    stripped = line.strip()
    number, _, rest = stripped.partition(" ")
    return rest.strip() if number.rstrip(":|").isdigit() and rest else stripped
