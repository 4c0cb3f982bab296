"""Read which files a repository's `.gitattributes` calls generated or vendored.

GitHub hides such files in diffs and leaves them out of its statistics. Only the file at the root is
read, as the repository's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from contextkit.indexing import Folder, compile_globs
from contextkit_code.plain_files import MAX_RULES

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_REASONS = {
    "linguist-generated": "marked as generated in .gitattributes",
    "linguist-vendored": "marked as vendored in .gitattributes",
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
    for name, glob in islice(_rules(content.decode("utf-8", "replace")), MAX_RULES):
        globs.setdefault(name, []).append(glob)
    try:
        specs = [(_REASONS[name], compile_globs(each)) for name, each in globs.items()]
    except ValueError:
        return _unmarked
    return partial(_reason, specs) if specs else _unmarked


def _rules(text: str) -> Iterator[tuple[str, str]]:
    """Yield the attribute and the glob of each rule that sets or unsets a mark."""
    for line in text.splitlines():
        glob, *attributes = line.split()[:20] or ("#",)
        if glob.startswith(("#", "!", '"', "[attr]")):
            continue
        for attribute in attributes:
            name = attribute.lstrip("-!").partition("=")[0]
            if name in _REASONS:
                unset = attribute.startswith(("-", "!")) or attribute.endswith(_UNSET)
                yield name, f"!{glob}" if unset else glob


def _unmarked(_: str) -> None:
    return None


def _reason(specs: list[tuple[str, GitIgnoreSpec]], path: str) -> str | None:
    return next((reason for reason, spec in specs if spec.match_file(path)), None)
