"""Measuring several ways to do one thing in one run, and reporting it.

The ways take turns, round by round, so that a machine that is slow for a while is slow for
all of them. A ratio is the median of the rounds' ratios, not a ratio of two medians.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from attrs import frozen

__all__ = [
    "Effort",
    "Report",
    "Timing",
    "compared",
    "interleaved",
    "machine",
    "percentile",
    "ratio",
    "write_json",
]

_SAMPLE_SECONDS = 0.005
"""A sample of something quicker than this is many calls."""

_MOST_ROUNDS = 200


@frozen(kw_only=True)
class Effort:
    """How much is measured.

    Attributes:
        data: the folder of open data, or None for data of the benchmarks' own making.
        seconds: how long one comparison may take.
        small: few items and few runs: whether it works, not how fast.
    """

    data: Path | None = None
    seconds: float = 6.0
    small: bool = False

    @property
    def least_rounds(self) -> int:
        """Rounds that a comparison takes however long they are."""
        return self.pick(3, 1)

    def pick(self, full: int, small: int) -> int:
        """A size: the full one, or the small one."""
        return small if self.small else full


@frozen
class Timing:
    """Seconds a call, one sample a round."""

    samples: Sequence[float]

    @property
    def milliseconds(self) -> float:
        """The median."""
        return 1000 * statistics.median(self.samples)

    @property
    def spread(self) -> str:
        """Half the distance between the quartiles, in percent of the median."""
        if len(self.samples) == 1:
            return "1 run"
        low, middle, high = statistics.quantiles(self.samples, n=4, method="inclusive")
        return f"±{50 * (high - low) / middle:.0f}%"

    def times(self, factor: float) -> Timing:
        """The same for so many times the work."""
        return Timing([sample * factor for sample in self.samples])


def interleaved(
    ways: Mapping[str, Callable[[], object]], effort: Effort, warm: bool = True
) -> dict[str, Timing]:
    """Time each way in turn until the time is used up.

    Args:
        ways: name -> what is timed.
        effort: says how long.
        warm: False where a call is too long for one that is not counted.
    """
    warm = warm and not effort.small
    calls = {name: _calls_in_a_sample(way) if warm else 1 for name, way in ways.items()}
    samples: dict[str, list[float]] = {name: [] for name in ways}
    started = time.perf_counter()
    for number in range(_MOST_ROUNDS):
        if number >= effort.least_rounds and time.perf_counter() - started > effort.seconds:
            break
        # The one that comes first is another one each time.
        turn = number % len(ways)
        for name in [*list(ways)[turn:], *list(ways)[:turn]]:
            samples[name].append(_sample(ways[name], calls[name]))
    return {name: Timing(found) for name, found in samples.items()}


def _calls_in_a_sample(way: Callable[[], object]) -> int:
    way()
    calls = 1
    while (span := calls * _sample(way, calls)) < _SAMPLE_SECONDS:
        calls = max(calls + 1, min(10 * calls, int(calls * _SAMPLE_SECONDS / max(span, 1e-7))))
    return calls


def _sample(way: Callable[[], object], calls: int) -> float:
    started = time.perf_counter()
    for _ in range(calls):
        way()
    return (time.perf_counter() - started) / calls


def ratio(reference: Timing, ours: Timing) -> float:
    """How many times as long the reference takes; under 1 where it is the quicker one."""
    return statistics.median(
        theirs / own for theirs, own in zip(reference.samples, ours.samples, strict=True)
    )


def compared(size: str, timings: Mapping[str, Timing]) -> list[dict[str, Any]]:
    """A row for each reference; the first of the timings is ours."""
    name, *references = timings
    ours = timings[name]
    return [
        {
            "items": size,
            "ours, ms": ours.milliseconds,
            "spread": ours.spread,
            "reference": reference,
            "its ms": timings[reference].milliseconds,
            "its spread": timings[reference].spread,
            "ratio": ratio(timings[reference], ours),
        }
        for reference in references
    ]


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that so many percent of the values do not exceed."""
    in_order = sorted(values)
    return in_order[min(len(in_order) - 1, int(len(in_order) * percent / 100))]


@frozen(kw_only=True)
class Report:
    """A table: what it is about, its rows, and what to know of them."""

    title: str
    rows: Sequence[Mapping[str, Any]]
    note: str = ""

    def show(self) -> None:
        """Print it."""
        click.echo(f"\n{self.title}")
        head = list(self.rows[0])
        cells = [head, *([_shown(row[name]) for name in head] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for line in cells:
            click.echo("  " + "  ".join(_padded(line, widths)).rstrip())
        if self.note:
            click.echo(f"  {self.note}")

    def as_dict(self) -> dict[str, Any]:
        """It as JSON values."""
        return {"title": self.title, "rows": [dict(row) for row in self.rows], "note": self.note}


def machine(**more: Any) -> dict[str, Any]:
    """What a measurement was made on, for `write_json`."""
    return {
        "processors": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "load": os.getloadavg(),
        **more,
    }


def write_json(file: Path, machine: Mapping[str, Any], reports: Mapping[str, Report]) -> None:
    """Write all reports as data."""
    found = {name: report.as_dict() for name, report in reports.items()}
    text = json.dumps({"machine": dict(machine), "reports": found}, indent=2)
    file.write_text(f"{text}\n", encoding="utf-8")


def _padded(line: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """The first column to the left, figures to the right."""
    for number, (cell, width) in enumerate(zip(line, widths, strict=True)):
        yield cell.ljust(width) if number == 0 else cell.rjust(width)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
