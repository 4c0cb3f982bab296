"""Query all sources at once, each with its own timeout.

A source that fails or is late affects no other. One that computed for longer than its time limit
is queried last: it shares the interpreter with the others.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import Any, cast

from attrs import evolve, field, frozen

from contextkit.concurrency import Breaker, BreakerState, in_thread
from contextkit.errors import InvalidRequestError, SourceError, StoreError, in_words, ungrouped
from contextkit.logs import describe, get_logger, span
from contextkit.models.copying import copied
from contextkit.models.items import ContextItem
from contextkit.models.request import ContextRequest, Section
from contextkit.models.trace import SourceState
from contextkit.pipeline.conventions import answer_attributes, query_attributes
from contextkit.pipeline.redact import Redactor
from contextkit.pipeline.waiting import Asking, Waiting, are_late_together, ended
from contextkit.plugin.interrupts import is_interrupt
from contextkit.plugin.item_checks import CheckedItems, checked_items
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.times import HookTimes, hook_times

_ANSWERED = ("ok", "empty")

_STUCK = 2
"""A source is not asked again while its last call has been running for so many time limits."""

_STALLED = 10
"""So many if the calls of most sources are late: the process paused, or the store is opening."""

_log = get_logger(__name__)
_Asking = Asking["Answer | None"]


@frozen
class Found:
    """The items that a source found.

    Attributes:
        items: best first.
        age: seconds since a cache kept them; None where the source was asked now.
    """

    items: tuple[ContextItem, ...]
    age: float | None = None


@frozen(kw_only=True)
class Question:
    """One section's question to its source.

    Attributes:
        section: the section.
        request: the request as that source sees it.
        timeout: seconds the source may take.
        breaker: the source's breaker.
        recalled: the cached answer, in place of a query; None if there is none.
        keep: stores its answer in a cache, or None.
        limit: items to keep, at most; the request may retrieve more than this.
    """

    section: Section
    request: ContextRequest
    timeout: float
    breaker: Breaker
    recalled: Found | None = None
    keep: Callable[[Found], Awaitable[None]] | None = None
    limit: int = field()

    @limit.default
    def _asked_for(self) -> int:
        return self.request.limit


@frozen(kw_only=True)
class Answer:
    """A source's answer for one section.

    Attributes:
        section: the section.
        items: best first; empty unless `state` is `ok`.
        state: `ok`, `empty`, `failed`, `timed_out`, `cut_off` or `breaker_open`.
        milliseconds: how long it was waited for.
        breaker: the breaker's state afterwards.
        reason: the failure, or None.
        age: seconds since a cache kept the items; None where the source was asked now.
    """

    section: Section
    items: tuple[ContextItem, ...] = ()
    state: SourceState
    milliseconds: float
    breaker: BreakerState
    reason: str | None = None
    age: float | None = None


async def gather(
    registry: SourceRegistry,
    questions: Sequence[Question],
    deadline: float,
    at_once: int | None = None,
    redactor: Redactor | None = None,
) -> list[Answer]:
    """Query every source at the same time.

    There is one answer per question, in the same order. Errors and timeouts of a source go into the
    `state` and `reason` of its answer. When this call ends, cancelled or not, its tasks have ended
    or are cancelled.

    Args:
        registry: calls the hooks.
        questions: one per section.
        deadline: seconds for all of them together.
        at_once: sources that are queried at once; the others wait for their turn. None for all.
        redactor: redacts their items; None for a new one.
    """
    if not questions:
        return []
    started = time.perf_counter()
    waiting = Waiting[Answer | None](deadline, hook_times() or HookTimes())
    turns = asyncio.Semaphore(at_once or len(questions))
    asked_at: dict[int, float] = {}

    def is_stall() -> bool:
        stuck = {q.section.source for q in questions if q.breaker.stuck_for(_STUCK * q.timeout)}
        return are_late_together({question.section.source for question in questions}, stuck)

    async def ask(place: int, question: Question, asking: _Asking) -> Answer | None:
        await waiting.turn_of(asking)
        async with turns:
            asked_at[place] = question.breaker.clock()
            asking.begin(waiting.credit)
            return await _ask(registry, question, asking, is_stall)

    askings = [
        waiting.start(
            question.section.source,
            question.timeout,
            partial(ask, place, question),
            is_last=question.breaker.is_heavy,
        )
        for place, question in enumerate(questions)
    ]
    await waiting.wait()
    answers = [asking.task.result() if ended(asking) else None for asking in askings]
    late = [n for n, answer in enumerate(answers) if answer is None and n in asked_at]
    excuse = waiting.excuse([askings[n] for n in late])
    for place, (question, asking) in enumerate(zip(questions, askings, strict=True)):
        if answers[place] is None:
            since = asked_at.get(place)
            reason = _late(question, asking, deadline, since, excuse)
            state: SourceState = "timed_out" if asking.late else "cut_off"
            answers[place] = _failure(question, state, started, reason)
    redactor = redactor or Redactor(registry)
    return await _redacted(redactor, deadline, questions, cast("list[Answer]", answers))


async def _redacted(
    redactor: Redactor, deadline: float, questions: Sequence[Question], answers: list[Answer]
) -> list[Answer]:
    """Redact the answers of the sources that were asked, and cache them."""
    fresh = [
        place
        for place, (question, answer) in enumerate(zip(questions, answers, strict=True))
        if answer.state in _ANSWERED and question.recalled is None
    ]
    found = [(answers[place].items, _stored(questions[place])) for place in fresh]
    try:
        redacted = await redactor.within(deadline, lambda redactor: redactor.answers(found))
    except SourceError as error:
        for place in fresh:
            answers[place] = _seen(questions[place], answers[place], error)
        return answers
    for place, items in zip(fresh, redacted, strict=True):
        answers[place] = copied(answers[place], items=items)
    keeping = [
        keep(Found(items))
        for place, items in zip(fresh, redacted, strict=True)
        if (keep := questions[place].keep) is not None
    ]
    if keeping:
        await asyncio.gather(*keeping)
    return answers


def _seen(question: Question, answer: Answer, late: SourceError) -> Answer:
    """Leave out items in which a late plugin did not look for secrets."""
    stored = _stored(question)
    items = tuple(item for item in answer.items if item.id in stored)
    if (unseen := len(answer.items) - len(items)) == 0:
        return answer
    reason = (
        f"{unseen} of {len(answer.items)} items left out: {late.source}: {late.hook}: {late.reason}"
    )
    return evolve(answer, items=items, state="ok" if items else "failed", reason=reason)


def _stored(question: Question) -> Collection[str]:
    records = question.request.records
    return records.given if records else ()


async def _ask(
    registry: SourceRegistry, question: Question, asking: _Asking, is_stall: Callable[[], bool]
) -> Answer | None:
    section = question.section
    with span("contextkit.source", {"source": section.source, "section": section.key}) as traced:
        if traced is not None:
            info, request = registry.info(section.source), question.request
            asked = query_attributes(section.source, info, request.query, question.limit)
            describe(traced, asked)
        answer = await _answered(registry, question, asking, is_stall)
        if traced is not None:
            state, items = (answer.state, answer.items) if answer else ("timed_out", ())
            found = {"state": state, "items": len(items), **answer_attributes(info, items)}
            failed = state not in _ANSWERED
            describe(traced, {**found, "error.type": state} if failed else found, failed=failed)
    return answer


async def _answered(
    registry: SourceRegistry, question: Question, asking: _Asking, is_stall: Callable[[], bool]
) -> Answer | None:
    """Return the answer; None if the source was late."""
    breaker = question.breaker
    started, asked_at = time.perf_counter(), breaker.clock()
    if question.recalled is not None:
        return _answer(question, question.recalled, started)
    if (skipped := _skipped(question, is_stall)) is not None:
        return _failure(question, "breaker_open", started, f"skipped: {skipped}")
    asking.asked = True
    try:
        checked = await _query(registry, question, asking)
    except BaseException as error:
        if asking.late and isinstance(error, asyncio.CancelledError):
            return None
        if _stops_the_assembly(error):
            breaker.abandoned()
            raise
        reason = _reason(error)
        if _says_nothing_of_the_source(error):
            breaker.abandoned()
        else:
            breaker.failed(asked_at, reason)
        return _failure(question, "failed", started, reason)
    breaker.succeeded()
    return _answer(question, Found(checked.items), started, checked.note)


def _skipped(question: Question, is_stall: Callable[[], bool]) -> str | None:
    """Return why a source is not asked, or None."""
    breaker = question.breaker
    if breaker.is_full:
        return f"{breaker.most_running} earlier calls have not ended"
    running, stalled = breaker.stuck_for(_STUCK * question.timeout), _STALLED * question.timeout
    if running is not None and (running > stalled or not is_stall()):
        return f"an earlier call has not ended after {running:.2g} s"
    if breaker.allows():
        return None
    slow = breaker.reason if breaker.slow_hook else None
    return slow or "it failed too often recently"


def _answer(question: Question, found: Found, started: float, note: str | None = None) -> Answer:
    return Answer(
        section=question.section,
        items=found.items,
        state="ok" if found.items else "empty",
        milliseconds=_milliseconds_since(started),
        breaker=question.breaker.state,
        reason=note,
        age=found.age,
    )


def _stops_the_assembly(error: BaseException) -> bool:
    """Check whether an exception ends the assembly.

    Any other exception is a failure of its source.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return is_interrupt(error) or isinstance(error, GeneratorExit)


