"""The trace: what each stage did to sources and items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, overload

from attrs import field, frozen

from contextkit.models.items import Provenance, Successor
from contextkit.models.strategy import DEFAULT
from contextkit.text.signals import QuerySignals

SourceState = Literal[
    "ok", "empty", "below_floor", "failed", "timed_out", "cut_off", "breaker_open"
]
Verdict = Literal[
    "kept",
    "excerpt",
    "truncated",
    "compressed",
    "duplicate",
    "below_floor",
    "over_limit",
    "weak",
    "over_budget",
    "filtered",
]


@frozen(kw_only=True)
class SourceTrace:
    """The outcome of one section of the recipe.

    Attributes:
        section: the section's key.
        source: the source.
        state: `ok`; `empty`: nothing found; `below_floor`: nothing relevant enough found;
            `failed`; `timed_out`: by its own timeout; `cut_off`: by the deadline of all;
            `breaker_open`: skipped after repeated failures.
        milliseconds: the waiting time.
        candidates: the number of returned items.
        share: its tokens of the budget.
        used: the tokens of its items in the text.
        given: tokens of its share that it left to others.
        taken: tokens that it used of others' shares.
        fixed_share: its share by weight alone; None if that is its share.
        evidence: its items' share of the question, 0..1; None with fixed shares.
        breaker: the breaker's state after this request.
        reason: the error, or why it has little room; or None.
        age: seconds since its result was cached; None for a new result.
    """

    section: str
    source: str
    state: SourceState
    milliseconds: float
    candidates: int = 0
    share: int = 0
    used: int = 0
    given: int = 0
    taken: int = 0
    fixed_share: int | None = None
    evidence: float | None = None
    breaker: str = "closed"
    reason: str | None = None
    age: float | None = None


@frozen(kw_only=True)
class ItemTrace:
    """The outcome of one candidate.

    Attributes:
        id: the item's id in its source.
        source: its source.
        section: its section.
        title: its short name.
        location: the place of the whole item, or None.
        scores: component -> value, each 0..1: `relevance` from the source, `match`, which is
            comparable between sources, `salience`, `recency`, `priority`, and `score`, their
            mean by the strategy's weights; `history` and `decay` if the strategy uses them;
            `support` if neighbours in a sequence support it; with diversity also `redundancy`
            and `rank_by`, the latter also if an update was moved before the superseded item.
        verdict: `kept`, `excerpt` (only matching parts), `truncated`, `compressed`
            (summarised), `duplicate`, `below_floor`, `over_limit` (beyond `[assemble]
            max_items`), `over_budget`, `weak` (not worth its tokens beside better answers), or
            `filtered` (removed by the request's filters before scoring).
        reason: an explanation of the verdict.
        tokens: its tokens in the text, 0 if it is not in it.
        whole_tokens: the tokens of the whole item; 0 if it was dropped before they were
            counted.
        duplicate_of: the item that it duplicates, or None.
        also_in: the duplicates whose provenance it carries.
        superseded_by: the newest item that contradicts it, or None.
    """

    id: str
    source: str
    section: str
    title: str
    scores: Mapping[str, float]
    verdict: Verdict
    reason: str
    tokens: int = 0
    whole_tokens: int = 0
    location: str | None = None
    duplicate_of: Provenance | None = None
    also_in: tuple[Provenance, ...] = ()
    superseded_by: Successor | None = None


@frozen(slots=False, eq=False)
class ItemTraces(Sequence[ItemTrace]):
    """The entries of all candidates, created on first read."""

    _make: Callable[[], tuple[ItemTrace, ...]]

    @cached_property
    def _entries(self) -> tuple[ItemTrace, ...]:
        return self._make()

    @overload
    def __getitem__(self, place: int) -> ItemTrace: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ItemTrace, ...]: ...
    def __getitem__(self, place: int | slice) -> ItemTrace | tuple[ItemTrace, ...]:
        return self._entries[place]

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[ItemTrace]:
        return iter(self._entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._entries == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._entries)

    def __reduce__(self) -> tuple[type[tuple[ItemTrace, ...]], tuple[tuple[ItemTrace, ...]]]:
        # The function that creates the entries cannot be copied or pickled; the entries can.
        return tuple, (self._entries,)


@frozen(kw_only=True)
class CacheTrace:
    """What the cache of contexts did.

    Attributes:
        state: `hit`: the context was cached; `kept`: it was assembled and is cached now;
            `not_kept`: it was assembled and is not cached.
        age: for a hit, seconds since it was cached.
        hit_ratio: the share of hits in all requests of this process, 0..1.
        reason: why it is not cached, or None.
    """

    state: Literal["hit", "kept", "not_kept"]
    age: float | None = None
    hit_ratio: float = 0.0
    reason: str | None = None


@frozen(kw_only=True)
class Trace:
    """The record of one context's assembly.

    Attributes:
        recipe: the recipe's name.
        counter: the name of the token counter.
        max_tokens: the budget.
        stages: stage -> milliseconds, in their order.
        sources: one entry per section.
        items: one entry per candidate.
        notes: messages for the user, such as a degraded search.
        cache: what the cache did; None without a cache, or if it was not used. The rest of a
            hit's trace is that of the original assembly.
        strategy: the numbers of the strategy, with its `name`.
        query: the query.
        signals: the query's signals, with those from plugins.
        redactions: the number of replaced secrets in the context's items.
    """

    recipe: str
    counter: str
    max_tokens: int
    stages: Mapping[str, float]
    sources: tuple[SourceTrace, ...]
    items: Sequence[ItemTrace]
    notes: tuple[str, ...] = field(default=())
    cache: CacheTrace | None = None
    strategy: Mapping[str, Any] = field(factory=DEFAULT.as_dict)
    query: str = ""
    signals: QuerySignals = field(factory=QuerySignals)
    redactions: int = 0

    @property
    def milliseconds(self) -> float:
        """The time of the assembly, all stages together."""
        return sum(self.stages.values())

    @property
    def considered(self) -> Mapping[str, int]:
        """Source -> number of returned items."""
        counts: dict[str, int] = {}
        for row in self.sources:
            counts[row.source] = counts.get(row.source, 0) + row.candidates
        return counts
