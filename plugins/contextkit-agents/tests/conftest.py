"""A user's home, a scratch repository, and the processes that a test needs."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field, frozen

from contextkit.agent import client
from contextkit.testing import OwnUser, own_home, own_user, wait_until

EXPERIENCES = [
    {
        "id": "ghap_flaky",
        "goal": "mend the flaky upload test",
        "hypothesis": "the port is taken",
        "action": "choose a free port",
        "prediction": "it passes a hundred times",
        "domain": "testing",
        "strategy": "check-assumptions",
        "outcome_status": "falsified",
        "outcome_result": "it failed again",
        "surprise": "the port was free",
        "root_cause": "the clock was read twice",
        "lesson": {"what_worked": "freezing the clock"},
    },
    {
        "id": "ghap_linker",
        "goal": "build without the network",
        "hypothesis": "the cache has everything",
        "action": "build offline",
        "prediction": "it builds",
        "domain": "configuration",
        "strategy": "trial-and-error",
        "outcome_status": "falsified",
        "outcome_result": "the linker was missing",
        "root_cause": "the image had no linker",
        "lesson": {"what_worked": "installing the linker"},
    },
]

WITHOUT_UNIX = """
import _signal, _socket, os

for module, names in (
    (os, ("fork", "killpg", "posix_spawn", "setpgid")),
    (_signal, ("SIGALRM", "alarm", "setitimer")),
    (_socket, ("AF_UNIX", "socketpair")),
):
    for name in names:
        delattr(module, name)
"""
"""A `sitecustomize` that takes from Python what it lacks on Windows."""

_numbers = itertools.count(1)


@define
class ClaudeSession:
    """One session of Claude Code 2.1; each line is half a minute after the one before."""

    session: str
    folder: str
    at: datetime
    lines: list[dict[str, Any]] = field(factory=list, init=False)

    def add(self, kind: str, message: Mapping[str, Any], **more: Any) -> None:
        """Add a line with a message."""
        self.at += timedelta(seconds=30)
        self.lines.append(
            {
                "parentUuid": self.lines[-1].get("uuid") if self.lines else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": self.folder,
                "sessionId": self.session,
                "version": "2.1.63",
                "gitBranch": "main",
                "type": kind,
                "message": {"role": kind, **message},
                "uuid": f"{self.session}-{next(_numbers)}",
                "timestamp": f"{self.at:%Y-%m-%dT%H:%M:%S}.250Z",
                **more,
            }
        )

    def user(self, text: str, **more: Any) -> None:
        """A prompt."""
        self.add("user", {"content": text}, **more)

    def says(self, text: str, **more: Any) -> None:
        """An answer, or a part of one."""
        block = {"type": "text", "text": text}
        self.add("assistant", {"id": "msg_1", "model": "claude", "content": [block]}, **more)

    def uses(
        self,
        tool: str,
        given: dict[str, Any],
        result: str,
        *,
        error: bool = False,
        structured: Any = None,
    ) -> None:
        """A tool call and its result."""
        call = f"toolu_{next(_numbers):06}"
        block = {"type": "tool_use", "id": call, "name": tool, "input": given}
        self.add("assistant", {"id": "msg_1", "model": "claude", "content": [block]})
        answer: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": result}
        answer |= {"is_error": True} if error else {}
        more = {} if structured is None else {"toolUseResult": structured}
        self.add("user", {"content": [answer]}, **more)

    def write(self, projects: Path) -> Path:
        """Write the session where Claude Code keeps it."""
        folder = projects / self.folder.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.session}.jsonl"
        file.write_text("".join(f"{json.dumps(line)}\n" for line in self.lines), encoding="utf-8")
        return file


@pytest.fixture
def claude() -> type[ClaudeSession]:
    """Makes sessions of Claude Code."""
    return ClaudeSession


@frozen
class World(OwnUser):
    """A user of Claude Code, with a git repository."""

    @property
    def environment(self) -> dict[str, str]:
        """What a process of this world gets."""
        # What these events leave with a source that listens is that source's business.
        return {**super().environment, "CONTEXTKIT_SOURCES_EVENTS_ENABLED": "no"}

    @property
    def hook_command(self) -> list[str]:
        """What Claude Code runs at its events."""
        return [sys.executable, "-c", "from contextkit_agents.hook import main; main()"]

    def event(self, name: str, session: str = "s1", **fields: Any) -> dict[str, Any]:
        """An event as Claude Code sends it."""
        return {
            "session_id": session,
            "transcript_path": str(self.folder / "t.jsonl"),
            "cwd": str(self.workspace),
            "permission_mode": "default",
            "hook_event_name": name,
            **fields,
        }

    def prompt(self, text: str = "how do we indent python files?", session: str = "s1") -> Any:
        """A prompt's event."""
        return self.event("UserPromptSubmit", session, prompt=text)

    def failure(self, command: str = "pytest -q", session: str = "s1", **fields: Any) -> Any:
        """The event of a command that ended with an error."""
        given = {"tool_name": "Bash", "tool_input": {"command": command}}
        error = {"error": "Exit code 1", "is_interrupt": False}
        return self.event("PostToolUseFailure", session, **given, **error, **fields)

    def hook(self, event: Any, **variables: str) -> str:
        """What Claude Code's hook tells the agent of an event: its context, or nothing."""
        given = event if isinstance(event, (str, bytes)) else json.dumps(event)
        ran = self.process(self.hook_command, given, **variables)
        assert ran.returncode == 0
        assert not ran.stderr
        if not ran.stdout:
            return ""
        told = json.loads(ran.stdout)["hookSpecificOutput"]
        assert set(told) == {"hookEventName", "additionalContext"}
        assert told["hookEventName"] == json.loads(given)["hook_event_name"]
        assert told["additionalContext"]
        return str(told["additionalContext"])

    def status(self) -> dict[str, Any]:
        """What the resident process says of itself."""
        found: dict[str, Any] = json.loads(self.contextkit("serve", "--status", "--json"))
        return found

    def is_ready(self) -> bool:
        """Whether a resident process answers."""
        # Asked often, and a command takes longer to start than to answer.
        status = client.ask({"op": "status"}, self.environment, 5.0)
        return status is not None and not status["warming"]


