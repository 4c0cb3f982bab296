"""Every benchmark of the engine in one run.

    python -m tests.benchmarks.engine [--data DIR] [--only NAME ...] [--json FILE] [--small]

The README of this folder says what is measured and how to read it.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import structlog

from tests.benchmarks.assembly import first_party_stages, framework_stages, memory
from tests.benchmarks.counting import estimate_speed, token_error
from tests.benchmarks.duplicates import dedup_speed, near_duplicates
from tests.benchmarks.filling import budget_speed, fit_speed, render_speed, utilisation
from tests.benchmarks.harness import Effort, Report, write_json
from tests.benchmarks.updating import update_speed

__all__ = ["REPORTS", "main"]

REPORTS: Mapping[str, Callable[[Effort], Report]] = {
    "dedup": dedup_speed,
    "near-duplicates": near_duplicates,
    "budget": budget_speed,
    "fit": fit_speed,
    "render": render_speed,
    "utilisation": utilisation,
    "estimate": estimate_speed,
    "token-error": token_error,
    "stages": framework_stages,
    "first-party": first_party_stages,
    "memory": memory,
    "update": update_speed,
}
"""Name -> what measures it."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the reports that are asked for, print them, and write them as data."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder of open data; see the README")
    parser.add_argument("--only", nargs="+", choices=REPORTS, default=list(REPORTS))
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    parser.add_argument("--seconds", type=float, default=6.0, help="for one comparison")
    parser.add_argument("--small", action="store_true", help="few items, few runs: does it work?")
    given = parser.parse_args(arguments)
    if given.data is not None and not given.data.is_dir():
        parser.error(f"--data: {given.data} is no folder")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    seconds = 0.0 if given.small else given.seconds
    effort = Effort(data=given.data, seconds=seconds, small=given.small)
    machine = _machine()
    click.echo(", ".join(f"{name} {value}" for name, value in machine.items()))
    reports = {}
    for name in given.only:
        reports[name] = REPORTS[name](effort)
        reports[name].show()
    if given.json is not None:
        write_json(given.json, machine, reports)


def _machine() -> dict[str, Any]:
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return {
        "date": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "system": f"{sys.platform} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": load,
    }


if __name__ == "__main__":
    main()
