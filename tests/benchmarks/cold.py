"""Cold starts of the command line, each in a process of its own, beside `python -c pass`.

`python -m tests.benchmarks.cold --runs 15 --python VENV/bin/python`
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from tests.benchmarks.harness import Report, Timing, percentile, ratio, write_json
from tests.benchmarks.texts import ROOT

__all__ = ["main"]

QUERY = "how is the budget split"
BARE = "python -c pass"


@frozen
class Place:
    """Where the command line is started.

    Attributes:
        python: the interpreter of the environment that is measured.
        workspace: what is indexed and asked about.
        home: where the store is.
    """

    python: Path
    workspace: Path
    home: Path

    @property
    def ways(self) -> Mapping[str, Sequence[str]]:
        """Name -> command; the first one is what the others are compared with."""
        # The script that pip installs: `-m` would import this checkout, and costs more.
        ours = str(self.python.with_name("contextkit"))
        return {
            BARE: [str(self.python), "-c", "pass"],
            "contextkit --version": [ours, "--version"],
            "contextkit --help": [ours, "--help"],
            "contextkit sources": [ours, "sources"],
            "contextkit assemble": [ours, "assemble", QUERY],
            "contextkit assemble --no-index": [ours, "assemble", "--no-index", QUERY],
        }

    def index(self) -> None:
        """Make the store, and run once more, so that nothing is compiled or left to index."""
        for _ in range(2):
            self.run([str(self.python.with_name("contextkit")), "index"])

    def run(self, command: Sequence[str]) -> None:
        """Run a command to its end; raises `CalledProcessError` where it fails."""
        # Bytecode is kept, and output buffered, as for most people.
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CONTEXTKIT_", "PYTHONDONTWRITE", "PYTHONUNBUFFERED"))
        }
        subprocess.run(
            command,
            cwd=self.workspace,
            env={**kept, "CONTEXTKIT_HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )


@define
class _Samples:
    wall: list[float] = field(factory=list)
    processor: list[float] = field(factory=list)

    def take(self, place: Place, command: Sequence[str]) -> None:
        before, started = _childrens_seconds(), time.perf_counter()
        place.run(command)
        self.wall.append(time.perf_counter() - started)
        self.processor.append(_childrens_seconds() - before)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    given = _parser().parse_args(arguments)
    runs = 1 if given.small else given.runs
    with tempfile.TemporaryDirectory(prefix="contextkit-cold-") as folder:
        workspace = _small_workspace(Path(folder)) if given.small else ROOT
        place = Place(given.python, workspace, Path(folder) / "home")
        place.index()
        report = _report(_measured(place, runs), runs)
    report.show()
    if given.json is not None:
        write_json(given.json, {"python": str(given.python)}, {"cold": report})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=_count, default=15, help="of each command, 15 without it")
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


def _measured(place: Place, runs: int) -> Mapping[str, _Samples]:
    """Time every command in turn, another one first in each round."""
    samples = {name: _Samples() for name in place.ways}
    for number in range(runs):
        turn = number % len(samples)
        for name in [*list(samples)[turn:], *list(samples)[:turn]]:
            samples[name].take(place, place.ways[name])
    return samples


def _report(samples: Mapping[str, _Samples], runs: int) -> Report:
    bare = Timing(samples[BARE].wall)
    return Report(
        title=f"Cold starts, {runs} runs of each in turn",
        rows=[_row(name, found, bare) for name, found in samples.items()],
        note="times the bare start: the median of the rounds' ratios",
    )


def _row(name: str, samples: _Samples, bare: Timing) -> dict[str, Any]:
    wall = Timing(samples.wall)
    return {
        "command": name,
        "median, ms": wall.milliseconds,
        "spread": wall.spread,
        "95th percentile, ms": 1000 * percentile(wall.samples, 95),
        "CPU, ms": 1000 * statistics.median(samples.processor),
        "times the bare start": ratio(wall, bare),
    }


def _childrens_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
