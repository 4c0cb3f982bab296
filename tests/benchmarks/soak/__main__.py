"""Eight processes and two background servers on one embedded store.

`python -m tests.benchmarks.soak --minutes 30`
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from tests.benchmarks.harness import Report, percentile, write_json
from tests.benchmarks.soak.actors import Actors, Calls
from tests.benchmarks.soak.checks import Ending
from tests.benchmarks.soak.place import Place
from tests.benchmarks.soak.watch import Watch

__all__ = ["main"]

_MOST_SECONDS_BETWEEN_SAMPLES = 30.0
_LEAST_SAMPLES = 20
_SHOWN_FAILURES = 20


def main(arguments: Sequence[str] | None = None) -> None:
    """Run it, print the tables, and exit with 1 if anything is wrong."""
    given = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="ck-", dir="/tmp") as name:
        place = Place(Path(name), given.python, given.files)
        place.make()
        actors, watch = Actors(place), Watch(place)
        with _busy_loops(given.busy):
            actors.start()
            _wait(60 * given.minutes, watch, actors)
            actors.end()
        ending = Ending(place, actors.calls, watch)
        problems = [*actors.calls.failed, *watch.problems(), *ending.problems()]
    reports = {"calls": _table(actors.calls, given.minutes)}
    if rows := watch.rows():
        note = (
            "an hour: by least squares, after the first two minutes; "
            f"seen for a moment: {watch.further} further processes"
        )
        reports["processes"] = Report(title="Long-lived processes", rows=rows, note=note)
    for report in reports.values():
        report.show()
    if given.json is not None:
        write_json(given.json, {"python": str(given.python), "problems": problems}, reports)
    click.echo(f"\n{len(problems)} problems" if problems else "\nno failed call, nothing lost")
    for problem in problems[:_SHOWN_FAILURES]:
        click.echo(f"  {problem}")
    sys.exit(1 if problems else 0)


@contextlib.contextmanager
def _busy_loops(number: int) -> Iterator[None]:
    """Processes that only use the processor, as a build does."""
    command = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(command) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _wait(seconds: float, watch: Watch, actors: Actors) -> None:
    deadline = time.monotonic() + seconds
    between = min(_MOST_SECONDS_BETWEEN_SAMPLES, seconds / _LEAST_SAMPLES)
    while time.monotonic() < deadline:
        watch.look()
        actors.over.wait(between)


def _table(calls: Calls, minutes: float) -> Report:
    rows: list[dict[str, Any]] = [
        {
            "call": name,
            "calls": len(seconds),
            "failed": sum(wrong.startswith(f"{name}: ") for wrong in calls.failed),
            "median, s": statistics.median(seconds),
            "95th percentile, s": percentile(seconds, 95),
            "longest, s": max(seconds),
        }
        for name, seconds in sorted(calls.seconds.items())
    ]
    return Report(
        title=f"{sum(row['calls'] for row in rows)} calls in {minutes:g} minutes",
        rows=rows,
        note=f"memories: {len(calls.stored)} stored, {len(calls.forgotten)} of them forgotten; "
        f"prompts answered with a context: {calls.answered}",
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=_some_minutes, default=30.0, help="30 without it")
    parser.add_argument("--files", type=int, default=200, help="of each repository")
    parser.add_argument("--busy", type=int, default=0, help="further processes that only compute")
    parser.add_argument(
        "--python",
        type=Path,
        default=Path(sys.executable),
        help="the interpreter of another environment with contextkit and its plugins",
    )
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    return parser


def _some_minutes(text: str) -> float:
    minutes = float(text)
    if not minutes > 0:
        raise argparse.ArgumentTypeError(f"expected a number over 0, got {text}")
    return minutes


if __name__ == "__main__":
    main()
