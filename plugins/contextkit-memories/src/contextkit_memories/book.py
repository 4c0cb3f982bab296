"""The memories of a project and of its user: remember, look up, list, forget."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from contextkit import InvalidRequestError, Record, Records
from contextkit.concurrency import ForkLock
from contextkit.logs import get_logger
from contextkit.models.record import KEEP_SECRET
from contextkit_memories.errors import (
    AmbiguousMemoryError,
    InvalidMemoryError,
    SecretInMemoryError,
    UnknownMemoryError,
)
from contextkit_memories.ids import PREFIX, canonical_id, new_id
from contextkit_memories.memory import (
    DEFAULT_IMPORTANCE,
    Memory,
    checked_importance,
    checked_position,
    checked_sequence,
    checked_text,
    checked_time,
    digest_of,
)
from contextkit_memories.words import (
    DEFAULT_CATEGORY,
    category_spellings,
    stored_category,
    stored_tags,
)

if TYPE_CHECKING:
    from contextkit import ContextKit

__all__ = ["MemoryBook"]

_log = get_logger(__name__)
_Memories = list[Memory]
_RIGHT_BEHIND = timedelta(minutes=2)
# Between the look for a memory of the same text and the write nobody else may write one.
_remembering = ForkLock()


@frozen
class MemoryBook:
    """The memories that are seen in one project: its own, and the user's.

    Every method blocks and may be called from any thread.

    ```python
    book = MemoryBook.of(kit)
    memory = book.remember("Tabs, never spaces", category="preferences", importance=0.8)
    book.forget(memory.id)
    ```

    Attributes:
        records: the records of the source `memories`.
        hold: keeps the store for this process while it lasts, so that a look and the write
            that follows are one turn; default: nothing does.
    """

    records: Records
    hold: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    @classmethod
    def of(cls, kit: ContextKit) -> MemoryBook:
        """The memories of a kit's project; turns are taken with other processes.

        Raises `InvalidContextTypeError` where the source `memories` is off.
        """
        return cls(kit.records("memories"), kit.store.hold)

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
        keep_secret: bool = True,
    ) -> Memory:
        """Store a memory; exactly the same text in the same scope is stored once.

        At two places, of one sequence or of two, the same text is two memories: a session
        may say it twice.

        What is None has its default in a new memory, and stays as it is in one of the same
        text that is already there.

        Args:
            text: what to remember, 1 to 20,000 characters.
            category: one word; default `facts`.
            importance: how much it matters whatever the question, 0..1; default 0.5.
            tags: words to find it by; default none.
            shared: True for the user's memory, seen in every project, instead of the
                project's.
            created_at: when it came to be, aware; default now.
            sequence: the name of what it is a part of, such as a session. A memory that
                matches a question supports those beside it in its sequence.
            position: its place in the sequence, from 0; default: behind the last one.
            keep_secret: False refuses a text with what looks like a key, a password or a
                token; by default it is stored as given, without redaction, and a warning is
                logged.

        Returns:
            The memory as it is stored; its `outcome` tells whether it is new.

        Raises:
            InvalidMemoryError: a part is not what it may be; nothing was stored.
            SecretInMemoryError: of these, what looks like a secret and is not to be kept.
        """
        text = checked_text(text)
        secrets = self.secrets_in(text)
        if secrets and not keep_secret:
            raise SecretInMemoryError(secrets)
        given: dict[str, Any] = {}
        if category is not None:
            given["category"] = stored_category(category)
        if importance is not None:
            given["importance"] = checked_importance(importance)
        if tags is not None:
            given["tags"] = stored_tags(tags)
        if created_at is not None:
            given["created_at"] = checked_time(created_at)
        given |= _checked_place(sequence, position)
        scope = self.records.shared if shared else self.records
        with _remembering, self.hold():
            known = _same_text(scope, text, given)
            if sequence is not None and position is None:
                given["position"] = _position(scope, given["sequence"], known)
            memory = _new(scope, text, given) if known is None else _updated(known, given)
            if memory.sequence is not None:
                memory = evolve(memory, run=None)
            elif known is None:
                memory = _in_run(scope, memory)
            if memory.outcome != "unchanged":
                record = memory.as_record()
                if secrets:
                    record = evolve(record, fields={**record.fields, KEEP_SECRET: True})
                scope.put([record])
        if secrets:
            _log.warning("memory_looks_secret", id=memory.id, found=secrets)
        return memory

    def secrets_in(self, text: str) -> list[str]:
        """What in a memory's text looks like a secret, and where, each in words."""
        return [found.located(text) for found in self.records.secrets_in(text)]

    def get(self, memory_id: str) -> Memory:
        """The memory with this id.

        Args:
            memory_id: the id, or a beginning of it that no other memory has; `mem_` may be
                left out.

        Raises:
            UnknownMemoryError: there is none.
            AmbiguousMemoryError: there are several.
        """
        return Memory.from_record(self._find(memory_id))

    def list(
        self, *, category: str | None = None, tag: str | None = None, limit: int = 20
    ) -> _Memories:
        """Memories, newest first.

        Args:
            category: only of this category, in singular or plural.
            tag: only with this tag.
            limit: how many at most.

        Raises:
            InvalidMemoryError: the category or the tag is not a word.
            InvalidRequestError: the limit is below 1.
        """
        if type(limit) is not int or limit < 1:
            raise InvalidRequestError(f"limit must be at least 1, got {limit!r}")
        found = self.records.newest(limit, _filters(category, tag))
        return [Memory.from_record(record) for record in found]

    def count(self, *, category: str | None = None, tag: str | None = None) -> int:
        """How many memories there are; the arguments are those of `list`."""
        return self.records.count(_filters(category, tag))

    def forget(self, *memory_ids: str) -> _Memories:
        """Delete memories, all of them or, where an id is wrong, none.

        Args:
            memory_ids: ids as `get` takes them.

        Returns:
            What was forgotten, in the order of the ids.

        Raises:
            UnknownMemoryError: an id belongs to no memory.
            AmbiguousMemoryError: an id belongs to several.
        """
        found = {record.id: record for record in map(self._find, memory_ids)}
        self.records.delete(*found)
        return [Memory.from_record(record) for record in found.values()]

    def _find(self, asked: str) -> Record:
        if not isinstance(asked, str):
            raise InvalidMemoryError(f"an id must be a text, got {asked!r}")
        typed, canonical = asked.strip(), canonical_id(asked)
        if PREFIX.startswith(typed.lower()) or not typed.isprintable():
            raise UnknownMemoryError(asked)
        if exact := self.records.get(typed) or self.records.get(canonical):
            return exact[0]
        fitting = [r for r in self.records.scan() if r.id.startswith((typed, canonical))]
        if not fitting:
            raise UnknownMemoryError(asked)
        if len(fitting) > 1:
            ordered = sorted(map(Memory.from_record, fitting), key=lambda memory: memory.id)
            raise AmbiguousMemoryError(asked, [(memory.id, memory.title) for memory in ordered])
        return fitting[0]


