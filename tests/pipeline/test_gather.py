"""All sources are asked at once, and what one does wrong costs that one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from contextkit import ContextItem, ContextRequest, InvalidRequestError, Section
from contextkit.concurrency import Breaker, in_thread
from contextkit.pipeline.gather import Answer, Question, gather
from contextkit.plugin.manager import SourceRegistry
from contextkit.testing import wait_until
from tests.making import make_plugin, make_registry

Query = Callable[[ContextRequest], Any]

LONG = 20.0
"""Seconds that no test waits for."""
SHORT = 0.05

GOOD = ContextItem("good", "all is well", 0.9)


@pytest.fixture
def forever() -> Iterator[threading.Event]:
    """What a source that hangs waits for; it comes when the test is over."""
    event = threading.Event()
    yield event
    event.set()


def registry_of(**queries: Query) -> SourceRegistry:
    """A registry of sources with these queries: `registry_of(bad=hang)`."""
    return make_registry({name: make_plugin(contextkit_query=queries[name]) for name in queries})


def question(source: str, timeout: float = LONG, **options: Any) -> Question:
    """What a source is asked."""
    breaker = options.pop("breaker", None) or Breaker()
    return Question(
        section=Section(source=source),
        request=ContextRequest(query="how is it?", **options),
        timeout=timeout,
        breaker=breaker,
    )


async def ask(
    registry: SourceRegistry, *questions: Question, deadline: float = LONG
) -> list[Answer]:
    """Ask what is given, or every source one question."""
    asked = questions or [question(source) for source in registry.sources]
    return await gather(registry, asked, deadline)


def well(request: ContextRequest) -> list[ContextItem]:
    """A source without trouble."""
    return [GOOD]


# -- at once --------------------------------------------------------------------------------


async def test_all_sources_run_at_the_same_time() -> None:
    """Each waits until all of them, plain and asynchronous, are under way."""
    barrier = threading.Barrier(4, timeout=LONG)

    def plain(request: ContextRequest) -> list[ContextItem]:
        barrier.wait()
        return []

    async def asynchronous(request: ContextRequest) -> list[ContextItem]:
        await asyncio.to_thread(barrier.wait)
        return []

    registry = registry_of(a=plain, b=asynchronous, c=plain, d=asynchronous)
    answers = await ask(registry)
    assert [answer.state for answer in answers] == ["empty"] * 4


async def test_a_plain_function_may_return_an_awaitable() -> None:
    """The result is awaited in the event loop."""

    async def found() -> list[ContextItem]:
        return [GOOD]

    def query(request: ContextRequest) -> Awaitable[list[ContextItem]]:
        return found()

    (answer,) = await ask(registry_of(good=query))
    assert (answer.state, answer.items) == ("ok", (GOOD,))


async def test_no_more_than_the_limit() -> None:
    """A source that returns too much is cut, best first."""
    items = [ContextItem("good", f"{number}", 0.5) for number in range(9)]
    registry = registry_of(good=lambda request: items)
    (answer,) = await ask(registry, question("good", limit=4))
    assert answer.items == tuple(items[:4])


@pytest.mark.parametrize("result", [None, [], ()])
async def test_nothing_found(result: Any) -> None:
    """`None` is an empty result."""
    (answer,) = await ask(registry_of(good=lambda request: result))
    assert (answer.state, answer.items, answer.reason) == ("empty", (), None)


class Loud(str):
    """A text of a source's own class."""

    __slots__ = ()


@pytest.mark.parametrize("metadata", [{Loud("a"): 1}, {"a": Loud("b")}, {"a": [Loud("b")]}])
async def test_metadata_is_of_plain_texts(metadata: dict[str, Any]) -> None:
    """A source's own kinds of text are replaced: nothing of the source runs later."""
    found = ContextItem("good", "x", 0.9, metadata=metadata)
    (answer,) = await ask(registry_of(good=lambda request: [found]))
    kept = answer.items[0].metadata
    assert kept == metadata
    (key,), (value,) = kept, kept.values()
    assert Loud not in {type(each) for each in (key, value, *(value if value != 1 else ()))}


# -- trouble --------------------------------------------------------------------------------


def item(**fields: Any) -> ContextItem:
    """An item of the source `bad` that may be wrong."""
    return ContextItem("bad", fields.pop("content", "x"), 0.5, id=fields.pop("id", "1"), **fields)


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)

