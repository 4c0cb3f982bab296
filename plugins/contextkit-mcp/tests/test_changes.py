"""What a server does about changes, progress and clients that have gone."""

from __future__ import annotations

import asyncio
import json
import queue
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from click.testing import CliRunner
from mcp import Client
from mcp_types import ToolListChangedNotification

from contextkit import ContextKit
from contextkit.cli.root import cli
from contextkit.config.load import DEADLINE, SOURCE_TIMEOUT
from contextkit.errors import ContextKitError, PluginError
from contextkit.models.indexer import Progress
from contextkit_mcp import announcing, relay as relaying
from contextkit_mcp.live_kit import LiveKit
from contextkit_mcp.relay import ProgressRelay

World = Any
"""The one of `conftest.py`, which no test can import."""
Connect = Callable[..., AbstractAsyncContextManager[Client]]
Ask = Callable[..., Awaitable[Any]]


def sources(live: LiveKit) -> list[str]:
    """The sources that are on."""
    with live.using() as kit:
        return kit.registry.sources


async def test_a_kit_follows_its_configuration(world: World) -> None:
    """Of the project and of the user, in files that come and go; nothing changed, same kit."""
    live = LiveKit(world.workspace)
    assert "commits" in sources(live)
    (world.home / "config.toml").write_text("[sources.commits]\nenabled = false\n")
    await live.refresh()
    assert "commits" not in sources(live)
    with live.using() as second:
        (world.workspace / "pyproject.toml").write_text("[tool.other]\na = 1\n")
        await live.refresh()
        with live.using() as third:
            assert third is second
    (world.home / "config.toml").unlink()
    await live.refresh()
    assert "commits" in sources(live)
    live.close()


async def test_a_server_waits_for_its_sources_as_a_command_does(world: World) -> None:
    """Its first answer is a cold one, too; what is configured is stronger, also when it changes."""
    (world.home / "config.toml").unlink()
    live = LiveKit(world.workspace)
    with live.using() as kit:
        assert kit.config.assemble.source_timeout == SOURCE_TIMEOUT
    (world.home / "config.toml").write_text("[assemble]\nsource_timeout = 0.25\n")
    await live.refresh()
    with live.using() as kit:
        assert kit.config.assemble.source_timeout == 0.25
        assert kit.config.assemble.deadline == DEADLINE
    live.close()


async def test_a_kit_that_is_replaced_is_closed_when_nobody_uses_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not while a call is still at work with it, and not never."""
    closed = queue.SimpleQueue[ContextKit]()
    close = ContextKit.close

    def closing(kit: ContextKit) -> None:
        close(kit)
        closed.put(kit)

    monkeypatch.setattr(ContextKit, "close", closing)
    live = LiveKit(world.workspace)
    with live.using() as first, live.using():
        world.configure("[sources.commits]\nenabled = false")
        await live.refresh()
        with live.using() as second:
            assert second is not first
        assert closed.empty()
    assert await asyncio.to_thread(closed.get) is first
    live.close()
    assert closed.get() is second


async def test_flags_stay_stronger_than_files(world: World) -> None:
    """What the command line said holds for as long as the server runs."""
    live = LiveKit(world.workspace, {"sources.commits.enabled": False})
    world.configure("[sources.commits]\nenabled = true")
    await live.refresh()
    assert "commits" not in sources(live)
    live.close()


async def test_a_kit_follows_what_is_installed(world: World) -> None:
    """A plugin that comes is used; one that clashes with it leaves everything as it was."""
    live = LiveKit(world.workspace)
    world.site.install("tide")
    await live.refresh()
    assert "tide" in sources(live)
    world.site.install("moon")
    await live.refresh()
    assert "moon" not in sources(live)
    assert live.problem == (
        "the tool 'wait_for_ever' is offered by 'moon' of moon-tables and by 'tide' of "
        "tide-tables: turn one of them off"
    )
    with pytest.raises(PluginError, match="is offered by 'moon' of moon-tables"):
        LiveKit(world.workspace)
    world.configure("[sources.tide]\nenabled = false")
    await live.refresh()
    assert "moon" in sources(live)
    assert not live.problem
    live.close()


async def test_switching_a_source_at_run_time_is_announced(
    world: World, connect: Connect, said: Ask
) -> None:
    """A plugin may do it, or a host; a client with a session is told."""
    world.site.install("tide", tools="(switch,)", code=SWITCH)
    told = asyncio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            told.set()

    async with connect(mode="legacy", message_handler=hear) as client:
        assert "commits: on" in await said(client, "list_sources")
        await client.call_tool("switch", {})
        await told.wait()
        assert "commits: off" in await said(client, "list_sources")


SWITCH = """
from contextkit import RecipeTemplate, Tool, hookimpl

def switch(kit) -> dict[str, str]:
    kit.disable("commits")
    return {{"off": "{name}"}}

def clash(kit) -> dict[str, str]:
    kit.enable("moon")
    return {{"on": "moon"}}

@hookimpl
def contextkit_recipes():
    return [RecipeTemplate(name="premortem", description="Another.", build=dict)]

@hookimpl
def contextkit_tools():
    return [Tool(name=run.__name__, description="Switch.", run=run) for run in {tools}]
