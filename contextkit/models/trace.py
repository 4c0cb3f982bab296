"""The trace: what each stage did to each source and to each item, in text and numbers."""

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
    """What became of one section of the recipe.

    Attributes:
        section: the section's key.
        source: the source that was asked.
        state: `ok`; `empty`: nothing found; `below_floor`: found, none relevant enough;
            `failed`, `timed_out` (its own timeout), `cut_off` (the deadline of all);
            `breaker_open`: not asked, as it failed too often lately.
        milliseconds: how long it was waited for.
        candidates: items it returned.
        share: tokens of the budget that were its.
        used: tokens its items take in the text.
        given: tokens of its share that it left to others.
        taken: tokens it took over from others.
        fixed_share: what its share would be by weight alone; None where it is that.
        evidence: how much of the question its items have, 0..1; None where shares are fixed.
        breaker: the breaker's state after this request.
        reason: what went wrong, or why it has little room; or None.
        age: seconds since a cache kept what it answered; None where it was asked now.
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
    """What became of one candidate.

    Attributes:
        id: the item's id in its source.
        source: its source.
        section: the section it was found for.
        title: its short name.
        location: where the whole of it can be found, or None.
        scores: component -> value, each 0..1: `relevance` as the source gave it, `match`,
            that on the scale of all sources, `salience`, `recency`, `priority`, and
            `score`, their mean by the strategy's weights; `history` and `decay` where the
            strategy counts them; `support` where neighbours in a sequence lend it
            some; `rerank` where a reranker gave one, by which items are then ordered in place
            of the score; with diversity also `redundancy` and `rank_by`, this one as well where an
            update was put before what it supersedes.
        verdict: `kept`, `excerpt` (the parts that match), `truncated`, `compressed`
            (summarised), `duplicate`, `below_floor`, `over_limit` (beyond `[assemble]
            max_items`), `over_budget`, `weak` (not worth its tokens
            beside what others answer), or `filtered` where the request's own filters left it
            out, before it was scored.
        reason: why it has that verdict.
        tokens: tokens it takes in the text, 0 when it is not in it.
        whole_tokens: tokens it would take whole; 0 for what was dropped before that was
            known.
        duplicate_of: the item that it repeats, or None.
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
    """The entries of all candidates, made when they are first read: most contexts' never are."""

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
        # What makes the entries cannot be copied or sent elsewhere; they can.
        return tuple, (self._entries,)


@frozen(kw_only=True)
class CacheTrace:
    """What the cache of contexts did.

    Attributes:
        state: `hit`: the context was kept before; `kept`: it was assembled now and is kept;
            `not_kept`: it was assembled now and is not.
        age: seconds since it was kept, for a hit.
        hit_ratio: the part of all requests of this process that were hits, 0..1.
        reason: why it is not kept, or None.
    """

    state: Literal["hit", "kept", "not_kept"]
    age: float | None = None
    hit_ratio: float = 0.0
    reason: str | None = None


@frozen(kw_only=True)
class Trace:
    """What happened while one context was assembled.

    Attributes:
        recipe: the recipe's name.
        counter: what counted the tokens.
        max_tokens: the budget.
        stages: stage -> milliseconds, in the order in which they ran.
        sources: one entry per section.
        items: one entry per candidate.
        notes: what a person should know, such as a degraded search.
        cache: what the cache did; None where there is none, or it was passed over. The rest
            of a hit's trace is that of the assembly that made it.
        strategy: the numbers of the strategy, with its `name`.
        query: what was asked.
        signals: what the query says of itself, the plugins' knowledge included.
        redactions: how many marks of replaced secrets stand in the items of the context.
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
        """How long the assembly took, all stages together."""
        return sum(self.stages.values())

    @property
    def considered(self) -> Mapping[str, int]:
        """Source -> items that it returned."""
        counts: dict[str, int] = {}
        for row in self.sources:
            counts[row.source] = counts.get(row.source, 0) + row.candidates
        return counts
