"""A stranger's plugin connects its own agent, with `contextkit_agents` alone."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

PARROT = """
    from contextkit import hookimpl
    from contextkit.agent import translate_event
    from contextkit.models import AgentAdapter, AgentFile


    def files(offer, scope, folder):
        run = " ".join(offer.hook)
        return [AgentFile(folder / ".parrot" / "hooks.json", {"on": {"said": [{"command": run}]}})]


    def read(event):
        return translate_event(
            event,
            events={"said": "UserPromptSubmit"},
            fields={"kind": "hook_event_name", "bird": "session_id", "words": "prompt"},
        )


    def answer(event, context):
        return {"repeat": context, "to": event}


    @hookimpl
    def contextkit_agents():
        about = {"name": "NAME", "title": "Parrot", "looked_up": "1.4"}
        return [AgentAdapter(**about, files=files, read=read, answer=answer)]
"""


def test_a_strangers_agent_is_connected(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """It is installed, its hook answers its events in its format, and it is uninstalled."""
    install("parrot", PARROT.replace("NAME", "parrot"))
    remembered = contextkit("remember", "We moor the boats at the northern pier in winter")
    assert remembered.exit_code == 0, remembered.output
    installed = contextkit("install", "--agent", "parrot", "--yes")
    assert installed.exit_code == 0, installed.output
    file = contextkit.folder / ".parrot" / "hooks.json"
    (hook,) = json.loads(file.read_bytes())["on"]["said"]
    words = {"kind": "said", "bird": "polly", "words": "where do we moor the boats in winter?"}
    given = json.dumps({**words, "cwd": str(contextkit.folder)}).encode()
    slow = {"CONTEXTKIT_HOOKS_TIMEOUT": "30", "CONTEXTKIT_HOOKS_RESIDENT": "no"}
    agent = contextkit.with_variables(**slow)
    ran = agent.process(given=given, command=shlex.split(hook["command"]))
    told = json.loads(ran.stdout)
    assert told["to"] == "UserPromptSubmit"
    assert "northern pier" in told["repeat"]
    assert contextkit("uninstall", "--agent", "parrot", "--yes").exit_code == 0
    assert not file.parent.exists()


def test_two_agents_of_one_name_are_refused(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """Both plugins are named."""
    install("parrot", PARROT.replace("NAME", "codex"))
    message = "the agent 'codex' is offered by agents and by parrot"
    assert message in contextkit.line(1, "install")


def test_a_wrong_adapter_concerns_its_plugin_alone(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """The other agents are there, and the log says what `contextkit_agents` gave."""
    install("parrot", PARROT.replace("NAME", "My parrot"))
    told = contextkit("install", "--agent", "parrot")
    assert told.exit_code == 2
    assert "There is no agent 'parrot': use claude-code, codex" in told.stderr


def test_a_hook_of_an_unknown_agent_blocks_nothing(contextkit: CommandLine) -> None:
    """Its plugin may be gone: the exit code is 0, and the answer empty."""
    told = contextkit("hook", "--agent", "parrot", given="{}")
    assert (told.exit_code, told.stdout) == (0, "")
    assert "there is no agent 'parrot'" in told.stderr
