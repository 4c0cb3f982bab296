"""A user's home, a scratch repository, and the processes that a test needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from contextkit.resident.client import ask
from contextkit.testing import write_distribution

HOOK = [sys.executable, "-c", "from contextkit_claude_code.hook import main; main()"]
CONTEXTKIT = [sys.executable, "-m", "contextkit.cli"]
WAIT_SECONDS = 60.0

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


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait for a condition; fails after a minute."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain: {what}"


@frozen
class World:
    """A user of their own, with a git repository.

    Attributes:
        folder: a short path, as a socket's path must be.
    """

    folder: Path

    @property
    def home(self) -> Path:
        """`CONTEXTKIT_HOME`."""
        return self.folder / "ck"

    @property
    def workspace(self) -> Path:
        """The repository."""
        return self.folder / "project"

    @property
    def site(self) -> Path:
        """A folder that every Python of the test imports from."""
        return self.folder / "site"

    @property
    def environment(self) -> dict[str, str]:
        """What a process of this world gets."""
        passed = {
            name: os.environ[name] for name in os.environ if name.startswith(("COVERAGE", "COV_"))
        }
        return {
            **passed,
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "CONTEXTKIT_HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "PYTHONPATH": str(self.site),
            "GIT_CONFIG_GLOBAL": os.devnull,
            # The machine that tests run on may be busy; what limits do is tested by itself.
            "CONTEXTKIT_HOOKS_TIMEOUT": "30",
            "CONTEXTKIT_ASSEMBLE_SOURCE_TIMEOUT": "20",
            "CONTEXTKIT_ASSEMBLE_DEADLINE": "20",
            "CONTEXTKIT_EMBEDDING_TIMEOUT": "20",
            "CONTEXTKIT_HOOKS_RESIDENT": "no",
            # What these events leave with a source that listens is that source's business.
            "CONTEXTKIT_SOURCES_EVENTS_ENABLED": "no",
        }

    def process(
        self, command: list[str], given: str | bytes = "", **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end."""
        data = given.encode() if isinstance(given, str) else given
        return subprocess.run(
            command,
            cwd=self.workspace,
            env={**self.environment, **variables},
            input=data,
            capture_output=True,
            check=False,
        )

    def contextkit(self, *arguments: str, given: str = "", **variables: str) -> str:
        """Run the command line, which must end well; its output."""
        ran = self.process([*CONTEXTKIT, *arguments], given, **variables)
        assert ran.returncode == 0, ran.stderr.decode()
        return ran.stdout.decode()

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
        ran = self.process(HOOK, given, **variables)
        assert ran.returncode == 0
        assert not ran.stderr
        if not ran.stdout:
            return ""
        told = json.loads(ran.stdout)["hookSpecificOutput"]
        assert set(told) == {"hookEventName", "additionalContext"}
        assert told["hookEventName"] == json.loads(given)["hook_event_name"]
        assert told["additionalContext"]
        return str(told["additionalContext"])

    def log(self) -> list[dict[str, Any]]:
        """What hooks had to say."""
        file = self.home / "hooks" / "hooks.log"
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    def status(self) -> dict[str, Any]:
        """What the resident process says of itself."""
        found: dict[str, Any] = json.loads(self.contextkit("serve", "--status", "--json"))
        return found

    def is_ready(self) -> bool:
        """Whether a resident process answers."""
        status = self.status()
        return bool(status["running"] and not status["warming"])

    def source(self, name: str, code: str) -> None:
        """Install a source: a module and its metadata, as pip would leave them."""
        self.site.mkdir(exist_ok=True)
        (self.site / f"ck_test_{name}.py").write_text(code, encoding="utf-8")
        write_distribution(self.site, f"ck-test-{name}", {name: f"ck_test_{name}"})


def _make(folder: Path) -> World:
    made = World(folder)
    for part in (made.home, made.workspace, made.site):
        part.mkdir()
    (folder / "run").mkdir(mode=0o700)
    subprocess.run(["git", "init", "-q"], cwd=made.workspace, env=made.environment, check=True)
    return made


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that stands in for the user's in this process."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("CONTEXTKIT_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def filled() -> Iterator[Path]:
    """A home with memories and experiences of a repository at `/project` of the same world."""
    folder = Path(tempfile.mkdtemp(prefix="ckf-", dir="/tmp"))
    made = _make(folder)
    (made.workspace / "contextkit.toml").write_text('project = "tide"\n', encoding="utf-8")
    made.contextkit("remember", "We indent python files with four spaces, never tabs")
    made.contextkit("remember", "Deployments to the harbour happen on Mondays")
    made.contextkit("experience", "add", "--file", "-", given=json.dumps(EXPERIENCES))
    yield made.home
    shutil.rmtree(folder)


@pytest.fixture
def empty_world() -> Iterator[World]:
    """A world without records."""
    folder = Path(tempfile.mkdtemp(prefix="ck-", dir="/tmp"))
    made = _make(folder)
    (made.workspace / "contextkit.toml").write_text('project = "tide"\n', encoding="utf-8")
    yield made
    ask({"op": "end"}, made.environment, 5.0)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def world(empty_world: World, filled: Path) -> World:
    """A world with two memories and two experiences."""
    shutil.copytree(filled, empty_world.home, dirs_exist_ok=True)
    return empty_world


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], bool], str], None]:
    """Waits for a condition."""
    return wait_until
