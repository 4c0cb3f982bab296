"""Store, look up, list and delete memories.

Memories belong to a project or to its user.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import evolve

from contextkit import Records
from contextkit.logs import get_logger
from contextkit.models import KEEP_SECRET
from contextkit.sources import VALID_UNTIL, LastingBook, changed
from contextkit_memories.anchors import Anchor
from contextkit_memories.errors import (
    InvalidMemoryError,
    SecretInMemoryError,
    UnknownMemoryError,
)
from contextkit_memories.ids import PREFIX, canonical_id, new_id
from contextkit_memories.memory import Memory, digest_of
from contextkit_memories.near import Near, nearest
from contextkit_memories.showing import rows_of, secret_warning
from contextkit_memories.words import category_spellings, stored_tags

_log = get_logger(__name__)
_Memories = list[Memory]
_RIGHT_BEHIND = timedelta(minutes=2)


class MemoryBook(LastingBook[Memory]):
    """The memories of a project and of its user.

    ```python
    book = MemoryBook.of(kit)
    memory = book.remember("Tabs, never spaces", category="preferences", importance=0.8)
    book.forget(memory.id)
    ```
    """

    source, entry, unknown = "memories", Memory, UnknownMemoryError
    fixed = (*LastingBook.fixed, "sequence")

    def remember(  # noqa: PLR0913 - what a memory is made of
        self,
        text: str,
        *,
        category: str | None = None,
        importance: float | None = None,
        tags: Iterable[str] | None = None,
        shared: bool = False,
        created_at: datetime | None = None,
        sequence: str | None = None,
        position: int | None = None,
        valid_from: datetime | None = None,
        replaces: str | Iterable[str] | None = None,
        keep_secret: bool = True,
    ) -> Memory:
        """Store a memory once per text and scope.

        The same text at two places, of one sequence or of two, is two memories: a session may say
        it twice. Arguments that are None get their default in a new memory, and leave an existing
        one of the same text as it is.

        Args:
            text: the text to store, 1 to 20,000 characters.
            category: one word; default `facts`.
            importance: its importance regardless of the query, 0..1; default 0.5.
            tags: words to find it by; default none.
            shared: True for the user's memory, seen in every project, instead of the
                project's.
            created_at: its time, aware; default now.
            sequence: the name of its sequence, such as a session. A memory that matches a question
                supports those beside it in its sequence.
            position: its position in the sequence, from 0; default: after the last one.
            valid_from: since when it is true, aware; default: since it was created.
            replaces: ids of older memories that are no longer true, as `get` takes them. They end
                when this one begins to be true; contexts then show this one.
            keep_secret: False refuses a text with what looks like a key, a password or a
                token; by default it is stored as given, without redaction, and a warning is
                logged.

        Returns:
            The memory as it is stored; its `outcome` tells whether it is new.

        Raises:
            InvalidMemoryError: a part has an invalid value; nothing was stored.
            SecretInMemoryError: of these, what looks like a secret and is not to be kept.
            UnknownMemoryError: `replaces` has an id that belongs to no memory.
        """
        given = Memory.checked(
            {
                "text": text,
                "category": category,
                "importance": importance,
                "tags": tags,
                "created_at": created_at,
                "sequence": sequence,
                "position": position,
                "valid_from": valid_from,
            }
        )
        if "position" in given and "sequence" not in given:
            raise InvalidMemoryError(f"position {position!r} needs the name of a sequence")
        if not keep_secret and (secrets := self.secrets_in(given["text"])):
            raise SecretInMemoryError(secrets)
        if not shared and created_at is None:
            # A memory of another time is looked up by `memories check`.
            given["anchors"] = self._anchors(given["text"])
        scope = self.scope(shared)
        with self.turn():
            known = _same_text(scope, given)
            if known is not None and not known.anchors and not given.get("anchors"):
                given.pop("anchors", None)
            if "sequence" in given and "position" not in given:
                given["position"] = _position(scope, given["sequence"], known)
            replaced = self.replaceable(_several(replaces), known.id if known else None)
            if replaced:
                known_ids = known.replaces if known else ()
                given["replaces"] = tuple(dict.fromkeys([*known_ids, *(m.id for m in replaced)]))
            memory = self._new(given, scope) if known is None else changed(known, given)
            if memory.sequence is not None:
                memory = evolve(memory, run=None)
            elif known is None:
                memory = _in_run(scope, memory)
            if memory.outcome != "unchanged":
                self.write(memory)
            self.end_replaced(replaced, memory)
        return memory

    def _new(self, given: Mapping[str, Any], scope: Records) -> Memory:
        created_at = given.get("created_at", datetime.now(UTC))
        free = (
            candidate
            for later in itertools.count()
            if not scope.get(candidate := new_id(created_at, later))
        )
        return self.new(next(free), {"created_at": created_at, **given}, scope)

    def secrets_in(self, text: str) -> list[str]:
        """Return the apparent secrets in a text, with their positions."""
        return [found.located(text) for found in self.records.secrets_in(text)]

    def list(
        self,
        limit: int = 20,
        *,
        category: str | None = None,
        tag: str | None = None,
        **filters: Any,
    ) -> builtins.list[Memory]:
        """List memories, newest first.

        Args:
            limit: the most memories to return.
            category: only of this category, in singular or plural.
            tag: only with this tag.
            filters: the arguments of `LastingBook.list`: `ended=True` for ended ones, too.

        Raises:
            InvalidMemoryError: the category or the tag is not a word.
            InvalidRequestError: the limit is below 1.
        """
        return super().list(limit, **filters, **_filters(category, tag))

    def count(self, *, category: str | None = None, tag: str | None = None, **filters: Any) -> int:
        """Count the memories; takes the arguments of `list`."""
        return super().count(**filters, **_filters(category, tag))

    def search(
        self,
        query: str,
        limit: int = 20,
        *,
        category: str | None = None,
        tag: str | None = None,
        **filters: Any,
    ) -> builtins.list[tuple[Memory, float]]:
        """Return the memories that match a query, best first; takes the arguments of `list`."""
        return super().search(query, limit, **filters, **_filters(category, tag))

    def change(self, entry_id: str, **given: Any) -> Memory:
        """Change some parts of a memory.

        Raises the errors of `Book.change`, and `InvalidMemoryError` if another memory has the text.
        """
        with self.turn():
            known = self.get(entry_id)
            if given.get("text") is not None:
                same = _same_text(self._scope_of(known), Memory.checked({"text": given["text"]}))
                if same is not None and same.id != known.id:
                    raise InvalidMemoryError(
                        f"{same.id} has this text already: forget one of the two"
                    )
            memory = super().change(known.id, **given)
            if memory.text != known.text and memory.scope == "project":
                memory = self.write(evolve(memory, anchors=self._anchors(memory.text)))
            return memory

    def _anchors(self, text: str) -> tuple[Anchor, ...] | None:
        """Look up what a text mentions of the workspace; None without one."""
        if self.records.checkout is None:
            return None
        # Reading memories needs no git.
        from contextkit_memories.anchoring import Tree, anchors_of

        return anchors_of(text, Tree(Path(self.records.checkout.folder)))

    def write(self, entry: Memory) -> Memory:
        """Write a changed memory within a `turn`, with its secrets and a warning of them."""
        record, secrets = entry.as_record(), self.secrets_in(entry.text)
        if secrets:
            record = evolve(record, fields={**record.fields, KEEP_SECRET: True})
            _log.warning("memory_looks_secret", id=entry.id, found=secrets)
        self._scope_of(entry).put([record])
        return entry

    def warnings(self, entry: Memory) -> Sequence[str]:
        """Warn of what looks like a secret."""
        secrets = self.secrets_in(entry.text)
        return [secret_warning(entry, secrets, "contextkit memories forget")] if secrets else []

    @classmethod
    def rows(cls, entries: Sequence[Memory]) -> builtins.list[str]:
        """Show memories in columns, one per line."""
        return rows_of(entries)

    def near(self, memory: Memory, limit: int = 3) -> builtins.list[Near]:
        """Return the true memories nearest to one, nearest first.

        Args:
            memory: the memory; itself, what it replaced and its neighbours in a sequence are left
                out.
            limit: how many at most; only really near ones are returned.
        """
        return nearest(self.records, memory, limit)

    def forget(self, *memory_ids: str) -> _Memories:
        """Delete memories, or none if one id is wrong.

        Args:
            memory_ids: ids as `get` takes them.

        Returns:
            What was forgotten, in the order of the ids.

        Raises:
            UnknownMemoryError: an id belongs to no memory.
            AmbiguousEntryError: an id belongs to several.
        """
        found = {record.id: record for record in map(self._find, memory_ids)}
        self.records.delete(*found)
        return [Memory.from_record(record) for record in found.values()]

    @classmethod
    def prefix(cls) -> str:
        """Return the beginning that ids share."""
        return PREFIX

    @classmethod
    def spellings(cls, typed: str) -> Sequence[str]:
        """Return the ids that a typed one may mean, in any case and with lookalike letters."""
        return (typed, canonical_id(typed))


def _same_text(scope: Records, given: Mapping[str, Any]) -> Memory | None:
    """Return the memory of that text, if any.

    There is none if the arguments put it at another place.
    """
    same = [
        memory
        for record in scope.scan({"digest": digest_of(given["text"])})
        if record.project == scope.project
        and record.text == given["text"]
        # What was true once and is true again is another memory.
        and VALID_UNTIL not in record.fields
        for memory in [Memory.from_record(record)]
        if all(
            getattr(memory, part) in (None, given.get(part, getattr(memory, part)))
            for part in ("sequence", "position")
        )
    ]
    # Ids of one millisecond are in no order.
    return min(same, key=lambda memory: (memory.created_at, memory.id)) if same else None


def _several(ids: str | Iterable[str] | None) -> list[str]:
    if ids is None:
        return []
    return [ids] if isinstance(ids, str) else list(ids)


def _position(scope: Records, sequence: str, known: Memory | None) -> int:
    """Return the position of a memory given only a sequence.

    It is the memory's own, or the one after the last.
    """
    if known is not None and known.position is not None:
        return known.position
    taken = [
        record.fields.get("position")
        for record in scope.scan({"sequence": sequence})
        if record.project == scope.project
    ]
    # An imported record may have a sequence alone.
    return max((place for place in taken if type(place) is int), default=-1) + 1


def _in_run(scope: Records, memory: Memory) -> Memory:
    """Continue the run of the memory stored just before.

    Return the memory with its place.
    """
    for record in scope.newest(1):
        before = Memory.from_record(record)
        follows = timedelta(0) <= memory.created_at - before.created_at <= _RIGHT_BEHIND
        if follows and before.run is not None and before.project == memory.project:
            first, number = before.run
            return evolve(memory, run=(first, number + 1))
    return evolve(memory, run=(memory.id, 0))


def _filters(category: str | None, tag: str | None) -> dict[str, Any]:
    filters: dict[str, Any] = {}
    if category is not None:
        filters["category"] = category_spellings(category)
    if tag is not None:
        filters["tags"] = stored_tags([tag])[0]
    return filters
