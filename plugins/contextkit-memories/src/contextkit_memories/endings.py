"""Find the commit that removed a file or a name, and what it is called now."""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from contextkit.indexing import Git, GitError
from contextkit_memories.anchoring import Tree, first_bytes
from contextkit_memories.anchors import NEEDED, Anchor

_SECONDS = 5.0
_CANDIDATES = 3
_WORD = re.compile(r"[\w-]+")


@frozen
class Ending:
    """Something that a memory mentions and that is gone.

    Attributes:
        kind: `path`, `name` or `commit`.
        text: as the memory has it.
        since: the abbreviated sha of the commit that removed it; None if not known.
        date: that commit's day.
        now: what it may be called now; None if not known.
    """

    kind: str
    text: str
    since: str | None = None
    date: str | None = None
    now: str | None = None

    def __str__(self) -> str:
        if self.kind == "commit":
            return f"{self.text} is not in this history"
        since = f" since {self.since} of {self.date}" if self.since else ""
        now = f"; it may be {self.now} now" if self.now else ""
        return f"{self.text} is gone{since}{now}"


def ending_of(anchor: Anchor, tree: Tree) -> Ending:
    """Find the commit that removed a file, folder or name, and what it is called now."""
    kind, text, *paths = anchor
    ending = Ending("name" if kind in NEEDED else kind, text)
    git = Git(tree.root, timeout=_SECONDS)
    try:
        if kind == "commit" or _is_in(evolve(tree, commit="HEAD"), anchor):
            return ending
        # Where a name's files still are, their history is shorter than that of the workspace.
        where = paths if kind == "path" or all(map(tree.exists, paths)) else ["."]
        how = ("--diff-filter=D", "--no-renames") if kind == "path" else (f"-S{text}",)
        said = git.run("log", "-1", "--format=%h %cs", "--no-color", *how, "--", *where)
        if not said.output:
            return ending
        commit, date = said.text.split()
        if kind == "path":
            now = _new_path(text, paths[0], _renames(git, commit), tree)
        else:
            now = _new_name(kind, _replacements(_hunks(git, commit), text), tree)
    except GitError:
        return ending
    return evolve(ending, since=commit, date=date, now=now)


def _is_in(tree: Tree, anchor: Anchor) -> bool:
    kind, text, *paths = anchor
    if kind == "path":
        return any(map(tree.exists, paths))
    return bool(tree.witnesses(kind, text, tree.files_with([text])[text]))


def _renames(git: Git, commit: str) -> dict[str, str]:
    options = ("--format=", "-M", "--diff-filter=R", "--name-status", "-z", "--relative")
    listed = os.fsdecode(git.run("show", *options, commit).output).strip("\n").split("\0")
    return dict(zip(listed[1::3], listed[2::3], strict=False))


def _new_path(text: str, path: str, renames: dict[str, str], tree: Tree) -> str | None:
    """Return the new path of a file, or of most of a folder's files."""
    moved = Counter(
        new.removesuffix(old.removeprefix(path))
        for old, new in renames.items()
        if old == path or (old.startswith(f"{path}/") and new.endswith(old.removeprefix(path)))
    )
    found = next(
        (
            new
            for new, _ in moved.most_common(_CANDIDATES)
            if new.isprintable() and tree.exists(new)
        ),
        None,
    )
    return f"{found}/" if found and text.endswith("/") else found


def _new_name(kind: str, votes: Counter[str], tree: Tree) -> str | None:
    """Return the first of the candidates that the workspace has."""
    candidates = [each for each, _ in votes.most_common(_CANDIDATES)]
    files = tree.files_with(candidates)
    return next((each for each in candidates if tree.witnesses(kind, each, files[each])), None)


def _hunks(git: Git, commit: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the removed and the added lines of each change in a commit."""
    options = ("--format=", "-U0", "-M", "--no-color", "--no-prefix")
    output = first_bytes(git.stream("show", *options, commit))
    lines = output.decode("utf-8", "replace").split("\n")
    for is_change, group in itertools.groupby(lines, key=lambda line: line[:1] in ("-", "+")):
        if is_change:
            changed = list(group)
            yield (
                [line[1:] for line in changed if line[0] == "-"],
                [line[1:] for line in changed if line[0] == "+"],
            )


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