def _says_nothing_of_the_source(error: BaseException) -> bool:
    """Check whether a failure must not count against the source.

    That is a failure of the store, which may recover, or a request that made no sense to the
    source.
    """
    # A hook that is not asynchronous raises a `SourceError` from the original exception.
    raised = error.__cause__ if isinstance(error, SourceError) and error.__cause__ else error
    return all(isinstance(each, (StoreError, InvalidRequestError)) for each in ungrouped(raised))


async def _query(registry: SourceRegistry, question: Question, asking: _Asking) -> CheckedItems:
    """Ask the source, and check its items in its own thread or steps."""
    source, request, breaker = asking.source, question.request, question.breaker
    # The source may change its request.
    limit = request.limit

    def call() -> Any:
        return registry.call(source, "contextkit_query", request=request)

    def checked(result: Any) -> CheckedItems:
        return checked_items(source, result, limit)

    async def awaited(result: Awaitable[Any]) -> CheckedItems:
        return checked(await result)

    def counted() -> Any:
        try:
            with breaker.call(), asking.in_thread():
                result = call()
                return result if isinstance(result, Awaitable) else checked(result)
        finally:
            breaker.is_heavy = asking.is_heavy

    if inspect.iscoroutinefunction(registry.implementation(source, "contextkit_query")):
        result = call()
    else:
        result = await in_thread(counted)
    if isinstance(result, CheckedItems):
        return result
    with breaker.call():
        return await asking.steps.run(awaited(result))


