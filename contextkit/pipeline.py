"""The stages, one after another: signals -> gather -> filter -> rank -> dedup -> allocate -> fit.

Here is what waits for sources; what is then made of their answers is `contextkit.finishing`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from attrs import define, evolve, field

from contextkit.asking.requests import with_budget
from contextkit.asking.sections import section_request, sections_to_ask, timeout_of
from contextkit.background import in_thread
from contextkit.errors import StoreError
from contextkit.filtering.gate import unless_talk
from contextkit.filtering.sifting import narrowed
from contextkit.finishing import Finishing
from contextkit.formatted import FormattedContext
from contextkit.gathering.admission import Admission
from contextkit.gathering.breakers import Breakers
from contextkit.gathering.gather import Answer, Question, gather
from contextkit.gathering.holding import held
from contextkit.logs import get_logger
from contextkit.models import ContextItem
from contextkit.records import Hit, Record, Records, Search
from contextkit.redaction import Redactor
from contextkit.registry import SourceRegistry
from contextkit.registry.hook_failures import Failed, log_failure
from contextkit.request import ContextRequest, Recipe, Section
from contextkit.signalling import Signalling
from contextkit.source_info import SourceInfo
from contextkit.store.base import RecordStore
from contextkit.store.batching import BatchSearcher
from contextkit.store.unopened import UnopenedStore
from contextkit.telemetry import Attributes, describe, span
from contextkit.tokens import FAMILIES, TokenCounter, counter_for
from contextkit.tokens.choice import find_counter
from contextkit.tracing import HookFailures, Stopwatch
from contextkit.updating.joining import joined, new_items
from contextkit.updating.ongoing import Before, Gathered, Ongoing, ongoing_of
from contextkit.use_history.history import UseHistory

__all__ = ["Pipeline"]

_log = get_logger(__name__)

_FOUND = "ok"


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
        history: what was chosen before, or None where nobody counts it.
        recall: adds to questions what a cache has kept of their answers, or None.
        redactor: replaces secrets.
        breakers: which of the sources are left alone for a while, as they keep failing.
    """

    registry: SourceRegistry
    store: RecordStore
    clock: Callable[[], datetime] = _now
    answer: Callable[[Search], Awaitable[list[Hit]]] | None = None
    history: UseHistory | None = None
    recall: Callable[[list[Question]], Awaitable[list[Question]]] | None = None
    breakers: Breakers = field(init=False)
    redactor: Redactor = field(init=False)
    _admission: Admission = field(init=False)

    @breakers.default
    def _make_breakers(self) -> Breakers:
        settings = self.registry.config.assemble
        return Breakers(settings.breaker_failures, settings.breaker_cooldown)

    @redactor.default
    def _make_redactor(self) -> Redactor:
        return Redactor(self.registry)

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
            asked: Attributes = {"recipe": request.recipe, "max_tokens": request.max_tokens}
            assembling = stack.enter_context(span("contextkit.assemble", asked))
            with watch.stage("queue"):
                await stack.enter_async_context(self._admission.turn())
            context = await self._assemble(request, recipe, watch)
            describe(assembling, {"tokens": context.token_count, "items": len(context.items)})
            return context

    async def _assemble(
        self, request: ContextRequest, recipe: Recipe, watch: Stopwatch
    ) -> FormattedContext:
        failures = HookFailures()
        request = self.redactor.request(request)
        sections = sections_to_ask(self.registry, recipe, request.exclude_sources)
        _log.info(
            "assembling_context",
            recipe=request.recipe,
            context_types=[section.source for section in sections],
            limit=request.limit,
            max_tokens=request.max_tokens,
        )
        with watch.stage("signals"):
            signalling = Signalling(self.registry, failures)
            request = evolve(request, signals=signalling(request.query, request.signals))
        with watch.stage("prepare"):
            count = await self.counter(request.tokens, failures)
        questions, answers = await self._gathered(request, sections, watch, signalling)
        gathered = Gathered(
            request=request, recipe=recipe, questions=questions, answers=answers, count=count
        )
        return await self._finishing(watch, failures)(gathered)

    async def update(
        self,
        context: FormattedContext,
        new: Sequence[ContextItem | Record],
        max_tokens: int | None = None,
    ) -> FormattedContext:
        """The context that is assembled where the sources find something new as well.

        No source is asked again; what is as it was is not formatted again. A context out of
        a cache is assembled anew first.

        Args:
            context: what `assemble` or this method gave in this process, or a cache.
            new: the items that join it, best first, or records of a source.
            max_tokens: the budget; default: the context's.

        Raises:
            InvalidContextTypeError: for an item of a plugin that is no source.
            InvalidRequestError: for a context that was not assembled here, or an item that
                is none.
        """
        ongoing = await self._ongoing(context)
        watch = Stopwatch()
        failures = HookFailures()
        request = with_budget(ongoing.gathered.request, max_tokens)
        signalling = Signalling(self.registry, failures)
        async with self._admission.turn():
            with watch.stage("join"):
                ask = partial(self._ask_with, request, signalling)
                given = await new_items(self.registry, new, ask)
                items = list(self.redactor.items(given))
                gathered = joined(
                    self.registry,
                    evolve(ongoing.gathered, request=request),
                    items,
                    lambda section: self._questions(request, [section], signalling, self.store)[0],
                )
            return await self._finishing(watch, failures)(gathered, Before(ongoing, items))

    async def _ongoing(self, context: FormattedContext) -> Ongoing:
        kept = ongoing_of(context)
        if isinstance(kept, Ongoing):
            return kept
        return await self._ongoing(await self.assemble(kept.request, kept.recipe))

    async def _ask_with(
        self,
        request: ContextRequest,
        signalling: Signalling,
        sources: Sequence[str],
        answer: Callable[[Search], Awaitable[list[Hit]]],
    ) -> list[Answer]:
        asking = evolve(self, answer=answer)
        sections = [Section(source=name) for name in sources]
        questions = asking._questions(request, sections, signalling, self.store)
        return await gather(self.registry, questions, request.deadline)

    def _finishing(self, watch: Stopwatch, failures: HookFailures) -> Finishing:
        return Finishing(
            registry=self.registry,
            store=self.store,
            clock=self.clock,
            history=self.history,
            watch=watch,
            failures=failures,
            gated=self.answer is None,
        )

    async def counter(self, name: str, failed: Failed = log_failure) -> TokenCounter:
        """What counts tokens by that name. Raises `InvalidRequestError` where nothing does."""
        if name in FAMILIES:
            return counter_for(name)
        # A plugin may have to load its tokenizer.
        return await in_thread(partial(find_counter, self.registry, name, failed))

    # -- gather ---------------------------------------------------------------------------

    async def ask(self, request: ContextRequest, recipe: Recipe) -> list[tuple[Question, Answer]]:
        """Ask a recipe's sources and do nothing with their answers.

        Raises what `assemble` raises before it ranks.
        """
        sections = sections_to_ask(self.registry, recipe, request.exclude_sources)
        signalling = Signalling(self.registry, log_failure)
        asked, answers = await self._gathered(request, sections, Stopwatch(), signalling)
        return list(zip(asked, answers, strict=True))

    async def _gathered(
        self,
        request: ContextRequest,
        sections: Sequence[Section],
        watch: Stopwatch,
        signalling: Signalling,
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
                questions = self._questions(request, sections, signalling, store)
                if self.recall is not None and request.cache:
                    questions = await self.recall(questions)
                answers = await gather(self.registry, questions, request.deadline)
        if isinstance(store, UnopenedStore) and not any(a.state == _FOUND for a in answers):
            raise store.error
        return questions, answers

    def _questions(
        self,
        request: ContextRequest,
        sections: Sequence[Section],
        signalling: Signalling,
        store: RecordStore | UnopenedStore,
    ) -> list[Question]:
        # A host's own searcher knows best what its records answer.
        searcher = self.answer or unless_talk(BatchSearcher(store), request)
        known = [plugin.name for plugin in self.registry.plugins]
        questions = []
        for section in sections:
            source = section.source
            # What a host's own searcher finds was never redacted.
            given: set[str] | None = set() if self.answer is None else None
            asked = section_request(self.registry, section, request)
            bound = evolve(
                narrowed(asked, self._info(source), source, known),
                signals=signalling(asked.query, asked.signals),
                records=Records(
                    store,
                    source,
                    request.project,
                    searcher,
                    user=request.user,
                    redactor=self.redactor,
                    given=given,
                ),
            )
            questions.append(
                Question(
                    section=section,
                    request=bound,
                    timeout=timeout_of(self.registry, section, request),
                    breaker=self.breakers.of(source),
                    limit=asked.limit,
                )
            )
        return questions

    def _info(self, source: str) -> SourceInfo:
        """What a source says of its records, as far as whatever answers its searches has it so."""
        info = self.registry.info(source)
        # What a host's own searcher finds may have no time, and passes then.
        return info if self.answer is None else evolve(info, dated=False)

    def records(self, source: str, project: str, user: str | None = None) -> Records:
        """A loaded source's records, for a project and a user."""
        return Records(self.store, source, project, user=user, redactor=self.redactor)
