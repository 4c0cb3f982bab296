"""Options that several commands share, and reading a text from an argument.

The options that say what a context must not hold, whose it is, and what it is given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from contextkit.errors import InvalidRequestError
from contextkit.models.items import DETAILS, GROUPINGS, SHARES, STYLES

if TYPE_CHECKING:
    from datetime import datetime


Command = TypeVar("Command", bound=Callable[..., Any])

MAX_STDIN_BYTES = 1_000_000
_STDIN = "contextkit.stdin"


def assembly_options(command: Command) -> Command:
    """Add the options of every command that assembles a context."""
    options: tuple[Any, ...] = (
        click.option("--max-tokens", type=int, help="The budget of the text, in tokens."),
        click.option("--limit", type=int, help="Items to retrieve per source, at most."),
        click.option("--style", type=click.Choice(STYLES), help="How it is rendered."),
        click.option(
            "--detail",
            type=click.Choice(DETAILS),
            help="full, summary (no code bodies), or compact: one line an item.",
        ),
        click.option("--group-by", type=click.Choice(GROUPINGS), help="What the headings are for."),
        click.option(
            "--include-sources/--no-sources-list",
            default=None,
            help="List where the items come from at the end.",
        ),
        click.option(
            "--guard/--no-guard",
            default=None,
            help="Put the text between delimiters that it cannot close.",
        ),
        click.option(
            "--compress/--no-compress",
            default=None,
            help="Summarise what does not fit whole, before shortening it.",
        ),
        click.option(
            "--tokens",
            help="What counts them: default, openai, claude, or a tokenizer that is installed.",
        ),
        click.option(
            "--weight",
            "weights",
            multiple=True,
            callback=_weights,
            metavar="SOURCE=NUMBER",
            help="A source's weight in the budget; repeatable.",
        ),
        click.option(
            "--shares",
            type=click.Choice(SHARES),
            help="Split the budget by how well each source answers too, or by weight alone.",
        ),
        click.option(
            "--fill/--no-fill",
            default=None,
            help="Use up the budget, also with what is hardly worth its tokens.",
        ),
        click.option(
            "--session", help="The session that asks, for sources that keep things by it."
        ),
        click.option("--min-relevance", type=float, help="Leave out what matches less, 0 to 1."),
        click.option("--diversity", type=float, help="What repeating a better item costs, 0 to 1."),
        click.option(
            "--overflow",
            type=click.Choice(["hard", "soft"]),
            help="hard keeps to the budget; soft exceeds it rather than shorten an item.",
        ),
        click.option(
            "--cache/--no-cache",
            default=None,
            help="Take what the cache has, where one is on; --no-cache asks anew.",
        ),
        click.option("--timeout", type=float, help="Seconds that one source may take."),
        click.option("--deadline", type=float, help="Seconds that all sources may take together."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _weights(
    _: click.Context, option: click.Parameter, given: Sequence[str]
) -> dict[str, float] | None:
    weights = {}
    for part in given:
        name, _separator, number = part.partition("=")
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            message = f"expected SOURCE=NUMBER, as in code=2, got '{part}'"
            raise click.BadParameter(message, param=option) from None
    return weights or None


def names_of(given: Sequence[str], option: str = "--sources") -> list[str] | None:
    """The sources that `--sources a,b --sources c` names; None where it was not given.

    Raises `click.BadParameter` where it was given and names none.
    """
    if not given:
        return None
    names = [name.strip() for part in given for name in part.split(",") if name.strip()]
    if not names:
        raise click.BadParameter("it names no source.", param_hint=f"'{option}'")
    return names


def query_from(argument: str) -> str:
    """The query: the argument, or standard input where that is `-`.

    Bytes that are not UTF-8 become U+FFFD. Raises `click.UsageError` where there is no
    standard input or too much of it.
    """
    if argument != "-":
        return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return read_stdin("query")


def read_stdin(what: str) -> str:
    """The text on standard input, once in a command; raises as `query_from` does."""
    taken = click.get_current_context().meta
    if _STDIN in taken:
        raise click.UsageError(f"Standard input is the {taken[_STDIN]} already, not the {what}.")
    if sys.stdin is None:
        raise click.UsageError(f"The {what} is to come from standard input, which is closed.")
    taken[_STDIN] = what
    given = sys.stdin.buffer.read(MAX_STDIN_BYTES + 1)
    if len(given) > MAX_STDIN_BYTES:
        raise click.UsageError(
            f"The {what} on standard input is longer than {MAX_STDIN_BYTES:,} bytes."
        )
    return given.decode("utf-8-sig", "replace")


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
    from contextkit.text.dates import parse_since

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
