"""Check a source's answers: items, order, number, time, cancellation."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from attrs import evolve

from contextkit.errors import ContextKitError, SourceError, in_words
from contextkit.models.items import ContextItem
from contextkit.models.request import ContextRequest
from contextkit.testing.queries import QUERIES
from contextkit.testing.subject import (
    HELD_SECONDS,
    TRIES,
    NotConformingError,
    Subject,
    as_they_are,
    as_values,
    slowness,
    within,
)

_AT_ONCE = 20
_STEPS_BEFORE_CANCELLING = (1, 2, 3, 5, 8, 13)
_STEPS_TO_END = 20
_BEAT_SECONDS = 0.01
_LONGEST_CONTENT = 200_000


def check_items(subject: Subject) -> None:
    """Check that the source finds valid items, best first.

    They must have the source's own name and different ids.
    """
    items = subject.found()
    seen = set[str]()
    for item in items:
        if item.id in seen:
            raise NotConformingError(
                f"two items of one answer have the id {item.id!r}: an id is unique and stable"
            )
        seen.add(item.id)
        if not item.id.strip():
            raise NotConformingError(
                f"an item has the id {item.id!r}, which says nothing: leave it out for a hash of "
                f"the content, or name the thing"
            )
        if len(item.content) > _LONGEST_CONTENT:
            raise NotConformingError(
                f"item {item.id!r} has {len(item.content):,} characters, and every stage reads "
                f"all of them: hand in the part that matters, and say in `location` where the "
                f"whole is"
            )
        if not item.content.strip():
            raise NotConformingError(
                f"item {item.id!r} has no content: leave out what has nothing to show"
            )
        _check_metadata(item)
    for better, worse in pairwise(items):
        # A hint or a neighbour may lift an item over one that matches better by itself.
        is_lifted = better.hint > 0 or better.position is not None
        if worse.relevance > better.relevance and not is_lifted:
            raise NotConformingError(
                f"item {worse.id!r} ({worse.relevance:g}) stands behind {better.id!r} "
                f"({better.relevance:g}): items come best first"
            )


def _check_metadata(item: ContextItem) -> None:
    try:
        json.dumps(dict(item.metadata), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise NotConformingError(
            f"item {item.id!r}: its metadata are no JSON values: {error}"
        ) from error


def check_order(subject: Subject) -> None:
    """Check that repeated questions have the same answer.

    The answers are compared item by item and field by field.
    """
    first = as_they_are(subject.found())
    _compare(first, subject.items(), "the same query, asked twice,")
    if subject.kit.registry.info(subject.name).cacheable:
        shown = _shown_otherwise(subject)
        other = within(lambda: subject.find(shown), subject.timeout)
        what = "a cacheable source's query, asked with another budget, style or time limit,"
        advice = "make items from the request alone, or leave `cacheable` out"
        _compare(first, other, what, advice)
        _check_it_can_be_kept(first)


def _shown_otherwise(subject: Subject) -> ContextRequest:
    """Change all request fields that must not affect cached answers."""
    request = subject.request()
    return evolve(
        request,
        max_tokens=100,
        style="xml",
        detail="compact",
        tokens="claude",
        group_by="type",
        guard=True,
        include_sources=True,
        overflow="soft",
        shares="by_evidence",
        diversity=0.5,
        source_timeout=2 * request.source_timeout,
        deadline=2 * request.deadline,
        sources=(subject.name,),
        weights={subject.name: 3.0},
        limits={subject.name: request.limit},
        timeouts={subject.name: request.source_timeout},
    )


def _check_it_can_be_kept(items: Sequence[ContextItem]) -> None:
    from contextkit.cache.codec import NotExactError, write_items

    try:
        write_items(items)
    except NotExactError as error:
        raise NotConformingError(f"a cacheable source's items cannot be kept: {error}") from error


def _compare(
    expected: Sequence[ContextItem], found: Sequence[ContextItem], what: str, advice: str = ""
) -> None:
    if as_values(expected) == as_values(found):
        return
    if [item.id for item in expected] != [item.id for item in found]:
        difference = f"{[i.id for i in expected][:5]}, then {[i.id for i in found][:5]}"
        raise NotConformingError(
            f"{what} gives other items or another order: {difference}; "
            f"{advice or 'sort by relevance, then id'}"
        )
    changed = next(
        e.id for e, f in zip(expected, found, strict=True) if as_values([e]) != as_values([f])
    )
    raise NotConformingError(
        f"{what} gives item {changed!r} with other fields: "
        f"{advice or 'leave clocks and chance out of items'}"
    )


def check_limits(subject: Subject) -> None:
    """Check that there are never more items than `request.limit`.

    A limit of one must give one item.
    """
    subject.found()
    for limit in (1, 2, 3):
        items = subject.items(limit=limit)
        if len(items) > limit:
            raise NotConformingError(
                f"contextkit_query returns {len(items)} items for request.limit = {limit}: "
                f"return no more than that"
            )
        if not items:
            raise NotConformingError(f"contextkit_query finds nothing for request.limit = {limit}")


def check_time(subject: Subject, held: float = HELD_SECONDS) -> None:
    """Check that the source answers in time.

    An async source must also leave the event loop free for others.

    Args:
        subject: the source.
        held: seconds for which it may block the event loop.
    """
    # Only after it has ended can a source that blocks the loop be told from a slow one.
    ended, longest = within(lambda: _timed(subject), 3 * subject.timeout)
    if longest >= subject.timeout:
        raise NotConformingError(
            f"contextkit_query holds the event loop for {longest:.1f} s: await what takes long, "
            f"or make it a plain function, which runs in a thread"
        )
    if not ended:
        raise NotConformingError(
            f"contextkit_query has no answer within {subject.timeout:g} s: "
            f"answer sooner, or raise `timeout`"
        )
    # One slow call may be due to an import, and on a busy machine everything takes longer.
    for _ in range(TRIES):
        if longest < held or longest < held * slowness():
            return
        _, longest = within(lambda: _timed(subject), 3 * subject.timeout)
    raise NotConformingError(
        f"contextkit_query holds the event loop for {longest:.1f} s whenever it is asked, and all "
        f"other sources wait: await what takes long, or make it a plain function"
    )


async def _timed(subject: Subject) -> tuple[bool, float]:
    """Run a query, and measure blocking of the event loop.

    Returns whether it ended in time, and the longest block in seconds.
    """
    gaps: list[float] = []

    async def beat() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(_BEAT_SECONDS)
            gaps.append(time.perf_counter() - before)

    ended = False
    beating = asyncio.create_task(beat())
    await asyncio.sleep(0)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(subject.timeout):
            await subject.find(subject.request())
            ended = True
    await asyncio.sleep(2 * _BEAT_SECONDS)
    beating.cancel()
    return ended, max(gaps)


def check_cancellation(subject: Subject) -> None:
    """Check that a cancelled query ends and leaves no task.

    It must end at once.
    """
    for steps in _STEPS_BEFORE_CANCELLING:
        if within(partial(_cancelled, subject, steps), 3 * subject.timeout):
            return


async def _cancelled(subject: Subject, steps: int) -> bool:
    """Cancel a query after some steps of the event loop.

    Returns whether it had ended before.
    """
    task = asyncio.create_task(subject.ask(subject.request()))
    for _ in range(steps):
        await asyncio.sleep(0)
    ended = not task.cancel()
    _, running = await asyncio.wait({task}, timeout=subject.timeout)
    if running:
        raise NotConformingError(
            f"contextkit_query still runs {subject.timeout:g} s after it was cancelled: "
            f"let asyncio.CancelledError pass"
        )
    if not ended and not task.cancelled():
        error = task.exception()
        went = f"raises {in_words(error)}" if error else "returns items"
        raise NotConformingError(
            f"contextkit_query {went} after it was cancelled: let asyncio.CancelledError pass"
        )
    for _ in range(_STEPS_TO_END):
        await asyncio.sleep(0)
    left = [other for other in asyncio.all_tasks() if other is not asyncio.current_task()]
    if left:
        names = ", ".join(sorted({getattr(o.get_coro(), "__qualname__", "?") for o in left}))
        for other in left:
            other.cancel()
        raise NotConformingError(
            f"a cancelled contextkit_query leaves {names} running: "
            f"start tasks in an asyncio.TaskGroup, which ends them"
        )
    return ended


def check_any_query(subject: Subject) -> None:
    """Check that any query gives items or none, without failure."""
    for what, query in QUERIES.items():
        try:
            subject.items(query)
        except Exception as error:
            raise NotConformingError(
                f"contextkit_query fails for {what} ({query[:40]!r}): {_reason(error)}; "
                f"return no items where there is nothing to find"
            ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, SourceError):
        return error.reason
    return str(error) if isinstance(error, ContextKitError) else in_words(error)


def check_concurrency(subject: Subject) -> None:
    """Check that concurrent queries have the same answers as alone."""
    others = list(QUERIES.values())
    queries = [subject.query if n % 2 == 0 else others[n % len(others)] for n in range(_AT_ONCE)]
    alone = {query: subject.items(query) for query in dict.fromkeys(queries)}

    async def together() -> list[tuple[ContextItem, ...]]:
        return await asyncio.gather(*(subject.find(subject.request(query)) for query in queries))

    # The second run is in another event loop: a host without a loop has a new one for each call.
    for _ in range(2):
        try:
            answers = within(together, _AT_ONCE * subject.timeout)
        except RuntimeError as error:
            raise NotConformingError(
                f"contextkit_query fails when it is asked {_AT_ONCE} times at once in one event "
                f"loop and then in another: {in_words(error)}; make locks and clients within the "
                f"query, or one for each loop"
            ) from error
        for query, items in zip(queries, answers, strict=True):
            _compare(alone[query], items, f"{query[:40]!r}, asked at once with others,")
