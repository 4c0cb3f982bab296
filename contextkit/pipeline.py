"""The assembler: request -> gather -> rank -> dedup -> allocate -> fit -> render."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import structlog
from attrs import define, evolve, field

from contextkit.background import in_thread
from contextkit.breaker import Breaker
from contextkit.fitting import Fitted, Lane, Piece, fit, fit_all
from contextkit.formatting import pieces_for
from contextkit.gather import Answer, Question, gather
from contextkit.holding import held
from contextkit.hook_failures import Failed
from contextkit.models import ContextRequest, FormattedContext, Recipe, Section
from contextkit.ranking import rank
from contextkit.records import Records
from contextkit.registry import SourceRegistry
from contextkit.rendering import Document, RenderedSection, heading, render
from contextkit.sections import section_request, sections_to_ask, title_of
from contextkit.selection import Selection, select
from contextkit.store.base import RecordStore
from contextkit.store.batching import BatchSearcher
from contextkit.store.hybrid import MAX_QUERY_CHARACTERS
from contextkit.tokens import TokenCounter, counter_for
from contextkit.trace import Trace
from contextkit.tracing import HookFailures, Stopwatch, item_traces, source_traces

__all__ = ["ContextAssembler"]

_log = structlog.get_logger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


@define(eq=False)
class ContextAssembler:
    """Assembles contexts from the sources of a registry; safe to share between requests.

    Attributes:
        registry: the sources.
        store: where their records are.
        counter: counts tokens.
        clock: the time that ages are counted to.
    """

    registry: SourceRegistry
    store: RecordStore
    counter: TokenCounter = field(factory=lambda: counter_for("default"))
    clock: Callable[[], datetime] = _now
    _breakers: dict[str, Breaker] = field(factory=dict, init=False)

    async def assemble(self, request: ContextRequest, recipe: Recipe) -> FormattedContext:
        """Assemble the context that a recipe describes.

        What a source does wrong costs that source and is in the trace. The time that the
        store takes to open is not the sources' and does not count against their deadline.

        Raises:
            InvalidContextTypeError: for a section whose source is not there.
            StoreError: where the store does not open.
        """
        watch, failures = Stopwatch(), HookFailures()
        sections = sections_to_ask(self.registry, recipe)
        async with contextlib.AsyncExitStack() as stack:
            with watch.stage("prepare"):
                await in_thread(self.store.prepare)
                await stack.enter_async_context(held(self.store))
            with watch.stage("gather"):
                questions = self._questions(request, sections)
                answers = await gather(self.registry, questions, request.deadline)
        with watch.stage("rank"):
            priorities = [self.registry.info(section.source).priority for section in sections]
            candidates = rank(answers, priorities, self.clock())
        with watch.stage("dedup"):
            selection = select(self.registry, candidates, request.min_relevance, failures)
        with watch.stage("format"):
            pieces = pieces_for(
                self.registry, selection.kept, request.style, self.counter, failures
            )
        with watch.stage("fit"):
            fitted = self._fit(request, recipe, self._lanes(request, questions, pieces, failures))
        notes = [*self._notes(request, sections, selection, fitted), *failures.notes]
        return self._context(request, answers, selection, fitted, watch.stages, notes)

    # -- gather ---------------------------------------------------------------------------

    def _questions(self, request: ContextRequest, sections: Sequence[Section]) -> list[Question]:
        searcher = BatchSearcher(self.store)
        return [
            Question(
                section=section,
                request=evolve(
                    section_request(self.registry, section, request),
                    records=evolve(
                        self.records(section.source, request.project), searcher=searcher
                    ),
                ),
                timeout=self.registry.config.source(section.source).timeout
                or request.source_timeout,
                breaker=self._breaker(section.source),
            )
            for section in sections
        ]

    def records(self, source: str, project: str) -> Records:
        """A loaded source's records, for a project."""
        dense = self.registry.info(source).embedder == "default"
        return Records(self.store, source, project, dense)

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
        return [
            Lane(
                key=question.section.key,
                weight=question.section.weight
                or self.registry.weight(question.section.source, question.request, failed),
                heading=heading(title_of(self.registry, question.section), request.style),
                pieces=waiting[question.section.key],
            )
            for question in questions
        ]

    def _fit(self, request: ContextRequest, recipe: Recipe, lanes: Sequence[Lane]) -> Fitted:
        by_key = {section.key: section for section in recipe.sections}

        def rendered(texts: Mapping[str, Sequence[str]]) -> str:
            shown = [by_key[lane.key] for lane in lanes if texts.get(lane.key)]
            return render(
                Document(
                    title=recipe.title,
                    sections=[
                        RenderedSection(title_of(self.registry, section), texts[section.key])
                        for section in shown
                    ],
                    footer=_footer(recipe, texts, by_key),
                ),
                request.style,
            )

        fitting = fit_all if request.overflow == "soft" else fit
        return fitting(lanes, request.max_tokens, rendered, self.counter)

    # -- the result -----------------------------------------------------------------------

    def _context(
        self,
        request: ContextRequest,
        answers: Sequence[Answer],
        selection: Selection,
        fitted: Fitted,
        stages: Mapping[str, float],
        notes: Sequence[str],
    ) -> FormattedContext:
        placed = [entry for entries in fitted.placed.values() for entry in entries]
        exceeded = fitted.tokens > request.max_tokens
        if exceeded:
            _log.warning("token_budget_exceeded", budget=request.max_tokens, actual=fitted.tokens)
        items = [evolve(entry.piece.candidate.item, content=entry.text) for entry in placed]
        return FormattedContext(
            markdown=fitted.text,
            items=items,
            token_count=fitted.tokens,
            sources_used=dict(Counter(item.source for item in items)),
            budget_exceeded=exceeded,
            truncated_items=[e.piece.candidate.item.id for e in placed if e.truncated],
            trace=Trace(
                recipe=request.recipe,
                counter=self.counter.name,
                max_tokens=request.max_tokens,
                stages={stage: round(value, 3) for stage, value in stages.items()},
                sources=source_traces(answers, selection, fitted),
                items=item_traces(selection, fitted),
                notes=tuple(notes),
            ),
        )

    def _notes(
        self,
        request: ContextRequest,
        sections: Sequence[Section],
        selection: Selection,
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


def _footer(
    recipe: Recipe, texts: Mapping[str, Sequence[str]], sections: Mapping[str, Section]
) -> str:
    counts: Counter[str] = Counter()
    for key, shown in texts.items():
        counts[sections[key].source] += len(shown)
    used = [source for source, count in counts.items() if count]
    return recipe.footer.format(items=counts.total(), sources=len(used), counts=counts)
