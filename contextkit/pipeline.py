"""The stages, one after another: gather -> rank -> dedup -> allocate -> fit -> render."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

from attrs import define, evolve, field

from contextkit.admission import Admission
from contextkit.background import in_thread
from contextkit.breaker import Breaker
from contextkit.budget import by_match
from contextkit.composing import Composer
from contextkit.counting import find_counter
from contextkit.diversity import diversify
from contextkit.errors import StoreError
from contextkit.fitting import Fitted, Lane, Piece, fit, fit_all
from contextkit.formatted import FormattedContext
from contextkit.formatting import pieces_for
from contextkit.gather import Answer, Question, gather
from contextkit.holding import held
from contextkit.hook_failures import Failed
from contextkit.logs import get_logger
from contextkit.looks import Look
from contextkit.models import ContextRequest, Recipe, Section
from contextkit.ranking import rank
from contextkit.records import Hit, Records, Search
from contextkit.registry import SourceRegistry
from contextkit.rendering import heading
from contextkit.sections import floor_of, section_request, sections_to_ask, timeout_of, title_of
from contextkit.selection import Selection, select
from contextkit.store.base import RecordStore
from contextkit.store.batching import BatchSearcher
from contextkit.store.hybrid import MAX_QUERY_CHARACTERS
from contextkit.store.unopened import UnopenedStore
from contextkit.tokens import FAMILIES, TokenCounter, counter_for
from contextkit.trace import ItemTraces, Trace
from contextkit.tracing import HookFailures, Stopwatch, item_traces, source_traces
from contextkit.updates import mark_superseded

__all__ = ["Pipeline"]

_ANSWERED = frozenset({"ok", "empty"})
_SOURCE_LIST_PART = 4
"""The list of sources takes no more of the budget than one part in so many."""

_log = get_logger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


@define(eq=False)
class Pipeline:
    """Assembles contexts from the sources of a registry; safe to share between requests.

    Attributes:
        registry: the sources.
        store: where their records are.
        clock: the time that ages are counted to.
        answer: answers searches in place of the store's batches, or None.
        recall: adds to questions what a cache has kept of their answers, or None.
    """

    registry: SourceRegistry
    store: RecordStore
    clock: Callable[[], datetime] = _now
    answer: Callable[[Search], Awaitable[list[Hit]]] | None = None
    recall: Callable[[list[Question]], Awaitable[list[Question]]] | None = None
    _breakers: dict[str, Breaker] = field(factory=dict, init=False)
    _admission: Admission = field(init=False)

    @_admission.default
    def _make_admission(self) -> Admission:
        return Admission(self.registry.config.assemble.concurrency)

    async def assemble(self, request: ContextRequest, recipe: Recipe) -> FormattedContext:
        """Assemble the context that a recipe describes.

        What a source does wrong costs that source and is in the trace. The time that the
        store takes to open, and that others' assemblies take before this one's turn, is not
        the sources' and does not count against their deadline.

        Raises:
            InvalidContextTypeError: for a section whose source is not there.
            InvalidRequestError: where nothing counts by `request.tokens`.
            StoreError: where the store does not open, and no source answers without it.
        """
        watch = Stopwatch()
        async with contextlib.AsyncExitStack() as stack:
            with watch.stage("queue"):
                await stack.enter_async_context(self._admission.turn())
            return await self._assemble(request, recipe, watch)

    async def _assemble(
        self, request: ContextRequest, recipe: Recipe, watch: Stopwatch
    ) -> FormattedContext:
        failures = HookFailures()
        sections = sections_to_ask(self.registry, recipe)
        with watch.stage("prepare"):
            count = await self._counter(request, failures)
        questions, answers = await self._gathered(request, sections, watch)
        with watch.stage("rank"):
            infos = [self.registry.info(section.source) for section in sections]
            floors = {s.key: floor_of(self.registry, s, request) for s in sections}
            candidates = rank(answers, infos, self.clock(), self.registry.config.ranking, floors)
        with watch.stage("dedup"):
            selection = select(self.registry, candidates, floors, failures)
            updating = {s.source for s, info in zip(sections, infos, strict=True) if info.updates}
            kept = mark_superseded(diversify(selection.kept, request.diversity), updating)
            selection = evolve(selection, kept=kept)
        with watch.stage("format"):
            look = Look(request.style, request.detail)
            pieces = pieces_for(self.registry, kept, look, count, failures)
        with watch.stage("fit"):
            lanes = self._lanes(request, questions, pieces, failures)
            composer, fitted = _fitted(lanes, self._composer(request, recipe, sections), count)
        notes = [*self._notes(request, sections, selection, composer, fitted), *failures.notes]
        trace = Trace(
            recipe=request.recipe,
            counter=count.name,
            max_tokens=request.max_tokens,
            stages={stage: round(value, 3) for stage, value in watch.stages.items()},
            sources=source_traces(answers, selection, fitted),
            items=ItemTraces(partial(item_traces, selection, pieces, fitted)),
            notes=tuple(notes),
        )
        return _context(request, composer, fitted, trace)

    async def _counter(self, request: ContextRequest, failed: Failed) -> TokenCounter:
        if request.tokens in FAMILIES:
            return counter_for(request.tokens)
        # A plugin may have to load its tokenizer.
        return await in_thread(partial(find_counter, self.registry, request.tokens, failed))

    # -- gather ---------------------------------------------------------------------------

    async def ask(self, request: ContextRequest, recipe: Recipe) -> list[tuple[Question, Answer]]:
        """Ask a recipe's sources and do nothing with their answers.

        Raises what `assemble` raises before it ranks.
        """
        sections = sections_to_ask(self.registry, recipe)
        asked, answers = await self._gathered(request, sections, Stopwatch())
        return list(zip(asked, answers, strict=True))

    async def _gathered(
        self, request: ContextRequest, sections: Sequence[Section], watch: Stopwatch
    ) -> tuple[list[Question], list[Answer]]:
        async with contextlib.AsyncExitStack() as stack:
            with watch.stage("prepare"):
                searched = [(s.source, s.query or request.query) for s in sections]
                prepare = partial(self.store.prepare, searched)
                store: RecordStore | UnopenedStore = self.store
                try:
                    await stack.enter_async_context(held(self.store, prepare))
                except StoreError as error:
                    store = UnopenedStore(error)
            with watch.stage("gather"):
                questions = self._questions(request, sections, store)
                if self.recall is not None and request.cache:
                    questions = await self.recall(questions)
                answers = await gather(self.registry, questions, request.deadline)
        if isinstance(store, UnopenedStore) and not any(a.state in _ANSWERED for a in answers):
            raise store.error
        return questions, answers

    def _questions(
        self,
        request: ContextRequest,
        sections: Sequence[Section],
        store: RecordStore | UnopenedStore,
    ) -> list[Question]:
        searcher = self.answer or BatchSearcher(store)
        return [
            Question(
                section=section,
                request=evolve(
                    section_request(self.registry, section, request),
                    records=Records(store, section.source, request.project, searcher),
                ),
                timeout=timeout_of(self.registry, section, request),
                breaker=self._breaker(section.source),
            )
            for section in sections
        ]

    def records(self, source: str, project: str) -> Records:
        """A loaded source's records, for a project."""
        return Records(self.store, source, project)

    def _breaker(self, source: str) -> Breaker:
        if source not in self._breakers:
            settings = self.registry.config.assemble
            self._breakers[source] = Breaker(settings.breaker_failures, settings.breaker_cooldown)
        return self._breakers[source]

    # -- allocate, fit, render ------------------------------------------------------------

    def _lanes(
        self,
        request: ContextRequest,
        questions: Sequence[Question],
        pieces: Sequence[Piece],
        failed: Failed,
    ) -> list[Lane]:
        waiting: dict[str, list[Piece]] = defaultdict(list)
        for piece in pieces:
            waiting[piece.candidate.section].append(piece)
        lanes = [
            Lane(
                key=question.section.key,
                weight=question.section.weight
                or self.registry.weight(question.section.source, question.request, failed),
                heading=heading(title_of(self.registry, question.section), request.style),
                pieces=waiting[question.section.key],
            )
            for question in questions
        ]
        return lanes if request.shares == "fixed" else _by_match(lanes)

    def _composer(
        self, request: ContextRequest, recipe: Recipe, sections: Sequence[Section]
    ) -> Composer:
        return Composer(
            request=request,
            recipe=recipe,
            titles={section.key: title_of(self.registry, section) for section in sections},
            include_sources=request.include_sources,
        )

    # -- the trace ------------------------------------------------------------------------

    def _notes(
        self,
        request: ContextRequest,
        sections: Sequence[Section],
        selection: Selection,
        composer: Composer,
        fitted: Fitted,
    ) -> Iterator[str]:
        if self.store.problem:
            yield self.store.problem
        if not sections:
            yield "no source was asked: none is on, or none was named"
        if len(request.query) > MAX_QUERY_CHARACTERS:
            yield (
                f"the query has {len(request.query)} characters; "
                f"the first {MAX_QUERY_CHARACTERS} were searched for"
            )
        if selection.kept and not fitted.text:
            yield f"not one item fits into {request.max_tokens} tokens"
        if request.include_sources and fitted.text and not composer.include_sources:
            yield "the list of sources was left out: it takes too much of the budget"


