"""Real servers for the tests: in a process of their own, or in the test's own loop."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from contextkit.testing import own_home, write_distribution
from contextkit_mcp.live_kit import LiveKit
from contextkit_mcp.serving import make_server

Connect = Callable[..., AbstractAsyncContextManager[Client]]

TIDE = """
import asyncio
import itertools
import os
import threading

from contextkit import ContextItem, ContextKitError, SourceInfo, Tool, hookimpl
from contextkit.models.indexer import Progress

ended = asyncio.Event()
stopped = threading.Event()


@hookimpl
def contextkit_query(request):
    return [ContextItem("{name}", "high water at noon", 0.9)]


@hookimpl
def contextkit_source():
    return SourceInfo(description="when the water is high")


async def wait_for_ever(kit, progress) -> dict[str, str]:
    progress(Progress(source="{name}", label="waves", done=1, total=None))
    try:
        await asyncio.Event().wait()
    finally:
        ended.set()


async def wait_for_the_end(kit) -> dict[str, bool]:
    await ended.wait()
    return {{"ended": True}}


def work_for_ever(kit, progress) -> dict[str, str]:
    try:
        for done in itertools.count(1):
            progress(Progress(source="{name}", label="waves", done=done, total=None))
            stopped.wait(0.001)
    finally:
        stopped.set()


def wait_until_stopped(kit) -> dict[str, bool]:
    return {{"stopped": stopped.wait()}}


def shout(kit) -> dict[str, int]:
    print("ahoy", flush=True)
    os.write(1, b"ahoy" + bytes([10]))
    return {{"pid": os.getpid()}}


def sink(kit) -> dict[str, int]:
    raise ContextKitError("the boat has sunk")


def crash(kit) -> dict[str, int]:
    raise RuntimeError("no water")


@hookimpl
def contextkit_tools():
    runs = {tools}
    return [Tool(name=run.__name__, description="A test.", run=run) for run in runs]
"""
_modules = itertools.count()
ALL_TOOLS = (
    "(wait_for_ever, wait_for_the_end, work_for_ever, wait_until_stopped, shout, sink, crash)"
)


@frozen
class Site:
    """A folder that every Python of a test imports from, with distributions installed there.

    Attributes:
        folder: the folder.
    """

    folder: Path

    def install(self, name: str, tools: str = ALL_TOOLS, code: str = TIDE) -> None:
        """Install a distribution `NAME-tables` with a source of that name."""
        # A process imports a module once: each test has its own.
        module = f"contextkit_mcp_test_{next(_modules)}"
        text = code.format(name=name, tools=tools)
        (self.folder / f"{module}.py").write_text(text, encoding="utf-8")
        write_distribution(self.folder, f"{name}-tables", {name: module})


@frozen
class World:
    """A user's home, a workspace, and what is installed besides.

    Attributes:
        home: `CONTEXTKIT_HOME`.
        workspace: a folder with a project's configuration.
        site: where distributions are installed.
    """

    home: Path
    workspace: Path
    site: Site

    @property
    def environment(self) -> dict[str, str]:
        """What a process of this world gets."""
        return {
            "PATH": os.environ["PATH"],
            "CONTEXTKIT_HOME": str(self.home),
            "PYTHONPATH": str(self.site.folder),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }

    @property
    def stdio(self) -> StdioServerParameters:
        """How a client starts a server on standard input and output."""
        return StdioServerParameters(
            command=sys.executable,
            args=["-m", "contextkit.cli", "mcp"],
            cwd=self.workspace,
            env=self.environment,
        )

    def configure(self, text: str) -> None:
        """Replace the project's settings, at once."""
        made = self.workspace / ".contextkit.toml.new"
        made.write_text(f'project = "demo"\n{text}', encoding="utf-8")
        made.rename(self.workspace / "contextkit.toml")

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command line to its end."""
        return subprocess.run(
            [sys.executable, "-m", "contextkit.cli", *arguments],
            cwd=self.workspace,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    @contextlib.contextmanager
    def http(self, *arguments: str, **variables: str) -> Iterator[str]:
        """A server over HTTP, for as long as this lasts: its URL."""
        with subprocess.Popen(
            [sys.executable, "-m", "contextkit.cli", "mcp", "--http", "--port", "0", *arguments],
            cwd=self.workspace,
            env={**self.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr
            assert process.stdout
            try:
                line = process.stderr.readline()
                assert line.startswith("contextkit: serving on http://"), line
                yield line.split()[-1]
            finally:
                process.terminate()
                out, _ = process.communicate()
                assert not out

    def commit(self, files: Mapping[str, str]) -> None:
        """Make the workspace a git repository with one commit of these files."""
        for name, text in files.items():
            (self.workspace / name).write_text(text, encoding="utf-8")
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        for arguments in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "Cap the items")):
            subprocess.run(
                ["git", *arguments], cwd=self.workspace, env=self.environment, check=True
            )


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A world of the test's own."""
    with own_home() as home:
        made = World(home, tmp_path / "workspace", Site(tmp_path / "site"))
        for folder in (made.workspace, made.site.folder):
            folder.mkdir()
        made.configure("")
        monkeypatch.syspath_prepend(made.site.folder)
        yield made


@pytest.fixture
def connect(world: World) -> Connect:
    """Connects a client to a server in the same process."""

    @contextlib.asynccontextmanager
    async def connected(**options: Any) -> AsyncIterator[Client]:
        live = LiveKit(world.workspace)
        try:
            async with Client(make_server(live), **options) as client:
                yield client
        finally:
            live.close()

    return connected


def text_of(result: CallToolResult) -> str:
    """A result's text."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.fixture(scope="session")
def answer() -> Callable[..., Any]:
    """Calls a tool as it should be called, and gives its data; it has a text, too."""

    async def called(client: Client, tool: str, /, **arguments: Any) -> Any:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)
        assert text_of(result)
        return result.structured_content

    return called


@pytest.fixture(scope="session")
def said() -> Callable[..., Any]:
    """Calls a tool, and gives its text."""

    async def called(client: Client, tool: str, /, **arguments: Any) -> str:
        return text_of(await client.call_tool(tool, arguments))

    return called


@pytest.fixture(scope="session")
def refusal() -> Callable[..., Any]:
    """Calls a tool that fails, and gives its one line."""

    async def called(client: Client, tool: str, /, **arguments: Any) -> str:
        result = await client.call_tool(tool, arguments)
        assert result.is_error
        assert result.structured_content is None
        assert "\n" not in text_of(result)
        return text_of(result)

    return called
