"""How indexing, memory, disk and answers grow with the number of records.

`python -m tests.benchmarks.growth --records 1000 10000 100000`
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.growth.sizes import growing
from tests.benchmarks.growth.workspace import indexing
from tests.benchmarks.harness import Report, machine, write_json

__all__ = ["main"]

_LEAST_RECORDS = 200


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what was asked for and print it."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if min(given.records, default=_LEAST_RECORDS) < _LEAST_RECORDS:
        parser.error(f"--records: the questions need {_LEAST_RECORDS} records at least")
    if given.files < 0:
        parser.error("--files: expected 0 or more")
    if given.rounds < 1:
        parser.error("--rounds: expected 1 or more")
    sizes = [_LEAST_RECORDS] if given.small else given.records
    files = min(given.files, 40) if given.small else given.files
    rounds = 1 if given.small else given.rounds
    reports: dict[str, Report] = {}
    if files:
        reports["files"] = indexing(files, rounds, settle=not given.small)
        reports["files"].show()
    if sizes:
        reports["records"] = growing(sizes, cold_starts=1 if given.small else 3)
        reports["records"].show()
    if given.json is not None:
        write_json(given.json, machine(), reports)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.growth", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--records", nargs="*", type=int, default=[1000, 10_000, 100_000], metavar="N"
    )
    parser.add_argument(
        "--files", type=int, default=10_000, metavar="N", help="of the workspace; 0: none; 10000"
    )
    parser.add_argument("--rounds", type=int, default=5, help="of each index command; 5")
    parser.add_argument("--small", action="store_true", help="only whether everything runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables as data")
    return parser


if __name__ == "__main__":
    main()
