"""The patterns source does what contextkit expects of every source."""

from __future__ import annotations

import contextkit_patterns
from contextkit import ContextKit
from contextkit.testing import SourceConformance
from contextkit_patterns import PatternBook


class TestPatterns(SourceConformance):
    """Four patterns: by keyword, by type, by search, and one of the user's."""

    source = contextkit_patterns
    query = "fix the flaky test of the invoice function"
    timeout = 60.0

    def prepare(self, kit: ContextKit) -> None:
        """Add them as a person would."""
        book = PatternBook.of(kit)
        book.add("Tame a flaky test", ["Run it alone", "# Look at the clock"], keywords=["flaky"])
        book.add("Bisect", ["git bisect start", "Mark good and bad"], intents=["fix"])
        book.add("Split a function", ["Name the parts"], entity_types=["function"], shared=True)
        book.add("Invoice check", ["Compare the sums"], applications=10, successes=9)
