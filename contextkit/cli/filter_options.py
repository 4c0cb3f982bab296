"""The options that say what a context must not hold, whose it is, and what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from contextkit.cli.options import MAX_STDIN_BYTES, Command, names_of, read_stdin
from contextkit.errors import InvalidRequestError

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["filter_options"]


def filter_options(command: Command) -> Command:
    """Add the options that filter a context's items and sources, and add a text to it."""
    options: tuple[Any, ...] = (
        click.option(
            "--since",
            callback=_since,
            metavar="TIME",
            help="Leave out what is older: 7d, 12h, 2026-05-01; what has no time stays.",
        ),
        click.option(
            "--kind", "kinds", multiple=True, callback=_given, help="Only this kind; repeatable."
        ),
        click.option(
            "--entity-type",
            "entity_types",
            multiple=True,
            callback=_given,
            help="Of entities only those of this type; repeatable.",
        ),
        click.option(
            "--exclude",
            multiple=True,
            callback=_given,
            metavar="ID",
            help="Leave out this item: its id, or SOURCE:ID; repeatable.",
        ),
        click.option(
            "--exclude-source",
            "exclude_sources",
            multiple=True,
            callback=_names,
            metavar="SOURCES",
            help="Do not ask these, as in a,b; repeatable.",
        ),
        click.option("--user", help="Whose records beside the project's, on a shared store."),
        click.option(
            "--additional",
            "additional_context",
            callback=_text,
            metavar="FILE",
            help="Show this file's text as the last section; - reads standard input.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _since(_: click.Context, option: click.Parameter, given: str | None) -> datetime | None:
    from contextkit.asking.since import parse_since

    try:
        return None if given is None else parse_since(given)
    except InvalidRequestError as error:
        raise click.BadParameter(f"{error}.", param=option) from None


def _given(_: click.Context, __: click.Parameter, given: Sequence[str]) -> list[str] | None:
    return list(given) or None


def _names(_: click.Context, __: click.Parameter, given: Sequence[str]) -> list[str] | None:
    return names_of(given, "--exclude-source")


def _text(_: click.Context, option: click.Parameter, given: str | None) -> str | None:
    if given is None or given == "-":
        return None if given is None else read_stdin("additional context")
    try:
        with Path(given).open("rb") as file:
            read = file.read(MAX_STDIN_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise click.BadParameter(f"cannot read '{given}': {reason}.", param=option) from None
    if len(read) > MAX_STDIN_BYTES:
        raise click.BadParameter(f"it is longer than {MAX_STDIN_BYTES:,} bytes.", param=option)
    return read.decode("utf-8-sig", "replace")