"""


async def test_a_clash_at_run_time_costs_the_plugins_tools(
    world: World, connect: Connect, said: Ask, refusal: Ask
) -> None:
    """The server goes on with contextkit's own, and says which two are at odds."""
    world.site.install("tide", tools="(switch, clash)", code=SWITCH)
    world.site.install("moon", tools="(switch, clash)", code=SWITCH)
    world.configure("[sources.moon]\nenabled = false")
    async with connect() as client:
        # The recipe is contested from the beginning: two plugins offer it.
        message = await refusal(client, "get_premortem_context", domain="debugging")
        assert "the recipe 'premortem' is offered by experiences and by tide" in message
        await said(client, "clash")
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools >= {"assemble_context", "list_sources"}
        assert "remember" not in tools
        text = await said(client, "list_sources")
        missing = "the tools of the plugins are missing: the tool 'switch' is offered by 'moon'"
        assert missing in text


async def test_sessions_are_remembered_up_to_a_number(
    world: World, connect: Connect, monkeypatch: pytest.MonkeyPatch, answer: Ask
) -> None:
    """The oldest is forgotten, and goes on without being told."""
    monkeypatch.setattr(announcing, "MOST_SESSIONS", 0)
    async with connect(mode="legacy") as client:
        assert (await answer(client, "list_memories"))["total"] == 0


# -- progress -------------------------------------------------------------------------------

Sent = list[tuple[float, float | None, str | None]]


def step(source: str, done: int, total: int | None) -> Progress:
    """A report."""
    return Progress(source=source, label="files", done=done, total=total)


async def test_progress_adds_up_and_only_grows() -> None:
    """Over all sources; the total is known when every source's is."""
    sent: Sent = []
    passed = asyncio.Event()

    async def send(done: float, total: float | None, message: str | None) -> None:
        sent.append((done, total, message))
        passed.set()

    relay = ProgressRelay(send)
    sending = asyncio.ensure_future(relay.send_all())
    for report in (
        step("code", 2, 5),
        step("code", 1, 5),
        step("code", 5, 5),
        step("docs", 1, None),
    ):
        await asyncio.to_thread(relay.report, report)
        await passed.wait() if report.done != 1 or report.total is None else None
        passed.clear()
    relay.close()
    await sending
    assert sent == [
        (2, 5, "code: 2 of 5 files"),
        (5, 5, "code: 5 of 5 files"),
        (6, None, "docs: 1 files"),
    ]


async def test_progress_waits_for_a_slow_client() -> None:
    """What is reported meanwhile is one message, and the last one is never lost."""
    sent: Sent = []
    reading, began = asyncio.Event(), asyncio.Event()

    async def send(done: float, total: float | None, message: str | None) -> None:
        began.set()
        await reading.wait()
        sent.append((done, total, message))

    relay = ProgressRelay(send)
    sending = asyncio.ensure_future(relay.send_all())
    relay.report(step("code", 1, 100))
    await began.wait()
    for done in range(2, 101):
        relay.report(step("code", done, 100))
    relay.close()
    reading.set()
    await sending
    assert [done for done, _, _ in sent] == [1, 100]


async def test_progress_comes_at_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is reported between two messages is in the second one; the end is told at once."""
    monkeypatch.setattr(relaying, "SECONDS_BETWEEN", 1_000)
    sent: Sent = []
    first = asyncio.Event()

    async def send(done: float, total: float | None, message: str | None) -> None:
        sent.append((done, total, message))
        first.set()

    relay = ProgressRelay(send)
    sending = asyncio.ensure_future(relay.send_all())
    relay.report(step("code", 1, 100))
    await first.wait()
    for done in range(2, 101):
        relay.report(step("code", done, 100))
    relay.close()
    await sending
    assert [done for done, _, _ in sent] == [1, 100]


async def test_a_call_that_was_given_up_ends_at_its_next_report() -> None:
    """The thread that works for nobody stops."""

    async def send(done: float, total: float | None, message: str | None) -> None:
        raise AssertionError

    relay = ProgressRelay(send)
    relay.give_up()
    with pytest.raises(ContextKitError, match="the client cancelled the call"):
        relay.report(step("code", 1, 2))


@pytest.mark.parametrize(
    ("endless", "end", "answered"),
    [
        ("wait_for_ever", "wait_for_the_end", {"ended": True}),
        ("work_for_ever", "wait_until_stopped", {"stopped": True}),
    ],
)
async def test_a_cancelled_call_ends(
    world: World, connect: Connect, answer: Ask, endless: str, end: str, answered: dict[str, bool]
) -> None:
    """In the event loop at once, in a thread at its next report; the server goes on."""
    world.site.install("tide")
    waiting = asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        waiting.set()

    async with connect() as client:
        call = asyncio.ensure_future(client.call_tool(endless, {}, progress_callback=hear))
        await waiting.wait()
        call.cancel()
        assert await answer(client, end) == answered


# -- the command ----------------------------------------------------------------------------


def test_the_command_serves_until_its_input_ends(world: World) -> None:
    """One message in, one out, nothing else on standard output."""
    client = {"name": "test", "version": "1"}
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}
    ran = CliRunner().invoke(
        cli, ["mcp", "--project", str(world.workspace)], input=json.dumps(message) + "\n"
    )
    assert (ran.exit_code, ran.stderr) == (0, "")
    answered = json.loads(ran.stdout)
    assert answered["result"]["serverInfo"]["name"] == "contextkit"
    assert answered["result"]["capabilities"]["tools"] == {"listChanged": True}
