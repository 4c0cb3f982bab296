"""Where the benchmarks of hooks run: a store, a resident process and the events."""

from __future__ import annotations

import itertools
import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import field, frozen

from tests.benchmarks.starting import BARE, Ways, as_for_most

__all__ = ["RESIDENT", "Place", "make_store", "resident"]

PROMPT = "how is the token budget split over the sources?"
_READY_SECONDS = 120.0
RESIDENT = "CONTEXTKIT_HOOKS_RESIDENT"
_PATIENT = {
    "CONTEXTKIT_HOOKS_TIMEOUT": "30",
    "CONTEXTKIT_ASSEMBLE_SOURCE_TIMEOUT": "30",
    "CONTEXTKIT_ASSEMBLE_DEADLINE": "30",
}
"""What a busy machine may need for a try."""


@frozen
class Place:
    """Where hooks run.

    Attributes:
        python: the interpreter of the environment that is measured.
        workspace: what is indexed and asked about.
        home: where the store is.
        runtime: where the resident process listens.
        small: whether only a try is made, which may take its time.
    """

    python: Path
    workspace: Path
    home: Path
    runtime: Path
    small: bool = False
    _sessions: Iterator[int] = field(factory=itertools.count)

    def script(self, name: str) -> str:
        """A script of the measured environment."""
        return str(self.python.with_name(name))

    def run(self, command: Sequence[str], given: str = "", **variables: str) -> str:
        """Run a command to its end; raises `CalledProcessError` where it fails."""
        if self.small:
            variables = {**_PATIENT, **variables}
        own = {"CONTEXTKIT_HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.runtime)}
        ran = subprocess.run(
            command,
            cwd=self.workspace,
            env={**as_for_most(), **own, **variables},
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
        return ran.stdout

    def prompt(self, command: Sequence[str], **variables: str) -> bool:
        """Send a prompt in a session of its own; return whether the answer is right."""
        return "split" in self.tell(command, self.new_session(), prompt=PROMPT, **variables)

    def new_session(self) -> str:
        """Return the id of another session."""
        return f"run-{next(self._sessions)}"

    def tell(
        self, command: Sequence[str], session: str, prompt: str | None = None, **variables: str
    ) -> str:
        """Tell a hook of a prompt, or else of a file that was read; return its answer."""
        event: dict[str, Any] = {"session_id": session, "cwd": str(self.workspace)}
        if prompt is None:
            read = {"tool_name": "Read", "tool_input": {"file_path": "README.md"}}
            event |= {"hook_event_name": "PostToolUse", **read}
        else:
            event |= {"hook_event_name": "UserPromptSubmit", "prompt": prompt}
        return self.run(command, json.dumps(event), **variables)

    def ways_without(self) -> Ways:
        """The ways without a resident process; the first is the yardstick."""
        passing = {"hook_event_name": "PostToolUse", "tool_input": {"command": "ls"}}
        return {
            BARE: lambda: not self.run([str(self.python), "-c", "pass"]),
            "prompt, no resident process": lambda: self.prompt(self.hook, **{RESIDENT: "no"}),
            "a tool that has not failed": lambda: not self.run(self.hook, json.dumps(passing)),
        }

    def ways_with(self) -> Ways:
        """The ways with one; the first is the yardstick."""
        # Not in turn with the others: the store is open in one process at a time.
        slow = [self.script("contextkit"), "hook", "--agent", "claude-code"]
        return {
            BARE: lambda: not self.run([str(self.python), "-c", "pass"]),
            "prompt, resident process": lambda: self.prompt(self.hook),
            "prompt, resident, contextkit hook --agent": lambda: self.prompt(slow),
        }

    @property
    def hook(self) -> list[str]:
        """What Claude Code runs."""
        return [self.script("contextkit-hook")]


def make_store(place: Place) -> None:
    """Index the workspace and store a memory."""
    contextkit = place.script("contextkit")
    place.run([contextkit, "index"])
    place.run([contextkit, "remember", "The token budget is split by the largest remainder"])
    # The first run compiles.
    place.prompt(place.hook, **{RESIDENT: "no"})


@contextmanager
def resident(place: Place) -> Iterator[None]:
    """A resident process that a hook has started, for as long as this lasts."""
    contextkit = place.script("contextkit")
    place.prompt(place.hook)
    try:
        deadline = time.monotonic() + _READY_SECONDS
        status: dict[str, Any] = {}
        while not status.get("running") or status["warming"]:
            if time.monotonic() > deadline:
                raise TimeoutError("no resident process became ready")
            status = json.loads(place.run([contextkit, "serve", "--status", "--json"]))
        yield
    finally:
        place.run([contextkit, "serve", "--stop"])
