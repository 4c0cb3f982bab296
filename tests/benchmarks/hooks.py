"""From a hook's cold start to its answer, without a resident process and with one.

`python -m tests.benchmarks.hooks --runs 30 --python VENV/bin/python`; with `--busy 4`, 50 prompts
beside four processes that are never idle.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.benchmarks.busy_hooks import beside_busy_loops
from tests.benchmarks.harness import Report, write_json
from tests.benchmarks.hook_place import Place, make_store, resident
from tests.benchmarks.starting import (
    BARE,
    Samples,
    command_parser,
    in_turn,
    row,
    workspace,
)

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = command_parser((__doc__ or "").splitlines()[0], 30)
    parser.add_argument(
        "--busy", type=int, default=0, metavar="N", help="measure beside N busy loops"
    )
    given = parser.parse_args(arguments)
    runs = 1 if given.small else given.runs
    with tempfile.TemporaryDirectory("", "ck-", "/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        asked = workspace(folder, small=given.small)
        place = Place(given.python, asked, folder / "home", folder, given.small)
        if given.busy:
            make_store(place)
            reports = {"busy": beside_busy_loops(place, given.busy)}
        else:
            reports = _on_a_quiet_machine(place, runs)
    for report in reports.values():
        report.show()
    if given.json is not None:
        write_json(given.json, {"python": str(given.python)}, reports)


def _on_a_quiet_machine(place: Place, runs: int) -> dict[str, Report]:
    make_store(place)
    # A process that the hook starts passes the event on, and has the store meanwhile.
    samples = in_turn(place.ways_without(), runs, pause=1.0)
    with resident(place):
        samples_with = in_turn(place.ways_with(), runs)
    return {
        "without": _report("Hooks without a resident process", samples, runs),
        "with": _report("Hooks with a resident process", samples_with, runs),
    }


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
