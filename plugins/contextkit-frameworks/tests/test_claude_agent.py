"""The adapter of the Claude Agent SDK, in its client, with a stand-in for Claude Code."""
# mypy: no-disallow-subclassing-any

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

WHY = "install contextkit-frameworks[claude-agent] to run these tests"
pytest.importorskip("claude_agent_sdk", reason=WHY)

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Transport
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from contextkit import ContextKit
from contextkit_frameworks import claude_agent
from contextkit_frameworks.claude_agent import hooks, mcp_server

QUERY = "why are payments retried?"


class ClaudeCode(Transport):
    """Speaks the control protocol as the program does: registers hooks, and calls them."""

    def __init__(self) -> None:
        self._sent: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._callbacks: dict[str, str] = {}

    async def connect(self) -> None:
        """Nothing is started."""

    async def write(self, data: str) -> None:
        """Read what the SDK writes: a request of its own, or the answer to one of ours."""
        message = json.loads(data)
        if message["type"] == "control_request":
            for event, matchers in message["request"]["hooks"].items():
                (self._callbacks[event],) = matchers[0]["hookCallbackIds"]
            done = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            await self._sent.put({"type": "control_response", "response": done})
        elif message["type"] == "control_response":
            await self._answers.put(message["response"])

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Yield what the SDK reads."""
        while message := await self._sent.get():
            yield message

    async def close(self) -> None:
        """End the stream."""
        await self._sent.put(None)

    def is_ready(self) -> bool:
        """Always."""
        return True

    async def end_input(self) -> None:
        """Nothing follows."""

    async def call(self, event: str, session: str = "one", **fields: str) -> dict[str, Any]:
        """Call a hook as the program does, and return its answer."""
        data = {"hook_event_name": event, "session_id": session, **fields}
        callback = self._callbacks[event]
        request = {"subtype": "hook_callback", "callback_id": callback, "input": data}
        await self._sent.put({"type": "control_request", "request_id": "1", "request": request})
        answer = await self._answers.get()
        assert answer["subtype"] == "success", answer
        return dict(answer["response"])

    async def prompt(self, text: str, session: str = "one") -> str:
        """Return what a prompt's hook adds."""
        answer = await self.call("UserPromptSubmit", session, prompt=text)
        added = answer.get("hookSpecificOutput", {})
        assert added.get("hookEventName") in {None, "UserPromptSubmit"}
        return str(added.get("additionalContext", ""))


@pytest.fixture
async def claude(kit: ContextKit) -> AsyncIterator[ClaudeCode]:
    """A program that has the hooks."""
    program = ClaudeCode()
    options = ClaudeAgentOptions(hooks=hooks(kit))
    async with ClaudeSDKClient(options, transport=program):
        yield program


async def test_a_prompt_gets_its_context(kit: ContextKit, claude: ClaudeCode) -> None:
    """As additional context; without an answer there is none."""
    context = await kit.assemble_context(QUERY)
    assert await claude.prompt(QUERY) == context.markdown
    assert await claude.prompt("zebra") == ""


async def test_an_item_is_shown_once_per_session(claude: ClaudeCode) -> None:
    """Another session gets it, and this one again after a compaction."""
    assert "every tenth call" in await claude.prompt(QUERY)
    assert await claude.prompt(QUERY) == ""
    assert "every tenth call" in await claude.prompt(QUERY, session="two")
    assert await claude.call("PreCompact", trigger="auto", custom_instructions="") == {}
    assert "every tenth call" in await claude.prompt(QUERY)


async def test_old_sessions_are_forgotten(
    claude: ClaudeCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hooks' memory has a limit."""
    monkeypatch.setattr(claude_agent, "_MOST_SESSIONS", 1)
    for session in ("one", "two", "one"):
        assert "every tenth call" in await claude.prompt(QUERY, session)


async def test_the_mcp_server_answers(on_path: None) -> None:
    """The configuration starts it, and it lists its tools."""
    described = mcp_server()
    parameters = StdioServerParameters(command=described["command"], args=described["args"])
    async with (
        stdio_client(parameters) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        tools = await session.list_tools()
    assert "assemble_context" in {tool.name for tool in tools.tools}
