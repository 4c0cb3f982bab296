"""Find the commit that removed a file or a name, and what it became."""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import frozen

from contextkit.indexing import Git
from contextkit_memories.anchoring import Tree
from contextkit_memories.anchors import Anchor

_SECONDS = 5.0
_MAX_DIFF = 2_000_000
_CANDIDATES = 3
_WORD = re.compile(r"[\w-]+")


@frozen
class Change:
    """The end of a file or a name.

    Attributes:
        commit: the abbreviated sha of the commit that removed it; None if not committed.
        date: that commit's day.
        now: what it may be called since.
    """

    commit: str | None = None
    date: str | None = None
    now: str | None = None


def change_of_path(anchor: Anchor, tree: Tree) -> Change | None:
    """Find the commit that removed a file or folder, and where it went.

    Raises `GitError`.
    """
    _, text, path, *_ = anchor
    git = Git(tree.root, timeout=_SECONDS)
    removed = ("--diff-filter=D", "--no-renames", "--", path)
    found = _newest(git, *removed)
    if found is None:
        return None
    commit, date = found
    options = ("--format=", "-M", "--diff-filter=R", "--name-status", "-z", "--relative")
    listed = os.fsdecode(git.run("show", *options, commit).output).strip("\n").split("\0")
    renames = dict(zip(listed[1::3], listed[2::3], strict=False))
    new = _new_path(path, renames, tree)
    return Change(commit, date, f"{new}/" if new and text.endswith("/") else new)


def _new_path(path: str, renames: dict[str, str], tree: Tree) -> str | None:
    """Return the new path of a file, or of most of a folder's files."""
    moved = Counter(
        new.removesuffix(old.removeprefix(path))
        for old, new in renames.items()
        if old == path or (old.startswith(f"{path}/") and new.endswith(old.removeprefix(path)))
    )
    return next((new for new, _ in moved.most_common(_CANDIDATES) if tree.exists(new)), None)


def change_of_name(anchor: Anchor, tree: Tree) -> Change | None:
    """Find the commit that removed a name, and the name that took its place.

    Raises `GitError`.
    """
    kind, name, *paths = anchor
    git = Git(tree.root, timeout=_SECONDS)
    # Where its files still are, their history is shorter than that of the whole workspace.
    where = paths if all(map(tree.exists, paths)) else ["."]
    found = _newest(git, f"-S{name}", "--", *where)
    if found is None:
        return None
    commit, date = found
    votes = _replacements(_hunks(git, commit), name)
    candidates = [each for each, _ in votes.most_common(_CANDIDATES)]
    files = tree.files_with(candidates)
    now = next((each for each in candidates if tree.witnesses(kind, each, files[each])), None)
    return Change(commit, date, now)


def _newest(git: Git, *arguments: str) -> tuple[str, str] | None:
    """Return the newest commit that fits, with its day."""
    said = git.run("log", "-1", "--format=%h %cs", "--no-color", *arguments).text.split()
    return (said[0], said[1]) if len(said) == 2 else None


def _hunks(git: Git, commit: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the removed and the added lines of each change in a commit."""
    options = ("--format=", "-U0", "-M", "--no-color", "--no-prefix")
    output = b"".join(_first(git.stream("show", *options, commit), _MAX_DIFF))
    lines = output.decode("utf-8", "replace").split("\n")
    for is_change, group in itertools.groupby(lines, key=lambda line: line[:1] in ("-", "+")):
        if is_change:
            changed = list(group)
            yield (
                [line[1:] for line in changed if line[0] == "-"],
                [line[1:] for line in changed if line[0] == "+"],
            )


def _first(chunks: Iterator[bytes], most: int) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        yield chunk
        size += len(chunk)
        if size > most:
            return


def _replacements(hunks: Iterator[tuple[list[str], list[str]]], name: str) -> Counter[str]:
    """Count the words that stand in added lines where a name stood in removed ones."""
    votes: Counter[str] = Counter()
    for removed, added in hunks:
        words = [_WORD.findall(line) for line in added]
        for line in removed:
            old = _WORD.findall(line)
            if name in old:
                votes.update(new for each in words for new in _replacing(old, each, name))
    return votes


def _replacing(old: Sequence[str], new: Sequence[str], name: str) -> Iterator[str]:
    """Yield the word in place of a name, where all others are the same."""
    if len(old) != len(new):
        return
    changed = {(a, b) for a, b in zip(old, new, strict=True) if a != b}
    if len(changed) == 1 and (pair := changed.pop())[0] == name:
        yield pair[1]
