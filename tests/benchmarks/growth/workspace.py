"""`contextkit index code` over many small files: anew, with nothing changed, after one edit."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
from attrs import frozen

from tests.benchmarks.harness import Report
from tests.benchmarks.peers.texts import ROOT

__all__ = ["indexing", "write_workspace"]

_WORDS = (
    *("open", "close", "read", "write", "parse", "build", "merge", "split", "count", "check"),
    *("store", "fetch", "index", "query", "render", "cut", "join", "sort", "group", "filter"),
)
_SETTLED_SECONDS = 2.5
"""A file that was written so long ago is not read again to see whether it changed."""

_FILE = '''\
"""Module {number}: {first} and {second} of {third}."""

import os


def {first}_{second}_{number}(value, size={number}):
    """{First} a value and {second} it by {third}."""
    result = os.path.join(str(value), "{third}")
    return result[:size]


class {Third}{number}:
    """Holds what {first} needs."""

    def {second}(self, other):
        """{Second} this with another."""
        return self.{first}(other) + {number}
'''

_Command = Sequence[str]


@frozen
class _Span:
    """Seconds that a command took, by the clock and of the processors."""

    wall: float
    worked: float


def write_workspace(folder: Path, files: int) -> list[Path]:
    """So many small Python files, a hundred in a folder, in a repository where there is git."""
    paths = []
    for number in range(files):
        first, second, third = (_WORDS[number // step % 20] for step in (1, 20, 400))
        path = folder / f"package_{number // 100:04}" / f"module_{number:06}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = _FILE.format(
            number=number,
            first=first,
            second=second,
            third=third,
            First=first.capitalize(),
            Second=second.capitalize(),
            Third=third.capitalize(),
        )
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    try:
        subprocess.run(["git", "init", "-q", str(folder)], check=False, capture_output=True)
    except FileNotFoundError:
        click.echo("without git: the workspace is a plain folder", err=True)
    return paths


def indexing(files: int, rounds: int, *, settle: bool) -> Report:
    """The time of an index run, and what of it a process takes that has nothing to index.

    Args:
        files: in the workspace.
        rounds: of each command; the medians are reported.
        settle: whether to wait until the files are older than a file system's clock ticks;
            without, files are read again as they might have been changed in between.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_workspace(folder / "many", files)
        (folder / "empty").mkdir()
        if settle:
            time.sleep(_SETTLED_SECONDS)
        anew = _span(_index(folder / "many"), folder / "home")
        commands: Mapping[str, tuple[_Command, Path]] = {
            "python -c pass": ([sys.executable, "-c", "pass"], folder / "home"),
            "in an empty workspace": (_index(folder / "empty"), folder / "home-empty"),
            "nothing changed": (_index(folder / "many"), folder / "home"),
            "one file edited": (_index(folder / "many"), folder / "home"),
        }
        edited = iter(paths[files // 2 :])

        def prepare(what: str) -> None:
            if what == "one file edited":
                with next(edited).open("a", encoding="utf-8") as file:
                    file.write("\n\ndef added():\n    return 1\n")

        spans = _in_turn(commands, rounds, prepare)
    return _report(files, {**spans, "from nothing": [anew]})


def _report(files: int, spans: Mapping[str, Sequence[_Span]]) -> Report:
    medians = {
        what: _Span(
            statistics.median(each.wall for each in own),
            statistics.median(each.worked for each in own),
        )
        for what, own in spans.items()
    }
    start, empty = medians["python -c pass"], medians["in an empty workspace"]
    rows = [
        {
            "index run": what,
            "ms": 1000 * span.wall,
            "beyond `python -c pass`": 1000 * (span.wall - start.wall),
            "beyond an empty workspace": 1000 * (span.wall - empty.wall),
            "CPU, ms": 1000 * span.worked,
            "CPU beyond an empty one": 1000 * (span.worked - empty.worked),
        }
        for what, span in medians.items()
    ]
    note = (
        f"{files:,} small Python files; medians of commands that take turns, from nothing once: "
        f"{files / medians['from nothing'].wall:,.0f} files/s. The empty workspace has a store of "
        "its own: beyond it is what the files and their records take. CPU: of all processes."
    )
    return Report(title="contextkit index code", rows=rows, note=note)


def _index(workspace: Path) -> _Command:
    program = "import sys; from contextkit.cli import main; sys.exit(main())"
    return [sys.executable, "-c", program, "--workspace", str(workspace), "index", "code"]


def _in_turn(
    commands: Mapping[str, tuple[_Command, Path]], rounds: int, prepare: Callable[[str], None]
) -> dict[str, list[_Span]]:
    spans: dict[str, list[_Span]] = {what: [] for what in commands}
    for number in range(rounds + 1):
        for what, (command, home) in commands.items():
            prepare(what)
            span = _span(command, home)
            if number:  # the first round makes stores and reads what is not in memory yet
                spans[what].append(span)
    return spans


def _span(command: _Command, home: Path) -> _Span:
    environment = {**os.environ, "CONTEXTKIT_HOME": str(home)}
    started, busy = time.perf_counter(), _children_seconds()
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, check=False, encoding="utf-8"
    )
    span = _Span(time.perf_counter() - started, _children_seconds() - busy)
    if done.returncode:
        raise click.ClickException(f"indexing failed: {done.stderr.strip()[-2000:]}")
    return span


def _children_seconds() -> float:
    """The processor's time of every process that this one has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