EXPECTED = "contextkit_query: expected a sequence of ContextItem, got "
RUBBISH = [
    (3, EXPECTED + "an int"),
    ("items", EXPECTED + "a str"),
    (b"items", EXPECTED + "a bytes"),
    ({"a": 1}, EXPECTED + "a dict"),
    (iter([]), EXPECTED + "a list_iterator"),
    ([item(), "x"], "contextkit_query: entry 1 is a str, expected ContextItem"),
    ([None], "contextkit_query: entry 0 is None, expected ContextItem"),
    ([GOOD], f"contextkit_query: item '{GOOD.id}' says it is of source 'good'"),
    ([item(content=3)], "contextkit_query: item '1': content is an int"),
    ([item(id=7)], "contextkit_query: item 7: id is an int"),
    ([item(title=7)], "contextkit_query: item '1': title is an int"),
    ([item(text=b"x")], "contextkit_query: item '1': text is a bytes"),
    ([item(kind=None)], "contextkit_query: item '1': kind is None"),
    ([item(location=("a", 1))], "contextkit_query: item '1': location is a tuple"),
    ([item(metadata=[])], "contextkit_query: item '1': metadata is a list"),
    (
        [item(metadata={"pages": ["tide " * 150_000, "ebb " * 150_000]})],
        "contextkit_query: item '1': its metadata has more than 1,000,000 characters",
    ),
    (
        [item(metadata={"in itself": ENDLESS})],
        "contextkit_query: item '1': its metadata is more than 50 levels deep",
    ),
    ([item(also_in=("code",))], "contextkit_query: entry 0 is a str, expected Provenance"),
]


async def check_failed(registry: SourceRegistry, reason: str) -> None:
    """The bad source failed for that reason, and the good one did not notice."""
    once = Breaker(failures_to_open=1)
    with capture_logs() as logs:
        bad, good = await ask(registry, question("bad", breaker=once), question("good"))
    assert (good.state, good.items, good.reason) == ("ok", (GOOD,), None)
    assert (bad.state, bad.items, bad.reason, bad.breaker) == ("failed", (), reason, "open")
    (entry,) = logs
    assert entry.pop("milliseconds") >= 0
    assert entry == {
        "event": "source_failed",
        "log_level": "warning",
        "source": "bad",
        "section": "bad",
        "state": "failed",
        "reason": reason,
        "breaker": "open",
    }


@pytest.mark.parametrize(
    ("in_loop", "error", "reason"),
    [
        (False, ValueError("no\n  such tide"), "ValueError: no such tide"),
        (False, SystemExit(3), "SystemExit: 3"),
        # What a generator would end with.
        (False, StopIteration("done"), "StopIteration: done"),
        (True, ValueError("no\n  such tide"), "ValueError: no such tide"),
        (True, SystemExit(3), "SystemExit: 3"),
        # What a timeout would raise, and what it awaits where that was cancelled.
        (True, TimeoutError(), "TimeoutError"),
        (
            True,
            ExceptionGroup("of tasks", [OSError("ebb"), OSError("flow")]),
            "OSError: ebb; OSError: flow",
        ),
        (True, asyncio.CancelledError(), "CancelledError"),
    ],
)
async def test_a_source_that_raises_costs_itself(
    in_loop: bool, error: BaseException, reason: str
) -> None:
    """Whatever it raises, in a thread or in the event loop."""

    def raises(request: ContextRequest) -> Any:
        raise error

    async def raises_in_loop(request: ContextRequest) -> Any:
        raise error

    bad = raises_in_loop if in_loop else raises
    await check_failed(registry_of(bad=bad, good=well), f"contextkit_query: {reason}")


@pytest.mark.parametrize(("result", "reason"), RUBBISH)
async def test_a_source_that_returns_rubbish_costs_itself(result: Any, reason: str) -> None:
    """Results are checked before any other stage meets them."""
    await check_failed(registry_of(bad=lambda request: result, good=well), reason)


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("state", ["timed_out", "cut_off"])
async def test_a_source_that_hangs_costs_itself(
    forever: threading.Event, plain: bool, state: str
) -> None:
    """It is given up on after its own timeout, or at the deadline of all."""

    def hangs(request: ContextRequest) -> None:
        forever.wait()

    async def hangs_async(request: ContextRequest) -> None:
        await asyncio.Event().wait()

    registry = registry_of(bad=hangs if plain else hangs_async, good=well)
    own = SHORT if state == "timed_out" else LONG
    whole = SHORT if state == "cut_off" else LONG
    with capture_logs() as logs:
        bad, good = await ask(registry, question("bad", own), question("good"), deadline=whole)
    assert (bad.state, bad.items) == (state, ())
    assert (
        bad.reason
        == {
            "timed_out": "no answer within 0.05 s",
            "cut_off": "cut off at the deadline of 0.05 s",
        }[state]
    )
    assert bad.milliseconds >= SHORT * 1000
    if state == "timed_out":
        assert (good.state, good.items) == ("ok", (GOOD,))
    assert {entry["source"] for entry in logs if entry["state"] == state} >= {"bad"}


