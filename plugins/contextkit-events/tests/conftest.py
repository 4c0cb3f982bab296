"""Records on a real store, a log over them, and a world for real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from contextkit import Records
from contextkit.resident.client import ask
from contextkit.testing import open_records, write_distribution
from contextkit_events import EventLog

WAIT_SECONDS = 60.0
CONTEXTKIT = [sys.executable, "-m", "contextkit.cli"]


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The records of the source, in an empty store."""
    with open_records(tmp_path / "store", "events", project="demo") as opened:
        yield opened


@pytest.fixture
def log(records: Records) -> EventLog:
    """An empty log."""
    return EventLog(records)


@frozen
class World:
    """A user of their own, with a workspace.

    Attributes:
        folder: a short path, as a socket's path must be.
    """

    folder: Path

    @property
    def workspace(self) -> Path:
        """The workspace."""
        return self.folder / "project"

    @property
    def site(self) -> Path:
        """A folder that every Python of the test imports from."""
        return self.folder / "site"

    @property
    def environment(self) -> dict[str, str]:
        """What a process of this world gets; where COVERAGE… is set, it is measured."""
        passed = {
            name: os.environ[name] for name in os.environ if name.startswith(("COVERAGE", "COV_"))
        }
        return {
            **passed,
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "CONTEXTKIT_HOME": str(self.folder / "ck"),
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "PYTHONPATH": str(self.site),
            "CONTEXTKIT_EMBEDDING_MODEL": "none",
            # The machine that tests run on may be busy.
            "CONTEXTKIT_HOOKS_TIMEOUT": "30",
            "CONTEXTKIT_ASSEMBLE_SOURCE_TIMEOUT": "20",
            "CONTEXTKIT_ASSEMBLE_DEADLINE": "20",
            "CONTEXTKIT_HOOKS_RESIDENT": "no",
        }

    def contextkit(self, *arguments: str, given: str = "", **variables: str) -> str:
        """Run the command line, which must end well; its output."""
        ran = subprocess.run(
            [*CONTEXTKIT, *arguments],
            cwd=self.workspace,
            env={**self.environment, **variables},
            input=given.encode(),
            capture_output=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr.decode()
        return ran.stdout.decode()

    def hook(self, name: str, session: str = "s1", /, **fields: Any) -> dict[str, Any]:
        """What `contextkit hook` answers an event with."""
        variables = fields.pop("variables", {})
        event = {
            "hook_event_name": name,
            "session_id": session,
            "cwd": str(self.workspace),
            **fields,
        }
        told = self.contextkit("hook", "--format", "json", given=json.dumps(event), **variables)
        answer: dict[str, Any] = json.loads(told)
        return answer

    def tool(self, tool: str, session: str = "s1", /, **fields: Any) -> dict[str, Any]:
        """The answer to a tool that was used, or, with an `error`, that failed."""
        name = "PostToolUseFailure" if "error" in fields else "PostToolUse"
        return self.hook(name, session, tool_name=tool, **fields)

    def events(self, *arguments: str) -> list[dict[str, Any]]:
        """What the log has, newest first."""
        found: list[dict[str, Any]] = json.loads(
            self.contextkit("events", "list", "--json", *arguments)
        )
        return found

    def wait_for_events(self, number: int) -> list[dict[str, Any]]:
        """The events, once there are so many; nobody waits for what feeds them."""
        wait_until(lambda: len(self.events()) >= number, f"{number} events")
        return self.events()

    def journal(self) -> list[dict[str, Any]]:
        """What hooks had to say."""
        file = self.folder / "ck" / "hooks" / "hooks.log"
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    def plugin(self, name: str, code: str) -> None:
        """Install a plugin: a module and its metadata, as pip would leave them."""
        self.site.joinpath(f"ck_test_{name}.py").write_text(code, encoding="utf-8")
        write_distribution(self.site, f"ck-test-{name}", {name: f"ck_test_{name}"})


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait for a condition; fails after a minute."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain: {what}"


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], bool], str], None]:
    """Waits for a condition."""
    return wait_until


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world with this plugin, as it is in the checkout, and an empty workspace."""
    import shutil
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="cke-", dir="/tmp"))
    made = World(folder)
    for part in (made.workspace, made.site):
        part.mkdir()
    (folder / "run").mkdir(mode=0o700)
    (made.workspace / "contextkit.toml").write_text('project = "tide"\n', encoding="utf-8")
    yield made
    ask({"op": "end"}, made.environment, 5.0)
    shutil.rmtree(folder, ignore_errors=True)
