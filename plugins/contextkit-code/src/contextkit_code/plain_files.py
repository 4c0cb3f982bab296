"""List a folder's files without git, applying its .gitignore files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from contextkit.indexing import Folder, compile_globs, is_environment

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


_MAX_IGNORE_BYTES = 1_000_000
MAX_RULES = 2000
"""Most rules of a .gitignore or .gitattributes file.

Each is matched against each path below its folder.
"""

_Rules = tuple[tuple[str, "GitIgnoreSpec"], ...]


def plain_files(
    root: Folder, enters: Callable[[str], bool], unreadable: Callable[[str, str], None]
) -> Iterator[str]:
    """Yield the files below a folder in a stable order.

    Paths are relative to the folder. Links are not followed.

    Args:
        root: the folder.
        enters: called with each folder's path, ending in `/`; returns whether to walk it.
        unreadable: called with the path of each unreadable folder and the reason.
    """
    pending: list[tuple[str, _Rules]] = [("", ())]
    while pending:
        folder, rules = pending.pop()
        try:
            found = root.entries(folder)
        except (OSError, ValueError) as error:
            unreadable(folder or "./", getattr(error, "strerror", None) or str(error))
            continue
        names = {name for name, _ in found}
        if folder and is_environment(names):
            continue
        if ".gitignore" in names:
            rules = (*rules, (folder, _ignore_rules(root, f"{folder}.gitignore")))
        folders = []
        for name, is_folder in found:
            # In a linked work tree or a submodule, `.git` is a file.
            if name == ".git":
                continue
            path = f"{folder}{name}"
            if is_folder:
                inner = f"{path}/"
                if not _ignored(inner, rules) and enters(inner):
                    folders.append((inner, rules))
            elif not _ignored(path, rules):
                yield path
        pending.extend(reversed(folders))


def _ignore_rules(root: Folder, path: str) -> GitIgnoreSpec:
    """Read the rules of one file.

    As in git, a link has none; neither has an immense file.
    """
    try:
        content, _ = root.read(path, _MAX_IGNORE_BYTES)
    except (OSError, ValueError):
        content = b""
    lines = content.decode("utf-8", "replace").splitlines()
    return compile_globs([*islice(filter(_is_rule, lines), MAX_RULES)])


def _is_rule(line: str) -> bool:
    """Return whether git understands the line; others are skipped."""
    try:
        compile_globs([line])
    except ValueError:
        return False
    return True


def _ignored(path: str, rules: _Rules) -> bool:
    """Apply the innermost .gitignore that matches."""
    for folder, spec in reversed(rules):
        verdict = spec.check_file(path[len(folder) :]).include
        if verdict is not None:
            return verdict
    return False
