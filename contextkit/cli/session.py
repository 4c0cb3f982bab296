"""What a command works with: the workspace's `ContextKit`, opened when it is first needed."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import define, field

if TYPE_CHECKING:
    from contextkit.indexing import Progress
    from contextkit.kit import ContextKit
    from contextkit.records import Records

__all__ = ["Session", "json_option", "pass_session", "table"]


@define(eq=False)
class Session:
    """One run of the command line.

    Attributes:
        folder: where the workspace is looked for.
        settings: dotted key -> value, from flags.
        debug: whether tracebacks and debug logs are shown.
    """

    folder: Path = field(factory=Path.cwd)
    settings: Mapping[str, Any] = field(factory=dict)
    debug: bool = False
    _kit: ContextKit | None = field(default=None, init=False)

    @property
    def kit(self) -> ContextKit:
        """The workspace's `ContextKit`; closed when the command ends."""
        if self._kit is None:
            from contextkit.kit import ContextKit

            self._kit = ContextKit.open(self.folder, settings=self.settings)
        return self._kit

    @property
    def workspace(self) -> Path:
        """The workspace's root folder."""
        return self.kit.workspace.root

    @property
    def project(self) -> str:
        """What the workspace's records belong to."""
        return self.kit.project

    def records(self, source: str) -> Records:
        """A source's records; raises `InvalidContextTypeError` for a name that is no source."""
        return self.kit.records(source)

    def close(self) -> None:
        """Let go of the store, where it was opened."""
        if self._kit is not None:
            self._kit.close()

    def emit(self, data: object, text: str, as_json: bool) -> None:
        """Print a result: JSON for a program, or the text for a person."""
        shown = json.dumps(data, ensure_ascii=False, indent=2) if as_json else text
        if shown:
            click.echo(shown)

    def warn(self, text: str) -> None:
        """Print one line about something that did not stop the command."""
        click.echo(f"contextkit: {text}", err=True)

    @contextlib.contextmanager
    def progress(self) -> Iterator[Callable[[Progress], None]]:
        """Show progress on a terminal; on a pipe, nothing."""
        if not sys.stderr.isatty():
            yield lambda _: None
            return
        from contextkit.cli.progress import progress_bars

        with progress_bars() as report:
            yield report


pass_session = click.make_pass_decorator(Session, ensure=True)

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, for a program to read."
)


def table(headings: list[str], rows: list[list[str]]) -> str:
    """Rows in columns as wide as they need to be, for a person; one line a row."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [headings, *rows]
    )
