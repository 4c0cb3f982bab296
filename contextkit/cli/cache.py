"""`contextkit cache`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from contextkit.cli.failures import ExitCode
from contextkit.cli.options import assembly_options, names_of
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.cli.source_names import complete_sources
from contextkit.errors import ConfigError

if TYPE_CHECKING:
    from contextkit.cache.caches import Caches


@click.group(epilog="Example: contextkit cache show")
def cache() -> None:
    """Look at the cache, fill it, clear it.

    It is off until your own config.toml says [cache] enabled = true. Without a Redis in
    cache.url it is in the memory of one process, and ends with it.
    """


@cache.command(
    epilog="""\b
Examples:
  contextkit cache show
  contextkit cache show --json
"""
)
@json_option
@pass_session
def show(session: Session, as_json: bool) -> int:
    """Say where the cache is and what is in it."""
    settings = session.config.cache
    counts = _caches(session).levels.counts_blocking() if settings.enabled else None
    data = {"enabled": settings.enabled, "url": settings.url, "kept": counts}
    if not settings.enabled:
        text = "off"
    elif settings.url == "memory":
        text = "in the memory of each process"
    else:
        kept = "".join(f"\n{name}: {count:,}" for name, count in sorted((counts or {}).items()))
        text = f"{settings.url}{kept or (chr(10) + 'nothing in it')}"
    unreachable = settings.enabled and settings.url != "memory" and counts is None
    if unreachable:
        text = f"{settings.url} does not answer"
    session.emit(data, text, as_json)
    return ExitCode.FAILED if unreachable else ExitCode.FINE


@cache.command(epilog="Example: contextkit cache clear")
@pass_session
def clear(session: Session) -> int:
    """Drop what Redis has of contextkit, of all who use it.

    What a running process has in its memory ends by itself, contexts after
    cache.contexts_ttl seconds.
    """
    if _caches(session).clear():
        return ExitCode.FINE
    session.warn(f"{session.config.cache.url} does not answer: nothing was dropped")
    return ExitCode.FAILED


@cache.command(
    epilog="""\b
Examples:
  contextkit cache warm "how is the token budget split?" "why do we retry?"
  contextkit cache warm "why do we retry?" --sources code,commits --max-tokens 1000
"""
)
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@click.option(
    "--sources",
    multiple=True,
    shell_complete=complete_sources,
    help="The sources to ask, as in a,b; default: all that are on.",
)
@assembly_options
@json_option
@pass_session
def warm(
    session: Session,
    /,
    queries: tuple[str, ...],
    sources: tuple[str, ...],
    timeout: float | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Assemble the contexts for some queries, for others to find in Redis.

    The options are those with which they will be asked for.
    """
    if _caches(session).levels.redis is None:
        raise ConfigError(
            "in the memory of this process, which ends now, nothing stays: name a Redis",
            key="cache.url",
        )
    asked = {"context_types": names_of(sources), "source_timeout": timeout, **options}
    contexts = session.kit.warm_sync(queries, **asked)
    traces = [context.trace.cache for context in contexts]
    lines = [
        f"{query}: {trace.state.replace('_', ' ')}{f', {trace.reason}' if trace.reason else ''}"
        for query, trace in zip(queries, traces, strict=True)
        if trace is not None
    ]
    states = {query: t and t.state for query, t in zip(queries, traces, strict=True)}
    session.emit(states, "\n".join(lines), as_json)
    return ExitCode.FINE


def _caches(session: Session) -> Caches:
    if session.kit.caches is None:
        raise ConfigError("there is no cache: set it to true", key="cache.enabled")
    return session.kit.caches
