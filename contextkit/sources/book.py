"""Manage the entries of a project and of its user.

Entries can be added, changed, read, listed, counted and removed.
"""

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
from contextkit.models.record import Record, belongs_to_user
from contextkit.models.records import Records
from contextkit.sources.document import document_changes, entry_document
from contextkit.sources.entry import Entry, UnknownEntryError
from contextkit.sources.ids import by_beginning

if TYPE_CHECKING:
    from contextkit.models.items import ContextItem
    from contextkit.models.kit import Kit
    from contextkit.models.request import ContextRequest

E = TypeVar("E", bound=Entry)

_LEAST_RELEVANCE = 0.01
_DID = {"stored": "Added", "updated": "Updated", "unchanged": "Already there:"}

# No other thread may write between reading and writing.
_writing = ForkLock()
_turns = threading.local()


@frozen
class Book(Generic[E]):
    """Reads and writes one source's entries; every method blocks.

    Methods may be called from any thread.

    ```python
    class DishBook(Book[Dish]):
        source, entry = "dishes", Dish


    book = DishBook.of(kit)
    dish = book.add(name="Porridge", minutes=5)
    book.remove(dish.id)
    ```

    Attributes:
        records: the source's records.
        hold: locks the store for this process, so that reading and writing are one step;
            default: another process may write in between.
    """

    source: ClassVar[str]
    """The source's name; it also names several entries in messages."""

    entry: ClassVar[type[Entry]]
    """The class of its entries."""

    unknown: ClassVar[type[UnknownEntryError]] = UnknownEntryError
    """The error for an id that does not exist."""

    fixed: ClassVar[Sequence[str]] = ()
    """Parts that stay as they are, such as those that the id is made of."""

    records: Records
    hold: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    @classmethod
    def of(cls, kit: Kit) -> Self:
        """Open the entries of a kit's project.

        Reading and writing are one step for other processes too.

        Raises `InvalidContextTypeError` where the source is off.
        """
        return cls(kit.records(cls.source), hold=kit.store.hold)

    # -- reading --------------------------------------------------------------------------

    def get(self, entry_id: str) -> E:
        """Return the entry with this id; the project's come first.

        Args:
            entry_id: the id, or a beginning of it that no other id has. The noun and `_` may be
                left out.

        Raises the book's `unknown` error where there is none, and `AmbiguousEntryError` where
        several ids begin so.
        """
        return self._read(self._find(entry_id))

    def _find(self, asked: str) -> Record:
        typed = asked.strip() if isinstance(asked, str) and asked.isprintable() else ""
        if not typed:
            raise self.unknown(asked)
        prefix, spellings = self.prefix(), self.spellings(typed)
        found = self.records.get(*spellings) or by_beginning(
            asked, self.records.scan(), spellings=spellings, prefix=prefix
        )
        if not found:
            raise self.unknown(asked)
        own = [record for record in found if record.project == self.records.project]
        return (own or found)[0]

    @classmethod
    def prefix(cls) -> str:
        """Return the beginning that ids share."""
        return f"{cls.entry.noun}_"

    @classmethod
    def spellings(cls, typed: str) -> Sequence[str]:
        """Return the ids that a typed one may mean, likeliest first."""
        return (typed, f"{cls.prefix()}{typed}")

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
        """Count the entries; filters are those of `list`."""
        return self.records.count(filters)

    def search(self, query: str, limit: int = 20, **filters: Any) -> builtins.list[tuple[E, float]]:
        """Return the entries that match a query with their relevance, 0..1, best first.

        Args:
            query: words, or a question.
            limit: how many at most.
            filters: those of `list`.

        Raises:
            InvalidRequestError: the limit is below 1.
        """
        checked_limit(limit)
        hits = self.records.search_sync(query, limit=limit, filters=filters, related=True)
        matching = [hit for hit in hits if hit.relevance >= _LEAST_RELEVANCE]
        return [(self._read(hit.record), hit.relevance) for hit in matching]

    @classmethod
    async def items_for(cls, request: ContextRequest) -> builtins.list[ContextItem]:
        """Return the entries that match a request, as items.

        The best come first.
        """
        hits = await request.records.search(
            request.query, limit=request.limit, filters=request.filters
        )
        return [cls._read(hit.record).as_item(cls.source, hit.relevance) for hit in hits]

    # -- writing --------------------------------------------------------------------------

    def add(self, *parts: Any, **given: Any) -> E:
        """Store an entry, or change it in its scope.

        An entry with the same id in the same scope is changed. A part that is None gets its default
        in a new entry, and keeps its value in an existing one.

        Args:
            parts: values of the first parts, in the order of the class.
            given: values of other parts, by name; `shared=True` for the user's entry, seen in
                every project.

        Returns:
            The stored entry; its `outcome` says whether it is new.

        Raises the entry class's `invalid` error; in that case nothing was stored.
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
        """Store or change an entry, from checked parts.

        The entry with this id in the same scope is changed.
        """
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
        """Create a new entry for a scope without storing it."""
        made: Any = self.entry(
            **{"id": entry_id, "created_at": datetime.now(UTC), **given},
            project=scope.project,
            outcome="stored",
        )
        return made  # type: ignore[no-any-return]

    def write(self, entry: E) -> E:
        """Write a changed entry to its scope, within a `turn`."""
        self._scope_of(entry).put([entry.as_record()])
        return entry

    def change(self, entry_id: str, **given: Any) -> E:
        """Change some parts of an entry; those that are None stay.

        Nothing is written if nothing changes. The entry's `outcome` says whether it did.

        Raises the entry class's `invalid` error for a value that is not allowed, or for a part that
        is not `editable`; the book's `unknown` error where there is no such entry.
        """
        for name in given:
            if name not in self.editable():
                raise self.entry.invalid(
                    f"{name} cannot be changed; these parts can: {', '.join(self.editable())}"
                )
        checked = self.entry.checked({k: v for k, v in given.items() if v is not None})
        with self.turn():
            entry = changed(self.get(entry_id), checked)
            return entry if entry.outcome == "unchanged" else self.write(entry)

    def document(self, entry: E) -> str:
        """Write the parts that people change as Markdown with front matter."""
        return entry_document(entry, self.editable())

    def change_document(self, entry_id: str, before: str, after: str) -> E:
        """Change the parts that differ between two versions of an entry's document.

        Raises the errors of `change`, and `InvalidEntryError` if a document cannot be read.
        """
        return self.change(entry_id, **document_changes(self.entry, before, after))

    @classmethod
    def editable(cls) -> builtins.list[str]:
        """List the parts that people change: the given ones that are not `fixed`."""
        return [name for name in cls.entry.given_parts() if name not in cls.fixed]

    def remove(self, entry_id: str) -> E:
        """Delete an entry; the other scope keeps its own.

        An entry with the same id in the other scope stays.

        Raises the book's `unknown` error where there is none.
        """
        with self.turn():
            known = self.get(entry_id)
            self._scope_of(known).scopes[0].delete(known.id)
        return known

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Read and write in one step, under the lock.

        No other thread or process writes in between. A nested turn is a part of the outer one.
        """
        within = getattr(_turns, "running", False)
        with contextlib.nullcontext() if within else _writing, self.hold():
            _turns.running = True
            try:
                yield
            finally:
                _turns.running = within

    def scope(self, shared: bool) -> Records:
        """Return the records of the project, or of the user."""
        return self.records.shared if shared else self.records

    # -- as text -------------------------------------------------------------------------

    @classmethod
    def added_line(cls, entry: E) -> str:
        """Describe in one line what adding did."""
        whose = "all your projects" if entry.scope == "user" else "this project"
        return f"{_DID[entry.outcome]} {entry.id} ({whose})"

    def warnings(self, entry: E) -> Sequence[str]:  # noqa: ARG002 - for overrides
        """Return what a person should know of an entry that was just changed."""
        return ()

    @classmethod
    def rows(cls, entries: Sequence[E]) -> builtins.list[str]:
        """Format entries as one line each, in columns."""
        width = max((len(entry.id) for entry in entries), default=0)
        return [f"{it.id:<{width}}  {it.created_at:%Y-%m-%d}  {it.title}" for it in entries]

    @classmethod
    def listing(cls, entries: Sequence[E], total: int) -> str:
        """Format entries as lines, with the total if larger."""
        lines = cls.rows(entries)
        if total > len(entries):
            lines.append(f"{len(entries)} of {total} {cls.source}")
        return "\n".join(lines) or f"No {cls.source}."

    def _scope_of(self, entry: E) -> Records:
        return self.scope(shared=belongs_to_user(entry.project))

    @classmethod
    def _read(cls, record: Record) -> E:
        read: Any = cls.entry.from_record(record)
        return read  # type: ignore[no-any-return]


def changed(known: E, given: Mapping[str, Any]) -> E:
    """Change some parts of an entry.

    Its `outcome` says whether anything changed.
    """
    after = evolve(known, **given)
    return after if after == known else evolve(after, outcome="updated")


def checked_limit(limit: object) -> int:
    """Check a number of entries to list.

    Raises `InvalidRequestError` below 1.
    """
    if type(limit) is not int or limit < 1:
        raise InvalidRequestError(f"limit must be at least 1, got {limit!r}")
    return limit
