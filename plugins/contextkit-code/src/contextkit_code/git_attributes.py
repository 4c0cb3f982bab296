"""Read which files a repository's `.gitattributes` calls generated or vendored.

GitHub hides such files in diffs and leaves them out of its statistics. Only the file at the root is
read, as the repository's own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from contextkit.indexing import Folder, compile_globs

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_REASONS = {
    "linguist-generated": "generated, says .gitattributes",
    "linguist-vendored": "vendored, says .gitattributes",
}
_MOST_BYTES = 100_000
_UNSET = ("=false", "=0")


def marked_by_git(folder: Folder) -> Callable[[str], str | None]:
    """Return a function from a file's path to why `.gitattributes` leaves it out.

    The function returns None for the other files.
    """
    try:
        content, _ = folder.read(".gitattributes", _MOST_BYTES)
    except (OSError, ValueError):
        return _unmarked
    globs: dict[str, list[str]] = {}
    for line in content.decode("utf-8", "replace").splitlines():
        glob, *attributes = line.split()[:20] or ("#",)
        if glob.startswith(("#", "!", '"', "[attr]")):
            continue
        for attribute in attributes:
            name = attribute.lstrip("-!").partition("=")[0]
            if name in _REASONS:
                unset = attribute.startswith(("-", "!")) or attribute.endswith(_UNSET)
                globs.setdefault(name, []).append(f"!{glob}" if unset else glob)
    try:
        specs = [(_REASONS[name], compile_globs(each)) for name, each in globs.items()]
    except ValueError:
        return _unmarked
    return partial(_reason, specs) if specs else _unmarked


def _unmarked(_: str) -> None:
    return None


def _reason(specs: list[tuple[str, GitIgnoreSpec]], path: str) -> str | None:
    return next((reason for reason, spec in specs if spec.match_file(path)), None)