async def test_a_source_that_will_not_be_cancelled_is_left_behind() -> None:
    """Its own time limit ends the wait for it, not the deadline of all."""
    enough, once = asyncio.Event(), asyncio.Event()

    async def stubborn(request: ContextRequest) -> None:
        while not enough.is_set():
            try:
                await enough.wait()
            except asyncio.CancelledError:
                once.set()

    async def at_once(request: ContextRequest) -> list[ContextItem]:
        return [GOOD]

    registry = registry_of(bad=stubborn, good=at_once)
    bad, good = await ask(registry, question("bad", SHORT), question("good"), deadline=SHORT * 10)
    assert (bad.state, good.state) == ("timed_out", "ok")
    assert once.is_set()
    enough.set()


# -- breaker --------------------------------------------------------------------------------


async def test_an_open_breaker_is_logged_with_its_reason() -> None:
    """A person sees why the source was not asked."""
    breaker = Breaker(failures_to_open=1)
    breaker.failed()
    with capture_logs() as logs:
        (answer,) = await ask(registry_of(good=well), question("good", breaker=breaker))
    assert answer.reason == "skipped: it failed too often recently"
    assert [(entry["event"], entry["state"]) for entry in logs] == [
        ("source_failed", "breaker_open")
    ]


@pytest.mark.parametrize("own", [SHORT, LONG])
async def test_being_too_slow_counts_as_a_failure(own: float) -> None:
    """A source that never makes the deadline does not cost every request that time."""

    async def hangs(request: ContextRequest) -> None:
        await asyncio.Event().wait()

    breaker = Breaker(failures_to_open=1)
    asked = question("bad", own, breaker=breaker)
    (answer,) = await ask(registry_of(bad=hangs), asked, deadline=SHORT * 2)
    assert answer.breaker == breaker.state == "open"


async def test_a_request_that_makes_no_sense_to_a_source_opens_no_breaker() -> None:
    """Whoever asks it something else gets an answer."""

    def picky(request: ContextRequest) -> None:
        raise InvalidRequestError("no such tide")

    async def picky_too(request: ContextRequest) -> None:
        picky(request)

    async def picky_in_a_group(request: ContextRequest) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(picky_too(request))

    registry = registry_of(one=picky, other=picky_too, third=picky_in_a_group)
    for source in ("one", "other", "third"):
        breaker = Breaker(failures_to_open=1)
        (answer,) = await ask(registry, question(source, breaker=breaker))
        assert (answer.state, answer.breaker) == ("failed", "closed")
        assert "no such tide" in str(answer.reason)


async def test_a_source_whose_calls_do_not_end_gets_no_more_of_them() -> None:
    """Each would be a thread that hangs; once one has ended, the source is asked again."""
    end, begun = threading.Event(), threading.Semaphore(0)

    def hangs(request: ContextRequest) -> list[ContextItem]:
        begun.release()
        end.wait()
        return [GOOD]

    registry = registry_of(good=hangs)
    breaker = Breaker(failures_to_open=100, most_running=2)

    async def ask_it() -> Answer:
        return (await ask(registry, question("good", SHORT, breaker=breaker)))[0]

    for _ in range(2):
        assert (await ask_it()).state == "timed_out"
        await asyncio.to_thread(begun.acquire)
    answer = await ask_it()
    assert answer.state == "breaker_open"
    assert answer.reason == "skipped: 2 earlier calls have not ended"
    end.set()
    await asyncio.to_thread(wait_until, lambda: not breaker.is_full, "the end of the calls")
    (answer,) = await ask(registry, question("good", LONG, breaker=breaker))
    assert answer.state == "ok"


# -- cancellation ---------------------------------------------------------------------------


async def test_a_cut_off_source_has_ended_when_the_answers_are_there() -> None:
    """What ran into the deadline does not go on beside the program."""

    async def hangs(request: ContextRequest) -> None:
        await asyncio.sleep(LONG)

    await ask(registry_of(a=hangs, b=hangs), deadline=SHORT)
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_a_source_that_hangs_does_not_keep_the_program(tmp_path: Path) -> None:
    """The process ends although a plain source never returns."""
    program = """
        import sys, threading
        from contextkit import ContextItem, ContextKit, hookimpl

        class Hanging:
            @hookimpl
            def contextkit_query(self, request):
                threading.Event().wait()

        class Good:
            @hookimpl
            def contextkit_query(self, request):
                return [ContextItem("good", "all is well", 0.9)]

        with ContextKit.open(sys.argv[1], entry_points=False) as kit:
            kit.register(Hanging, "hanging")
            kit.register(Good, "good")
            context = kit.assemble_context_sync("how is it?", timeouts={"hanging": 0.5})
        print([source.state for source in context.trace.sources], context.sources_used)
        """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), tmp_path],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "['ok', 'timed_out'] {'good': 1}"


# -- threads --------------------------------------------------------------------------------


async def test_a_thread_hands_back_what_the_call_returns_or_raises() -> None:
    """An exception that cannot cross into a coroutine becomes one that can."""
    assert await in_thread(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 / 0)
    with pytest.raises(RuntimeError, match="SystemExit: 4"):
        await in_thread(lambda: sys.exit(4))
