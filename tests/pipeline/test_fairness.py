"""A bad source costs only itself: the good ones deliver, and later calls do not wait for it."""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from contextkit import ContextItem, ContextKit, ContextRequest, Record
from contextkit.concurrency import in_thread
from contextkit.errors import SourceError
from contextkit.models.context import FormattedContext
from contextkit.pipeline.waiting import ending_by
from contextkit.plugin.times import Starvation
from contextkit.text.signals import QuerySignals
from tests.benchmarks.bad_sources import KINDS
from tests.making import KEYWORDS, OpenKit, from_records, make_plugin

GOOD = 5
FOUND = [ContextItem("bad", "the tide rises in the harbour", 0.9)]
LATER = 1.0
"""Seconds for which a hook that blocks is held in the first call."""
PATIENT: dict[str, Any] = {"assemble.source_timeout": 20.0, "assemble.deadline": 20.0}
"""The machine may be slow; bad sources have a short time limit of their own."""


def good(number: int) -> Any:
    """A good source; every other one answers in a thread."""
    found = [ContextItem(f"good{number}", f"tide {number} rises in harbour {number}", 0.9)]

    async def in_loop(request: ContextRequest) -> Sequence[ContextItem]:
        await asyncio.sleep(0)
        return found

    return make_plugin(found) if number % 2 else make_plugin(contextkit_query=in_loop)


@pytest.fixture
def kit(open_kit: OpenKit) -> ContextKit:
    """Good sources alone."""
    plugins = {f"good{n}": good(n) for n in range(GOOD)}
    return open_kit(plugins, settings={**KEYWORDS, **PATIENT})


def delivered(context: FormattedContext) -> int:
    """How many good sources are in a context."""
    return sum(name.startswith("good") for name in context.sources_used)


async def ask(kit: ContextKit, seconds: float = 20.0) -> FormattedContext:
    """Ask all sources, the bad one, if there is one, with a time limit."""
    limits = {"bad": seconds} if "bad" in kit.registry.sources else {}
    return await kit.assemble_context("tide in the harbour", timeouts=limits, fill=True)


def row_of(context: FormattedContext, source: str = "bad") -> tuple[str, str | None]:
    """A source's state and the reason."""
    [row] = [row for row in context.trace.sources if row.source == source]
    return row.state, row.reason


QUICK = [kind for kind in KINDS if "million" not in kind and "allocates" not in kind]


