"""`contextkit assemble` and `contextkit premortem`."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import click

from contextkit.cli.failures import ExitCode
from contextkit.cli.index import index_first
from contextkit.cli.options import Command, assembly_options, filter_options, names_of, query_from
from contextkit.cli.output import in_colour
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.cli.source_names import complete_sources
from contextkit.cli.strategies import strategy_option
from contextkit.errors import ConfigError, InvalidContextTypeError
from contextkit.models.context import FormattedContext

_ANSWERED = {"ok", "empty", "below_floor"}


def source_options(command: Command) -> Command:
    """Add the options that say which sources are asked, and whether they index first."""
    command = click.option(
        "--no-index", is_flag=True, help="Do not bring the records up to date first."
    )(command)
    return click.option(
        "--sources",
        multiple=True,
        shell_complete=complete_sources,
        help="The sources to ask, as in a,b; default: all that are on.",
    )(command)


@click.command(
    epilog="""\b
Examples:
  contextkit assemble "how is the token budget split?"
  contextkit assemble "why do we retry?" --sources code,commits --max-tokens 1000
  contextkit assemble "where were we?" --strategy balanced
  git diff | contextkit assemble - --no-index --json
"""
)
@click.argument("query")
@source_options
@strategy_option
@assembly_options
@filter_options
@json_option
@pass_session
def assemble(
    session: Session,
    /,
    query: str,
    sources: tuple[str, ...],
    no_index: bool,
    timeout: float | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Print the context for a QUERY; `-` reads it from standard input.

    The records of code and commits are brought up to date first, which takes a while the
    first time; --no-index skips that. On a terminal it is in colour, unless NO_COLOR is set,
    and the last line is for you: it goes to standard error.
    """
    query = query_from(query)
    begun = time.perf_counter()
    names = checked_sources(session, query, names_of(sources), source_timeout=timeout, **options)
    if not no_index:
        index_first(session, names)
    context = session.kit.assemble_context_sync(query, names, source_timeout=timeout, **options)
    return _show(session, context, as_json, options, begun)


@click.command(
    epilog="""\b
Examples:
  contextkit premortem debugging
  contextkit premortem debugging --strategy systematic-elimination
"""
)
@click.argument("domain")
@click.option("--strategy", help="Show how this strategy has fared, too.")
@assembly_options
@filter_options
@json_option
@pass_session
def premortem(
    session: Session,
    /,
    domain: str,
    strategy: str | None,
    timeout: float | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Print what went wrong before in a DOMAIN, for an agent about to begin."""
    begun = time.perf_counter()
    context = session.kit.get_premortem_context_sync(
        domain, strategy, source_timeout=timeout, **options
    )
    return _show(session, context, as_json, options, begun)


def checked_sources(
    session: Session, query: str, names: list[str] | None, /, **options: Any
) -> tuple[str, ...] | None:
    """The sources to ask; refuses what makes no sense before anything is indexed for it."""
    from contextkit.pipeline.recipes import check_excluded
    from contextkit.pipeline.request import make_request

    request = make_request(
        session.config, query, project="", workspace=session.workspace, sources=names, **options
    )
    with _blaming(session, "assemble.sources", names):
        for name in request.sources or ():
            session.registry.require(name)
    if not request.exclude_sources:
        return request.sources
    with _blaming(session, "assemble.exclude_sources", options.get("exclude_sources")):
        check_excluded(session.registry, request.exclude_sources)
    named = session.registry.sources if request.sources is None else request.sources
    return tuple(name for name in named if name not in request.exclude_sources)


@contextlib.contextmanager
def _blaming(session: Session, key: str, given: object) -> Iterator[None]:
    """Say that a name that is none is the configuration's, where the command was not given it."""
    try:
        yield
    except InvalidContextTypeError as error:
        if given is not None:
            raise
        origin = session.config.origin(key)
        raise ConfigError(f"{error} (from {origin})", key=key) from error


def _show(
    session: Session,
    context: FormattedContext,
    as_json: bool,
    options: Mapping[str, Any],
    begun: float,
) -> int:
    failed = warn_of_troubles(session, context)
    style = options["style"] or session.config.assemble.style
    if context.markdown and style == "markdown" and not as_json and in_colour():
        from contextkit.cli.colour import print_markdown

        print_markdown(context.markdown)
    else:
        # Made only where it is printed: a trace has thousands of values.
        session.emit(context.as_dict() if as_json else None, context.markdown, as_json)
    if context.items and not as_json and sys.stderr is not None and sys.stderr.isatty():
        sys.stdout.flush()
        session.warn(_in_short(context, time.perf_counter() - begun))
    nothing_answered = failed and failed == len(context.trace.sources)
    return ExitCode.FAILED if nothing_answered else ExitCode.FINE


def _in_short(context: FormattedContext, seconds: float) -> str:
    used = ", ".join(f"{source} {items}" for source, items in context.sources_used.items())
    parts = [
        f"{context.token_count:,} of {context.trace.max_tokens:,} tokens",
        used,
        *([context.summary] if context.summary else []),
        *_from_the_cache(context),
        f"{seconds * 1000:,.0f} ms" if seconds < 10 else f"{seconds:,.1f} s",
    ]
    return "; ".join(parts)


def _from_the_cache(context: FormattedContext) -> list[str]:
    cache = context.trace.cache
    if cache is None or cache.age is None:
        return []
    return [f"from the cache, {cache.age:,.0f} s old"]


def warn_of_troubles(session: Session, context: FormattedContext) -> int:
    """Say what went wrong while a context was assembled; return how many sources failed."""
    trace = context.trace
    failed = [source for source in trace.sources if source.state not in _ANSWERED]
    for reason in dict.fromkeys(source.reason for source in failed):
        sections = [source.section for source in failed if source.reason == reason]
        session.warn(f"{', '.join(sections)}: {reason}")
    for note in trace.notes:
        session.warn(note)
    if not trace.sources:
        session.warn("no source is on: `contextkit sources` shows why")
    elif not (context.items or failed or trace.notes):
        session.warn("nothing relevant was found")
    return len(failed)
