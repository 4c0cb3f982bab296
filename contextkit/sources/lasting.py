"""Entries that stop being true, and the book that ends and replaces them."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, TypeVar

from attrs import evolve, frozen

from contextkit.models.items import ContextItem
from contextkit.models.record import Record
from contextkit.models.request import ContextRequest
from contextkit.sources.book import Book
from contextkit.sources.checks import name, several
from contextkit.sources.entry import Entry, checked_time, part
from contextkit.sources.validity import (
    REPLACED_BY,
    REPLACES,
    VALID_UNTIL,
    search_valid,
    with_chains,
)

_LONGEST_CHAIN = 1000


def _day_or_time(value: Any) -> datetime:
    """Check a time; a day begins at midnight, UTC."""
    if isinstance(value, str) and len(value.strip()) == len("2026-01-02"):
        value = f"{value.strip()}T00:00:00Z"
    return checked_time(value, "valid_from")


@frozen(kw_only=True)
class LastingEntry(Entry):
    """An entry that is true for a time, and may replace another.

    Attributes:
        valid_from: when it became true, aware; None for when it was stored.
        valid_until: when it stopped being true, aware; None while it is true.
        replaces: ids of the entries that it replaced.
        replaced_by: the id of the entry that replaced it, or None.
    """

    valid_from: datetime | None = part(
        _day_or_time, None, about="since when it is true, such as 2026-03-01; of a new one: now"
    )
    valid_until: Annotated[datetime | None, "when it stopped being true; null while it is"] = part(
        lambda value: checked_time(value, "valid_until"), None
    )
    replaces: tuple[str, ...] = part(
        several("ids", name("an id", 200)),
        (),
        about="id of one that this makes untrue",
    )
    replaced_by: Annotated[str | None, "id of the one that replaced it"] = part(
        name("an id", 200), None
    )

    @property
    def starts_at(self) -> datetime:
        """When it became true."""
        return self.valid_from or self.created_at

    def as_record(self) -> Record:
        """Convert the entry to the record that stores it."""
        record = super().as_record()
        if self.replaces:
            return record
        stored = {name: value for name, value in record.fields.items() if name != REPLACES}
        return evolve(record, fields=stored)

    def as_item(self, source: str, relevance: float, **more: Any) -> ContextItem:
        """Convert the entry to a context's item."""
        span = {"valid_from": self.valid_from, "valid_until": self.valid_until}
        links = {REPLACES: list(self.replaces), REPLACED_BY: self.replaced_by}
        known = {name: value for name, value in links.items() if value}
        item = super().as_item(source, relevance, **{**span, **more})
        return evolve(item, metadata={**item.metadata, **known}) if known else item


L = TypeVar("L", bound=LastingEntry)


class LastingBook(Book[L]):
    """A book whose entries are ended when they are no longer true."""

    fixed: ClassVar[Sequence[str]] = (REPLACES,)

    @classmethod
    async def items_for(cls, request: ContextRequest) -> builtins.list[ContextItem]:
        """Return the entries that match a request and that it may see, as items.

        The best come first, followed by what replaced them.
        """

        def item_of(record: Record, relevance: float) -> ContextItem:
            return cls._read(record).as_item(cls.source, relevance)

        hits = await search_valid(request, limit=request.limit, filters=request.filters)
        items = [item_of(hit.record, hit.relevance) for hit in hits]
        return await with_chains(items, request, item_of)

    def store(self, entry_id: str, given: Mapping[str, Any], *, shared: bool = False) -> L:
        """Store or change an entry, and end those that it replaces."""
        with self.turn():
            replaced = self.replaceable(given.get(REPLACES, ()), by=entry_id)
            ids = {REPLACES: tuple(entry.id for entry in replaced)} if replaced else {}
            entry = super().store(entry_id, {**given, **ids}, shared=shared)
            self.end_replaced(replaced, entry)
        return entry

    def list(self, limit: int = 20, *, ended: bool = False, **filters: Any) -> builtins.list[L]:
        """List the entries that are true, newest first.

        Args:
            limit: how many at most.
            ended: whether to list ended ones, too.
            filters: record fields and the values that they must have.

        Raises:
            InvalidRequestError: the limit is below 1.
        """
        return super().list(limit, **_lasting(ended), **filters)

    def count(self, *, ended: bool = False, **filters: Any) -> int:
        """Count the entries; takes the arguments of `list`."""
        return super().count(**_lasting(ended), **filters)

    def search(
        self, query: str, limit: int = 20, *, ended: bool = False, **filters: Any
    ) -> builtins.list[tuple[L, float]]:
        """Return the matching entries that are true; takes the arguments of `list`."""
        return super().search(query, limit, **_lasting(ended), **filters)

    def end(self, entry_id: str, at: datetime | None = None) -> L:
        """End an entry without a successor: it is no longer true.

        Args:
            entry_id: the id, as `get` takes it.
            at: when it stopped being true, aware; default: now.

        Raises the book's `unknown` error where there is none, and the entry's `invalid` error
        where it has ended already.
        """
        with self.turn():
            known = self.get(entry_id)
            _refuse_ended(known)
            return self.write(_ended(known, at or datetime.now(UTC)))

    def history(self, entry_id: str) -> builtins.list[L]:
        """Return an entry, what it replaced and what replaced it, oldest first.

        Deleted ones are left out.
        """
        start = self.get(entry_id)
        chain = {start.id: start}
        waiting = [*start.replaces, *filter(None, [start.replaced_by])]
        while waiting and len(chain) < _LONGEST_CHAIN:
            found = [self._read(r) for r in self.records.get(*waiting) if r.id not in chain]
            chain.update((entry.id, entry) for entry in found)
            waiting = [
                other
                for entry in found
                for other in (*entry.replaces, entry.replaced_by)
                if other is not None and other not in chain
            ]
        return sorted(chain.values(), key=lambda entry: (entry.starts_at, entry.id))

    def replaceable(self, ids: Sequence[str], by: str | None = None) -> builtins.list[L]:
        """Return the entries that a new one is to replace.

        Args:
            ids: their ids, as `get` takes them.
            by: the id of the new one, if it is stored already.

        Raises the book's `unknown` error for an id that does not exist, and the entry's `invalid`
        error for an entry that was replaced by another one.
        """
        found = {entry.id: entry for entry in map(self.get, ids)}
        for entry in found.values():
            if entry.id == by:
                raise entry.invalid(f"{entry.id} cannot replace itself: its text is the same")
            if entry.replaced_by != by or by is None:
                _refuse_ended(entry)
        return [*found.values()]

    def end_replaced(self, replaced: Sequence[L], by: L) -> None:
        """End what an entry replaced, within a `turn`."""
        for entry in replaced:
            if entry.valid_until is None:
                self.write(evolve(_ended(entry, by.starts_at), replaced_by=by.id))


def _lasting(ended: bool) -> dict[str, Any]:
    return {} if ended else {VALID_UNTIL: None}


def _ended(entry: L, at: datetime) -> L:
    return evolve(entry, valid_until=max(at, entry.starts_at), outcome="updated")


def _refuse_ended(entry: LastingEntry) -> None:
    if entry.valid_until is None:
        return
    how = f"{entry.replaced_by} replaced it" if entry.replaced_by else "it ended"
    hint = f": use {entry.replaced_by} instead" if entry.replaced_by else ""
    message = f"{entry.id} is no longer valid: {how} on {entry.valid_until:%Y-%m-%d}{hint}"
    raise entry.invalid(message)