@pytest.mark.parametrize("kind", QUICK)
async def test_good_sources_deliver_beside_a_bad_one(kit: ContextKit, kind: str) -> None:
    """Whatever it does, in the first call and in the next."""
    kit.register(make_plugin(**KINDS[kind]("bad", 0.3)), "bad")
    assert [delivered(await ask(kit, 0.2)) for _ in range(2)] == [GOOD, GOOD]


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What a hook waits for; it opens some time after the first wait, or at the end."""
    event = threading.Event()
    yield event
    event.set()


HOOKS = ["query", "format", "weight", "dedup_keys", "signals", "truncate"]


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_source_that_held_the_others_is_skipped_by_the_next_call(
    kit: ContextKit, hook: str, gate: threading.Event
) -> None:
    """It is named with its hook in the trace and the log, and not called again."""
    calls: list[str] = []

    def act(_: Any = None) -> None:
        calls.append(hook)
        if len(calls) == 1:
            threading.Timer(LATER, gate.set).start()
            gate.wait()

    content = "the tide rises in the harbour. " * 2000
    found = [ContextItem("bad", content, 0.9)]

    async def query(request: ContextRequest) -> Any:
        if hook == "query":
            act()
        return found

    hooks: dict[str, Any] = {
        "contextkit_format": lambda items: act(),
        "contextkit_weight": lambda request: act(),
        "contextkit_dedup_keys": lambda items: act(),
        "contextkit_signals": lambda query: act(),
        "contextkit_truncate": lambda item, max_tokens: act(),
    }
    own = {} if hook == "query" else {f"contextkit_{hook}": hooks[f"contextkit_{hook}"]}
    kit.register(make_plugin(contextkit_query=query, **own), "bad")
    with capture_logs() as logs:
        first = await ask(kit)
    assert delivered(first) == GOOD
    said = f"bad: contextkit_{hook} held the assembly for "
    assert any(note.startswith(said) for note in first.trace.notes)
    [event] = [log for log in logs if log["event"] == "plugin_slow"]
    assert (event["source"], event["hook"]) == ("bad", f"contextkit_{hook}")
    assert event["seconds"] >= LATER / 2
    assert event["skipped_for"] == pytest.approx(20 * event["seconds"], abs=2)
    before = len(calls)
    second = await ask(kit)
    assert delivered(second) == GOOD
    state, reason = row_of(second)
    assert state == "breaker_open"
    assert str(reason).startswith(f"skipped: contextkit_{hook} held the assembly for ")
    assert len(calls) == before


async def test_a_source_whose_hooks_take_a_third_of_a_second_stays(kit: ContextKit) -> None:
    """A busy machine makes ordinary hooks so slow; the context comes later, but whole."""

    def truncate(item: ContextItem, max_tokens: int) -> None:
        time.sleep(0.16)

    found = [ContextItem("bad", "the tide rises in the harbour. " * 2000, 0.9)]
    kit.register(make_plugin(found, contextkit_truncate=truncate), "bad")
    assert [row_of(await ask(kit))[0] for _ in range(3)] == ["ok"] * 3


async def test_waits_for_the_disk_are_no_sleep(
    kit: ContextKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook whose pages had to be read again was not slow by itself."""
    faults = count(step=100)
    monkeypatch.setattr("contextkit.plugin.times._faults", lambda: next(faults))
    kit.register(make_plugin(FOUND, contextkit_format=lambda items: time.sleep(LATER)), "bad")
    assert [row_of(await ask(kit))[0] for _ in range(2)] == ["ok"] * 2


