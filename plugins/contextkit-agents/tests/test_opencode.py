"""OpenCode's plugin, run by node with the hooks that OpenCode 1.x documents."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

pytestmark = pytest.mark.one_python

World = Any
"""The one of `conftest.py`, which no test can import."""

# Calls the plugin's hooks as OpenCode does, one after the other, and prints what they changed.
HOST = """
import { readFileSync } from "node:fs"
const { ContextkitPlugin } = await import(process.argv[2])
const hooks = await ContextkitPlugin({ directory: process.argv[3] })
const found = []
for (const [name, input, output] of JSON.parse(readFileSync(0, "utf8"))) {
  await hooks[name](input, output)
  found.push(output)
}
console.log(JSON.stringify(found))
"""


@frozen
class OpenCode:
    """A process of node in OpenCode's place.

    Attributes:
        world: whose plugin.
        plugin: its file.
    """

    world: World
    plugin: Path

    def play(self, *calls: list[Any], **variables: str) -> list[Any]:
        """Call hooks: name, input and output each; returns the outputs afterwards."""
        host = self.world.folder / "host.mjs"
        host.write_text(HOST, encoding="utf-8")
        module = self.world.folder / "plugin.mjs"
        module.write_text(self.plugin.read_text(encoding="utf-8"), encoding="utf-8")
        ran = subprocess.run(
            ["node", str(host), str(module), str(self.world.workspace)],
            input=json.dumps(calls),
            env={**self.world.environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        found: list[Any] = json.loads(ran.stdout)
        return found


@pytest.fixture
def opencode(world: World, need: Callable[..., None]) -> OpenCode:
    """The plugin as `contextkit install` writes it."""
    need("node")
    world.contextkit("install", "--agent", "opencode", "--yes")
    return OpenCode(world, world.workspace / ".opencode" / "plugins" / "contextkit.js")


def message(text: str, session: str = "ses_1") -> list[Any]:
    """A prompt."""
    part = {"id": "prt_1", "sessionID": session, "messageID": "msg_1", "type": "text", "text": text}
    output = {"message": {"id": "msg_1"}, "parts": [part]}
    return ["chat.message", {"sessionID": session}, output]


def command(output: str, code: int) -> list[Any]:
    """A shell command that has ended."""
    given = {"tool": "bash", "sessionID": "ses_1", "callID": "c", "args": {"command": "pytest -q"}}
    return ["tool.execute.after", given, {"output": output, "metadata": {"exit": code}}]


def compacted(session: str = "ses_1") -> list[Any]:
    """A compaction's event."""
    event = {"type": "session.compacted", "properties": {"sessionID": session}}
    return ["event", {"event": event}, {}]


def test_a_session_gets_its_context(opencode: OpenCode) -> None:
    """At its start and with each prompt, once; again after a compaction."""
    asked = "how do we indent python files?"
    first, second, _, third = opencode.play(
        message(asked), message(asked), compacted(), message(asked)
    )
    written, added = first["parts"]
    assert written["text"] == asked
    assert "four spaces" in added["text"]
    assert "harbour" in added["text"]
    assert added["id"] > written["id"]
    names = {"sessionID": "ses_1", "messageID": "msg_1", "type": "text", "synthetic": True}
    assert names.items() <= added.items()
    assert len(second["parts"]) == 1
    assert "four spaces" in third["parts"][1]["text"]


def test_a_failing_test_gets_a_warning(opencode: OpenCode) -> None:
    """Behind the command's output; a command that succeeds gets nothing."""
    passed, failed = opencode.play(command("3 passed", 0), command("1 failed", 1))
    assert passed["output"] == "3 passed"
    assert failed["output"].startswith("1 failed\n\n")
    assert "the port was free" in failed["output"]


def test_what_goes_wrong_blocks_nothing(opencode: OpenCode) -> None:
    """Without the hook's program, or with an answer that is no JSON, the message stays as it is."""
    text = opencode.plugin.read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("const COMMAND"))
    for words in (["/nowhere/contextkit-hook"], ["echo", "no JSON"], ["true"]):
        changed = text.replace(line, f"const COMMAND = {json.dumps(words)}")
        opencode.plugin.write_text(changed, encoding="utf-8")
        (found,) = opencode.play(message("how do we indent python files?"))
        assert len(found["parts"]) == 1


def test_uninstalling_removes_the_plugin(opencode: OpenCode) -> None:
    """With the folders that were made for it."""
    opencode.world.contextkit("uninstall", "--agent", "opencode", "--yes")
    assert not (opencode.world.workspace / ".opencode").exists()
