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
from contextkit.cli.options import no_index_option, query_from, request_options
from contextkit.cli.output import in_colour, messages_on_terminal
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.errors import ConfigError, InvalidContextTypeError
from contextkit.models.context import FormattedContext

_ANSWERED = {"ok", "empty", "below_floor"}


@click.command(
    epilog="""\b
Examples:
  contextkit assemble "how is the token budget split?"
  contextkit assemble "why do we retry?" --sources code,commits --max-tokens 1000
  contextkit assemble "where were we?" --strategy balanced --set detail=compact
  git diff | contextkit assemble - --no-index --json
"""
)
@click.argument("query")
@request_options()
@no_index_option
@json_option
@pass_session
def assemble(
    session: Session, /, query: str, no_index: bool, as_json: bool, options: dict[str, Any]
) -> int:
    """Print the context for a QUERY.

    A QUERY of `-` is read from standard input. Records are updated from the workspace first.
    The first time, that goes on in the background after two seconds, and a line on standard error
    says so; --no-index skips it. Colors appear on a terminal only, and NO_COLOR turns them off.
    The last line, a summary for you, goes to standard error.
    """
    from contextkit.concurrency import import_beside
    from contextkit.workspace.listing import listed_once

    query = query_from(query)
    begun = time.perf_counter()
    options["sources"] = sources = checked_sources(session, query, options)
    # A process that ends has no look at the workspace yet.
    ends = session.ends_process
    beside = session.workspace if sources is None and (ends or not no_index) else None
    with listed_once(beside, with_status=ends):
        if not no_index:
            index_first(session, sources, query)
        if ends:
            # With numpy, it takes a tenth of the time, and git is waited for.
            import_beside("contextkit.dedup.texts")
        context = session.kit.assemble_context_sync(query, **options)
    return _show(session, context, as_json, options, begun)


@click.command(
    epilog="""\b
Examples:
  contextkit premortem debugging
  contextkit premortem debugging --strategy systematic-elimination
"""
)
@click.argument("domain")
@click.option("--strategy", help="Also show how this strategy worked out.")
@request_options(without=("sources", "strategy"))
@json_option
@pass_session
def premortem(
    session: Session,
    /,
    domain: str,
    strategy: str | None,
    as_json: bool,
    options: dict[str, Any],
) -> int:
    """Print what went wrong before in a DOMAIN.

    It is meant for an agent that is about to start work of this kind. The strategy that scores
    the items is `--set strategy=NAME`.
    """
    begun = time.perf_counter()
    arguments = {"domain": domain, "strategy": strategy}
    context = session.kit.assemble_recipe_sync("premortem", arguments, **options)
    return _show(session, context, as_json, options, begun)


def checked_sources(
    session: Session, query: str, options: Mapping[str, Any]
) -> tuple[str, ...] | None:
    """Check a request's sources, before any index run for it.

    Args:
        session: the run of the command line.
        query: the request's query.
        options: the request's options.
    """
    from contextkit.pipeline.recipes import check_excluded
    from contextkit.pipeline.request import make_request, refuse_unknown_names

    request = make_request(
        session.config, query, project="", workspace=session.workspace, **options
    )
    refuse_unknown_names(session.registry, request)
    with _blaming(session, "assemble.sources", options.get("sources")):
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
    """Blame the configuration for an invalid source name.

    This applies where the name was not given on the command line.
    """
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
    from contextkit.text.styles import style_of

    failed = warn_of_troubles(session, context)
    style = options.get("style") or session.config.assemble.style
    is_markdown = style_of(style).syntax == "markdown"
    if context.markdown and is_markdown and not as_json and in_colour():
        from contextkit.cli.colour import print_markdown

        print_markdown(context.markdown)
    else:
        # Made only where it is printed, because a trace has thousands of values.
        session.emit(context.as_dict() if as_json else None, context.markdown, as_json)
    if context.items and not as_json and messages_on_terminal():
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
    """Warn of an assembly's problems, and count failed sources."""
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
