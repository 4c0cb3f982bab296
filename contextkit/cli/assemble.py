"""`contextkit assemble` and `contextkit premortem`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from contextkit.cli.index import run_index
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.models import STYLES, FormattedContext, Overflow, Style

__all__ = ["assemble", "premortem"]

Command = TypeVar("Command", bound=Callable[..., Any])

_FINE = {"ok", "empty", "below_floor"}


def _assembly_options(command: Command) -> Command:
    options: tuple[Any, ...] = (
        click.option("--max-tokens", type=int, help="The budget of the text, in tokens."),
        click.option("--limit", type=int, help="Items to retrieve per source."),
        click.option("--style", type=click.Choice(STYLES), help="How it is rendered."),
        click.option(
            "--overflow",
            type=click.Choice(["hard", "soft"]),
            help="hard keeps to the budget; soft exceeds it rather than shorten an item.",
        ),
        json_option,
    )
    for option in options:
        command = option(command)
    return command


@click.command()
@click.argument("query")
@click.option("--sources", help="The sources to ask, comma-separated; default: all that are on.")
@click.option("--no-index", is_flag=True, help="Do not bring the records up to date first.")
@click.option("--timeout", type=float, help="Seconds that one source may take.")
@click.option("--deadline", type=float, help="Seconds that all sources together may take.")
@_assembly_options
@pass_session
def assemble(
    session: Session,
    query: str,
    sources: str | None,
    no_index: bool,
    timeout: float | None,
    deadline: float | None,
    max_tokens: int | None,
    limit: int | None,
    style: Style | None,
    overflow: Overflow | None,
    as_json: bool,
) -> None:
    """Print the context for a QUERY; `-` reads it from standard input.

    The records of code and commits are brought up to date first, which takes a while the
    first time; `--no-index` skips that.

    \b
    Example: contextkit assemble "how is the token budget split?" --max-tokens 1500
    """
    if query == "-":
        query = click.get_text_stream("stdin", errors="replace").read()
    names = None if sources is None else [n.strip() for n in sources.split(",") if n.strip()]
    for name in names or ():
        session.kit.registry.require(name)
    if not no_index and query.strip():
        run_index(session, names, wait=False)
    context = session.kit.assemble_context_sync(
        query,
        names,
        limit,
        max_tokens,
        style=style,
        overflow=overflow,
        source_timeout=timeout,
        deadline=deadline,
    )
    _show(session, context, as_json)


@click.command()
@click.argument("domain")
@click.option("--strategy", help="Show how this strategy has fared, too.")
@_assembly_options
@pass_session
def premortem(
    session: Session,
    domain: str,
    strategy: str | None,
    max_tokens: int | None,
    limit: int | None,
    style: Style | None,
    overflow: Overflow | None,
    as_json: bool,
) -> None:
    """Print what went wrong before in a DOMAIN, for an agent about to begin.

    \b
    Example: contextkit premortem debugging --strategy systematic-elimination
    """
    context = session.kit.get_premortem_context_sync(
        domain,
        strategy,
        limit,
        max_tokens,
        style=style,
        overflow=overflow,
    )
    _show(session, context, as_json)


def _show(session: Session, context: FormattedContext, as_json: bool) -> None:
    for source in context.trace.sources:
        if source.state not in _FINE:
            session.warn(f"{source.section}: {source.reason}")
    for note in context.trace.notes:
        session.warn(note)
    if not context.items and not context.trace.notes:
        session.warn("nothing relevant was found")
    session.emit(context.as_dict(), context.markdown, as_json)
