"""Run the stages: signals, gather, filter, rank, dedupe, allocate, fit.

This module reads the queries' signals and waits for the sources. `contextkit.pipeline.assemble`
makes a context of their answers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from attrs import define, evolve, field

from contextkit.concurrency import in_thread
from contextkit.errors import StoreError
from contextkit.logs import Attributes, describe, get_logger, span
from contextkit.models.context import FormattedContext
from contextkit.models.copying import copied
from contextkit.models.items import ContextItem
from contextkit.models.record import Hit, Record, Search
from contextkit.models.records import Records
from contextkit.models.request import ContextRequest, Recipe, Section
from contextkit.models.source import SourceInfo
from contextkit.pipeline.admission import Admission
from contextkit.pipeline.assemble import Completion
from contextkit.pipeline.breakers import Breakers
from contextkit.pipeline.filters import with_filters
from contextkit.pipeline.gate import unless_talk
from contextkit.pipeline.gather import Answer, Question, gather
from contextkit.pipeline.observers import Observers
from contextkit.pipeline.recipes import section_requests, sections_to_ask, timeout_of
from contextkit.pipeline.redact import Redactor
from contextkit.pipeline.request import with_budget
from contextkit.pipeline.trace import HookFailures, Stopwatch
from contextkit.pipeline.update import Before, Gathered, Ongoing, joined, new_items, ongoing_of
from contextkit.pipeline.usage import UseHistory
from contextkit.plugin.checks import Failed, checked_signals, log_failure
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.tokenizers import requested_counter
from contextkit.store.base import RecordStore
from contextkit.store.hold import BatchSearcher, held
from contextkit.store.open import UnopenedStore
from contextkit.store.ownership import Ownership
from contextkit.store.projects import checkout_of
from contextkit.text.questions import signals_of
from contextkit.text.signals import QuerySignals
from contextkit.text.tokens import FAMILIES, TokenCounter, counter_for

_HOOK = "contextkit_signals"


@define(eq=False)
class Signalling:
    """Query signals of the core and the enabled plugins.

    An instance serves one assembly.

    A plugin whose hook fails adds nothing, and `failed` is called.

    Attributes:
        registry: the plugins.
        failed: called for hooks that fail.
    """

    registry: SourceRegistry
    failed: Failed
    _known: dict[str, QuerySignals] = field(factory=dict, init=False)

    def __call__(self, query: str, own: QuerySignals | None = None) -> QuerySignals:
        """Return a query's signals; repeated queries reuse them.

        Args:
            query: the query.
            own: the core's signals, where they are known.
        """
        if query not in self._known:
            self._known[query] = self._united(query, own or signals_of(query))
        return self._known[query]

    def _united(self, query: str, own: QuerySignals) -> QuerySignals:
        united = own
        for plugin in self.registry.on_with(_HOOK):
            more = self.registry.attempt(
                plugin,
                _HOOK,
                partial(checked_signals, plugin),
                self.failed,
                query=query,
                signals=own,
            )
            if more is not None:
                united = united.united(more)
        return united


_log = get_logger(__name__)

_FOUND = "ok"


def _now() -> datetime:
    return datetime.now(UTC)


@define(eq=False)
class Pipeline:
    """Assembles contexts from a registry's sources; requests may share it.

    Attributes:
        registry: the sources.
        store: where their records are.
        clock: the time that ages are counted to.
        answer: answers searches in place of the store's batches, or None.
        history: the usage history, or None where it is off.
        recall: adds cached answers to questions, or None.
        redactor: replaces secrets.
        observers: the plugins that see each context after it was made.
        ownership: which records belong to this user and this installation.
        breakers: stop asking sources that keep failing, for a while.
    """

    registry: SourceRegistry
    store: RecordStore
    clock: Callable[[], datetime] = _now
    answer: Callable[[Search], Awaitable[list[Hit]]] | None = None
    history: UseHistory | None = None
    recall: Callable[[list[Question]], Awaitable[list[Question]]] | None = None
    breakers: Breakers = field(init=False)
    redactor: Redactor = field(init=False)
    observers: Observers = field(init=False)
    ownership: Ownership = field(init=False)
    _admission: Admission = field(init=False)

    @breakers.default
    def _make_breakers(self) -> Breakers:
        settings = self.registry.config.assemble
        return Breakers(settings.breaker_failures, settings.breaker_cooldown)

    @redactor.default
    def _make_redactor(self) -> Redactor:
        return Redactor(self.registry)

    @observers.default
    def _make_observers(self) -> Observers:
        return Observers(self.registry)

    @ownership.default
    def _make_ownership(self) -> Ownership:
        return Ownership.of(self.registry.config)

    @_admission.default
    def _make_admission(self) -> Admission:
        return Admission(self.registry.config.assemble.concurrency)

    async def assemble(self, request: ContextRequest, recipe: Recipe) -> FormattedContext:
        """Assemble the context that a recipe describes.

        A failure of a source affects only that source, and is recorded in the trace. The sources'
        deadline excludes the time in which the store opens and the wait for a turn among other
        assemblies.

        Raises:
            InvalidContextTypeError: for a section whose source does not exist.
            InvalidRequestError: where no counter has the name in `request.tokens`.
            StoreError: where the store does not open, and no source answers without it.
        """
        watch = Stopwatch()
        async with contextlib.AsyncExitStack() as stack:
            asked: Attributes = {"recipe": request.recipe, "max_tokens": request.max_tokens}
            assembling = stack.enter_context(span("contextkit.assemble", asked))
            with watch.stage("queue"):
                await stack.enter_async_context(self._admission.turn())
            stack.enter_context(self.breakers.timed())
            context = await self._assemble(request, recipe, watch)
            describe(assembling, {"tokens": context.token_count, "items": len(context.items)})
            return context

    async def _assemble(
        self, request: ContextRequest, recipe: Recipe, watch: Stopwatch
    ) -> FormattedContext:
        failures = HookFailures()
        request = await self.redactor.request(request)
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
            request = copied(request, signals=signalling(request.query, request.signals))
        with watch.stage("prepare"):
            count = await self.counter(request.tokens, failures)
        questions, answers = await self._gathered(request, sections, watch, signalling)
        gathered = Gathered(
            request=request, recipe=recipe, questions=questions, answers=answers, count=count
        )
        return await self._completion(watch, failures)(gathered)

    async def update(
        self,
        context: FormattedContext,
        new: Sequence[ContextItem | Record],
        max_tokens: int | None = None,
    ) -> FormattedContext:
        """Add new items to a context without querying the sources.

        The result is the context of an assembly in which the sources find the new items as well.
        Unchanged items are not formatted again. A context from a cache is assembled anew first.

        Args:
            context: the result of `assemble` or of this method in this process, or a cached one.
            new: the items to add, best first, or records of a source.
            max_tokens: the budget; default: the context's.

        Raises:
            InvalidContextTypeError: for an item of a plugin that is not a source.
            InvalidRequestError: for a context that was not assembled here, or an invalid item.
            SourceError: where a plugin does not redact the new items in time.
        """
        ongoing = await self._ongoing(context)
        watch = Stopwatch()
        failures = HookFailures()
        request = with_budget(ongoing.gathered.request, max_tokens)
        signalling = Signalling(self.registry, failures)
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(self._admission.turn())
            stack.enter_context(self.breakers.timed())
            with watch.stage("join"):
                ask = partial(self._ask_with, request, signalling)
                given = await new_items(self.registry, new, ask)
                redact = partial(Redactor.items, items=given)
                items = list(await self.redactor.within(request.deadline, redact))
                gathered = joined(
                    self.registry,
                    evolve(ongoing.gathered, request=request),
                    items,
                    lambda section: self._questions(request, [section], signalling, self.store)[0],
                )
            by_hand = {(each.source, each.id) for each in new if isinstance(each, ContextItem)}
            before = Before(ongoing, items, by_hand)
            return await self._completion(watch, failures)(gathered, before)

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
        return await gather(self.registry, questions, request.deadline, redactor=self.redactor)

    def _completion(self, watch: Stopwatch, failures: HookFailures) -> Completion:
        return Completion(
            registry=self.registry,
            store=self.store,
            clock=self.clock,
            history=self.history,
            watch=watch,
            failures=failures,
            gated=self.answer is None,
        )

    async def counter(self, name: str, failed: Failed = log_failure) -> TokenCounter:
        """Return the token counter of that name.

        Raises `InvalidRequestError` where there is none, or `ConfigError` for a setting.
        """
        if name in FAMILIES:
            return counter_for(name)
        # A plugin may have to load its tokenizer.
        return await in_thread(partial(requested_counter, self.registry, name, failed))

    # -- gather ---------------------------------------------------------------------------

    async def ask(self, request: ContextRequest, recipe: Recipe) -> list[tuple[Question, Answer]]:
        """Query a recipe's sources, and return their raw answers.

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
                answers = await gather(
                    self.registry,
                    questions,
                    request.deadline,
                    self.registry.config.assemble.concurrent_sources,
                    self.redactor,
                )
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
        # A host's own searcher decides itself which records answer a query.
        searcher = self.answer or unless_talk(BatchSearcher(store), request)
        known = [plugin.name for plugin in self.registry.plugins]
        questions = []
        checkout = checkout_of(self.registry, self.ownership, request.project, request.workspace)
        records = [
            Records(
                store,
                section.source,
                request.project,
                searcher,
                user=request.user,
                checkout=checkout,
                own=self.ownership.user,
                redactor=self.redactor,
                # The results of a host's own searcher were not redacted before.
                given=set() if self.answer is None else None,
            )
            for section in sections
        ]
        requests = section_requests(self.registry, sections, request, records)
        for section, asked, own in zip(sections, requests, records, strict=True):
            source = section.source
            bound = copied(
                with_filters(asked, self._info(source), source, known),
                signals=signalling(asked.query, asked.signals),
                records=own,
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
        """Return a source's description, adjusted to the active searcher."""
        info = self.registry.info(source)
        # Results of a host's own searcher may have no time; they then pass the time filter.
        return info if self.answer is None else evolve(info, dated=False)

    def records(
        self,
        source: str,
        project: str,
        user: str | None = None,
        workspace: Path | None = None,
    ) -> Records:
        """Return a loaded source's records for project, user and workspace."""
        return Records(
            self.store,
            source,
            project,
            user=user,
            checkout=checkout_of(self.registry, self.ownership, project, workspace),
            own=self.ownership.user,
            redactor=self.redactor,
        )
