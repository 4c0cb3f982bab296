"""Check all memories against the workspace, with the help of its history."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, frozen

from contextkit.indexing import GitError
from contextkit.sources import VALID_UNTIL, as_json
from contextkit_memories.anchoring import Tree, anchors_of
from contextkit_memories.anchors import NEEDED, Anchor, is_whole_path
from contextkit_memories.book import MemoryBook
from contextkit_memories.endings import Ending, ending_of
from contextkit_memories.memory import Memory
from contextkit_memories.places import exists

_ANCHORING_SECONDS = 60.0
_SECONDS = 20.0
_LONGEST_OFFER = 300


@frozen
class Outdated:
    """A memory that mentions something that is gone.

    Attributes:
        memory: the memory.
        broken: what is gone, at least one.
    """

    memory: Memory
    broken: Sequence[Ending]

    @property
    def commands(self) -> list[str]:
        """The commands that replace or end the memory."""
        text = self.memory.text
        for each in self.broken:
            text = text.replace(each.text, each.now or each.text)
        end = f"contextkit memories end {self.memory.id}"
        if text == self.memory.text or len(text) > _LONGEST_OFFER:
            return [end]
        replace = f"contextkit remember {shlex.quote(text)} --replaces {self.memory.id}"
        return [replace, end]

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
            "broken": [asdict(each) for each in self.broken],
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
            lines.append(f"{self.left} older memories are not checked yet: check again.")
        return "\n".join(lines)


def check(book: MemoryBook, workspace: Path) -> Report:
    """Check the project's memories against its workspace.

    Memories of earlier versions are looked up in the history at their date first, for at most a
    minute. Nothing else is written.
    """
    tree = Tree(workspace, timeout=_SECONDS)
    records = book.records.scopes[0].scan({VALID_UNTIL: None})
    ordered = sorted(records, key=lambda each: (each.created_at, each.id))
    memories = list(map(Memory.from_record, ordered))
    late = _anchored(book, [each.id for each in memories if each.anchors is None], tree)
    anchors = {each.id: late.get(each.id, each.anchors) for each in memories}
    asked = dict.fromkeys(anchor for each in anchors.values() for anchor in each or ())
    broken = {anchor: ending_of(anchor, tree) for anchor in gone_from(tree, list(asked))}
    outdated = [
        Outdated(each, [broken[anchor] for anchor in anchors[each.id] or () if anchor in broken])
        for each in memories
    ]
    left = sum(each is None for each in anchors.values())
    found = [each for each in outdated if each.broken]
    return Report(len(memories) - left, len(late), left, found)


def gone_from(tree: Tree, anchors: Sequence[Anchor]) -> list[Anchor]:
    """List the anchors that are nowhere in a tree; without git, only paths."""
    kinds = {"path", *NEEDED} if tree.has_git else {"path"}
    # The history of a shallow clone ends early.
    kinds |= {"commit"} if tree.has_whole_history else set()
    lost = [each for each in anchors if each[0] in kinds and not _stands(each, tree)]
    names = dict.fromkeys(anchor[1] for anchor in lost if anchor[0] in NEEDED)
    try:
        files = tree.files_with(list(names))
    except GitError:
        return [anchor for anchor in lost if anchor[0] not in NEEDED]
    return [
        anchor
        for anchor in lost
        if anchor[0] not in NEEDED or not tree.witnesses(anchor[0], anchor[1], files[anchor[1]])
    ]


def _stands(anchor: Anchor, tree: Tree) -> bool:
    kind, text, *places = anchor
    if kind == "commit":
        return tree.has_commit(places[0])
    if kind == "path":
        if any(exists(tree.folder, path) for path in places):
            return True
        return not is_whole_path(anchor) and bool(tree.fitting(text))
    return any(tree.grade(path, text) >= NEEDED[kind] for path in places)


def _anchored(book: MemoryBook, ids: Sequence[str], tree: Tree) -> dict[str, tuple[Anchor, ...]]:
    """Anchor memories by the history at their date, and store them."""
    end = time.monotonic() + _ANCHORING_SECONDS
    own = book.records.scopes[0]
    anchored: dict[str, tuple[Anchor, ...]] = {}
    for memory_id in ids:
        if time.monotonic() > end:
            break
        with book.turn():
            # Its other fields stay, such as the one that keeps a secret.
            for record in own.get(memory_id):
                commit = tree.commit_at(record.created_at)
                found = anchors_of(record.text, evolve(tree, commit=commit)) if commit else ()
                own.put([evolve(record, fields={**record.fields, "anchors": as_json(found)})])
                anchored[memory_id] = found
    return anchored
