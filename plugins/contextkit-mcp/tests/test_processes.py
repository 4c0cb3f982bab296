"""The server in a process of its own, and a real client on its standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import ToolListChangedNotification

from contextkit import ContextKit

pytestmark = pytest.mark.one_python

World = Any
"""The one of `conftest.py`, which no test can import."""
Ask = Callable[..., Awaitable[Any]]

# Tests that run in the background have interrupts ignored, and what they start inherits that.
INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from contextkit.cli import main
main()
"""
CALLS = {
    "assemble_context": {"query": "why do we cap items?"},
    "get_premortem_context": {"domain": "debugging"},
    "list_sources": {},
    "explain": {"query": "why do we cap items?"},
    "list_memories": {},
    "list_experiences": {},
}
TRY = {
    "goal": "stop the nightly timeout",
    "hypothesis": "the pool is too small",
    "action": "double the pool",
    "prediction": "no timeout tonight",
    "domain": "debugging",
    "strategy": "check-assumptions",
}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_each_tool_over_a_real_process(world: World, answer: Ask, mode: str) -> None:
    """The client checks every result against the tool's schema; progress only goes forward."""
    world.commit({f"part{number}.py": f"def part{number}(): ...\n" for number in range(5)})
    world.configure('[sources.mcp]\ntools = "all"')
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with Client(world.stdio, mode=mode) as client:
        assert client.server_capabilities.tools
        assert client.server_capabilities.tools.list_changed
        offered = {tool.name for tool in (await client.list_tools()).tools}
        indexed = await client.call_tool("index", {}, progress_callback=hear)
        memory = await answer(client, "remember", text="We cap items at five")
        begun = await answer(client, "start_experience", **TRY)
        await answer(client, "update_experience", ghap_id=begun["id"], note="slow")
        ended = {"ghap_id": begun["id"], "status": "confirmed", "result": "it held"}
        await answer(client, "resolve_experience", **ended)
        for tool, arguments in CALLS.items():
            await answer(client, tool, **arguments)
        await answer(client, "forget", ids=[memory["id"]])
        called = {"index", "remember", "forget", *CALLS}
        called |= {f"{verb}_experience" for verb in ("start", "update", "resolve")}
        assert called <= offered
    added = {name: each["added"] for name, each in indexed.structured_content["sources"].items()}
    # The settings' file is the documents', where that source is installed.
    assert added["code"] + added.get("documents", 0) == 6
    amounts = [done for done, _, _ in heard]
    assert amounts == sorted(set(amounts))
    done, total, told = heard[-1]
    # Six code units' files and a commit, and what other plugins index.
    assert done == total
    assert total is not None
    assert total >= 7
    assert told


async def test_two_clients_at_once(world: World, answer: Ask) -> None:
    """Two servers on one store: what one agent remembers the other one finds."""
    async with Client(world.stdio) as one, Client(world.stdio) as other:
        made = await asyncio.gather(
            *(
                answer(client, "remember", text=f"{name} knows thing {number}")
                for number in range(8)
                for name, client in (("one", one), ("other", other))
            )
        )
        ids = {memory["id"] for memory in made}
        assert len(ids) == 16
        for client in (one, other):
            listed = await answer(client, "list_memories", limit=50)
            assert {memory["id"] for memory in listed["memories"]} == ids
        assert all(memory["project"] == "name:demo" for memory in made)


async def test_a_client_that_disconnects_in_the_middle_of_a_call(world: World, answer: Ask) -> None:
    """The server ends with its client; the next one finds everything as it was."""
    world.site.install("tide")
    waiting = asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        waiting.set()

    async with Client(world.stdio) as client:
        memory = await answer(client, "remember", text="Tabs, never spaces")
        pid = (await answer(client, "shout"))["pid"]
        call = asyncio.ensure_future(client.call_tool("wait_for_ever", {}, progress_callback=hear))
        await waiting.wait()
    with pytest.raises(MCPError, match=r"(?i)closed"):
        await call
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    async with Client(world.stdio) as client:
        listed = await answer(client, "list_memories")
    assert [each["id"] for each in listed["memories"]] == [memory["id"]]


