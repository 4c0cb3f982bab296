"""From a hook's cold start to its answer, without a resident process and with one.

`python -m tests.benchmarks.hooks --runs 30 --python VENV/bin/python`; with `--busy 4`, 50 prompts
beside four processes that are never idle.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import field, frozen

from tests.benchmarks.harness import Report, percentile, write_json
from tests.benchmarks.starting import (
    BARE,
    Samples,
    Ways,
    as_for_most,
    command_parser,
    in_turn,
    row,
    workspace,
)

__all__ = ["main"]

PROMPT = "how is the token budget split over the sources?"
_READY_SECONDS = 120.0
_RESIDENT = "CONTEXTKIT_HOOKS_RESIDENT"
_PROMPTS = 50
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

    def prompt(
        self, command: Sequence[str], text: str = PROMPT, expected: str = "split", **variables: str
    ) -> bool:
        """Send a prompt in a session of its own; return whether the answer is right."""
        event = {
            "session_id": f"run-{next(self._sessions)}",
            "cwd": str(self.workspace),
            "hook_event_name": "UserPromptSubmit",
            "prompt": text,
        }
        return expected in self.run(command, json.dumps(event), **variables)

    def ways_without(self) -> Ways:
        """The ways without a resident process; the first is the yardstick."""
        passing = {"hook_event_name": "PostToolUse", "tool_input": {"command": "ls"}}
        return {
            BARE: lambda: not self.run([str(self.python), "-c", "pass"]),
            "prompt, no resident process": lambda: self.prompt(self.hook, **{_RESIDENT: "no"}),
            "a tool that has not failed": lambda: not self.run(self.hook, json.dumps(passing)),
        }

    def ways_with(self) -> Ways:
        """The ways with one; the first is the yardstick."""
        # Not in turn with the others: the store is open in one process at a time.
        slow = [self.script("contextkit"), "claude-code", "hook"]
        return {
            BARE: lambda: not self.run([str(self.python), "-c", "pass"]),
            "prompt, resident process": lambda: self.prompt(self.hook),
            "prompt, resident, contextkit claude-code hook": lambda: self.prompt(slow),
        }

    @property
    def hook(self) -> list[str]:
        """What Claude Code runs."""
        return [self.script("contextkit-claude-hook")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = command_parser((__doc__ or "").splitlines()[0], 30)
    parser.add_argument(
        "--busy", type=int, default=0, metavar="N", help="measure beside N busy loops"
    )
    given = parser.parse_args(arguments)
    runs = 1 if given.small else given.runs
    with tempfile.TemporaryDirectory(prefix="ck-", dir="/tmp") as name:
        folder = Path(name)
        asked = workspace(folder, small=given.small)
        place = Place(given.python, asked, folder / "home", folder, given.small)
        if given.busy:
            reports = _beside_busy_loops(place, given.busy, 2 if given.small else _PROMPTS)
        else:
            reports = _on_a_quiet_machine(place, runs)
    for report in reports.values():
        report.show()
    if given.json is not None:
        write_json(given.json, {"python": str(given.python)}, reports)


def _on_a_quiet_machine(place: Place, runs: int) -> dict[str, Report]:
    _make_store(place)
    samples = in_turn(place.ways_without(), runs)
    with _resident(place):
        samples_with = in_turn(place.ways_with(), runs)
    return {
        "without": _report("Hooks without a resident process", samples, runs),
        "with": _report("Hooks with a resident process", samples_with, runs),
    }


def _beside_busy_loops(place: Place, loops: int, prompts: int) -> dict[str, Report]:
    """Ask for one memory after the other; each answer must have it."""
    _make_store(place)
    facts = {f"When does {harbour} open in winter?": harbour for harbour in _harbours(prompts)}
    for number, harbour in enumerate(facts.values()):
        text = f"In winter {harbour} opens at {number % 12}:{number % 60:02}, after the tide"
        place.run([place.script("contextkit"), "remember", text])
    asked = iter(facts.items())
    samples = {"quiet": Samples(), "busy, resident process": Samples(), "busy, none": Samples()}

    def ask(**variables: str) -> bool:
        nonlocal asked
        question = next(asked, None)
        if question is None:
            asked = iter(facts.items())
            question = next(asked)
        return place.prompt(place.hook, question[0], f"{question[1]} opens", **variables)

    with _resident(place):
        for _ in facts:
            samples["quiet"].take(ask)
        with _busy(loops):
            for _ in facts:
                samples["busy, resident process"].take(ask)
    with _busy(loops):
        for _ in range(max(prompts // 5, 1)):
            samples["busy, none"].take(lambda: ask(**{_RESIDENT: "no"}))
    log = place.home / "hooks" / "hooks.log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    logged = Counter(json.loads(line)["event"] for line in lines)
    note = ", ".join(f"{event} {count}" for event, count in logged.items())
    rows = [
        {
            "event": name,
            "prompts": len(found.wall),
            "right": len(found.wall) - found.wrong,
            "median, ms": 1000 * percentile(found.wall, 50),
            "95th percentile, ms": 1000 * percentile(found.wall, 95),
            "longest, ms": 1000 * max(found.wall),
        }
        for name, found in samples.items()
    ]
    title = f"Prompts beside {loops} busy loops"
    return {"busy": Report(title=title, rows=rows, note=f"logged: {note or 'nothing'}")}


def _harbours(count: int) -> list[str]:
    first = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper")
    second = ("quay", "mouth", "wick", "stead", "haven")
    return [one + two for two in second for one in first][:count]


@contextmanager
def _busy(loops: int) -> Iterator[None]:
    """Keep so many processes busy for as long as this lasts."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def _make_store(place: Place) -> None:
    contextkit = place.script("contextkit")
    place.run([contextkit, "index"])
    place.run([contextkit, "remember", "The token budget is split by the largest remainder"])
    # The first run compiles.
    place.prompt(place.hook, **{_RESIDENT: "no"})


@contextmanager
def _resident(place: Place) -> Iterator[None]:
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


def _report(title: str, samples: Mapping[str, Samples], runs: int) -> Report:
    return Report(
        title=f"{title}, {runs} runs of each in turn",
        rows=[
            {"event": name, **row(found, samples[BARE]), "wrong": found.wrong}
            for name, found in samples.items()
        ],
        note="times the bare start: the median of the rounds' ratios; "
        "wrong: runs without the answer that there should be, as after the time limit",
    )


if __name__ == "__main__":
    main()
