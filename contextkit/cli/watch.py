"""`contextkit watch`."""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import define, field

from contextkit.cli.output import print_text

if TYPE_CHECKING:
    from contextkit.agent.given import Given, Touched

_LOOK_SECONDS = 0.2


@click.command(
    epilog="""\b
Examples:
  contextkit watch
  contextkit watch --last 20 --json
"""
)
@click.option(
    "--last", type=click.IntRange(0), default=5, show_default=True, help="Earlier lines to show."
)
@click.option("--json", "as_json", is_flag=True, help="Print each line as JSON.")
def watch(last: int, as_json: bool) -> None:
    """Follow what agents are given.

    Each context is a line, printed when it happens: its time, workspace, agent, event, tokens, how
    long it took, and items by source. Files that the agent reads or changes, and errors of the
    hooks, are lines too. Stop it with Ctrl-C.
    """
    from contextkit.agent.given import journal_of_given
    from contextkit.agent.sessions import journal

    followed = [_Followed(file) for file in (journal_of_given(), journal())]
    earlier = [line for each in followed for line in each.new_lines()]
    for line in deque(_shown(earlier, as_json), maxlen=last):
        print_text(line)
    while True:
        time.sleep(_LOOK_SECONDS)
        for line in _shown([line for each in followed for line in each.new_lines()], as_json):
            print_text(line)


@define
class _Followed:
    """A log file, and how far it was read."""

    file: Path
    _read: int = field(default=0, init=False)

    def new_lines(self) -> list[str]:
        """Read the whole lines that were added."""
        try:
            with self.file.open("rb") as opened:
                # A shorter file is a new one.
                if opened.seek(0, 2) < self._read:
                    self._read = 0
                opened.seek(self._read)
                added = opened.read()
        except OSError:
            return []
        whole = added[: added.rfind(b"\n") + 1]
        self._read += len(whole)
        return whole.decode("utf-8", "replace").splitlines()


def _shown(lines: Sequence[str], as_json: bool) -> Iterator[str]:
    """Format lines of both files, in the order of time."""
    from contextkit.agent.given import entries_of

    parsed = [(_time_of(line), line) for line in lines]
    for at, line in sorted((at, line) for at, line in parsed if at is not None):
        if as_json:
            yield line
            continue
        clock = time.strftime("%H:%M:%S", time.localtime(at))
        entry = next(entries_of([line]), None)
        yield f"{clock}  {_describe(entry) if entry else _logged(json.loads(line))}"


def _time_of(line: str) -> float | None:
    try:
        data = json.loads(line)
        if "at" in data:
            return float(data["at"])
        import calendar

        return float(calendar.timegm(time.strptime(data["time"], "%Y-%m-%dT%H:%M:%SZ")))
    except (ValueError, TypeError, LookupError):
        return None


def _describe(entry: Given | Touched) -> str:
    from contextkit.agent.given import Touched

    folder = Path(entry.workspace).name
    if isinstance(entry, Touched):
        return f"{folder}  used {entry.path}"
    counts = Counter(item.source for item in entry.items)
    items = ", ".join(f"{source} {count}" for source, count in counts.most_common())
    waited = f"{entry.seconds * 1000:,.0f} ms"
    event = f"{entry.agent} {entry.event}".lstrip()
    return f"{folder}  {event}: {entry.tokens:,} tokens in {waited}: {items}"


def _logged(data: dict[str, Any]) -> str:
    said = " ".join(
        f"{name}={value}"
        for name, value in data.items()
        if name not in {"time", "event", "pid"} and value is not None
    )
    return f"{data.get('event')}  {said}"
