"""Payloads of each agent's documented events, played through the commands that are installed."""

from __future__ import annotations

import importlib
import itertools
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

if TYPE_CHECKING:
    from conftest import World

Event = dict[str, Any]
FAILED = "== 1 failed, 3 passed in 0.4s =="
ASKED = "how do we indent python files?"
# The fields that each agent documents; ROOT, SESSION and FILE are filled in.
CODEX: Event = {
    "session_id": "SESSION",
    "transcript_path": None,
    "cwd": "ROOT",
    "model": "gpt-5",
    "permission_mode": "default",
}
CODEX_TURN: Event = {**CODEX, "turn_id": "t1"}
GEMINI: Event = {
    "session_id": "SESSION",
    "transcript_path": "/t.json",
    "cwd": "ROOT",
    "timestamp": "2026-08-01T10:00:00Z",
}
CURSOR: Event = {
    "conversation_id": "SESSION",
    "generation_id": "g1",
    "model": "auto",
    "cursor_version": "2.4.0",
    "workspace_roots": ["ROOT"],
    "user_email": None,
    "transcript_path": None,
}
CODE: Event = {
    "timestamp": "2026-02-09T10:30:00.000Z",
    "cwd": "ROOT",
    "sessionId": "SESSION",
    "transcript_path": "/t.json",
}
COPILOT: Event = {"session_id": "SESSION", "timestamp": "2026-02-09T10:30:00.000Z", "cwd": "ROOT"}
SHELL: Event = {"tool_input": {"command": "pytest -q"}, "tool_use_id": "u1"}
READ: Event = {"tool_use_id": "u2"}
CLAUDE: Event = {**CODEX, "transcript_path": "/t.jsonl"}

STARTS: Mapping[str, Event] = {
    "claude-code": {**CLAUDE, "hook_event_name": "SessionStart", "source": "startup"},
    "codex": {**CODEX, "hook_event_name": "SessionStart", "source": "startup"},
    "gemini": {**GEMINI, "hook_event_name": "SessionStart", "source": "startup"},
    "cursor": {
        **CURSOR,
        "hook_event_name": "sessionStart",
        "is_background_agent": False,
        "composer_mode": "agent",
    },
    "copilot vs code": {**CODE, "hookEventName": "SessionStart", "source": "new"},
    "copilot cli": {**COPILOT, "hook_event_name": "SessionStart", "source": "new"},
}
PROMPTS: Mapping[str, Event] = {
    "claude-code": {**CLAUDE, "hook_event_name": "UserPromptSubmit", "prompt": ASKED},
    "codex": {**CODEX_TURN, "hook_event_name": "UserPromptSubmit", "prompt": ASKED},
    "gemini": {**GEMINI, "hook_event_name": "BeforeAgent", "prompt": ASKED},
    "cursor": {**CURSOR, "hook_event_name": "beforeSubmitPrompt", "prompt": ASKED},
    "copilot vs code": {**CODE, "hookEventName": "UserPromptSubmit", "prompt": ASKED},
    "copilot cli": {**COPILOT, "hook_event_name": "UserPromptSubmit", "prompt": ASKED},
}
AT_ONCE = ("claude-code", "codex", "gemini", "copilot cli")
"""Agents that take a context from a prompt's hook."""

