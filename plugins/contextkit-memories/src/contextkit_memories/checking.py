"""Check all memories against the workspace, with the help of its history."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from contextkit.indexing import GitError
from contextkit_memories.anchoring import Tree, anchors_of
from contextkit_memories.anchors import NEEDED, Anchor
from contextkit_memories.book import MemoryBook
from contextkit_memories.memory import Memory
from contextkit_memories.places import exists
from contextkit_memories.renames import Change, change_of_name, change_of_path

_ANCHORING_SECONDS = 60.0
_LONGEST_OFFER = 300


@frozen
class Broken:
    """Something that a memory mentions and that is gone.

    Attributes:
        kind: `path`, `name`, `word` or `commit`.
        text: as the memory has it.
        change: the commit that removed it, and what it may be called now; None if not known.
    """

    kind: str
    text: str
    change: Change | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return its JSON."""
        change = self.change or Change()
        return {
            "kind": "name" if self.kind in NEEDED else self.kind,
            "text": self.text,
            "since": change.commit,
            "date": change.date,
            "now": change.now,
        }

    def __str__(self) -> str:
        if self.kind == "commit":
            return f"{self.text} is not in this history"
        change = self.change or Change()
        since = f" since {change.commit} of {change.date}" if change.commit else ""
        now = f"; it may be {change.now} now" if change.now else ""
        return f"{self.text} is gone{since}{now}"


@frozen
class Outdated:
    """A memory that mentions something that is gone.

    Attributes:
        memory: the memory.
        broken: what is gone, at least one.
    """

    memory: Memory
    broken: Sequence[Broken]

    @property
    def commands(self) -> list[str]:
        """The commands that mend or delete the memory."""
        text = self.memory.text
        for each in self.broken:
            if each.change is not None and each.change.now:
                text = text.replace(each.text, each.change.now)
        forget = f"contextkit memories forget {self.memory.id}"
        if text == self.memory.text or len(text) > _LONGEST_OFFER:
            return [forget]
        return [f"contextkit remember {shlex.quote(text)}", forget]

    @property
    def lines(self) -> list[str]:
        """The memory, what is gone, and the commands."""
        return [
            f"{self.memory.id}  {self.memory.title}",
            *(f"  {each}" for each in self.broken),
            *(f"  $ {command}" for command in self.commands),
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return its JSON."""
        return {
            "memory": self.memory.as_dict(),
            "broken": [each.as_dict() for each in self.broken],
            "commands": self.commands,
        }


@frozen
class Report:
    """The result of a check.

    Attributes:
        checked: how many memories were checked.
        anchored: how many of them were looked up for the first time, at their date.
        left: how many of those were left for the next check.
        outdated: those that mention something that is gone, oldest first.
    """

    checked: int
    anchored: int
    left: int
    outdated: Sequence[Outdated]

    def as_dict(self) -> dict[str, Any]:
        """Return its JSON."""
        counts = {"checked": self.checked, "anchored": self.anchored, "left": self.left}
        return {**counts, "outdated": [each.as_dict() for each in self.outdated]}

    @property
    def text(self) -> str:
        """The report as lines."""
        lines = [line for each in self.outdated for line in each.lines]
        lines.append(f"{len(self.outdated)} of {self.checked} memories are outdated.")
        if self.left:
            lines.append(f"{self.left} older memories are still to be looked up: check again.")
        return "\n".join(lines)


def check(book: MemoryBook, workspace: Path) -> Report:
    """Check the project's memories against its workspace.

    Memories of earlier versions are looked up in the history at their date first, for at most a
    minute. Nothing else is written.
    """
    tree = Tree(workspace)
    own = [Memory.from_record(record) for record in book.records.scopes[0].scan()]
    own.sort(key=lambda memory: (memory.created_at, memory.id))
    known = [memory for memory in own if memory.anchors is not None]
    late = list(_anchored(book, [memory for memory in own if memory.anchors is None], tree))
    memories = sorted([*known, *late], key=lambda memory: (memory.created_at, memory.id))
    asked = dict.fromkeys(anchor for memory in memories for anchor in memory.anchors or ())
    broken = {anchor: _explained(anchor, tree) for anchor in gone_from(tree, list(asked))}
    outdated = [
        Outdated(memory, [broken[anchor] for anchor in memory.anchors or () if anchor in broken])
        for memory in memories
    ]
    left = len(own) - len(memories)
    return Report(len(memories), len(late), left, [each for each in outdated if each.broken])


def gone_from(tree: Tree, anchors: Sequence[Anchor]) -> list[Anchor]:
    """List the anchors that are nowhere in a tree."""
    lost = [anchor for anchor in anchors if not _stands(anchor, tree)]
    names = [anchor for anchor in lost if anchor[0] in NEEDED]
    try:
        files = tree.files_with(list(dict.fromkeys(anchor[1] for anchor in names)))
    except GitError:
        return [anchor for anchor in lost if anchor not in names]
    return [
        anchor
        for anchor in lost
        if anchor not in names or not tree.witnesses(anchor[0], anchor[1], files[anchor[1]])
    ]


def _stands(anchor: Anchor, tree: Tree) -> bool:
    kind, text, *places = anchor
    if kind == "commit":
        return tree.has_commit(places[0])
    if kind == "path":
        is_whole = text.rstrip("/") == places[0]
        return any(exists(tree.folder, path) for path in places) or bool(
            not is_whole and tree.fitting(text)
        )
    return any(tree.grade(path, text) >= NEEDED[kind] for path in places)


def _anchored(book: MemoryBook, memories: Sequence[Memory], tree: Tree) -> Iterator[Memory]:
    """Anchor memories by the history at their date, and store them."""
    end = time.monotonic() + _ANCHORING_SECONDS
    for memory in memories:
        if time.monotonic() > end:
            return
        commit = _commit_at(memory.created_at, tree)
        anchors = anchors_of(memory.text, Tree(tree.root, commit)) if commit else ()
        with book.turn():
            yield book.write(evolve(book.get(memory.id), anchors=anchors))


def _commit_at(moment: datetime, tree: Tree) -> str | None:
    """Return the commit that was the newest at a time, or None."""
    try:
        found = tree.git.run("rev-list", "-1", f"--before={int(moment.timestamp())}", "HEAD")
    except GitError:
        return None
    return found.text.strip() or None


def _explained(anchor: Anchor, tree: Tree) -> Broken:
    kind, text, *_ = anchor
    if kind == "commit":
        return Broken(kind, text)
    try:
        change = change_of_path(anchor, tree) if kind == "path" else change_of_name(anchor, tree)
    except GitError:
        change = None
    return Broken(kind, text, change)