def _reason(error: BaseException) -> str:
    if isinstance(error, SourceError):
        return f"{error.hook}: {error.reason}"
    if isinstance(error, StoreError):
        return str(error)
    return f"contextkit_query: {in_words(error)}"


def _failure(question: Question, state: SourceState, started: float, reason: str) -> Answer:
    milliseconds = _milliseconds_since(started)
    _log.warning(
        "source_failed",
        source=question.section.source,
        section=question.section.key,
        state=state,
        reason=reason,
        milliseconds=round(milliseconds, 1),
        breaker=question.breaker.state,
    )
    return Answer(
        section=question.section,
        state=state,
        milliseconds=milliseconds,
        breaker=question.breaker.state,
        reason=reason,
    )


def _late(
    question: Question,
    asking: _Asking,
    deadline: float,
    since: float | None,
    excuse: Callable[[_Asking], str | None],
) -> str:
    """Count the failure of a source that was late, and return its reason.

    Args:
        question: the question.
        asking: how it went.
        deadline: seconds that all sources had.
        since: when it was asked, by the breaker's clock; None for a source that was still waiting
            for its turn, which did not fail.
        excuse: says why the lateness does not count, or None.
    """
    reason = f"cut off at the deadline of {deadline:g} s"
    if asking.late:
        reason = f"no answer within {question.timeout:g} s"
    if since is None:
        return reason
    if (shared := excuse(asking)) is not None:
        question.breaker.abandoned()
        return f"{reason}: {shared}"
    question.breaker.failed(since, reason)
    return reason


def _milliseconds_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
