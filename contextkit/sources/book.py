"""The entries of a project and of its user: add or change, get, list, count, remove."""

from __future__ import annotations

import builtins
import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from attrs import evolve, frozen

from contextkit.concurrency import ForkLock
from contextkit.errors import InvalidRequestError
from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.sources.entry import Entry, UnknownEntryError

if TYPE_CHECKING:
    from contextkit.models.items import ContextItem
    from contextkit.models.kit import Kit
    from contextkit.models.request import ContextRequest

E = TypeVar("E", bound=Entry)

_DID = {"stored": "Added", "updated": "Updated", "unchanged": "Already there:"}

# Between reading and writing no other thread may write.
_writing = ForkLock()
_turns = threading.local()


@frozen
class Book(Generic[E]):
    """Reads and writes one source's entries. Every method blocks, from any thread.

    ```python
    class DishBook(Book[Dish]):
        source, entry = "dishes", Dish


    book = DishBook.of(kit)
    dish = book.add(name="Porridge", minutes=5)
    book.remove(dish.id)
    ```

    Attributes:
        records: the source's records.
        hold: holds the store for this process, so that reading and writing are one step;
            default: another process may write in between.
    """

    source: ClassVar[str]
    """The source's name; it also names several entries in messages."""

    entry: ClassVar[type[Entry]]
    """The class of its entries."""

    unknown: ClassVar[type[UnknownEntryError]] = UnknownEntryError
    """The error for an id that does not exist."""

    records: Records
    hold: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    @classmethod
    def of(cls, kit: Kit) -> Self:
        """The entries of a kit's project. Raises `InvalidContextTypeError` where the source is off.

        Reading and writing are one step for other processes too.
        """
        return cls(kit.records(cls.source), hold=kit.store.hold)

    # -- reading --------------------------------------------------------------------------

    def get(self, entry_id: str) -> E:
        """The entry with this id: the project's before the user's.

        Raises the book's `unknown` error where there is none.
        """
        found = self.records.get(entry_id) if entry_id else []
        if not found:
            raise self.unknown(entry_id)
        own = [record for record in found if record.project == self.records.project]
        return self._read((own or found)[0])

    def list(self, limit: int = 20, **filters: Any) -> builtins.list[E]:
        """Entries, newest first.

        Args:
            limit: how many at most.
            filters: record fields and the values that they must have.

        Raises:
            InvalidRequestError: the limit is below 1.
        """
        return [self._read(record) for record in self.records.newest(checked_limit(limit), filters)]

    def count(self, **filters: Any) -> int:
        """How many entries there are; the filters are those of `list`."""
        return self.records.count(filters)

    @classmethod
    async def items_for(cls, request: ContextRequest) -> builtins.list[ContextItem]:
        """The entries that match a request, as items, best first."""
        hits = await request.records.search(
            request.query, limit=request.limit, filters=request.filters
        )
        return [cls._read(hit.record).as_item(cls.source, hit.relevance) for hit in hits]

    # -- writing --------------------------------------------------------------------------

    def add(self, *parts: Any, **given: Any) -> E:
        """Store an entry, or change the one with its id in the same scope.

        A part that is None has its default in a new entry, and stays as it is in one that is
        there.

        Args:
            parts: values of the first parts, in the order of the class.
            given: values of other parts, by name; `shared=True` for the user's entry, seen in
                every project.

        Returns:
            The entry as it is stored; its `outcome` says whether it is new.

        Raises the entry class's `invalid` error; nothing was stored then.
        """
        shared = given.pop("shared", False)
        named = dict(zip(self.entry.parts(), parts, strict=False))
        checked = self.entry.checked({**named, **given})
        created_at = datetime.now(UTC)
        return self.store(self.entry.new_id(checked, created_at), checked, shared=shared)

    def store(
        self,
        entry_id: str,
        given: Mapping[str, Any],
        *,
        shared: bool = False,
    ) -> E:
        """Store an entry of checked parts, or change the one with this id in the same scope."""
        scope = self.scope(shared)
        with self.turn():
            same = [record for record in scope.get(entry_id) if record.project == scope.project]
            if same:
                entry = changed(self._read(same[0]), given)
            else:
                entry = self.new(entry_id, given, scope)
            if entry.outcome != "unchanged":
                scope.put([entry.as_record()])
        return entry

    def new(self, entry_id: str, given: Mapping[str, Any], scope: Records) -> E:
        """A new entry of a scope, not yet stored."""
        made: Any = self.entry(
            **{"id": entry_id, "created_at": datetime.now(UTC), **given},
            project=scope.project,
            outcome="stored",
        )
        return made  # type: ignore[no-any-return]

    def write(self, entry: E) -> E:
        """Store a changed entry in the scope it is in; call it within `turn`."""
        self._scope_of(entry).put([entry.as_record()])
        return entry

    def remove(self, entry_id: str) -> E:
        """Delete an entry; one with the same id in the other scope stays.

        Raises the book's `unknown` error where there is none.
        """
        with self.turn():
            known = self.get(entry_id)
            self._scope_of(known).scopes[0].delete(known.id)
        return known

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Read and write as one step: no other thread or process writes in between.

        A turn within a turn is a part of it.
        """
        within = getattr(_turns, "running", False)
        with contextlib.nullcontext() if within else _writing, self.hold():
            _turns.running = True
            try:
                yield
            finally:
                _turns.running = within

    def scope(self, shared: bool) -> Records:
        """The records of the project, or of the user."""
        return self.records.shared if shared else self.records

    # -- as text -------------------------------------------------------------------------

    @classmethod
    def added_line(cls, entry: E) -> str:
        """What adding did, in one line."""
        whose = "all your projects" if entry.scope == "user" else "this project"
        return f"{_DID[entry.outcome]} {entry.id} ({whose})"

    @classmethod
    def rows(cls, entries: Sequence[E]) -> builtins.list[str]:
        """One line for each, in columns."""
        width = max((len(entry.id) for entry in entries), default=0)
        return [f"{it.id:<{width}}  {it.created_at:%Y-%m-%d}  {it.title}" for it in entries]

    @classmethod
    def listing(cls, entries: Sequence[E], total: int) -> str:
        """One line for each, and how many there are where that is more."""
        lines = cls.rows(entries)
        if total > len(entries):
            lines.append(f"{len(entries)} of {total} {cls.source}")
        return "\n".join(lines) or f"No {cls.source}."

    def _scope_of(self, entry: E) -> Records:
        return self.scope(shared=entry.project != self.records.project)

    @classmethod
    def _read(cls, record: Record) -> E:
        read: Any = cls.entry.from_record(record)
        return read  # type: ignore[no-any-return]


def changed(known: E, given: Mapping[str, Any]) -> E:
    """An entry with some parts changed; its `outcome` says whether that changed anything."""
    after = evolve(known, **given)
    return after if after == known else evolve(after, outcome="updated")


def checked_limit(limit: object) -> int:
    """A number of entries to list; raises `InvalidRequestError` below 1."""
    if type(limit) is not int or limit < 1:
        raise InvalidRequestError(f"limit must be at least 1, got {limit!r}")
    return limit
