"""Make a context from the sources' answers.

The stages are filter, rank, dedupe, format, allocate and fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from attrs import evolve, frozen

from contextkit.budget.fit import Fitted
from contextkit.budget.pieces import Lane, Piece
from contextkit.indexing.partial import never_indexed, partly_indexed
from contextkit.logs import get_logger
from contextkit.models.context import FormattedContext
from contextkit.models.copying import copied
from contextkit.models.request import ContextRequest, Section
from contextkit.models.source import SourceInfo
from contextkit.models.trace import ItemTraces, Trace
from contextkit.pipeline.additional import fit_with_list, left_for_items, with_additional
from contextkit.pipeline.compose import Composer
from contextkit.pipeline.filters import Filtered, filter_items
from contextkit.pipeline.gate import by_other_means, refuses
from contextkit.pipeline.lanes import lanes_for, weights_for
from contextkit.pipeline.looks import Look
from contextkit.pipeline.rank import diversify, rank
from contextkit.pipeline.reach import Reach
from contextkit.pipeline.recipes import floor_of, splits_by_evidence, title_of
from contextkit.pipeline.redact import marks_in
from contextkit.pipeline.request import unknown_sources
from contextkit.pipeline.rerank import HOOK as RERANK, rerank
from contextkit.pipeline.select import Dropped, Selection, beyond, select
from contextkit.pipeline.supersede import find_updates, mark_superseded
from contextkit.pipeline.trace import HookFailures, Stopwatch, item_traces, source_traces
from contextkit.pipeline.update import Before, Gathered, Ongoing, pieces_anew, text_key
from contextkit.pipeline.usage import Choosing, UseHistory
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.times import NEVER_SKIPPED, hook_times
from contextkit.store.base import RecordStore
from contextkit.store.hybrid import MAX_QUERY_CHARACTERS
from contextkit.text.questions import is_talk
from contextkit.text.signals import QuerySignals

_log = get_logger(__name__)

_COMPARED = 1000
"""Items that are compared with each other, the best, where a context may not have more."""

_Summaries = Mapping[object, Piece]


@frozen(kw_only=True)
class Completion:
    """Makes one context from the gathered answers.

    Attributes:
        registry: the sources.
        store: has the problem that degrades searches, if any.
        clock: the time that ages are counted to.
        history: the usage history, or None where it is off.
        watch: times the stages.
        failures: collects hooks that failed.
        gated: whether results are dropped where none answers the question.
    """

    registry: SourceRegistry
    store: RecordStore
    clock: Callable[[], datetime]
    history: UseHistory | None
    watch: Stopwatch
    failures: HookFailures
    gated: bool = True

    async def __call__(self, gathered: Gathered, before: Before | None = None) -> FormattedContext:
        """Make the context.

        Args:
            gathered: the questions and their answers.
            before: the context that is updated, or None for a new one.
        """
        request, count = gathered.request, gathered.count
        choosing = Choosing(self.history, request, self.watch)
        with self.watch.stage("filter"):
            filtered = filter_items(gathered.questions, gathered.answers, self._infos(gathered))
            weights = weights_for(self.registry, gathered.questions, self.failures)
        selection = await self._selected(gathered, filtered, choosing, weights)
        with self.watch.stage("format"):
            look = Look(request.style, request.detail)
            pieces = pieces_anew(
                self.registry,
                selection.kept,
                look,
                count,
                self.failures,
                before.ongoing.pieces if before else (),
                request.query,
                before.by_hand if before else (),
            )
        with self.watch.stage("fit"):
            # The meaning of a host searcher's scores and words is unknown.
            asked = request if self.gated else evolve(request, shares="fixed")
            lanes = lanes_for(
                self.registry, asked, gathered.questions, pieces, weights, selection.far
            )
        weak = {key: why for lane in lanes for key, why in lane.weak.items()}
        composer = self._composer(gathered, lanes)
        summaries: _Summaries = {}
        if request.compress and request.overflow == "hard" and request.detail != "compact":
            with self.watch.stage("compress"):
                lanes, summaries = await self._compressed(lanes, composer, gathered, before)
                left_out = [piece for piece in pieces if id(piece) in weak]
                pieces = [*(piece for lane in lanes for piece in lane.pieces), *left_out]
        with self.watch.stage("fit"):
            whole = with_additional(composer, count, lambda c: fit_with_list(lanes, c, count))
        _log_budgets(gathered, whole.fitted)
        await choosing.shown(whole.fitted)
        notes = [
            *self._notes(gathered, selection, whole.composer, whole.fitted),
            *whole.notes,
            *self.failures.notes,
            *_slow_plugins(gathered),
            *choosing.notes,
            *(before.notes(whole.fitted) if before else ()),
        ]
        times = hook_times()
        # The query may have secrets that a late plugin did not find.
        seen = times is None or not times.is_late(NEVER_SKIPPED)
        trace = Trace(
            recipe=request.recipe,
            counter=count.name,
            max_tokens=request.max_tokens,
            stages={stage: round(value, 3) for stage, value in self.watch.stages.items()},
            sources=source_traces(filtered.answers, selection, whole.fitted),
            items=ItemTraces(partial(item_traces, selection, pieces, whole.fitted, weak, before)),
            notes=tuple(notes),
            strategy=request.strategy.as_dict(),
            query=request.query if seen else "",
            signals=request.signals if seen else QuerySignals(),
            redactions=marks_in(
                entry.piece.candidate.item.content
                for placed in whole.fitted.placed.values()
                for entry in placed
            ),
        )
        context = _context(request, whole.composer, whole.fitted, trace)
        return evolve(context, ongoing=Ongoing(gathered, pieces, whole.fitted, summaries))

    def _infos(self, gathered: Gathered) -> list[SourceInfo]:
        return [self.registry.info(section.source) for section in gathered.sections]

    async def _selected(
        self,
        gathered: Gathered,
        filtered: Filtered,
        choosing: Choosing,
        weights: Mapping[str, float],
    ) -> Selection:
        """Select candidates, best first."""
        request, sections, infos = gathered.request, gathered.sections, self._infos(gathered)
        chosen = await choosing.signals(filtered.answers)
        with self.watch.stage("rank"):
            floors = {s.key: floor_of(self.registry, s, request) for s in sections}
            candidates = rank(
                filtered.answers, infos, self.clock(), request.strategy, floors, chosen
            )
            refused = refuses(request, sections, candidates, infos) if self.gated else None
        dropped: list[Dropped] = []
        if refused:
            of = {s.key: info for s, info in zip(sections, infos, strict=True)}
            by_words = [c for c in candidates if not by_other_means(of[c.section], c)]
            dropped = [Dropped(candidate, "below_floor", refused) for candidate in by_words]
            candidates = [c for c in candidates if by_other_means(of[c.section], c)]
        with self.watch.stage("dedup"):
            most = max(request.max_items, _COMPARED)
            threshold = request.dedup_threshold if request.dedup else None
            updating = {s.source for s, info in zip(sections, infos, strict=True) if info.updates}
            updates = find_updates(candidates, updating, floors)
            rerankers = self.registry.on_with(RERANK)
            reach = None
            if self.gated and not rerankers and _shows_the_best(request, sections):
                reach = Reach(request.max_tokens, weights)
            selection = select(
                self.registry,
                candidates,
                floors,
                self.failures,
                most,
                threshold,
                updates.linked,
                reach,
            )
        ranked = selection.kept
        if rerankers:
            with self.watch.stage("rerank"):
                ranked = await rerank(self.registry, rerankers, request, ranked, self.failures)
        with self.watch.stage("dedup"):
            ordered = diversify(ranked, request.diversity)
            dropped += beyond(ordered, request.max_items)
            kept = mark_superseded(ordered[: request.max_items], updates)
        dropped = [*dropped, *selection.dropped, *filtered.dropped]
        return Selection(kept, dropped, selection.far)

    async def _compressed(
        self,
        lanes: Sequence[Lane],
        composer: Composer,
        gathered: Gathered,
        before: Before | None,
    ) -> tuple[list[Lane], _Summaries]:
        """Replace pieces that do not fit by summaries.

        Returns the lanes and the summaries.
        """
        # Most assemblies compress nothing.
        from contextkit.pipeline.compress import Compressor

        request = gathered.request
        compressor = Compressor(
            registry=self.registry,
            query=request.query,
            max_tokens=left_for_items(request, gathered.count),
            render=composer.text,
            look=Look(request.style, request.detail),
            count=gathered.count,
            failed=self.failures,
            name=lambda piece: text_key(piece.candidate),
            known=before.ongoing.summaries if before else {},
        )
        return await compressor(lanes), compressor.made

    def _composer(self, gathered: Gathered, lanes: Sequence[Lane]) -> Composer:
        return Composer(
            request=gathered.request,
            recipe=gathered.recipe,
            titles={s.key: title_of(self.registry, s) for s in gathered.sections},
            precedence={lane.key: lane.precedence for lane in lanes},
            include_sources=gathered.request.include_sources,
        )

    def _notes(
        self, gathered: Gathered, selection: Selection, composer: Composer, fitted: Fitted
    ) -> Iterator[str]:
        """Collect the notes of the trace."""
        request = gathered.request
        if self.store.problem:
            yield self.store.problem
        checkout = gathered.questions[0].request.records.checkout if gathered.questions else None
        if checkout is not None:
            asked = {section.source for section in gathered.sections}
            yield from partly_indexed(checkout.root, asked)
            found = selection.kept or selection.dropped or is_talk(request.query)
            if not found and any(self.registry.implements(s, "contextkit_index") for s in asked):
                yield from never_indexed(checkout.root)
        named = [*request.strategy.budget, *request.strategy.limits]
        for name in unknown_sources(self.registry, named):
            yield f"the strategy '{request.strategy.name}' names '{name}', which is not a source"
        if not gathered.sections:
            yield "no source was queried: none is on, or none was named"
        if len(request.query) > MAX_QUERY_CHARACTERS:
            yield (
                f"the query has {len(request.query)} characters; "
                f"the first {MAX_QUERY_CHARACTERS} were searched for"
            )
        shows_items = any(fitted.placed.values())
        if selection.kept and not shows_items:
            yield f"no item fits into {request.max_tokens} tokens"
        if request.include_sources and shows_items and not composer.include_sources:
            yield "the list of sources was left out: it takes too much of the budget"


def _shows_the_best(request: ContextRequest, sections: Sequence[Section]) -> bool:
    """Whether a context shows the best results, in excerpts of some length.

    A split by hand, a summary or a line for each has room for more, and diversity for others.
    """
    shortens = request.compress or request.detail == "compact" or request.fill
    return splits_by_evidence(sections, request) and not shortens and not request.diversity


def _slow_plugins(gathered: Gathered) -> Iterator[str]:
    """Note the plugins that held this assembly, and those that are skipped as they did before.

    A late hook is noted as failed, and the row of a skipped source says so already.
    """
    times = hook_times()
    if times is None:
        return
    for slow in times.slow():
        if slow.late and slow.hook == NEVER_SKIPPED:
            yield f"{slow.plugin}: {slow.reason}; texts that it did not check are left out"
        elif not slow.late:
            what = "never skipped" if slow.hook == NEVER_SKIPPED else "skipped for a while"
            yield f"{slow.plugin}: {slow.reason}; it is {what}"
    queried = {section.source for section in gathered.sections}
    for plugin, reason in times.skipped.items():
        if plugin not in queried:
            yield f"{plugin}: its hooks were skipped: {reason}"


def _log_budgets(gathered: Gathered, fitted: Fitted) -> None:
    for section in gathered.sections:
        if account := fitted.accounts.get(section.key):
            _log.debug(
                "source_budget_used",
                section=section.key,
                source=section.source,
                budget=account.share,
                used=account.used,
                items_selected=len(fitted.placed.get(section.key, ())),
            )


def _context(
    request: ContextRequest, composer: Composer, fitted: Fitted, trace: Trace
) -> FormattedContext:
    placed = composer.in_order(fitted.placed)
    exceeded = fitted.tokens > request.max_tokens
    if exceeded:
        _log.warning("token_budget_exceeded", budget=request.max_tokens, actual=fitted.tokens)
    shown = [copied(entry.piece.candidate.item, content=entry.text) for entry in placed]
    return FormattedContext(
        markdown=fitted.text,
        items=shown,
        token_count=fitted.tokens,
        sources_used=dict(Counter(item.source for item in shown)),
        budget_exceeded=exceeded,
        truncated_items=[
            entry.piece.candidate.item.id
            for entry in placed
            if entry.truncated or entry.piece.summary_of
        ],
        trace=trace,
        additional=composer.additional,
    )
