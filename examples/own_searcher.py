"""Assemble contexts from what your own program finds: nothing is stored, no index is built.

Run it: `python examples/own_searcher.py "why are deploys frozen?"`
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Iterable
from typing import Any

import structlog

from contextkit import ContextAssembler

# A result is an object or a mapping: its words, a score within 0..1, an id, and the fields
# that its source shows.
Result = dict[str, Any]
MEMORIES: list[Result] = [
    {"id": "m1", "content": "Deploys are frozen on Fridays", "category": "decisions"},
    {"id": "m2", "content": "Ada prefers small commits", "category": "preferences"},
]
CODE: list[Result] = [
    {
        "content": "def freeze(day): ...",
        "metadata": {"qualified_name": "freeze", "file_path": "deploys.py", "start_line": 12},
    }
]
EXPERIENCES: list[Result] = [
    {
        "id": "ghap_1",
        "domain": "debugging",
        "goal": "Find out why the deploy on Friday failed",
        "hypothesis": "The calendar was not checked",
        "outcome_status": "falsified",
        "outcome_result": "It was checked, in another time zone",
        "surprise": "The calendar's days begin in Sydney",
    }
]


def best(query: str, things: Iterable[Result], limit: int) -> list[Result]:
    """Those that share words with the query, best first; your database is better at this."""
    words = set(re.findall(r"\w+", query.lower()))
    found = [(words & set(re.findall(r"\w+", str(thing).lower())), thing) for thing in things]
    scored = [{**thing, "score": len(shared) / len(words)} for shared, thing in found if shared]
    return sorted(scored, key=lambda thing: -thing["score"])[:limit]


class Search:
    """A method `search_NAME` for each source NAME that shall find something, async or not."""

    def search_memories(self, query: str, limit: int) -> list[Result]:
        """Called in a thread: it may block."""
        return best(query, MEMORIES, limit)

    async def search_code(self, query: str, limit: int) -> list[Result]:
        """Awaited in your event loop, beside the others."""
        return best(query, CODE, limit)

    def search_experiences(self, query: str, limit: int, axis: str) -> list[Result]:
        """Filters that it has no parameter for, as `domain`, are applied to what it returns."""
        return best(query, [e for e in EXPERIENCES if axis == "full" or axis in e], limit)


async def main(query: str) -> None:
    """Ask for a context, then for what to beware of before debugging."""
    assembler = ContextAssembler(Search())
    print((await assembler.assemble_context(query, ["memories", "code"])).markdown)
    print((await assembler.get_premortem_context("debugging")).markdown)


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    asyncio.run(main(" ".join(sys.argv[1:]) or "why are deploys frozen?"))
