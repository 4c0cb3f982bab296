"""What is broken costs what needs it, and no more: faults made on purpose, one at a time.

Elsewhere: sources that raise or return rubbish (`test_gather.py`), models that fail while they
are used (`test_embedding_choice.py`), full disks (`tests/store`), Redis (`tests/cache`).
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from structlog.testing import capture_logs

from contextkit import ContextItem, ContextRequest, Record
from contextkit.cli.root import cli
from contextkit.errors import StoreBusyError, StoreError
from contextkit.models.context import FormattedContext
from contextkit.pipeline.breakers import Breakers, SourceHealth
from contextkit.plugin.times import Starvation
from tests.making import Clock, OpenKit, from_records, make_plugin

LIVE = ContextItem("live", "the tide rises now", 0.9)


def from_records_in_a_thread(request: ContextRequest) -> list[ContextItem]:
    """Another one, which reads without searching."""
    source = request.records.source
    return [ContextItem(source, r.text, 0.9, id=r.id) for r in request.records.newest(5)]


@pytest.fixture
def plugins() -> dict[str, ModuleType]:
    """Two sources with records, and one that answers without any."""
    return {
        "notes": make_plugin(contextkit_query=from_records),
        "log": make_plugin(contextkit_query=from_records_in_a_thread),
        "live": make_plugin([LIVE]),
    }


@pytest.fixture
def dead_url() -> Iterator[str]:
    """An address where nobody listens, and nobody else can begin to."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


def states(context: FormattedContext) -> dict[str, str]:
    """Source -> what became of it."""
    return {row.source: row.state for row in context.trace.sources}


def reasons(context: FormattedContext) -> dict[str, str | None]:
    """Source -> why."""
    return {row.source: row.reason for row in context.trace.sources}


# -- the store ------------------------------------------------------------------------------


@pytest.fixture(params=["a dead server", "no folder"])
def broken_store(request: pytest.FixtureRequest, dead_url: str, home: Path) -> tuple[Any, str]:
    """Settings of a store that does not open, and what is said of it."""
    if request.param == "a dead server":
        return {"store.url": dead_url}, re.escape(dead_url)
    (home / "file").touch()
    return {"store.path": home / "file"}, f"cannot create a store at {re.escape(str(home))}"


async def test_without_a_store_live_sources_answer(
    open_kit: OpenKit, plugins: dict[str, ModuleType], broken_store: tuple[Any, str]
) -> None:
    """Those that need it fail at once with the reason, which is in the trace."""
    settings, said = broken_store
    kit = open_kit(plugins, settings=settings)
    context = await kit.assemble_context("tide")
    assert "the tide rises now" in context.markdown
    assert states(context) == {"notes": "failed", "log": "failed", "live": "ok"}
    for source in ("notes", "log"):
        assert re.search(said, str(reasons(context)[source]))


async def test_where_nothing_answers_the_store_is_the_error(
    open_kit: OpenKit, plugins: dict[str, ModuleType], broken_store: tuple[Any, str]
) -> None:
    """Not an empty context."""
    settings, said = broken_store
    kit = open_kit(plugins, settings=settings)
    for sources in (["notes"], ["notes", "log"]):
        with pytest.raises(StoreError, match=said):
            await kit.assemble_context("tide", sources)


async def test_whatever_is_done_with_records_fails_alike(
    open_kit: OpenKit, broken_store: tuple[Any, str]
) -> None:
    """Reading, writing and counting: with the error of the store that did not open."""
    settings, said = broken_store
    found: list[str] = []

    def query(request: ContextRequest) -> list[ContextItem]:
        records = request.records
        for use in (
            lambda: records.put([Record(id="1", text="x")]),
            lambda: records.get("1"),
            lambda: records.delete("1"),
            lambda: records.delete_where({}),
            lambda: list(records.scan()),
            lambda: records.newest(1),
            records.count,
            lambda: records.search_sync("x"),
            lambda: records._store.delete(["1"]),
        ):
            with pytest.raises(StoreError, match=said) as error:
                use()
            found.append(str(error.value))
        return [LIVE]

    kit = open_kit({"live": make_plugin(contextkit_query=query)}, settings=settings)
    context = await kit.assemble_context("tide")
    assert "the tide rises now" in context.markdown
    assert len(found) == 9
    assert len(set(found)) == 1


