"""Run real contextkit processes for a test's own user."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from attrs import frozen

from contextkit.agent.client import ask
from contextkit.testing.surroundings import in_memory, write_distribution

U = TypeVar("U", bound="OwnUser")

_WAIT_SECONDS = 60.0
_LOOK_SECONDS = 0.005
_LONG_TIMEOUTS = {
    "CONTEXTKIT_HOOKS_TIMEOUT": "30",
    "CONTEXTKIT_ASSEMBLE_SOURCE_TIMEOUT": "30",
    "CONTEXTKIT_ASSEMBLE_DEADLINE": "30",
    "CONTEXTKIT_EMBEDDING_TIMEOUT": "30",
}
"""The machine that tests run on may be busy; what limits do is tested by itself."""


@frozen
class OwnUser:
    """A user with their own home, workspace and plugins.

    Only processes of this user see the plugins.

    Attributes:
        folder: the folder of all these parts.
    """

    folder: Path

    @property
    def home(self) -> Path:
        """`CONTEXTKIT_HOME`."""
        return self.folder / "ck"

    @property
    def workspace(self) -> Path:
        """The user's workspace."""
        return self.folder / "project"

    @property
    def site(self) -> Path:
        """A folder that the user's Python processes import from."""
        return self.folder / "site"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the user's processes.

        Where COVERAGE… is set, the processes are measured.
        """
        measuring = {
            name: os.environ[name] for name in os.environ if name.startswith(("COVERAGE", "COV_"))
        }
        return {
            **measuring,
            **_LONG_TIMEOUTS,
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "CONTEXTKIT_HOME": str(self.home),
            "CONTEXTKIT_HOOKS_RESIDENT": "no",
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "PYTHONPATH": str(self.site),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }

    def process(
        self, command: Sequence[str], given: str | bytes = "", **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command in the workspace, to its end.

        Args:
            command: the program and its arguments.
            given: its standard input.
            variables: of its environment alone.
        """
        return subprocess.run(
            command,
            cwd=self.workspace,
            env={**self.environment, **variables},
            input=given.encode() if isinstance(given, str) else given,
            capture_output=True,
            check=False,
        )

    def contextkit(self, *arguments: str, given: str = "", **variables: str) -> str:
        """Run `contextkit`, and return its output.

        Raises `AssertionError` with the error output where it fails.
        """
        command = [sys.executable, "-m", "contextkit.cli", *arguments]
        ran = self.process(command, given, **variables)
        if ran.returncode:
            raise AssertionError(ran.stderr.decode())
        return ran.stdout.decode()

    def install(self, name: str, code: str) -> None:
        """Install a plugin's module and metadata, as pip would."""
        (self.site / f"ck_test_{name}.py").write_text(code, encoding="utf-8")
        write_distribution(self.site, f"ck-test-{name}", {name: f"ck_test_{name}"})

    def journal(self) -> list[dict[str, Any]]:
        """Read the log of agents' hooks."""
        file = self.home / "hooks" / "hooks.log"
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@contextlib.contextmanager
def own_user(make: Callable[[Path], U]) -> Iterator[U]:
    """Create a user with a project called `tide`.

    At the end the background server is stopped, on Linux all other processes of the user are
    killed, and all files are deleted.

    Args:
        make: makes the user from the folder; `OwnUser`, or a class of your own on top of it.
    """
    # A socket's path must be short.
    short = Path("/tmp")  # noqa: S108 - a folder of its own is made in it
    place = in_memory() or (short if short.is_dir() else None)
    with tempfile.TemporaryDirectory(prefix="ck-", dir=place, ignore_cleanup_errors=True) as folder:
        user = make(Path(folder))
        for part in (user.home, user.workspace, user.site):
            part.mkdir()
        (user.folder / "run").mkdir(mode=0o700)
        (user.workspace / "contextkit.toml").write_text('project = "tide"\n', encoding="utf-8")
        try:
            yield user
        finally:
            ask({"op": "end"}, user.environment, 5.0)
            end_processes(user.folder)


def end_processes(folder: Path) -> None:
    """Kill the processes whose variables name a folder, such as those of hooks; on Linux.

    Args:
        folder: a folder of the test's own.
    """
    wait_until(lambda: not _killed(folder), f"the end of all processes of {folder}")


def _killed(folder: Path) -> list[int]:
    """Kill the processes of a folder, and return them.

    They may have started others meanwhile.
    """
    found: list[int] = []
    # Only Linux shows a process's variables as files.
    if sys.platform != "linux":
        return found
    for variables in Path("/proc").glob("[0-9]*/environ"):
        # A process may have ended, or be another user's.
        with contextlib.suppress(OSError):
            if os.fsencode(folder) in variables.read_bytes():
                found.append(int(variables.parent.name))
                os.kill(found[-1], signal.SIGKILL)
    return found


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait for a condition that another process brings about.

    Raises `AssertionError` after a minute, with the description of the condition.
    """
    deadline = time.monotonic() + _WAIT_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain: {what}")
        time.sleep(_LOOK_SECONDS)
