"""A premortem over a host's own searcher asks for what seed 1 says."""

from __future__ import annotations

from typing import Any

import contextkit_experiences
import contextkit_values
from contextkit import ContextAssembler
from contextkit.config.settings import Config
from contextkit.plugin.manager import SourceRegistry


class Host:
    """Takes note of how it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    async def search_experiences(
        self,
        query: str,
        limit: int,
        axis: str = "full",
        domain: str | None = None,
        strategy: str | None = None,
        outcome: str | None = None,
    ) -> list[Any]:
        """Nothing."""
        self.asked.append((axis, limit))
        return []

    async def search_values(self, query: str, limit: int) -> list[Any]:
        """Nothing."""
        self.asked.append(("values", limit))
        return []


def test_a_host_is_asked_for_the_limit_itself() -> None:
    """Ten experiences an axis and five values: its own ranking decides which."""
    host = Host()
    registry = SourceRegistry(Config(), entry_points=False)
    registry.register(contextkit_experiences, "experiences")
    registry.register(contextkit_values, "values")
    ContextAssembler(host, registry=registry).get_premortem_context_sync(
        "debugging", "root-cause-first", source_timeout=20, deadline=20
    )
    assert sorted(host.asked) == [
        ("full", 10),
        ("root_cause", 10),
        ("strategy", 10),
        ("surprise", 10),
        ("values", 5),
    ]
