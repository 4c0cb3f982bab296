"""What the command line writes: data to standard output, messages to standard error."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

import click

__all__ = [
    "COMPLETION_VARIABLE",
    "in_colour",
    "plain_terminal",
    "print_json",
    "print_text",
    "say",
    "shown",
    "table",
]

# What turns the direction of writing can make a text look like another one.
_TURNS = r"\u202a-\u202e\u2066-\u2069"
_CONTROL = re.compile(rf"(?!\r\n)[\x00-\x08\x0b-\x1f\x7f-\x9f{_TURNS}]")
_CONTROL_AND_BREAKS = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029{_TURNS}]")
COMPLETION_VARIABLE = "_CONTEXTKIT_COMPLETE"
"""Set by a shell's completion script, for the process that it asks."""

_NARROWEST_COLUMN = 24


def say(message: str) -> None:
    """Print one line for a person to standard error, whatever the message contains.

    A shell that asks for completions would show it in the middle of what is being typed.
    """
    if COMPLETION_VARIABLE not in os.environ:
        click.echo(f"contextkit: {_CONTROL_AND_BREAKS.sub(_visible, message)}", err=True)


def print_text(text: str) -> None:
    """Print a result for a person, if there is any.

    Records are other people's text: on a terminal their control characters are shown, not
    obeyed.
    """
    if text:
        click.echo(shown(text) if _on_terminal() else text)


def shown(text: str) -> str:
    """A text with its control characters made visible, line breaks and tabs aside."""
    return _CONTROL.sub(_visible, text)


def in_colour() -> bool:
    """Whether standard output is a terminal that shows colour, and the user wants any."""
    return _on_terminal() and not plain_terminal() and not os.environ.get("NO_COLOR")


def plain_terminal() -> bool:
    """Whether the terminal can show nothing but text, as far as the environment says."""
    return os.environ.get("TERM", "dumb" if os.name == "posix" else "") == "dumb"


def print_json(data: object) -> None:
    """Print a result for a program, in ASCII where the stream cannot hold more."""
    import json

    unicode = "utf" in (getattr(sys.stdout, "encoding", None) or "").lower()
    text = json.dumps(data, ensure_ascii=not unicode, indent=2)
    # JSON leaves these as they are, and a terminal may obey them.
    click.echo(re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found.group()):04x}", text))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns as wide as they need to be; on a terminal the last one is folded."""
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
    return sys.stdout is not None and sys.stdout.isatty()


def _visible(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")