FAILURES: Mapping[str, Event] = {
    "claude-code": {
        **CLAUDE,
        **SHELL,
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "error": f"Exit code 1\n{FAILED}",
        "is_interrupt": False,
    },
    "codex": {
        **CODEX_TURN,
        **SHELL,
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_response": FAILED,
    },
    "gemini": {
        **GEMINI,
        "hook_event_name": "AfterTool",
        "tool_name": "run_shell_command",
        "tool_input": {"command": "pytest -q"},
        "tool_response": {
            "llmContent": "Output: it broke\nExit Code: 1\nProcess Group PGID: 7",
            "returnDisplay": "it broke",
        },
    },
    "cursor": {
        **CURSOR,
        **SHELL,
        "hook_event_name": "postToolUse",
        "tool_name": "Shell",
        "tool_output": json.dumps({"exitCode": 1, "stdout": "it broke"}),
        "duration": 12.5,
        "cwd": "ROOT",
    },
    "copilot vs code": {
        **CODE,
        **SHELL,
        "hookEventName": "PostToolUse",
        "tool_name": "run_in_terminal",
        "tool_response": FAILED,
    },
    "copilot cli": {
        **COPILOT,
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"},
        "tool_result": {"result_type": "success", "text_result_for_llm": FAILED},
    },
}
FORGOT: Mapping[str, Event] = {
    "claude-code": {**CLAUDE, "hook_event_name": "SessionStart", "source": "compact"},
    "codex": {**CODEX, "hook_event_name": "SessionStart", "source": "compact"},
    "gemini": {**GEMINI, "hook_event_name": "PreCompress", "trigger": "auto"},
    "cursor": {**CURSOR, "hook_event_name": "preCompact", "trigger": "auto", "message_count": 40},
    "copilot vs code": {**CODE, "hookEventName": "PreCompact", "trigger": "auto"},
    "copilot cli": {
        **COPILOT,
        "hook_event_name": "PreCompact",
        "trigger": "manual",
        "custom_instructions": "",
    },
}
FILES: Mapping[str, Event] = {
    "claude-code": {
        **CLAUDE,
        **READ,
        "hook_event_name": "PostToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": "FILE"},
        "tool_response": {"success": True},
    },
    "codex": {
        **CODEX_TURN,
        **READ,
        "hook_event_name": "PostToolUse",
        "tool_name": "apply_patch",
        "tool_input": {"command": "*** Begin Patch\n*** Update File: FILE\n+x\n*** End Patch"},
        "tool_response": "ok",
    },
    "gemini": {
        **GEMINI,
        "hook_event_name": "AfterTool",
        "tool_name": "replace",
        "tool_input": {"file_path": "FILE"},
        "tool_response": {"llmContent": "ok", "returnDisplay": "ok"},
    },
    "cursor": {
        **CURSOR,
        **READ,
        "hook_event_name": "postToolUse",
        "tool_name": "Write",
        "tool_input": {"path": "FILE"},
        "tool_output": "{}",
    },
    "copilot vs code": {
        **CODE,
        **READ,
        "hookEventName": "PostToolUse",
        "tool_name": "replace_string_in_file",
        "tool_input": {"filePath": "FILE"},
        "tool_response": "ok",
    },
    "copilot cli": {
        **COPILOT,
        "hook_event_name": "PostToolUse",
        "tool_name": "edit",
        "tool_input": {"path": "FILE"},
        "tool_result": {"result_type": "success", "text_result_for_llm": "ok"},
    },
}
OWN_NAMES = {"UserPromptSubmit": "BeforeAgent", "PostToolUse": "AfterTool"}
"""Gemini CLI's names of the events that it answers."""

_sessions = itertools.count(1)


def added(name: str) -> dict[str, Any]:
    """The part of an answer that most agents share, for one event."""
    text = {"type": "string", "minLength": 1}
    return {
        "type": "object",
        "properties": {"hookEventName": {"const": name}, "additionalContext": text},
        "required": ["hookEventName", "additionalContext"],
        "additionalProperties": False,
    }


def answer_schema(agent: str, event: Event) -> dict[str, Any]:
    """What the agent documents as an answer with a context."""
    name = event.get("hook_event_name") or event.get("hookEventName") or ""
    parts: dict[str, Any] = {"hookSpecificOutput": added(name)}
    if agent == "cursor":
        parts = {"additional_context": {"type": "string", "minLength": 1}}
    elif agent.startswith("copilot"):
        parts["additionalContext"] = {"type": "string", "minLength": 1}
    return {
        "type": "object",
        "properties": parts,
        "required": list(parts),
        "additionalProperties": False,
    }


class Agent:
    """One session of an agent, whose hooks run in a world."""

    def __init__(self, name: str, world: World) -> None:
        self.name, self.world = name, world
        self.session = f"{name.replace(' ', '-')}-{next(_sessions)}"
        self.command = ["contextkit-hook", name.split(maxsplit=1)[0]]
        self.variables: Mapping[str, str] = {}

    def filled(self, event: Event) -> str:
        """An event as the agent writes it."""
        text = json.dumps(event).replace("SESSION", self.session)
        text = text.replace("ROOT", str(self.world.workspace))
        return text.replace("FILE", str(self.world.workspace / "tides.py"))

    def hears(self, event: Event) -> str:
        """The context that the agent gets for an event, in its documented form, or nothing."""
        ran = self.world.process(self.command, self.filled(event), **self.variables)
        assert (ran.returncode, ran.stderr) == (0, b"")
        if self.name == "cursor" and ran.stdout.strip() == b"{}":
            return ""
        if not ran.stdout and self.name != "cursor":
            return ""
        told = json.loads(ran.stdout)
        jsonschema.validate(told, answer_schema(self.name, event))
        return str(
            told.get("additional_context") or told["hookSpecificOutput"]["additionalContext"]
        )


@pytest.fixture(params=STARTS)
def agent(request: pytest.FixtureRequest, shared_world: World) -> Agent:
    """Each agent in turn, in a new session."""
    return Agent(request.param, shared_world)


