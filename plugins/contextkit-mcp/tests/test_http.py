"""Serving over HTTP: who may connect, from where, and what happens when a client goes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner
from mcp import Client
from mcp.client.session import MessageHandlerFnT
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ToolListChangedNotification
from sse_starlette.sse import AppStatus

from contextkit.cli.root import cli
from contextkit.errors import ContextKitError, InvalidRequestError
from contextkit_mcp.http import Address, serve_http
from contextkit_mcp.live_kit import LiveKit
from contextkit_mcp.serving import make_server

pytestmark = pytest.mark.one_python

World = Any
"""The one of `conftest.py`, which no test can import."""
Ask = Callable[..., Awaitable[Any]]

TOKEN = "a token that nobody guesses"  # noqa: S105 - of this test alone
EVERYWHERE = "0.0.0.0"  # noqa: S104 - refused without a token
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@contextlib.asynccontextmanager
async def connected(url: str, token: str, **options: Any) -> AsyncIterator[Client]:
    """A client that shows a token."""
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), **options) as client,
    ):
        yield client


@contextlib.asynccontextmanager
async def serving(folder: Path, address: Address) -> AsyncIterator[str]:
    """A server in the test's own process, which ends as one does that is told to: its URL."""
    said = asyncio.Queue[str]()
    live = LiveKit(folder)
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    task = asyncio.ensure_future(serve_http(make_server(live), address, said.put_nowait))
    try:
        yield (await said.get()).split()[-1]
    finally:
        signal.raise_signal(signal.SIGTERM)
        await task
        signal.signal(signal.SIGTERM, before)
        # It remembers for the whole process that a server has ended.
        AppStatus.should_exit = False
        live.close()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_loopback_needs_no_token(world: World, answer: Ask, mode: str) -> None:
    """Two clients at once, of one server; a change is announced to both."""
    told = asyncio.Queue[str]()

    def hearing(name: str) -> MessageHandlerFnT | None:
        async def hear(message: object) -> None:
            if isinstance(message, ToolListChangedNotification):
                told.put_nowait(name)

        return hear if mode == "legacy" else None

    async def listen(client: Client, name: str, listening: asyncio.Event) -> None:
        async with client.listen(tools_list_changed=True) as events:
            listening.set()
            async for _ in events:
                told.put_nowait(name)

    with world.http() as url:
        async with (
            Client(url, mode=mode, message_handler=hearing("one")) as one,
            Client(url, mode=mode, message_handler=hearing("other")) as other,
        ):
            tasks = []
            for name, client in (("one", one), ("other", other)):
                if mode == "auto":
                    listening = asyncio.Event()
                    tasks.append(asyncio.ensure_future(listen(client, name, listening)))
                    await listening.wait()
            made, _ = await asyncio.gather(
                answer(one, "remember", text="Tabs, never spaces"),
                answer(other, "remember", text="Ask before you push"),
            )
            assert (await answer(other, "list_memories"))["total"] == 2
            made.pop("near")
            assert (await answer(other, "forget", ids=[made["id"]]))["forgotten"] == [
                {key: made[key] for key in made if key not in {"outcome", "looks_secret"}}
            ]
            world.configure("[sources.commits]\nenabled = false")
            assert {await told.get(), await told.get()} == {"one", "other"}
            for task in tasks:
                task.cancel()


