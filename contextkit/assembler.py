"""The assembler: request -> gather -> rank -> dedup -> allocate -> fit -> render."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime

import structlog
from attrs import define, evolve, field

from contextkit.breaker import Breaker
from contextkit.fitting import Fitted, Lane, Piece, fit, fit_all
from contextkit.formatting import pieces_for
from contextkit.gather import Answer, Question, gather, in_thread
from contextkit.models import ContextRequest, FormattedContext, Recipe, Section
from contextkit.ranking import rank
from contextkit.records import Records
from contextkit.registry import SourceRegistry
from contextkit.rendering import Document, RenderedSection, render
from contextkit.sections import section_request, sections_to_ask, title_of
from contextkit.selection import Selection, select
from contextkit.store.base import RecordStore
from contextkit.store.batching import BatchSearcher
from contextkit.store.hybrid import MAX_QUERY_CHARACTERS
from contextkit.tokens import TokenCounter, counter_for
from contextkit.trace import Trace
from contextkit.tracing import Stopwatch, item_traces, source_traces

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
    counter: TokenCounter = field(factory=counter_for)
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
        watch = Stopwatch()
        sections = sections_to_ask(self.registry, recipe)
        async with self._open_store(watch):
            with watch.stage("gather"):
                questions = self._questions(request, sections)
                answers = await gather(self.registry, questions, request.deadline)
        with watch.stage("rank"):
            priorities = [self.registry.info(section.source).priority for section in sections]
            candidates = rank(answers, priorities, self.clock())
        with watch.stage("dedup"):
            selection = select(self.registry, candidates, request.min_relevance)
        with watch.stage("format"):
            pieces = pieces_for(self.registry, selection.kept, request.style, self.counter)
        with watch.stage("fit"):
            fitted = self._fit(request, recipe, sections, pieces)
        return self._context(request, answers, selection, fitted, watch.stages)

    # -- gather ---------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def _open_store(self, watch: Stopwatch) -> AsyncIterator[None]:
        """Hold the store while the sources ask it: one turn for all of them."""
        hold = self.store.hold()
        with watch.stage("prepare"):
            await in_thread(self.store.prepare)
            entering = asyncio.ensure_future(in_thread(hold.__enter__))
            try:
                await asyncio.shield(entering)
            except asyncio.CancelledError:
                entering.add_done_callback(
                    lambda entered: entered.exception() or hold.__exit__(None, None, None)
                )
                raise
        try:
            yield
        finally:
            hold.__exit__(None, None, None)

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

    def _fit(
        self,
        request: ContextRequest,
        recipe: Recipe,
        sections: Sequence[Section],
        pieces: Sequence[Piece],
    ) -> Fitted:
        waiting: dict[str, list[Piece]] = defaultdict(list)
        for piece in pieces:
            waiting[piece.candidate.section].append(piece)
        lanes = [
            Lane(
                key=section.key,
                weight=section.weight or self.registry.weight(section.source, request),
                heading=f"## {title_of(self.registry, section)}",
                pieces=waiting[section.key],
            )
            for section in sections
        ]
        source_of = {section.key: section.source for section in sections}

        def rendered(texts: Mapping[str, Sequence[str]]) -> str:
            shown = [section for section in sections if texts.get(section.key)]
            return render(
                Document(
                    title=recipe.title,
                    sections=[
                        RenderedSection(title_of(self.registry, section), texts[section.key])
                        for section in shown
                    ],
                    footer=_footer(recipe, texts, source_of),
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
                notes=self._notes(request, selection, fitted),
            ),
        )

    def _notes(
        self, request: ContextRequest, selection: Selection, fitted: Fitted
    ) -> tuple[str, ...]:
        notes = [self.store.problem] if self.store.problem else []
        if len(request.query) > MAX_QUERY_CHARACTERS:
            notes.append(
                f"the query has {len(request.query)} characters; "
                f"the first {MAX_QUERY_CHARACTERS} were searched for"
            )
        if selection.kept and not fitted.text:
            notes.append(f"not one item fits into {request.max_tokens} tokens")
        return tuple(notes)


def _footer(
    recipe: Recipe, texts: Mapping[str, Sequence[str]], source_of: Mapping[str, str]
) -> str:
    counts: Counter[str] = Counter()
    for key, shown in texts.items():
        counts[source_of[key]] += len(shown)
    used = [source for source, count in counts.items() if count]
    return recipe.footer.format(items=counts.total(), sources=len(used), counts=counts)
