"""Starts of the command line, each in a process of its own, beside `python -c pass`.

`python -m tests.benchmarks.cold --runs 15 --python VENV/bin/python`
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from attrs import frozen

from tests.benchmarks import hook_place
from tests.benchmarks.harness import Report, write_json
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

QUERY = "how is the budget split"
SERVED = "background server"
# On a busy machine a source that is cut off would make the command fail.
_PATIENT = {
    "CONTEXTKIT_ASSEMBLE_SOURCE_TIMEOUT": "20",
    "CONTEXTKIT_ASSEMBLE_DEADLINE": "20",
}


@frozen
class Place:
    """Where the command line is started.

    Attributes:
        python: the interpreter of the environment that is measured.
        workspace: what is indexed and asked about.
        home: where the store is.
        runtime: where the background server listens.
    """

    python: Path
    workspace: Path
    home: Path
    runtime: Path

    @property
    def ways(self) -> Ways:
        """Name -> command; the first one is what the others are compared with."""
        # The script that pip installs: `-m` would import this checkout, and costs more.
        ours = str(self.python.with_name("contextkit"))
        commands = {
            BARE: [str(self.python), "-c", "pass"],
            "contextkit --version": [ours, "--version"],
            "contextkit --help": [ours, "--help"],
            "contextkit sources": [ours, "sources"],
            "contextkit assemble": [ours, "assemble", QUERY],
            "contextkit assemble --no-index": [ours, "assemble", "--no-index", QUERY],
        }
        return {name: partial(self.run, command) for name, command in commands.items()}

    @property
    def ways_with(self) -> Ways:
        """The ways with a background server; the first is the yardstick."""
        ours = str(self.python.with_name("contextkit"))
        return {
            BARE: partial(self.run, [str(self.python), "-c", "pass"]),
            f"contextkit assemble, {SERVED}": partial(self.run, [ours, "assemble", QUERY], "yes"),
        }

    def index(self) -> None:
        """Make the store, and run once more, so that nothing is compiled or left to index."""
        for _ in range(2):
            self.run([str(self.python.with_name("contextkit")), "index"])

    def run(self, command: Sequence[str], resident: str = "no") -> bool:
        """Run a command to its end; raises `CalledProcessError` where it fails."""
        own = {"CONTEXTKIT_HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.runtime)}
        subprocess.run(
            command,
            cwd=self.workspace,
            env={**as_for_most(), **_PATIENT, **own, hook_place.RESIDENT: resident},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        return True


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    given = command_parser((__doc__ or "").splitlines()[0], 15).parse_args(arguments)
    runs = 1 if given.small else given.runs
    with tempfile.TemporaryDirectory(prefix="contextkit-cold-") as name:
        folder = Path(name)
        asked = workspace(folder, small=given.small)
        place = Place(given.python, asked, folder / "home", folder)
        place.index()
        reports = {"cold": _report("Cold starts", in_turn(place.ways, runs), runs)}
        hooks = hook_place.Place(given.python, asked, place.home, folder, given.small)
        with hook_place.resident(hooks):
            # The first run opens the workspace.
            for run in place.ways_with.values():
                run()
            samples = in_turn(place.ways_with, runs)
            reports["served"] = _report(f"Starts with a {SERVED}", samples, runs)
    for report in reports.values():
        report.show()
    if given.json is not None:
        write_json(given.json, {"python": str(given.python)}, reports)


def _report(title: str, samples: Mapping[str, Samples], runs: int) -> Report:
    return Report(
        title=f"{title}, {runs} runs of each in turn",
        rows=[{"command": name, **row(found, samples[BARE])} for name, found in samples.items()],
        note="times the bare start: the median of the rounds' ratios",
    )


if __name__ == "__main__":
    main()