def test_a_session_is_played(agent: Agent) -> None:
    """Memories at the start, context for prompts, premortems; said once, and after forgetting."""
    assert "freezing the clock" in agent.hears(FAILURES[agent.name])
    assert agent.hears(FAILURES[agent.name]) == ""
    start = agent.hears(STARTS[agent.name])
    assert "four spaces" in start
    assert "freezing the clock" not in start
    assert agent.hears(PROMPTS[agent.name]) == ""
    forgot = agent.hears(FORGOT[agent.name])
    if not FORGOT[agent.name].get("source"):
        forgot = agent.hears(STARTS[agent.name])
    assert "four spaces" in forgot
    assert agent.hears(FILES[agent.name]) == ""


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_gets_context(name: str, shared_world: World) -> None:
    """At once, or where the agent does not take it, with the next event that has no own answer."""
    agent = Agent(name, shared_world)
    if name in AT_ONCE:
        assert "four spaces" in agent.hears(PROMPTS[name])
        return
    assert agent.hears(PROMPTS[name]) == ""
    assert agent.hears({**PROMPTS[name], "prompt": "go on"}) == ""
    assert "freezing the clock" in agent.hears(FAILURES[name])
    assert "four spaces" in agent.hears(FAILURES[name])
    assert agent.hears(FAILURES[name]) == ""


def test_geminis_first_prompt_is_what_the_user_wrote() -> None:
    """It begins with what the session's start gave, which is neither asked for nor recorded."""
    read = importlib.import_module("contextkit_agents.adapters.gemini").read
    given = f"<hook_context>We indent &lt;all&gt; files.</hook_context>\n\n{ASKED}"
    assert read({**PROMPTS["gemini"], "prompt": given})["prompt"] == ASKED


@pytest.mark.parametrize("name", STARTS)
def test_plugins_hear_one_language(name: str, world: World) -> None:
    """A plugin that listens gets each agent's changes of a file as Claude Code's tools."""
    agent = Agent(name, world)
    module = f"contextkit_agents.adapters.{agent.command[1].replace('-', '_')}"
    event = importlib.import_module(module).read(json.loads(agent.filled(FILES[name])))
    assert event["hook_event_name"] == "PostToolUse"
    assert event["tool_name"] == ("Write" if name == "cursor" else "Edit")
    assert event["tool_input"]["file_path"] == str(world.workspace / "tides.py")
    assert (event["session_id"], event["cwd"]) == (agent.session, str(world.workspace))


def test_a_prompts_context_comes_with_the_next_tool(
    world: World, until: Callable[[Callable[[], bool], str], None]
) -> None:
    """With a background server, any tool's hook gets it; and it is said once."""
    agent = Agent("cursor", world)
    agent.variables = {"CONTEXTKIT_HOOKS_RESIDENT": "yes"}
    try:
        assert "four spaces" not in agent.hears(FAILURES["cursor"])
        until(world.is_ready, "a background server")
        assert agent.hears(PROMPTS["cursor"]) == ""
        assert "four spaces" in agent.hears(FILES["cursor"])
        assert agent.hears(FILES["cursor"]) == ""
    finally:
        world.contextkit("serve", "--stop")


def test_the_slow_command_is_the_same(shared_world: World) -> None:
    """`contextkit hook --agent` tells what the script tells; the record names the agent."""
    fast, slow = (Agent("gemini", shared_world) for _ in range(2))
    slow.command = ["contextkit", "hook", "--agent", "gemini"]
    assert fast.hears(PROMPTS["gemini"]) == slow.hears(PROMPTS["gemini"])
    noted = (shared_world.home / "hooks" / "given.jsonl").read_text(encoding="utf-8").splitlines()
    agents = {given["session"]: given.get("agent") for given in map(json.loads, noted)}
    assert (agents[fast.session], agents[slow.session]) == ("gemini", "gemini")


@pytest.mark.parametrize("given", ["", "{", "[]", "{}", '{"hook_event_name": ["x"]}'])
@pytest.mark.parametrize("name", ["cursor", "gemini"])
def test_odd_events_fail_nothing(name: str, given: str, shared_world: World) -> None:
    """Exit code 0, and an empty answer."""
    ran = shared_world.process(["contextkit-hook", name], given)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.strip() == (b"{}" if name == "cursor" else b"")


def test_an_unknown_agent_blocks_nothing(shared_world: World) -> None:
    """Its hook ends with 0, and says nothing."""
    ran = shared_world.process(["contextkit-hook", "emacs"], "{}")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
