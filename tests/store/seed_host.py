"""A host with seed 1's searcher: five methods over a few things, that block or are awaited."""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from attrs import define, field, frozen

FIVE = ["memories", "code", "experiences", "values", "commits"]


@frozen(kw_only=True)
class Result:
    """What every result of this host has."""

    content: str
    metadata: dict[str, Any]


@frozen(kw_only=True)
class Scored:
    """A result as the host's search returns it: seed 1's items."""

    content: str
    metadata: dict[str, Any]
    relevance: float


def experience(number: int, **values: Any) -> Result:
    """An experience with all that seed 1 shows."""
    fields = {
        "id": f"ghap_{number}",
        "domain": "debugging",
        "strategy": "systematic-elimination",
        "goal": f"find flaky test number {number}",
        "hypothesis": "the tests share a database",
        "action": f"ran suite {number} alone",
        "prediction": "the failure goes away",
        "outcome_status": "falsified",
        "outcome_result": "it failed alone, too",
        "surprise": None,
        "root_cause": None,
        "lesson": None,
        "confidence_tier": "silver",
        "iteration_count": 2,
        "created_at": "2026-05-01T10:00:00Z",
        **values,
    }
    return Result(content=" ".join(map(str, fields.values())), metadata=fields)


THINGS: dict[str, list[Result]] = {
    "memories": [
        Result(
            content="Flaky tests block the release train",
            metadata={
                "id": "mem_1",
                "category": "decisions",
                "importance": 0.8,
                "created_at": "2026-05-01T10:00:00Z",
            },
        ),
        Result(
            content="The coffee machine is on the third floor",
            metadata={"id": "mem_2", "category": "facts", "importance": 0.1},
        ),
    ],
    "code": [
        Result(
            content="def retry_flaky(test):\n    return test() or test()",
            metadata={
                "file_path": "tests/retry.py",
                "start_line": 10,
                "end_line": 11,
                "language": "python",
                "unit_type": "function",
                "qualified_name": "retry_flaky",
            },
        )
    ],
    "experiences": [
        experience(
            1,
            surprise="the clock of the flaky test was mocked",
            root_cause="a leaked fixture",
            lesson=SimpleNamespace(what_worked="bisecting the flaky suite", takeaway=None),
        ),
        experience(2, outcome_status="confirmed", outcome_result="it went away"),
        experience(3, domain="performance", surprise="slower at night"),
    ],
    "values": [
        Result(
            content="Run a flaky test alone before you blame it",
            metadata={
                "id": "value_1",
                "axis": "full",
                "cluster_id": "full_0",
                "cluster_size": 4,
                "similarity_to_centroid": 0.9,
                "ghap_id": "ghap_9",
            },
        )
    ],
    "commits": [
        Result(
            content="Quarantine the flaky tests\n\nThey block everybody.",
            metadata={
                "sha": "0123456789abcdef0123456789abcdef01234567",
                "author": "Ada",
                "timestamp": "2026-05-02T09:00:00+00:00",
                "files_changed": ["tests/a.py", "tests/b.py", "ci.yml", "README.md"],
                "insertions": 3,
                "deletions": 1,
            },
        )
    ],
}


def words(text: str) -> set[str]:
    """The words of a text."""
    return set(re.findall(r"[^\W_]+", text.lower()))


@define(eq=False)
class Host:
    """A searcher over a few things, by the words that they share with the query."""

    things: dict[str, list[Result]] = field(factory=lambda: THINGS)
    calls: list[tuple[str, str, int, dict[str, Any]]] = field(factory=list)

    def find(self, source: str, query: str, limit: int, **wanted: Any) -> list[Scored]:
        """The best of those that have what is wanted."""
        self.calls.append((source, query, limit, {k: v for k, v in wanted.items() if v}))
        asked = words(query)
        scored = [
            Scored(
                content=thing.content,
                metadata=thing.metadata,
                relevance=len(asked & words(thing.content)) / len(asked),
            )
            for thing in self.things[source]
            if _has(thing.metadata, wanted)
        ]
        return sorted(scored, key=lambda found: -found.relevance)[:limit]


def _has(fields: dict[str, Any], wanted: dict[str, Any]) -> bool:
    axis, outcome = wanted.get("axis", "full"), wanted.get("outcome")
    return (
        (axis in {"full", "strategy"} or bool(fields.get(axis)))
        and (not outcome or fields["outcome_status"] == outcome)
        and all(fields[k] == v for k, v in wanted.items() if v and k in {"domain", "strategy"})
    )


class SyncHost(Host):
    """Its methods block."""

    def search_memories(self, query: str, limit: int) -> list[Scored]:
        return self.find("memories", query, limit)

    def search_code(self, query: str, limit: int) -> list[Scored]:
        return self.find("code", query, limit)

    def search_experiences(
        self,
        query: str,
        axis: str,
        limit: int,
        domain: str | None = None,
        outcome: str | None = None,
        strategy: str | None = None,
    ) -> list[Scored]:
        return self.find(
            "experiences",
            query,
            limit,
            axis=axis,
            domain=domain,
            outcome=outcome,
            strategy=strategy,
        )

    def search_values(self, query: str, limit: int) -> list[Scored]:
        return self.find("values", query, limit)

    def search_commits(self, query: str, limit: int) -> list[Scored]:
        return self.find("commits", query, limit)


def awaited(method: Callable[..., list[Scored]]) -> Callable[..., Any]:
    """The same method as one that is awaited, and lets others go first."""

    @functools.wraps(method)
    async def search(*arguments: Any, **options: Any) -> list[Scored]:
        await asyncio.sleep(0)
        return method(*arguments, **options)

    return search


class AsyncHost(SyncHost):
    """Its methods are awaited."""


for _source in FIVE:
    setattr(AsyncHost, f"search_{_source}", awaited(getattr(SyncHost, f"search_{_source}")))