async def test_a_server_that_is_killed_in_the_middle_of_a_write(world: World, answer: Ask) -> None:
    """The store opens, and holds whatever the client was told that it holds."""
    world.site.install("tide")
    acknowledged: list[str] = []
    enough = asyncio.Event()

    async def remember(client: Client, number: int) -> None:
        memory = await answer(client, "remember", text=f"thing number {number}")
        acknowledged.append(memory["id"])
        if len(acknowledged) == 10:
            enough.set()

    async with Client(world.stdio) as client:
        pid = (await answer(client, "shout"))["pid"]
        # More than the pipes hold answers: it is killed before it is through.
        writes = [asyncio.ensure_future(remember(client, number)) for number in range(600)]
        await enough.wait()
        os.kill(pid, signal.SIGKILL)
        ended = await asyncio.gather(*writes, return_exceptions=True)
    assert any(isinstance(outcome, MCPError) for outcome in ended)
    with ContextKit.open(world.workspace) as kit:
        kept = {record.id for record in kit.records("memories").scan()}
    assert len(acknowledged) >= 10
    assert kept >= set(acknowledged)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_changes_are_announced(world: World, answer: Ask, mode: str) -> None:
    """A source that is switched off, one that is installed: clients are told, and see it."""
    told = asyncio.Queue[None]()

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            told.put_nowait(None)

    async def listen(client: Client, listening: asyncio.Event) -> None:
        async with client.listen(tools_list_changed=True) as events:
            listening.set()
            async for _ in events:
                told.put_nowait(None)

    async def described(client: Client) -> str:
        tools = (await client.list_tools()).tools
        return "".join(tool.description or "" for tool in tools if tool.name == "assemble_context")

    handler = hear if mode == "legacy" else None
    async with Client(world.stdio, mode=mode, message_handler=handler) as client:
        task = None
        if mode == "auto":
            listening = asyncio.Event()
            task = asyncio.ensure_future(listen(client, listening))
            await listening.wait()
        assert "commits" in await described(client)
        world.configure("[sources.commits]\nenabled = false")
        await told.get()
        assert "commits" not in await described(client)
        world.site.install("tide")
        await told.get()
        assert ", tide" in await described(client)
        await answer(client, "shout")
        world.configure("[sources.commits]\nenabled = 'perhaps'")
        await answer(client, "remember", text="Settings may be wrong for a while")
        (note,) = (await answer(client, "list_sources"))["notes"]
        assert note.startswith("the configuration is still the one before: ")
        assert "contextkit.toml:3: sources.commits.enabled: " in note
        world.configure("")
        await told.get()
        assert "commits" in await described(client)
        assert (await answer(client, "list_sources"))["notes"] == []
        if task:
            task.cancel()


@contextlib.contextmanager
def started(
    world: World, folder: Path | None = None
) -> Iterator[tuple[subprocess.Popen[str], Callable[..., Any]]]:
    """A server that is spoken to line by line, past its greeting; the second is what asks."""
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "mcp"],
        cwd=folder or world.workspace,
        env=world.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:

        def ask(**message: Any) -> Any:
            assert server.stdin
            assert server.stdout
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline()) if "id" in message else None

        client = {"name": "test", "version": "1"}
        begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        assert ask(id=1, method="initialize", params=begin)["id"] == 1
        ask(method="notifications/initialized")
        yield server, ask


def test_standard_output_is_the_protocols(world: World) -> None:
    """What a plugin prints, or its libraries write, is no message."""
    world.site.install("tide")
    with started(world) as (server, ask):
        called = ask(id=2, method="tools/call", params={"name": "shout", "arguments": {}})
        out, errors = server.communicate()
    assert "pid" in called["result"]["structuredContent"]
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert errors.count("ahoy") == 2
    assert server.returncode == 0


def test_a_line_that_is_no_message_is_answered(world: World) -> None:
    """Or its client waits for ever; half of an emoji, which JSON may have, is replaced."""
    lines = {
        "no JSON": (-32700, None),
        '{"a": 1}': (-32600, None),
        '{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": [1]}': (-32600, 7),
        '{"jsonrpc": "2.0", "id": 8, "method": "no \\ud83d"}': (-32601, 8),
    }
    with started(world) as (server, ask):
        assert server.stdin
        assert server.stdout
        for line, (code, asked) in lines.items():
            server.stdin.write(f"\n{line}\n")
            server.stdin.flush()
            answered = json.loads(server.stdout.readline())
            assert (answered["error"]["code"], answered["id"]) == (code, asked), line
        assert ask(id=9, method="ping")["result"] == {}


def test_a_workspace_of_any_name_can_be_told(world: World, tmp_path: Path) -> None:
    """Its bytes may be no UTF-8, which no message could carry."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff"))
    odd.mkdir()
    with started(world, odd) as (server, ask):
        listed = ask(id=2, method="tools/call", params={"name": "list_sources", "arguments": {}})
        assert not listed["result"]["isError"]
        assert server.poll() is None


def test_a_person_ends_it_with_an_interrupt(world: World) -> None:
    """At once, though nobody has closed its input."""
    with started(world) as (server, _):
        server.send_signal(signal.SIGINT)
        assert server.wait() == -signal.SIGINT


def test_help_does_not_import_the_sdk(world: World) -> None:
    """Only `contextkit mcp` costs what it needs."""
    program = (
        "import sys\nfrom contextkit.cli import cli\n"
        "try:\n    cli(['--help'])\n"
        "finally:\n    print(*({'mcp', 'mcp_types', 'pydantic'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=world.workspace,
        env=world.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not ran.stdout.splitlines()[-1]
    assert re.search(r"^  mcp +Run an MCP server", ran.stdout, re.MULTILINE)


def test_a_configuration_that_is_wrong_from_the_start(world: World) -> None:
    """The server does not begin, and says why."""
    world.configure("[assemble]\nlimit = 0")
    ran = world.run("mcp")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "contextkit.toml:3: assemble.limit" in ran.stderr


def test_without_standard_input(world: World) -> None:
    """There is nobody to serve, and it says so."""
    ran = subprocess.run(
        ["sh", "-c", 'exec "$0" -m contextkit.cli mcp <&-', sys.executable],
        cwd=world.workspace,
        env=world.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "Standard input is closed; an agent must be connected to it." in ran.stderr
