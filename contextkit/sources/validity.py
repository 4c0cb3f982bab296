"""The time in which a record was true, and what replaced it.

A fact that is no longer true is ended, not deleted: it gets a `valid_until`, and the record that
replaced it names it. A request sees what is true now. It sees what was true at another time with
`as_of`, or if its question asks for the past.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Self

from attrs import evolve, frozen

from contextkit.concurrency import in_thread
from contextkit.models.items import ContextItem, Successor
from contextkit.models.record import Filters, Hit, Record
from contextkit.models.records import RecordsView
from contextkit.models.request import ContextRequest
from contextkit.sources.entry import shortened_line, time_of
from contextkit.text.past import asks_for_the_past, named_periods

VALID_FROM, VALID_UNTIL = "valid_from", "valid_until"
REPLACES, REPLACED_BY = "replaces", "replaced_by"
_FIRST_WORDS = 60
_LONGEST_CHAIN = 50
_MORE = 4
"""A search that found too many ended records looks at so many times as many."""


@frozen
class Validity:
    """The span in which a record was true, and its place in a chain.

    Attributes:
        start: when it became true, aware.
        end: when it stopped, aware; None while it is true.
        replaces: ids of the records that it replaced.
        replaced_by: the id of the record that replaced it, or None.
    """

    start: datetime
    end: datetime | None = None
    replaces: tuple[str, ...] = ()
    replaced_by: str | None = None

    @classmethod
    def of(cls, record: Record) -> Self:
        """Read a record's validity; invalid values count as missing."""
        fields = record.fields
        replaces, by = fields.get(REPLACES), fields.get(REPLACED_BY)
        several = replaces if isinstance(replaces, (list, tuple)) else ()
        return cls(
            time_of(fields.get(VALID_FROM)) or record.created_at,
            time_of(fields.get(VALID_UNTIL)),
            tuple(each for each in several if isinstance(each, str)),
            by if isinstance(by, str) else None,
        )

    def holds_at(self, moment: datetime) -> bool:
        """Whether the record was true at a moment."""
        return self.start <= moment and (self.end is None or self.end > moment)

    def refusal(self, request: ContextRequest) -> str | None:
        """Say why a request does not see the record, or None."""
        if request.as_of is not None:
            if self.holds_at(request.as_of):
                return None
            return f"it was not valid at {request.as_of:%Y-%m-%d %H:%M %Z}"
        if self.end is None:
            return None
        if asks_for_the_past(request.query) or self._is_asked_for(request.query):
            return None
        return f"it was valid until {self.end:%Y-%m-%d %H:%M %Z}"

    def _is_asked_for(self, query: str) -> bool:
        return any(period.meets(self.start, self.end) for period in named_periods(query))


async def search_valid(
    request: ContextRequest,
    *,
    limit: int,
    filters: Filters | None = None,
    related: bool = False,
) -> list[Hit]:
    """Search the records that a request may see, best first.

    Ended records are dropped here instead of in the store: the store has no index that makes such a
    condition cheap, and few records have ended.
    """
    wanted = limit
    while True:
        hits = await request.records.search(
            request.query, limit=wanted, filters=filters, related=related
        )
        valid = [hit for hit in hits if Validity.of(hit.record).refusal(request) is None]
        if len(valid) >= limit or len(hits) < wanted:
            return valid[:limit]
        wanted *= _MORE


def with_validity(item: ContextItem, record: Record) -> ContextItem:
    """Add a record's validity to the item that shows it."""
    validity = Validity.of(record)
    since = validity.start if VALID_FROM in record.fields else None
    if since is None and validity.end is None:
        return item
    return evolve(item, valid_from=since, valid_until=validity.end)


async def with_chains(
    items: Sequence[ContextItem],
    request: ContextRequest,
    item_of: Callable[[Record, float], ContextItem],
) -> list[ContextItem]:
    """Add what replaced the ended ones of the items.

    An ended item gets its `superseded_by`: what is true now in its place. That one follows the
    items, with no relevance of its own, unless it is among them. If the question asks for the past,
    what the items replaced follows, too.

    Args:
        items: of one source, best first; their metadata have `replaces` and `replaced_by`.
        request: its records are read.
        item_of: makes an item of a record and its relevance.
    """
    up = {item.id for item in items if item.valid_until is not None}
    down = {item.id for item in items} if asks_for_the_past(request.query) else set[str]()
    linked = [item for item in items if item.metadata.get(REPLACED_BY) and item.id in up]
    linked += [item for item in items if item.metadata.get(REPLACES) and item.id in down]
    if not linked:
        return list(items)
    chains = await in_thread(lambda: _chains([item.id for item in linked], request.records))
    there = {item.id for item in items}
    more = [
        item_of(record, 0.0)
        for record in chains.values()
        if record.id not in there and Validity.of(record).refusal(request) is None
    ]
    return [_succeeded(item, chains) for item in (*items, *more)]


def _chains(ids: Sequence[str], records: RecordsView) -> Mapping[str, Record]:
    """Return the records of some chains, by id."""
    found: dict[str, Record] = {}
    wanted = list(dict.fromkeys(ids))
    while wanted and len(found) < _LONGEST_CHAIN:
        new = [record for record in records.get(*wanted) if record.id not in found]
        found.update((record.id, record) for record in new)
        links = [Validity.of(record) for record in new]
        beside = [other for each in links for other in (*each.replaces, each.replaced_by) if other]
        wanted = [other for other in dict.fromkeys(beside) if other not in found]
    return found


def _succeeded(item: ContextItem, chains: Mapping[str, Record]) -> ContextItem:
    """Name the last of an item's chain as what superseded it."""
    newest, seen = chains.get(item.id), {item.id}
    while newest is not None:
        by = Validity.of(newest).replaced_by
        if by is None or by not in chains or by in seen:
            break
        seen.add(by)
        newest = chains[by]
    if newest is None or newest.id == item.id:
        return item
    title = shortened_line(newest.text, _FIRST_WORDS)
    successor = Successor(newest.id, Validity.of(newest).start, None, title)
    return evolve(item, superseded_by=successor)