async def test_a_token_keeps_others_out(world: World, answer: Ask) -> None:
    """Without the token nothing is answered; with it everything is."""
    async with serving(world.workspace, Address(token=TOKEN)) as url:
        async with httpx2.AsyncClient(timeout=60) as http:
            for shown in (None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x"):
                headers = {**JSON, **({} if shown is None else {"authorization": shown})}
                refused = await http.post(url, json=PING, headers=headers)
                assert (refused.status_code, refused.text) == (401, "")
                assert refused.headers["www-authenticate"] == "Bearer"
            for elsewhere, status in (
                ({"host": "evil.example"}, 421),
                ({"origin": "http://evil"}, 403),
            ):
                headers = {**JSON, "authorization": f"bearer {TOKEN}", **elsewhere}
                assert (await http.post(url, json=PING, headers=headers)).status_code == status
        async with connected(url, TOKEN) as client:
            assert (await answer(client, "remember", text="Tabs"))["outcome"] == "stored"


async def test_a_real_process_with_a_token(world: World, answer: Ask) -> None:
    """The token of the variable is the one that counts."""
    with world.http(CONTEXTKIT_MCP_TOKEN=TOKEN) as url:
        async with httpx2.AsyncClient(timeout=60) as http:
            assert (await http.post(url, json=PING, headers=JSON)).status_code == 401
        async with connected(url, TOKEN) as client:
            assert (await answer(client, "remember", text="Tabs"))["outcome"] == "stored"


async def test_other_sites_do_not_reach_it(world: World) -> None:
    """A page in the user's browser that rebinds its name is refused, with or without a token."""
    async with serving(world.workspace, Address()) as url, httpx2.AsyncClient(timeout=60) as http:
        for headers, status in (
            ({"host": "evil.example"}, 421),
            ({"host": "evil.example:8765"}, 421),
            ({"origin": "http://evil.example"}, 403),
            ({"content-type": "text/plain"}, 400),
        ):
            answered = await http.post(url, json=PING, headers={**JSON, **headers})
            assert answered.status_code == status


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_goes_in_the_middle_of_a_call(
    world: World, answer: Ask, mode: str
) -> None:
    """What it asked for ends where it is; the server goes on for the others."""
    world.site.install("tide")
    waiting = asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        waiting.set()

    with world.http() as url:
        async with Client(url, mode=mode) as other:
            async with Client(url, mode=mode) as client:
                call = client.call_tool("wait_for_ever", {}, progress_callback=hear)
                pending = asyncio.ensure_future(call)
                await waiting.wait()
                pending.cancel()
            assert (await answer(other, "wait_for_the_end")) == {"ended": True}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--host", EVERYWHERE), "0.0.0.0 can be reached from other machines: give a token"),
        (("--host", "192.0.2.7"), "192.0.2.7 can be reached from other machines"),
        (("--host", "tide.example"), "tide.example can be reached from other machines"),
        (("--host", "::"), ":: can be reached from other machines"),
        (("--token", " "), "the token is empty"),
        (("--token", "x", "--host", EVERYWHERE), "name with --allow-host the host names"),
        (("--port", "70000"), "70000 is not in the range"),
        (("--project", "nowhere"), "'nowhere' does not exist"),
    ],
)
def test_what_is_refused(world: World, arguments: tuple[str, ...], problem: str) -> None:
    """An address that others reach needs a token; a mistake is said in one line."""
    ran = CliRunner().invoke(cli, ["-C", str(world.workspace), "mcp", "--http", *arguments])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("contextkit: ")
    assert problem in ran.stderr


def test_a_token_of_the_variable_is_looked_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no setting, and an empty one is none that keeps anybody out."""
    monkeypatch.setenv("CONTEXTKIT_MCP_TOKEN", " ")
    ran = CliRunner().invoke(cli, ["-C", str(world.workspace), "mcp", "--http"])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "the token is empty" in ran.stderr


def test_addresses() -> None:
    """What is loopback, and what may be called by which name."""
    for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost"):
        assert Address(host=host).is_loopback
    everywhere = Address(host=EVERYWHERE, token=TOKEN, names=["tide.example"])
    assert not everywhere.is_loopback
    assert everywhere.security.enable_dns_rebinding_protection
    assert {"tide.example", "tide.example:*", "localhost:*"} <= set(
        everywhere.security.allowed_hosts
    )
    assert "https://tide.example:*" in everywhere.security.allowed_origins
    assert "[::1]:*" in Address(host="::1").security.allowed_hosts
    with pytest.raises(InvalidRequestError, match="the token is empty"):
        Address(token="")


def test_a_port_that_is_taken(world: World) -> None:
    """The error says where it could not listen."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        arguments = ["-C", str(world.workspace), "mcp", "--http", "--port", str(port)]
        ran = CliRunner().invoke(cli, arguments)
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert ran.stderr.startswith(f"contextkit: cannot listen at 127.0.0.1 port {port}: ")
    with pytest.raises(ContextKitError, match=r"cannot listen at no\.such\.host\.invalid"):
        Address(host="no.such.host.invalid", token=TOKEN).bound()


async def test_a_session_that_has_ended_is_not_told(world: World, answer: Ask) -> None:
    """Those that are there still are."""
    told = asyncio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            told.set()

    async with serving(world.workspace, Address()) as url:
        async with Client(url, mode="legacy") as gone:
            await answer(gone, "list_memories")
        async with Client(url, mode="legacy", message_handler=hear) as client:
            await answer(client, "list_memories")
            world.configure("[sources.commits]\nenabled = false")
            await told.wait()