async def test_a_wait_before_a_hook_is_not_the_hook_s(
    kit: ContextKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand contexts at once wait for the interpreter's lock, also to look at the clocks."""
    naps = iter([0.0, LATER])

    def faults() -> int:
        time.sleep(next(naps, 0.0))
        return 0

    monkeypatch.setattr("contextkit.plugin.times._faults", faults)
    kit.register(make_plugin(FOUND, contextkit_format=lambda items: time.sleep(0.015)), "bad")
    contexts = [await ask(kit) for _ in range(2)]
    assert next(naps, None) is None
    assert [(delivered(each), row_of(each)[0]) for each in contexts] == [(GOOD, "ok")] * 2


async def test_a_hook_that_held_the_others_is_not_called_again(
    kit: ContextKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the texts that do not fit, the first is shortened slowly, and the rest by default."""
    # On a busy machine the sleep could count as a wait for the disk.
    monkeypatch.setattr("contextkit.plugin.times._faults", lambda: 0)
    calls: list[str] = []

    def truncate(item: ContextItem, max_tokens: int) -> None:
        calls.append(item.id)
        time.sleep(LATER)

    long = "the tide rises in the harbour. " * 2000
    found = [ContextItem("bad", f"{n} {long}", 0.9, id=str(n)) for n in range(3)]
    kit.register(make_plugin(found, contextkit_truncate=truncate), "bad")
    assert delivered(await ask(kit)) == GOOD
    assert len(calls) == 1


async def test_a_hook_that_imports_modules_is_slow_once(
    kit: ContextKit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cold start is not held against the plugin."""
    (tmp_path / "rare_tide_tables.py").write_text("import time\ntime.sleep(0.5)\n")
    monkeypatch.syspath_prepend(tmp_path)
    shown: list[int] = []

    def form(items: Sequence[ContextItem]) -> list[str]:
        importlib.import_module("rare_tide_tables")
        shown.append(len(items))
        return [item.content for item in items]

    kit.register(make_plugin(FOUND, contextkit_format=form), "bad")
    for _ in range(2):
        assert row_of(await ask(kit)) == ("ok", None)
    assert shown == [1, 1]


async def test_a_call_that_has_not_ended_is_not_joined_by_another(
    kit: ContextKit, gate: threading.Event
) -> None:
    """A source that hangs in a thread is not waited for again while it hangs."""
    calls: list[str] = []

    def hangs(request: ContextRequest) -> None:
        calls.append(request.query)
        gate.wait()

    kit.register(make_plugin(contextkit_query=hangs), "bad")
    assert row_of(await ask(kit, 0.1))[0] == "timed_out"
    await asyncio.sleep(0.2)
    state, reason = row_of(await ask(kit, 0.1))
    assert state == "breaker_open"
    assert str(reason).startswith("skipped: an earlier call has not ended after ")
    assert len(calls) == 1


async def test_a_source_that_computed_long_is_asked_last(kit: ContextKit) -> None:
    """It shares the interpreter with the others; an answer within its limit ends that."""
    asked: list[str] = []
    seconds = [0.2, 0.0, 0.0]
    ended = threading.Event()

    def computes(request: ContextRequest) -> None:
        asked.append("bad")
        until = time.thread_time() + seconds.pop(0)
        while time.thread_time() < until:
            pass
        ended.set()

    async def takes_long(request: ContextRequest) -> None:
        await asyncio.sleep(0.1)
        asked.append("good")

    kit.register(make_plugin(contextkit_query=computes), "bad")
    kit.register(make_plugin(contextkit_query=takes_long), "good")
    await ask(kit, 0.1)
    await in_thread(lambda: ended.wait(20.0))
    for order in (["good", "bad"], ["bad", "good"]):
        asked.clear()
        await ask(kit)
        assert asked == order


async def test_a_slow_redactor_runs_beside_the_loop(kit: ContextKit) -> None:
    """The loop goes on meanwhile, and the plugin is neither named nor skipped."""
    redacting, steps = threading.Event(), 0

    def redact(texts: Sequence[str]) -> None:
        redacting.wait(20.0)

    async def step() -> None:
        nonlocal steps
        while not redacting.is_set():
            await asyncio.sleep(0.01)
            steps += 1
            if steps * 0.01 > LATER:
                redacting.set()

    kit.register(make_plugin(contextkit_redact=redact), "slow")
    context, _ = await asyncio.gather(ask(kit), step())
    assert delivered(context) == GOOD
    assert not [note for note in context.trace.notes if "slow" in note]


async def test_what_a_late_redactor_has_not_seen_is_left_out(
    kit: ContextKit, gate: threading.Event
) -> None:
    """No other call is made until it has ended. What is stored was redacted then."""
    redacting: list[Sequence[str]] = []

    def redact(texts: Sequence[str]) -> None:
        redacting.append(texts)
        gate.wait()

    kit.register(make_plugin(contextkit_query=from_records), "stored")
    kit.records("stored").put([Record(id="a", text="tide in the harbour")])
    kit.register(make_plugin(contextkit_redact=redact), "late")
    with pytest.raises(SourceError, match="'late' failed in contextkit_redact: no answer"):
        await kit.redactor.within(0.1, lambda redactor: redactor.texts(["badge-1234"]))
    context = await ask(kit)
    assert [*context.sources_used] == ["stored"]
    state, reason = row_of(context, "good0")
    assert state == "failed"
    assert str(reason).startswith(
        "1 of 1 items left out: late: contextkit_redact: no answer within "
    )
    [note] = [note for note in context.trace.notes if "contextkit_redact" in note]
    assert note.startswith("late: contextkit_redact gave no answer within ")
    assert (context.trace.query, context.trace.signals) == ("", QuerySignals())
    assert redacting == [["badge-1234"]]
    gate.set()
    while delivered(await ask(kit)) < GOOD:
        pass


@pytest.fixture
def long_turns() -> Iterator[None]:
    """A thread that computes keeps the interpreter's lock until it waits for something."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(10.0)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("long_turns")
async def test_waiting_for_the_interpreter_is_not_held_against_a_source(kit: ContextKit) -> None:
    """A source that computes in its thread delays the steps of all others."""

    def computes(request: ContextRequest) -> None:
        until = time.thread_time() + LATER / 2
        while time.thread_time() < until:
            pass

    async def yields(request: ContextRequest) -> None:
        for _ in range(20):
            time.sleep(0.002)  # noqa: ASYNC251 - what gives the lock away
            await asyncio.sleep(0)

    kit.register(make_plugin(contextkit_query=yields), "bad")
    kit.register(make_plugin(contextkit_query=computes), "computes")
    notes = (await ask(kit)).trace.notes
    assert [note for note in notes if note.startswith("bad: ")] == []
    assert row_of(await ask(kit))[0] == "empty"


async def test_a_host_can_set_the_moment_at_which_all_sources_are_left(kit: ContextKit) -> None:
    """Hooks do so: their answer must not come later, however much time the sources have left."""

    async def hangs(request: ContextRequest) -> None:
        await asyncio.Event().wait()

    kit.register(make_plugin(contextkit_query=hangs), "bad")
    with ending_by(time.monotonic() + 2.0):
        context = await ask(kit)
    assert row_of(context)[0] == "cut_off"
    assert delivered(context) == GOOD


async def test_lateness_of_a_process_without_processors_opens_no_breaker(
    kit: ContextKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason says that the machine was busy."""
    # A machine cannot be made so busy in a test; `Starvation` reads what Linux says of it.
    monkeypatch.setattr(Starvation, "is_bad", True)

    async def hangs(request: ContextRequest) -> None:
        await asyncio.Event().wait()

    kit.register(make_plugin(contextkit_query=hangs), "bad")
    rows = [row_of(await ask(kit, 0.1)) for _ in range(5)]
    assert {state for state, _ in rows} == {"timed_out"}
    assert all(str(reason).endswith(": the machine was busy") for _, reason in rows)


async def test_most_sources_being_late_at_once_opens_no_breaker(open_kit: OpenKit) -> None:
    """A slow machine, a cold start or a busy store makes all late; a single one is to blame."""

    async def hangs(request: ContextRequest) -> None:
        await asyncio.Event().wait()

    names = ("one", "two", "three", "four")
    kit = open_kit(
        {name: make_plugin(contextkit_query=hangs) for name in names},
        settings={"assemble.breaker_failures": 1, "assemble.source_timeout": 0.05},
    )
    for _ in range(3):
        context = await kit.assemble_context("tide")
        assert {row_of(context, name) for name in names} == {
            ("timed_out", "no answer within 0.05 s: most sources were late at once")
        }
        assert {row.breaker for row in context.trace.sources} == {"closed"}
    context = await kit.assemble_context("tide", ["one"])
    assert row_of(context, "one") == ("timed_out", "no answer within 0.05 s")
    assert kit.health()["one"].state == "open"


async def test_what_is_left_out_of_a_large_result_is_told(kit: ContextKit) -> None:
    """Items beyond the limit, and texts that fit into no context."""
    many = [ContextItem("bad", "the tide", 0.9, id=str(number)) for number in range(5000)]
    long = [ContextItem("bad", "the tide " * 200_000, 0.9), many[0]]
    found = [many]
    kit.register(make_plugin(contextkit_query=lambda request: found[0]), "bad")
    context = await kit.assemble_context("tide", ["bad"], limit=10)
    assert "left out 4,990 items: at most 10 were asked for" in str(row_of(context)[1])
    found[0] = long
    context = await kit.assemble_context("tide", ["bad"])
    assert row_of(context) == ("ok", "left out 1 item: more than 1,000,000 characters")