def _by_match(lanes: Sequence[Lane]) -> list[Lane]:
    """The same lanes with weights that follow what was found."""
    weights = by_match(
        {lane.key: lane.weight for lane in lanes},
        {lane.key: [piece.candidate.scores.match for piece in lane.pieces] for lane in lanes},
    )
    return [evolve(lane, weight=weights[lane.key]) for lane in lanes]


def _fitted(
    lanes: Sequence[Lane], composer: Composer, count: TokenCounter
) -> tuple[Composer, Fitted]:
    """What got in, with the list of sources if it is wanted and takes little enough."""
    request = composer.request
    fitting = fit_all if request.overflow == "soft" else fit
    fitted = fitting(lanes, request.max_tokens, composer.text, count)
    if composer.include_sources:
        listed = count(composer.source_list(fitted.placed))
        fits = fitted.text and listed * _SOURCE_LIST_PART <= request.max_tokens
        if not fits or not _shows_the_best(fitted, lanes):
            bare = composer.without_sources()
            without = fitting(lanes, request.max_tokens, bare.text, count)
            if not fits or _shows_the_best(without, lanes):
                return bare, without
    return composer, fitted


def _shows_the_best(fitted: Fitted, lanes: Sequence[Lane]) -> bool:
    best = min(
        (piece for lane in lanes for piece in lane.pieces[:1]),
        key=lambda piece: piece.candidate.order,
        default=None,
    )
    placed = (entry.piece for entries in fitted.placed.values() for entry in entries)
    return best is None or any(piece is best for piece in placed)


def _context(
    request: ContextRequest, composer: Composer, fitted: Fitted, trace: Trace
) -> FormattedContext:
    placed = composer.in_order(fitted.placed)
    exceeded = fitted.tokens > request.max_tokens
    if exceeded:
        _log.warning("token_budget_exceeded", budget=request.max_tokens, actual=fitted.tokens)
    shown = [evolve(entry.piece.candidate.item, content=entry.text) for entry in placed]
    return FormattedContext(
        markdown=fitted.text,
        items=shown,
        token_count=fitted.tokens,
        sources_used=dict(Counter(item.source for item in shown)),
        budget_exceeded=exceeded,
        truncated_items=[e.piece.candidate.item.id for e in placed if e.truncated],
        trace=trace,
    )
