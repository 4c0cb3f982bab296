"""`contextkit cache`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from contextkit.cli.failures import ExitCode
from contextkit.cli.options import request_options
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.errors import ConfigError

if TYPE_CHECKING:
    from contextkit.cache.caches import Caches


@click.group(epilog="Example: contextkit cache show")
def cache() -> None:
    """Show, fill or clear the cache.

    The cache is off by default. Turn it on in your own config.toml: [cache] enabled = true.
    Without a Redis server in cache.url, it is in the memory of one process and ends with it.
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
    """Show where the cache is and what it holds."""
    settings = session.config.cache
    counts = _caches(session).levels.counts_blocking() if settings.enabled else None
    data = {"enabled": settings.enabled, "url": settings.url, "kept": counts}
    if not settings.enabled:
        text = "off"
    elif settings.url == "memory":
        text = "in the memory of each process"
    else:
        kept = "".join(f"\n{name}: {count:,}" for name, count in sorted((counts or {}).items()))
        text = f"{settings.url}{kept or (chr(10) + 'empty')}"
    unreachable = settings.enabled and settings.url != "memory" and counts is None
    if unreachable:
        text = f"{settings.url} does not answer"
    session.emit(data, text, as_json)
    return ExitCode.FAILED if unreachable else ExitCode.FINE


@cache.command(epilog="Example: contextkit cache clear")
@pass_session
def clear(session: Session) -> int:
    """Delete contextkit's entries from Redis.

    This affects everyone who uses that Redis. Contexts in the memory of running processes expire
    by themselves, after cache.contexts_ttl seconds.
    """
    if _caches(session).clear():
        return ExitCode.FINE
    session.warn(f"{session.config.cache.url} does not answer: nothing was deleted")
    return ExitCode.FAILED


@cache.command(
    epilog="""\b
Examples:
  contextkit cache warm "how is the token budget split?" "why do we retry?"
  contextkit cache warm "why do we retry?" --sources code,commits --max-tokens 1000
"""
)
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@request_options()
@json_option
@pass_session
def warm(
    session: Session, /, queries: tuple[str, ...], as_json: bool, options: dict[str, Any]
) -> int:
    """Assemble contexts in advance and cache them in Redis.

    Use the same options as the later requests.
    """
    if _caches(session).levels.redis is None:
        raise ConfigError(
            "a cache in memory ends with this process: set it to a Redis server's address",
            key="cache.url",
        )
    contexts = session.kit.warm_sync(queries, **options)
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
        raise ConfigError("the cache is off: set it to true", key="cache.enabled")
    return session.kit.caches
