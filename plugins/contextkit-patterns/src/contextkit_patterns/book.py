"""Store the patterns of a project and of its user."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import evolve

from contextkit.sources import Book, checked_limit
from contextkit_patterns.pattern import MOST_APPLICATIONS, Pattern, UnknownPatternError, id_of

_DID = {"stored": "Added", "updated": "Updated", "unchanged": "Already there:"}


class PatternBook(Book[Pattern]):
    """Stores patterns, and counts their successes.

    ```python
    book = PatternBook.of(kit)
    pattern = book.add("Restart the worker", ["Drain the queue", "Restart"], keywords=["worker"])
    book.applied(pattern.id, success=True)
    ```
    """

    source, entry, unknown = "patterns", Pattern, UnknownPatternError
    fixed = ("name",)

    def add(
        self,
        name: str,
        steps: Iterable[str],
        *,
        keywords: Iterable[str] | None = None,
        intents: Iterable[str] | None = None,
        entity_types: Iterable[str] | None = None,
        applications: int | None = None,
        successes: int | None = None,
        shared: bool = False,
    ) -> Pattern:
        """Store a pattern, or change one of the same name.

        A pattern is changed only within the same scope. Arguments that are None are empty in a new
        pattern, and leave an existing one as it is. The other arguments are the parts of `Pattern`.

        Raises:
            InvalidPatternError: a part has a value that is not allowed; nothing was stored.
        """
        return super().add(
            name,
            steps,
            keywords=keywords,
            intents=intents,
            entity_types=entity_types,
            applications=applications,
            successes=successes,
            shared=shared,
        )

    def get(self, entry_id: str) -> Pattern:
        """Return the pattern with this id or name, or a beginning that no other one has.

        Raises `UnknownPatternError` and `AmbiguousEntryError`.
        """
        try:
            return super().get(id_of(entry_id))
        except UnknownPatternError:
            raise UnknownPatternError(entry_id) from None

    def list(self, limit: int = 20, **filters: Any) -> builtins.list[Pattern]:
        """List patterns, the highest success rate first."""
        every = map(Pattern.from_record, self.records.scan(filters))
        return sorted(every, key=lambda it: (-it.rate, it.id))[: checked_limit(limit)]

    def applied(self, pattern_id: str, *, success: bool) -> Pattern:
        """Count one more application; concurrent ones are both counted.

        Args:
            pattern_id: the id, or the name.
            success: whether it worked.

        Raises:
            UnknownPatternError: no pattern has this id or name.
        """
        with self.turn():
            known = self.get(pattern_id)
            return self.write(
                evolve(
                    known,
                    applications=min(known.applications + 1, MOST_APPLICATIONS),
                    successes=min(known.successes + int(success), MOST_APPLICATIONS),
                    applied_at=datetime.now(UTC),
                )
            )

    @classmethod
    def added_line(cls, entry: Pattern) -> str:
        """Describe the result of adding, in one line."""
        whose = "all your projects" if entry.scope == "user" else "this project"
        steps = "1 step" if len(entry.steps) == 1 else f"{len(entry.steps)} steps"
        return f"{_DID[entry.outcome]} {entry.id} ({steps}, {whose})"

    @classmethod
    def rows(cls, entries: Sequence[Pattern]) -> builtins.list[str]:
        """Show each pattern's success rate and counts on a line."""
        width = max((len(pattern.id) for pattern in entries), default=0)
        return [
            f"{it.rate:.2f}  {it.successes} of {it.applications}  {it.id:<{width}}  {it.name}"
            for it in entries
        ]

    @staticmethod
    def counted_line(pattern: Pattern) -> str:
        """Describe how often it has worked."""
        return f"{pattern.id}: worked {pattern.successes} of {pattern.applications} times"
