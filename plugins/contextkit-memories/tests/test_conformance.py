"""The memories source does what contextkit expects of every source."""

from __future__ import annotations

import contextkit_memories
from contextkit import ContextKit
from contextkit.testing import SourceConformance
from contextkit_memories import MemoryBook

MEMORIES = {
    "Use tabs for indentation, never spaces": "preferences",
    "We chose Postgres for indentation settings because we need transactions": "decisions",
    "The indentation test fails when the clock is not UTC\n\nSet TZ, and run it again.": "errors",
}


class TestMemories(SourceConformance):
    """Three memories, one of them the user's, found by a word they share."""

    source = contextkit_memories
    query = "indentation with tabs"
    timeout = 60.0

    def prepare(self, kit: ContextKit) -> None:
        """Remember them as a person would."""
        book = MemoryBook(kit.records("memories"))
        for text, category in MEMORIES.items():
            shared = category == "preferences"
            book.remember(text, category=category, importance=0.8, tags=["style"], shared=shared)
