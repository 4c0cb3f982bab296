"""The agents themselves, with a stand-in for the model: what reaches it.

No model can be had in a test. Its place takes a server on this machine that speaks the protocol of
each agent and keeps what it is sent. Everything else is real: the program, its hooks, its MCP
client, and what `contextkit install` wrote. Install the programs from npm and name their folder:

  npm install @anthropic-ai/claude-code @github/copilot @google/gemini-cli @openai/codex opencode-ai
  CONTEXTKIT_TEST_AGENTS=node_modules/.bin pytest plugins/contextkit-agents/tests/test_programs.py
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field, frozen

if TYPE_CHECKING:
    from conftest import World

_FOLDER = os.environ.get("CONTEXTKIT_TEST_AGENTS")
pytestmark = [
    pytest.mark.one_python,
    pytest.mark.skipif(not _FOLDER, reason="CONTEXTKIT_TEST_AGENTS names no folder of agents"),
]
_CODE = '''def split_budget(total, weights):
    """Split the token budget over the sources by their weights."""
    whole = sum(weights.values())
    return {name: total * weight // whole for name, weight in weights.items()}
'''
_QUESTION = "where is the token budget split, and how do we indent python files?"
_SECONDS = 600
_MORE_RUNS = 3


@define(slots=False)
class Model(ThreadingHTTPServer):
    """Stands in for every provider's model: it says "Done.", and keeps the requests.

    Attributes:
        requests: their bodies, oldest first.
    """

    requests: list[Any] = field(factory=list)

    def __attrs_pre_init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def address(self) -> str:
        """The server's address, without a path."""
        return f"http://127.0.0.1:{self.server_port}"

    def was_sent(self, text: str) -> bool:
        """Whether a request contains a text."""
        return any(text in json.dumps(request) for request in self.requests)

    def answer(self, path: str) -> Sequence[Any]:
        """Return the events of an answer, in the protocol that the path is of."""
        if path.startswith("/v1/messages"):
            message = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
            usage = {"input_tokens": 1, "output_tokens": 1}
            text = {"type": "text_delta", "text": "Done."}
            block = {"type": "text", "text": ""}
            return [
                {"type": "message_start", "message": {**message, "content": [], "usage": usage}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": text},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
                {"type": "message_stop"},
            ]
        if "enerateContent" in path:
            content = {"role": "model", "parts": [{"text": "Done."}]}
            return [{"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}]
        if path.endswith("/responses"):
            part = {"type": "output_text", "text": "Done.", "annotations": []}
            item = {"type": "message", "id": "m", "role": "assistant", "content": [part]}
            response = {"id": "r", "status": "completed", "output": [item]}
            return [
                {"type": "response.created", "response": {"id": "r"}},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": response},
            ]
        delta = {"role": "assistant", "content": "Done."}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return [
            {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:  # the library's name
        """Answer by server-sent events, or by JSON where no stream is asked for."""
        assert isinstance(self.server, Model)
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(request)
        events = self.server.answer(self.path)
        kinds = (f"event: {each['type']}\n" if "type" in each else "" for each in events)
        lines = (f"{k}data: {json.dumps(e)}\n\n" for k, e in zip(kinds, events, strict=True))
        streams = "stream" in self.path or request.get("stream")
        body = ("".join(lines) if streams else json.dumps(events[0])).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streams else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def model() -> Iterator[Model]:
    """The model, as a server."""
    with Model() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@frozen
class Program:
    """How an agent is run once, without a terminal.

    Attributes:
        command: the program and its options, before the prompt.
        settings: its own settings: path in the home -> text, with `ADDRESS` for the model's.
        variables: of its environment, likewise.
        lists_tools: whether its requests have the MCP tools. Codex does not wait for a server
            that starts slowly, and Gemini CLI offers only tools that a user allowed.
    """

    command: Sequence[str]
    settings: Mapping[str, str] = field(factory=dict)
    variables: Mapping[str, str] = field(factory=dict)
    lists_tools: bool = True


_CODEX = """
model = "m"
model_provider = "test"
[model_providers.test]
name = "test"
base_url = "ADDRESS/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[projects."WORKSPACE"]
trust_level = "trusted"
"""
_OPENCODE = {
    "model": "test/m",
    "small_model": "test/m",
    "autoupdate": False,
    "provider": {
        "test": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "ADDRESS/v1", "apiKey": "test"},
            "models": {"m": {"name": "m"}},
        }
    },
}
_GEMINI = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "model": {"name": "gemini-m"}}
PROGRAMS: Mapping[str, Program] = {
    "claude-code": Program(
        ("claude", "-p"),
        variables={
            "ANTHROPIC_BASE_URL": "ADDRESS",
            "ANTHROPIC_API_KEY": "test",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    "codex": Program(
        # The hooks' trust is asked for in a terminal.
        ("codex", "exec", "--dangerously-bypass-hook-trust"),
        settings={".codex/config.toml": _CODEX},
        variables={"OPENAI_API_KEY": "test"},
        lists_tools=False,
    ),
    "gemini": Program(
        ("gemini", "-p"),
        settings={".gemini/settings.json": json.dumps(_GEMINI)},
        variables={
            "GEMINI_API_KEY": "test",
            "GOOGLE_GEMINI_BASE_URL": "ADDRESS",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        lists_tools=False,
    ),
    "opencode": Program(
        ("opencode", "run"),
        settings={".config/opencode/opencode.json": json.dumps(_OPENCODE)},
        variables={"OPENCODE_DISABLE_MODELS_FETCH": "1"},
    ),
    "copilot": Program(
        ("copilot", "-p"),
        variables={
            "COPILOT_PROVIDER_BASE_URL": "ADDRESS/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "test",
            "COPILOT_MODEL": "gpt-4.1",
            "COPILOT_OFFLINE": "true",
        },
    ),
}


def run(name: str, world: World, model: Model) -> subprocess.CompletedProcess[str]:
    """Run a program with the question, to its end."""
    program = PROGRAMS[name]

    def placed(text: str) -> str:
        return text.replace("ADDRESS", model.address).replace("WORKSPACE", str(world.workspace))

    for path, text in program.settings.items():
        (world.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (world.folder / path).write_text(placed(text), encoding="utf-8")
    environment = {key: placed(value) for key, value in program.variables.items()}
    return subprocess.run(
        [*program.command, _QUESTION],
        cwd=world.workspace,
        env={
            **world.environment,
            **environment,
            "CONTEXTKIT_HOOKS_RESIDENT": "yes",
            "PATH": f"{Path(_FOLDER or '').absolute()}:{os.environ['PATH']}",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_model_gets_what_contextkit_knows(name: str, world: World, model: Model) -> None:
    """A memory, the function that answers the prompt, and MCP tools."""
    (world.workspace / "budget.py").write_text(_CODE, encoding="utf-8")
    world.contextkit("index")
    scope = "--user" if name == "copilot" else "--project"
    world.contextkit("install", "--agent", name, "--yes", scope)
    ran = run(name, world, model)
    assert "Done." in ran.stdout, ran.stderr
    assert model.was_sent("four spaces, never tabs")
    assert model.was_sent("def split_budget(total, weights)")
    # A first prompt does not wait long for the MCP servers.
    for _ in range(_MORE_RUNS if PROGRAMS[name].lists_tools else 0):
        if not model.was_sent("start_experience"):
            run(name, world, model)
    assert model.was_sent("start_experience") or not PROGRAMS[name].lists_tools
