"""The share of an agent's requests that a provider's prompt cache can serve.

`python -m tests.benchmarks.provider_cache --turns 50`

A provider keeps the beginnings of requests in blocks, from a minimum size on, and charges less for
the part of a new request that begins as an earlier one did. OpenAI documents 1,024 tokens at least,
then steps of 128. Anthropic documents 1,024 tokens at least for most models, in the order of tools,
system and messages. One changed byte makes all that follows it new.

An agent's session is played over a copy of real code, with the hooks and the MCP server: in each
turn a prompt with the hook's context, a call of `assemble_context`, and an edit of a file that the
question was about. A note is remembered on the way.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import itertools
import json
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from attrs import define, field, frozen
from mcp import Client
from mcp_types import TextContent

import contextkit
from contextkit import ContextKit
from contextkit.agent.answer import answer_event
from contextkit.agent.events import HookEvent
from contextkit.agent.shown import hide_shown
from contextkit.concurrency import in_thread
from contextkit_mcp.live_kit import LiveKit
from contextkit_mcp.serving import make_server
from tests.benchmarks.harness import Report, machine, write_json

__all__ = ["ProviderCache", "main", "play"]

_CHARACTERS = 4
"""Characters of a token, about."""

_SECONDS = 60.0
_NOTE = "We always round token budgets down, never up"
_SYSTEM = "You are a coding agent. Use the tools, and answer from the context. " * 40


@define
class ProviderCache:
    """Keeps the beginnings of requests in blocks, as providers document it.

    Attributes:
        block: tokens of a block.
        least: tokens from which on a beginning is kept.
    """

    block: int = 128
    least: int = 1024
    _known: set[int] = field(factory=set, init=False)

    def ask(self, request: str) -> int:
        """Take a request; return the tokens of it that were known."""
        known, size = 0, self.block * _CHARACTERS
        for end in range(size, len(request) + 1, size):
            beginning = hash(request[:end])
            if beginning in self._known and known == end - size:
                known = end
            self._known.add(beginning)
        tokens = known // _CHARACTERS
        return tokens if tokens >= self.least else 0

    def whole(self, request: str) -> int:
        """Return the tokens of a request that could be known when it is continued."""
        tokens = len(request) // _CHARACTERS // self.block * self.block
        return tokens if tokens >= self.least else 0


@frozen(kw_only=True)
class Turn:
    """One turn: the request as the provider gets it, and what contextkit said in it."""

    request: str
    said: str


@define
class Play:
    """What was played.

    Attributes:
        turns: the turns.
        repeated: answers of hooks to the last question, each in a session of its own.
        again: answers of the tool to it.
    """

    turns: list[Turn] = field(factory=list)
    repeated: list[str] = field(factory=list)
    again: list[str] = field(factory=list)

    def rewritten(self) -> int:
        """Count the requests that do not begin as the one before did."""
        pairs = itertools.pairwise(self.turns)
        return sum(not after.request.startswith(before.request) for before, after in pairs)

    def hits(self) -> tuple[int, int, int]:
        """Return the tokens that were known, that could be, and all."""
        cache, known, could = ProviderCache(), 0, 0
        before = ""
        for turn in self.turns:
            could += cache.whole(before)
            known += cache.ask(turn.request)
            before = turn.request
        return known, could, sum(len(turn.request) // _CHARACTERS for turn in self.turns)


async def play(workspace: Path, turns: int) -> Play:
    """Play a session over the Python files of a workspace, which it edits."""
    found = Play()
    prompts = itertools.islice(_prompts(workspace), turns)
    async with _agent(workspace) as agent:
        messages = [await agent.hook("SessionStart", source="startup")]
        for number, (file, prompt) in enumerate(prompts):
            said = await agent.hook("UserPromptSubmit", prompt=prompt)
            messages += [prompt, said]
            # A client asks for the tools again when it likes; they stand before the messages.
            head = [await agent.tools(), _SYSTEM]
            found.turns.append(Turn(request=_request(head, messages), said=said))
            if number == turns // 3:
                messages.append(await agent.call("remember", text=_NOTE))
            messages.append(await agent.call("assemble_context", query=prompt, max_tokens=800))
            with file.open("a", encoding="utf-8") as code:
                code.write(f"\n\ndef added_{number}() -> int:\n    return {number}\n")
        found.repeated = [
            await agent.hook("UserPromptSubmit", f"again{number}", prompt=prompt)
            for number in range(3)
        ]
        found.again = [await agent.call("assemble_context", query=prompt) for _ in range(3)]
    return found


def _request(head: Sequence[str], messages: Sequence[str]) -> str:
    return "\n".join(json.dumps(each) for each in (*head, *messages))


def _prompts(workspace: Path) -> list[tuple[Path, str]]:
    """Ask for what the docstrings of the code say, of a function of each file in turn."""
    files = sorted(workspace.rglob("*.py"))
    asked = [[(file, prompt) for prompt in _questions(file)] for file in files]
    turns = itertools.chain.from_iterable(itertools.zip_longest(*asked))
    return [turn for turn in turns if turn is not None]


def _questions(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and (said := ast.get_docstring(node)):
            yield f"Where do we {said.splitlines()[0].lower().rstrip('.')}?"


@frozen
class _Agent:
    """An agent with contextkit's hooks and its MCP server.

    Attributes:
        kit: what answers the hooks.
        client: the client of the server.
    """

    kit: ContextKit
    client: Client

    async def hook(self, name: str, session: str = "played", **fields: str) -> str:
        event = HookEvent.from_json(
            {
                "hook_event_name": name,
                "session_id": session,
                "cwd": str(self.kit.workspace.root),
                **fields,
            }
        )
        deadline = time.monotonic() + _SECONDS
        answer = await in_thread(lambda: answer_event(self.kit, event, deadline))
        return str(answer.get("context", ""))

    async def tools(self) -> str:
        return (await self.client.list_tools()).model_dump_json()

    async def call(self, tool: str, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result
        return "".join(each.text for each in result.content if isinstance(each, TextContent))


@asynccontextmanager
async def _agent(workspace: Path) -> AsyncIterator[_Agent]:
    live = LiveKit(workspace)
    try:
        with ContextKit.open(workspace, settings={"hooks.timeout": 30.0}) as kit:
            hide_shown(kit)
            kit.index()
            async with Client(make_server(live)) as client:
                yield _Agent(kit, client)
    finally:
        live.close()


def copy_code(workspace: Path, packages: Sequence[str]) -> None:
    """Copy packages of the core as a workspace."""
    for package in packages:
        code = Path(contextkit.__file__).parent / package
        shutil.copytree(code, workspace / package, ignore=shutil.ignore_patterns("__pycache__"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.provider_cache",
        description=(__doc__ or "").splitlines()[0],
    )
    parser.add_argument("--turns", type=int, default=50, metavar="N", help="50")
    parser.add_argument("--small", action="store_true", help="only whether everything runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as data")
    given = parser.parse_args(arguments)
    if given.turns < 2:
        parser.error("expected at least 2 turns")
    turns, packages = (3, ["budget"]) if given.small else (given.turns, ["budget", "text", "dedup"])
    with tempfile.TemporaryDirectory(prefix="ck") as name, _home(Path(name)):
        copy_code(Path(name) / "code", packages)
        played = asyncio.run(play(Path(name) / "code", turns))
    report = _report(played)
    report.show()
    if given.json is not None:
        write_json(given.json, machine(), {"provider_cache": report})


@contextmanager
def _home(folder: Path) -> Iterator[None]:
    before = os.environ.get("CONTEXTKIT_HOME")
    os.environ["CONTEXTKIT_HOME"] = str(folder / "home")
    try:
        yield
    finally:
        os.environ.pop("CONTEXTKIT_HOME")
        if before is not None:
            os.environ["CONTEXTKIT_HOME"] = before


def _report(played: Play) -> Report:
    known, could, every = played.hits()
    row: Mapping[str, Any] = {
        "turns": len(played.turns),
        "with context": sum(bool(turn.said) for turn in played.turns),
        "tokens sent": every,
        "could be hit": could,
        "hit": known,
        "share": known / could if could else 0.0,
        "rewritten": played.rewritten(),
    }
    return Report(
        title="A provider's prompt cache over one session",
        rows=[row],
        note="could be hit: whole blocks of the request before; rewritten: requests that do not "
        "begin as the one before",
    )


if __name__ == "__main__":
    main()
