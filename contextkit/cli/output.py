"""Write data to standard output, messages to standard error."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import TextIO

import click

from contextkit.text.clean import visible, visible_json

COMPLETION_VARIABLE = "_CONTEXTKIT_COMPLETE"
"""Set by a shell's completion script, for the process that it asks."""

_captured: ContextVar[Mapping[int, TextIO] | None] = ContextVar("contextkit_captured", default=None)
_BREAKS = re.compile("[\t\n]")
_NARROWEST_COLUMN = 24


def say(message: str) -> None:
    """Print a one-line message for a person to standard error.

    Any characters in the message are printed safely. During shell completion nothing is printed,
    because the shell would show it in the middle of the typed line.
    """
    if COMPLETION_VARIABLE not in os.environ:
        click.echo(
            f"contextkit: {_BREAKS.sub(_escaped, visible(message))}", file=_stream(2), err=True
        )


def print_text(text: str) -> None:
    """Print a result for a person, if there is any.

    Records are other people's text. Their invisible characters are shown, and no terminal obeys
    them. The same holds in a pipe, because an agent may read it.
    """
    if text:
        click.echo(visible(text), file=_stream(1))


def in_colour() -> bool:
    """Check whether to print colour to standard output.

    Standard output must be a terminal that shows colour, and the user must want it.
    """
    return _on_terminal() and not plain_terminal() and not os.environ.get("NO_COLOR")


def plain_terminal() -> bool:
    """Check whether the environment names a text-only terminal."""
    return os.environ.get("TERM", "dumb" if os.name == "posix" else "") == "dumb"


def print_json(data: object) -> None:
    """Print a result as JSON for a program.

    It is in ASCII where the stream cannot encode more.
    """
    import json

    unicode = "utf" in (getattr(_stream(1) or sys.stdout, "encoding", None) or "").lower()
    text = json.dumps(data, ensure_ascii=not unicode, indent=2)
    # JSON leaves most of these characters as they are, and a terminal may obey them.
    click.echo(visible_json(text), file=_stream(1))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format rows in columns of the needed width.

    On a terminal the last column is wrapped.
    """
    import shutil

    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    room = shutil.get_terminal_size().columns if _on_terminal() else sum(widths) * 2 + 100
    last = room - sum(widths[:-1]) - 2 * len(widths[:-1]) - 1
    lines: list[str] = []
    for row in [headings, *rows]:
        folded = _folded(row[-1], last)
        for number, part in enumerate(folded):
            cells = [*(row[:-1] if number == 0 else [""] * len(row[:-1])), part]
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _folded(cell: str, width: int) -> list[str]:
    import textwrap

    if width < _NARROWEST_COLUMN:
        return [cell]
    return textwrap.wrap(cell, width) or [""]


def _on_terminal() -> bool:
    return _captured.get() is None and sys.stdout is not None and sys.stdout.isatty()


def messages_on_terminal() -> bool:
    """Check whether messages go to a terminal."""
    return _captured.get() is None and sys.stderr is not None and sys.stderr.isatty()


# -- for another process --------------------------------------------------------------------


class _Captured(io.StringIO):
    """A stream of another process, which is no terminal."""

    def __init__(self, number: int, encoding: str, parts: list[tuple[int, str]]) -> None:
        super().__init__()
        self._number = number
        self._encoding = encoding
        self._parts = parts

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the other process's stream."""
        return self._encoding

    def write(self, text: str) -> int:
        """Note a text instead of writing it."""
        self._parts.append((self._number, text))
        return len(text)


@contextlib.contextmanager
def captured(encoding: str) -> Iterator[list[tuple[int, str]]]:
    """Capture what this thread prints, as the number of a stream and a text each.

    Args:
        encoding: of the standard output that the texts are for.
    """
    parts: list[tuple[int, str]] = []
    token = _captured.set({n: _Captured(n, encoding, parts) for n in (1, 2)})
    try:
        yield parts
    finally:
        _captured.reset(token)


def _stream(number: int) -> TextIO | None:
    """Return the captured stream, None for the process's own."""
    streams = _captured.get()
    return None if streams is None else streams[number]


def _escaped(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")