def _checked_place(sequence: str | None, position: int | None) -> dict[str, Any]:
    if sequence is None:
        if position is not None:
            raise InvalidMemoryError(f"position {position!r} needs the name of a sequence")
        return {}
    place: dict[str, Any] = {"sequence": checked_sequence(sequence)}
    if position is not None:
        place["position"] = checked_position(position)
    return place


def _same_text(scope: Records, text: str, given: dict[str, Any]) -> Memory | None:
    """The memory of that text, unless what is given says that it stands elsewhere."""
    same = [
        memory
        for record in scope.scan({"digest": digest_of(text)})
        if record.project == scope.project and record.text == text
        for memory in [Memory.from_record(record)]
        if all(
            getattr(memory, part) in (None, given.get(part, getattr(memory, part)))
            for part in ("sequence", "position")
        )
    ]
    # Ids of one millisecond are in no order.
    return min(same, key=lambda memory: (memory.created_at, memory.id)) if same else None


def _position(scope: Records, sequence: str, known: Memory | None) -> int:
    """The place of a memory whose sequence alone was given: its own, or behind the last."""
    if known is not None and known.position is not None:
        return known.position
    taken = [
        int(record.fields["position"])
        for record in scope.scan({"sequence": sequence})
        if record.project == scope.project
    ]
    return max(taken, default=-1) + 1


def _new(scope: Records, text: str, given: dict[str, Any]) -> Memory:
    made_of = {
        "category": DEFAULT_CATEGORY,
        "importance": DEFAULT_IMPORTANCE,
        "created_at": datetime.now(UTC),
        **given,
    }
    free = (
        candidate
        for later in itertools.count()
        if not scope.get(candidate := new_id(made_of["created_at"], later))
    )
    return Memory(id=next(free), text=text, project=scope.project, outcome="stored", **made_of)


def _in_run(scope: Records, memory: Memory) -> Memory:
    """The memory with its place behind the one that was remembered right before it."""
    for record in scope.newest(1):
        before = Memory.from_record(record)
        follows = timedelta(0) <= memory.created_at - before.created_at <= _RIGHT_BEHIND
        if follows and before.run is not None and before.project == memory.project:
            first, number = before.run
            return evolve(memory, run=(first, number + 1))
    return evolve(memory, run=(memory.id, 0))


def _updated(known: Memory, given: dict[str, Any]) -> Memory:
    changed = evolve(known, **given)
    return changed if changed == known else evolve(changed, outcome="updated")


def _filters(category: str | None, tag: str | None) -> dict[str, Any]:
    filters: dict[str, Any] = {}
    if category is not None:
        filters["category"] = category_spellings(category)
    if tag is not None:
        filters["tags"] = stored_tags([tag])[0]
    return filters