@contextlib.contextmanager
def _new_world(*, has_unix: bool = True) -> Iterator[World]:
    with own_user(World) as made:
        if not has_unix:
            (made.site / "sitecustomize.py").write_text(WITHOUT_UNIX, encoding="utf-8")
        subprocess.run(["git", "init", "-q"], cwd=made.workspace, env=made.environment, check=True)
        yield made


@pytest.fixture(autouse=True)
def home() -> Iterator[Path]:
    """The folder that stands in for the user's in this process."""
    with own_home() as folder:
        yield folder


@pytest.fixture(scope="module")
def has_unix(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether the worlds have Unix sockets and can fork; a parameter of some tests."""
    has_unix = getattr(request, "param", True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(client, "HAS_UNIX_SOCKETS", has_unix)
        yield has_unix


@pytest.fixture(scope="session")
def filled() -> Iterator[Path]:
    """A home with memories and experiences of the repository of another world."""
    with _new_world() as made:
        made.contextkit("remember", "We indent python files with four spaces, never tabs")
        made.contextkit("remember", "Deployments to the harbour happen on Mondays")
        made.contextkit("experience", "add", "--file", "-", given=json.dumps(EXPERIENCES))
        yield made.home


@pytest.fixture
def empty_world(has_unix: bool) -> Iterator[World]:
    """A world without records."""
    with _new_world(has_unix=has_unix) as made:
        yield made


@pytest.fixture
def world(empty_world: World, filled: Path) -> World:
    """A world with two memories and two experiences."""
    fill_world(empty_world, filled)
    return empty_world


@pytest.fixture(scope="module")
def shared_world(filled: Path, has_unix: bool) -> Iterator[World]:
    """The same for all tests of a module."""
    with _new_world(has_unix=has_unix) as made:
        fill_world(made, filled)
        yield made


def fill_world(world: World, filled: Path) -> None:
    """Copy the records of another world."""
    # The project's name is bound to the other world's folder, and shall be free for this one.
    unbound = shutil.ignore_patterns("projects")
    shutil.copytree(filled, world.home, dirs_exist_ok=True, ignore=unbound)


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], bool], str], None]:
    """Waits for a condition."""
    return wait_until
