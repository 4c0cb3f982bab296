"""The stage that says what a request's queries are about, before any source is asked."""

from __future__ import annotations

from functools import partial

from attrs import define, field

from contextkit.registry import SourceRegistry
from contextkit.registry.checks import checked_signals
from contextkit.registry.hook_failures import Failed
from contextkit.signals import QuerySignals
from contextkit.signals.reading import signals_of

__all__ = ["Signalling"]

_HOOK = "contextkit_signals"


@define(eq=False)
class Signalling:
    """The signals of one assembly's queries: the core's and those of the plugins that are on.

    A plugin whose hook fails adds nothing; `failed` is told.

    Attributes:
        registry: the plugins.
        failed: told of hooks that fail.
    """

    registry: SourceRegistry
    failed: Failed
    _known: dict[str, QuerySignals] = field(factory=dict, init=False)

    def __call__(self, query: str, own: QuerySignals | None = None) -> QuerySignals:
        """The signals of a query; a query that comes again has those that it had.

        Args:
            query: the query.
            own: what the core found in it, where that is known.
        """
        if query not in self._known:
            self._known[query] = self._united(query, own or signals_of(query))
        return self._known[query]

    def _united(self, query: str, own: QuerySignals) -> QuerySignals:
        united = own
        for plugin in self.registry.on_with(_HOOK):
            more = self.registry.attempt(
                plugin,
                _HOOK,
                partial(checked_signals, plugin),
                self.failed,
                query=query,
                signals=own,
            )
            if more is not None:
                united = united.united(more)
        return united
