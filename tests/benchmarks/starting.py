"""Timing commands that take turns, each in a process of its own, beside `python -c pass`."""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from tests.benchmarks.harness import Timing, percentile, ratio
from tests.benchmarks.texts import ROOT

__all__ = [
    "BARE",
    "Samples",
    "Ways",
    "as_for_most",
    "command_parser",
    "in_turn",
    "row",
    "workspace",
]

BARE = "python -c pass"
"""The way that the others are compared with."""

Ways = Mapping[str, Callable[[], bool]]
"""Name -> one run, and whether it did what it should."""


@define
class Samples:
    """The runs of one way.

    Attributes:
        wall: seconds by the clock.
        processor: seconds of the processor, of the processes that were started.
        wrong: runs that did not do what they should.
    """

    wall: list[float] = field(factory=list)
    processor: list[float] = field(factory=list)
    wrong: int = 0

    def take(self, way: Callable[[], bool]) -> None:
        """Run it once more."""
        before, started = _childrens_seconds(), time.perf_counter()
        self.wrong += not way()
        self.wall.append(time.perf_counter() - started)
        self.processor.append(_childrens_seconds() - before)


def in_turn(ways: Ways, runs: int, pause: float = 0.0) -> Mapping[str, Samples]:
    """Time every way in turn, another one first in each round.

    Args:
        ways: the ways.
        runs: of each way.
        pause: seconds before each run, for what the run before has left running.
    """
    samples = {name: Samples() for name in ways}
    for number in range(runs):
        turn = number % len(samples)
        for name in [*list(samples)[turn:], *list(samples)[:turn]]:
            time.sleep(pause)
            samples[name].take(ways[name])
    return samples


def row(samples: Samples, bare: Samples) -> dict[str, Any]:
    """One way's columns of a table."""
    wall = Timing(samples.wall)
    return {
        "median, ms": wall.milliseconds,
        "spread": wall.spread,
        "95th percentile, ms": 1000 * percentile(wall.samples, 95),
        "CPU, ms": 1000 * statistics.median(samples.processor),
        "times the bare start": ratio(wall, Timing(bare.wall)),
    }


def as_for_most() -> dict[str, str]:
    """The environment without what few people set: bytecode is kept, and output buffered."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CONTEXTKIT_", "PYTHONDONTWRITE", "PYTHONUNBUFFERED"))
    }


def workspace(folder: Path, *, small: bool) -> Path:
    """This repository, or a small workspace made in a folder."""
    if not small:
        return ROOT
    made = folder / "workspace"
    made.mkdir()
    (made / "contextkit.toml").write_text("", encoding="utf-8")
    (made / "budget.py").write_text("def split(budget):\n    return budget // 2\n", "utf-8")
    return made


def command_parser(description: str, runs: int) -> argparse.ArgumentParser:
    """The options of a benchmark of commands."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--runs", type=_count, default=runs, help=f"of each way, {runs} without it")
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


def _childrens_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
