"""How long the sources may take where somebody waits for one answer: a command, an MCP tool.

A process that has just begun, on a machine that runs tests beside it, needs several times what
a warm one needs. An answer without its code is worse there than one that comes a second later.
"""

from __future__ import annotations

from attrs import evolve

from contextkit.config import Config, Origin

__all__ = ["DEADLINE", "SOURCE_TIMEOUT", "patient"]

SOURCE_TIMEOUT = 2.0
"""Seconds that one source may take."""

DEADLINE = 3.0
"""Seconds that all sources may take together."""

_TIMEOUT_KEY, _DEADLINE_KEY = "assemble.source_timeout", "assemble.deadline"


def patient(config: Config) -> Config:
    """The same configuration, with more time for the sources where none is configured."""
    assemble, origins = config.assemble, dict(config.origins)
    if _TIMEOUT_KEY not in origins:
        assemble = evolve(assemble, source_timeout=SOURCE_TIMEOUT)
    if _DEADLINE_KEY not in origins:
        assemble = evolve(assemble, deadline=DEADLINE)
    ours = Origin("default", "default of commands")
    return evolve(
        config, assemble=assemble, origins={_TIMEOUT_KEY: ours, _DEADLINE_KEY: ours} | origins
    )
