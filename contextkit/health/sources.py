"""Whether every source answers: a real question, with more patience than requests have."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit.questions import AskingForContexts
from contextkit.trace import SourceTrace

__all__ = ["ANSWERED", "probe_sources"]

ANSWERED = frozenset({"ok", "empty", "below_floor"})
"""The states of a source that answers."""

_QUERY = "how does it begin?"
_PATIENCE_SECONDS = 10.0
"""A first question loads what later ones find loaded: here its time is only told."""


def probe_sources(kit: AskingForContexts) -> Sequence[SourceTrace]:
    """Ask every source that is on, and tell its state, what went wrong, and the time it took.

    Raises what `assemble_context` raises.
    """
    context = kit.assemble_context_sync(
        _QUERY, source_timeout=_PATIENCE_SECONDS, deadline=_PATIENCE_SECONDS, cache=False
    )
    return context.trace.sources
