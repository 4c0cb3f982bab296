"""From a hook's cold start to its answer, without a resident process and with one.

`python -m tests.benchmarks.hooks --runs 30 --python VENV/bin/python`
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from tests.benchmarks.harness import Report, Timing, percentile, ratio, write_json
from tests.benchmarks.texts import ROOT

__all__ = ["BARE", "main"]

PROMPT = "how is the token budget split over the sources?"
BARE = "python -c pass"
_Ways = Mapping[str, Callable[[], bool]]
"""Name -> one run, and whether it did what it should."""

_READY_SECONDS = 120.0
_RESIDENT = "CONTEXTKIT_HOOKS_RESIDENT"


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
        # Bytecode is kept, and output buffered, as for most people.
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CONTEXTKIT_", "PYTHONDONTWRITE", "PYTHONUNBUFFERED"))
        }
        if self.small:
            variables = {"CONTEXTKIT_HOOKS_TIMEOUT": "30", **variables}
        own = {"CONTEXTKIT_HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.runtime)}
        ran = subprocess.run(
            command,
            cwd=self.workspace,
            env={**kept, **own, **variables},
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
        return ran.stdout

    def prompt(self, command: Sequence[str], **variables: str) -> bool:
        """Tell a hook of a prompt in a session of its own; gives whether it had an answer."""
        event = {
            "session_id": f"run-{next(self._sessions)}",
            "cwd": str(self.workspace),
            "hook_event_name": "UserPromptSubmit",
            "prompt": PROMPT,
        }
        return "split" in self.run(command, json.dumps(event), **variables)

    def ways_without(self) -> _Ways:
        """The ways without a resident process; the first is the yardstick."""
        passing = {"hook_event_name": "PostToolUse", "tool_input": {"command": "ls"}}
        return {
            BARE: lambda: not self.run([str(self.python), "-c", "pass"]),
            "prompt, no resident process": lambda: self.prompt(self.hook, **{_RESIDENT: "no"}),
            "a tool that has not failed": lambda: not self.run(self.hook, json.dumps(passing)),
        }

    def ways_with(self) -> _Ways:
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


@define
class _Samples:
    wall: list[float] = field(factory=list)
    processor: list[float] = field(factory=list)
    empty: int = 0

    def take(self, way: Callable[[], bool]) -> None:
        before, started = _childrens_seconds(), time.perf_counter()
        self.empty += not way()
        self.wall.append(time.perf_counter() - started)
        self.processor.append(_childrens_seconds() - before)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    given = _parser().parse_args(arguments)
    runs = 1 if given.small else given.runs
    with tempfile.TemporaryDirectory(prefix="ck-", dir="/tmp") as folder:
        workspace = _small_workspace(Path(folder)) if given.small else ROOT
        place = Place(given.python, workspace, Path(folder) / "home", Path(folder), given.small)
        _make_store(place)
        samples = _measured(place.ways_without(), runs)
        with _resident(place):
            samples_with = _measured(place.ways_with(), runs)
        reports = {
            "without": _report("Hooks without a resident process", samples, runs),
            "with": _report("Hooks with a resident process", samples_with, runs),
        }
    for report in reports.values():
        report.show()
    if given.json is not None:
        write_json(given.json, {"python": str(given.python)}, reports)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=_count, default=30, help="of each way, 30 without it")
    parser.add_argument(
        "--python",
        type=Path,
        default=Path(sys.executable),
        help="the interpreter of another environment with contextkit and its plugins",
    )
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    parser.add_argument(
        "--small", action="store_true", help="one run in a small workspace: does it work?"
    )
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text}")
    return number


def _small_workspace(folder: Path) -> Path:
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "contextkit.toml").write_text("", encoding="utf-8")
    (workspace / "budget.py").write_text("def split(budget):\n    return budget // 2\n", "utf-8")
    return workspace


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


def _measured(ways: _Ways, runs: int) -> Mapping[str, _Samples]:
    """Time every way in turn, another one first in each round."""
    samples = {name: _Samples() for name in ways}
    for number in range(runs):
        turn = number % len(samples)
        for name in [*list(samples)[turn:], *list(samples)[:turn]]:
            samples[name].take(ways[name])
    return samples


def _report(title: str, samples: Mapping[str, _Samples], runs: int) -> Report:
    bare = Timing(samples[BARE].wall)
    return Report(
        title=f"{title}, {runs} runs of each in turn",
        rows=[_row(name, found, bare) for name, found in samples.items()],
        note="times the bare start: the median of the rounds' ratios; "
        "wrong: runs without the answer that there should be, as after the time limit",
    )


def _row(name: str, samples: _Samples, bare: Timing) -> dict[str, Any]:
    wall = Timing(samples.wall)
    return {
        "event": name,
        "median, ms": wall.milliseconds,
        "spread": wall.spread,
        "95th percentile, ms": 1000 * percentile(wall.samples, 95),
        "CPU, ms": 1000 * statistics.median(samples.processor),
        "times the bare start": ratio(wall, bare),
        "wrong": samples.empty,
    }


def _childrens_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
