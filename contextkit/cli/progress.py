"""Progress bars on a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from contextkit.indexing import Progress

__all__ = ["progress_bars"]


@contextlib.contextmanager
def progress_bars() -> Iterator[Callable[[Progress], None]]:
    """One bar for each thing that is counted; they vanish at the end."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def report(progress: Progress) -> None:
            key = f"{progress.source}: {progress.label}"
            if key not in tasks:
                tasks[key] = bars.add_task(key, total=progress.total)
            bars.update(tasks[key], completed=progress.done, total=progress.total)

        yield report
