"""Show progress of slow work on a terminal.

The bars show how much is done, of how much, how fast, and the time that is left or was taken.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from attrs import define, field

from contextkit.cli.output import plain_terminal
from contextkit.models.indexer import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bars, TaskID


_APPEARS_AFTER_SECONDS = 1.0


@contextlib.contextmanager
def progress_bars(
    after: float = _APPEARS_AFTER_SECONDS,
) -> Iterator[Callable[[Progress], None]]:
    """Show a progress bar on standard error for each count.

    The bars vanish at the end.

    Args:
        after: seconds before anything is shown.
    """
    if plain_terminal():
        yield lambda _: None
        return
    watching = _Watching()
    timer = threading.Timer(after, watching.show)
    timer.daemon = True
    timer.start()
    try:
        yield watching.report
    finally:
        timer.cancel()
        watching.end()


@define
class _Counted:
    """The progress of one count, and its start."""

    latest: Progress
    first_done: int
    first_at: float
    task: TaskID | None = None

    @property
    def count(self) -> str:
        """The number done, and the total."""
        of = "" if self.latest.total is None else f" of {self.latest.total:,}"
        return f"{self.latest.done:,}{of} {self.latest.label}"

    @property
    def rate(self) -> str:
        """The average per second; empty while unknown."""
        seconds = time.monotonic() - self.first_at
        done = self.latest.done - self.first_done
        if done <= 0 or seconds <= 0:
            return ""
        speed = done / seconds
        number = f"{speed:,.0f}" if speed >= 10 else f"{speed:,.1f}"
        return f"{number} {self.latest.label}/s"


@define
class _Watching:
    """Reported progress, drawn after `show` is called."""

    _counted: dict[tuple[str, str], _Counted] = field(factory=dict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _bars: Bars | None = field(default=None, init=False)
    _ended: bool = field(default=False, init=False)

    def report(self, progress: Progress) -> None:
        """Record progress, from any thread."""
        key = (progress.source, progress.label)
        with self._lock:
            counted = self._counted.get(key)
            if counted is None:
                counted = _Counted(progress, progress.done, time.monotonic())
                self._counted[key] = counted
            counted.latest = progress
            self._draw(counted)

    def show(self) -> None:
        """Begin to draw, unless the terminal has gone."""
        bars = _bars()
        with self._lock:
            if self._ended:
                return
            self._bars = bars
            for counted in self._counted.values():
                self._draw(counted)
            with contextlib.suppress(OSError):
                bars.start()

    def _draw(self, counted: _Counted) -> None:
        if self._bars is None:
            return
        latest = counted.latest
        if counted.task is None:
            counted.task = self._bars.add_task(latest.source, count="", rate="")
        self._bars.update(
            counted.task,
            completed=latest.done,
            total=latest.total,
            count=counted.count,
            rate=counted.rate,
        )

    def end(self) -> None:
        """Stop drawing, and show the cursor again."""
        with self._lock:
            self._ended = True
        if self._bars is not None:
            with contextlib.suppress(OSError):
                self._bars.stop()


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, Progress as Bars, TextColumn, TimeRemainingColumn

    return Bars(
        TextColumn("{task.description}:", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}", markup=False),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=Console(stderr=True),
        transient=True,
    )
