"""What the command line writes: data to standard output, messages to standard error."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence

import click

__all__ = ["print_json", "print_text", "say", "table"]

_CONTROL = re.compile(r"(?!\r\n)[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_AND_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NARROWEST_COLUMN = 24


def say(message: str) -> None:
    """Print one line for a person to standard error, whatever the message contains."""
    click.echo(f"contextkit: {_CONTROL_AND_BREAKS.sub(_visible, message)}", err=True)


def print_text(text: str) -> None:
    """Print a result for a person, if there is any.

    Records are other people's text: on a terminal their control characters are shown, not
    obeyed.
    """
    if text:
        click.echo(_CONTROL.sub(_visible, text) if _on_terminal() else text)


def print_json(data: object) -> None:
    """Print a result for a program, in ASCII where the stream cannot hold more."""
    unicode = "utf" in (getattr(sys.stdout, "encoding", None) or "").lower()
    text = json.dumps(data, ensure_ascii=not unicode, indent=2)
    # JSON leaves these as they are, and a terminal may obey them.
    click.echo(re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found.group()):04x}", text))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns as wide as they need to be; on a terminal the last one is folded."""
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
    if width < _NARROWEST_COLUMN:
        return [cell]
    return textwrap.wrap(cell, width) or [""]


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _visible(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")
