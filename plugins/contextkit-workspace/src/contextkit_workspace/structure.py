"""A project's folders with their file counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

_MOST_LINES = 40


def folders_of(paths: Sequence[str], depth: int) -> Counter[str]:
    """Count the files of each folder, down to a depth.

    Files in subfolders are included.
    """
    counted: Counter[str] = Counter()
    for path in paths:
        parts = path.split("/")[:-1][:depth]
        for level in range(1, len(parts) + 1):
            counted["/".join(parts[:level])] += 1
    return counted


def structure_text(paths: Sequence[str], depth: int) -> str:
    """Return the folders as a tree of lines.

    If there are too many, those with most files come first.
    """
    folders = folders_of(paths, depth)
    ranked = sorted(folders, key=lambda folder: (folder.count("/"), -folders[folder], folder))
    lines = [
        f"{'  ' * folder.count('/')}{folder.rpartition('/')[2]}/ ({_files(folders[folder])})"
        for folder in sorted(ranked[:_MOST_LINES], key=lambda folder: folder.split("/"))
    ]
    at_root = sum("/" not in path for path in paths)
    lines.insert(0, f"{_files(len(paths))}, {at_root} of them at the root")
    if len(ranked) > _MOST_LINES:
        lines.append(f"... and {len(ranked) - _MOST_LINES} more folders")
    return "\n".join(lines)


def _files(number: int) -> str:
    return f"{number:,} file{'' if number == 1 else 's'}"