HOLDER = """
import sys
from pathlib import Path
from contextkit.store.shard_lock import ShardLock
lock = ShardLock(Path(sys.argv[1]), 10.0)
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def hold_store() -> Iterator[Callable[[Path], subprocess.Popen[str]]]:
    """Lets another process hold a store's lock until its input ends."""
    processes = []

    def hold(path: Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield hold
    for process in processes:
        process.communicate()


async def test_a_store_that_another_process_keeps(
    open_kit: OpenKit,
    plugins: dict[str, ModuleType],
    hold_store: Callable[[Path], subprocess.Popen[str]],
) -> None:
    """It is waited for once and not by every source; once it is free all answer again.

    No breaker opens: what the store does says nothing of the sources.
    """
    settings = {"store.lock_timeout": 0.2, "assemble.breaker_failures": 1}
    kit = open_kit(plugins, settings=settings)
    for source in ("notes", "log"):
        kit.records(source).put([Record(id="1", text=f"the tide of the {source}")])
    kit.close()
    holder = hold_store(kit.store.path)  # type: ignore[attr-defined]
    for _ in range(2):
        context = await kit.assemble_context("tide")
        assert states(context) == {"notes": "failed", "log": "failed", "live": "ok"}
        assert f"is still in use by process {holder.pid}" in str(reasons(context)["notes"])
        assert {row.breaker for row in context.trace.sources} == {"closed"}
    with pytest.raises(StoreBusyError):
        await kit.assemble_context("tide", ["notes"])
    holder.communicate()
    kit.store.lock_timeout = 20.0  # type: ignore[attr-defined]
    kit.store._shared.lock_timeout = 20.0  # type: ignore[attr-defined]
    assert set(states(await kit.assemble_context("tide")).values()) == {"ok"}


def test_the_command_line_without_a_store(
    tmp_path: Path, dead_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What answers is printed, what does not is one line; with nothing it is exit code 4."""
    monkeypatch.setenv("CONTEXTKIT_STORE_URL", dead_url)
    monkeypatch.setenv("CONTEXTKIT_ASSEMBLE_SOURCE_TIMEOUT", "20")
    monkeypatch.setenv("CONTEXTKIT_ASSEMBLE_DEADLINE", "20")
    (tmp_path / "tide.py").write_text("RISES = True\n")
    asked = ["-C", str(tmp_path), "assemble", "which files are there?", "--no-index", "--sources"]
    found = CliRunner().invoke(cli, [*asked, "memories,code,workspace"])
    assert found.exit_code == 0, found.stderr
    assert "## Workspace" in found.stdout
    [line] = [line for line in found.stderr.splitlines() if dead_url in line]
    assert re.match(r"contextkit: (memories, code|code, memories): ", line)
    nothing = CliRunner().invoke(cli, [*asked, "memories,code"])
    assert (nothing.exit_code, nothing.stdout) == (4, "")
    assert dead_url in nothing.stderr


# -- the model ------------------------------------------------------------------------------


async def test_without_a_model_keywords_find(open_kit: OpenKit) -> None:
    """A model that does not load: records are stored and found, and a note says so."""

    def embedder(model: str) -> Any:
        raise OSError("the weights are gone")

    lost = make_plugin(contextkit_query=from_records, contextkit_embedder=embedder)
    kit = open_kit({"notes": lost}, settings={"embedding.model": "lost:model"})
    with capture_logs() as logs:
        kit.records("notes").put([Record(id="1", text="the tide rises")])
        context = await kit.assemble_context("when does the tide rise?")
    assert "the tide rises" in context.markdown
    assert states(context) == {"notes": "ok"}
    [note] = context.trace.notes
    assert "the weights are gone" in note
    assert sum(log["event"] == "records_without_vectors" for log in logs) == 1


# -- a source -------------------------------------------------------------------------------


async def test_a_hanging_source_is_left_alone_and_comes_back(
    open_kit: OpenKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It times out, then is not asked, then probed by one request alone, then asked as ever.

    The other source answers all the time.
    """
    # On a busy machine lateness counts against no source.
    monkeypatch.setattr(Starvation, "is_bad", False)
    asked: list[str] = []
    well, probed, answering = (asyncio.Event() for _ in range(3))

    async def query(request: ContextRequest) -> list[ContextItem]:
        asked.append(request.query)
        if well.is_set():
            probed.set()
        await (answering if well.is_set() else asyncio.Event()).wait()
        return [ContextItem("slow", "the tide at last", 0.9)]

    kit = open_kit({"slow": make_plugin(contextkit_query=query), "live": make_plugin([LIVE])})
    clock = Clock()
    kit.pipeline.breakers = Breakers(2, 30.0, clock)
    breaker = kit.pipeline.breakers.of("slow")

    async def state(query: str, seconds: float = 0.02) -> str:
        context = await kit.assemble_context(query, timeouts={"slow": seconds})
        found = states(context)
        assert found["live"] == "ok"
        return found["slow"]

    assert [await state("one"), await state("two")] == ["timed_out", "timed_out"]
    assert [await state("three"), await state("four")] == ["breaker_open", "breaker_open"]
    assert asked == ["one", "two"]
    clock.now = 30.0
    assert [await state("five"), await state("six")] == ["timed_out", "breaker_open"]
    clock.now = 60.0
    well.set()
    probe = asyncio.create_task(state("seven", 20.0))
    await probed.wait()
    assert [await state("eight"), await state("nine")] == ["breaker_open", "breaker_open"]
    answering.set()
    assert [await probe, await state("ten", 20.0)] == ["ok", "ok"]
    assert asked == ["one", "two", "five", "seven", "ten"]
    assert breaker.state == "closed"


async def test_a_kit_tells_the_health_of_its_sources(open_kit: OpenKit) -> None:
    """Its failures, its open breaker with the reason and the time until the probe, both probes.

    One of them fails, one is answered. A source that is off is not told of.
    """
    low = True

    def query(request: ContextRequest) -> list[ContextItem]:
        if low:
            raise OSError(f"no water at {request.query}")
        return [ContextItem("tide", "the tide at last", 0.9)]

    tide, live = make_plugin(contextkit_query=query), make_plugin([LIVE])
    kit = open_kit({"tide": tide, "live": live})
    clock = Clock()
    kit.pipeline.breakers = Breakers(2, 30.0, clock)

    async def ask(query: str, at: float) -> SourceHealth:
        clock.now = at
        await kit.assemble_context(query)
        return kit.health()["tide"]

    def health(state: Any, failures: int, hour: str, seconds: float | None) -> SourceHealth:
        reason = f"contextkit_query: OSError: no water at {hour}"
        return SourceHealth(
            source="tide", state=state, failures=failures, reason=reason, seconds=seconds
        )

    well = {name: SourceHealth(source=name, state="closed") for name in ("live", "tide")}
    assert kit.health() == well
    assert await ask("one", 0.0) == health("closed", 1, "one", None)
    assert await ask("two", 1.0) == health("open", 2, "two", 30.0)
    assert await ask("three", 21.0) == health("open", 2, "two", 10.0)
    clock.now = 31.0
    assert kit.health()["tide"] == health("half_open", 2, "two", 0.0)
    assert await ask("four", 32.0) == health("open", 3, "four", 30.0)
    low = False
    assert await ask("five", 61.0) == health("open", 3, "four", 1.0)
    assert await ask("six", 62.0) == well["tide"]
    assert kit.health() == well
    kit.disable("tide")
    assert kit.health() == {"live": well["live"]}


async def test_after_a_stall_no_source_is_skipped(open_kit: OpenKit) -> None:
    """Calls of most sources are late together, which is no hang of each; a long one is."""
    names = ("one", "two", "three")
    found = {name: [ContextItem(name, f"the {name} tide rises now", 0.9)] for name in names}
    kit = open_kit({name: make_plugin(items) for name, items in found.items()})
    clock = Clock()
    kit.pipeline.breakers = Breakers(2, 30.0, clock)

    async def skipped(seconds: float, *late: str) -> set[str]:
        with contextlib.ExitStack() as calls:
            for name in late:
                calls.enter_context(kit.pipeline.breakers.of(name).call())
            clock.now += seconds
            limits = dict.fromkeys(names, 2.0)
            context = await kit.assemble_context("when does the tide rise?", timeouts=limits)
        return {name for name in names if states(context)[name] == "breaker_open"}

    assert await skipped(5.0, "one") == {"one"}
    assert await skipped(5.0, "one", "two") == set()
    assert await skipped(25.0, "one", "two") == {"one", "two"}
