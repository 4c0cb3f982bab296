"""The patterns of a project and of its user: add, look up, count applications, remove."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from contextkit import InvalidRequestError, Records
from contextkit.concurrency import ForkLock
from contextkit_patterns.errors import UnknownPatternError
from contextkit_patterns.pattern import MOST_APPLICATIONS, Pattern, checked_counts
from contextkit_patterns.words import (
    id_of,
    stored_entity_types,
    stored_intents,
    stored_keywords,
    stored_name,
    stored_steps,
)

if TYPE_CHECKING:
    from contextkit import ContextKit

__all__ = ["PatternBook"]

_Patterns = list[Pattern]
# Between the look at a pattern and the write nobody else may write it.
_changing = ForkLock()


@frozen
class PatternBook:
    """The patterns that are seen in one project: its own, and the user's.

    Every method blocks and may be called from any thread.

    ```python
    book = PatternBook.of(kit)
    pattern = book.add("Restart the worker", ["Drain the queue", "Restart"], keywords=["worker"])
    book.applied(pattern.id, success=True)
    ```

    Attributes:
        records: the records of the source `patterns`.
        hold: keeps the store for this process while it lasts, so that a look and the write
            that follows are one turn; default: nothing does.
    """

    records: Records
    hold: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    @classmethod
    def of(cls, kit: ContextKit) -> PatternBook:
        """The patterns of a kit's project; turns are taken with other processes.

        Raises `InvalidContextTypeError` where the source `patterns` is off.
        """
        return cls(kit.records("patterns"), kit.store.hold)

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
        """Store a pattern; one of the same name in the same scope is changed.

        What is None is empty in a new pattern, and stays as it is in one that is there.

        Args:
            name: what it does, to 80 characters.
            steps: what is done, 1 to 50 texts of up to 2,000 characters.
            keywords: words or phrases of a query that call for it.
            intents: the intents that it suits.
            entity_types: the types of entities that it is about.
            applications: how often it was applied before.
            successes: how often that worked.
            shared: True for the user's pattern, seen in every project.

        Returns:
            The pattern as it is stored; its `outcome` tells whether it is new.

        Raises:
            InvalidPatternError: a part is not what it may be; nothing was stored.
        """
        given: dict[str, Any] = {"name": stored_name(name), "steps": stored_steps(steps)}
        if keywords is not None:
            given["keywords"] = stored_keywords(keywords)
        if intents is not None:
            given["intents"] = stored_intents(intents)
        if entity_types is not None:
            given["entity_types"] = stored_entity_types(entity_types)
        counts = {"applications": applications, "successes": successes}
        given |= {name: count for name, count in counts.items() if count is not None}
        scope = self.records.shared if shared else self.records
        with self._turn():
            pattern = _merged(_in_scope(scope, id_of(given["name"])), given, scope.project)
            if pattern.outcome != "unchanged":
                scope.put([pattern.as_record()])
        return pattern

    def applied(self, pattern_id: str, *, success: bool) -> Pattern:
        """Count one more application; two at once are both counted.

        Args:
            pattern_id: the id, or the name.
            success: whether it worked.

        Raises:
            UnknownPatternError: there is none.
        """
        with self._turn():
            known = self.get(pattern_id)
            counted = evolve(
                known,
                applications=min(known.applications + 1, MOST_APPLICATIONS),
                successes=min(known.successes + int(success), MOST_APPLICATIONS),
                applied_at=datetime.now(UTC),
            )
            self._scope_of(known).put([counted.as_record()])
        return counted

    def get(self, pattern_id: str) -> Pattern:
        """The pattern with this id or name; the project's where the user has one, too.

        Raises:
            UnknownPatternError: there is none.
        """
        found = self.records.get(id_of(pattern_id)) if id_of(pattern_id) else []
        if not found:
            raise UnknownPatternError(pattern_id)
        own = [record for record in found if record.project == self.records.project]
        return Pattern.from_record((own or found)[0])

    def list(self, limit: int = 20) -> _Patterns:
        """Patterns, those that are expected to work first.

        Args:
            limit: how many at most.

        Raises:
            InvalidRequestError: the limit is below 1.
        """
        if type(limit) is not int or limit < 1:
            raise InvalidRequestError(f"limit must be at least 1, got {limit}")
        every = map(Pattern.from_record, self.records.scan())
        return sorted(every, key=lambda pattern: (-pattern.rate, pattern.id))[:limit]

    def count(self) -> int:
        """How many patterns there are."""
        return self.records.count()

    def remove(self, pattern_id: str) -> Pattern:
        """Delete a pattern and what was counted of it.

        Raises:
            UnknownPatternError: there is none.
        """
        with self._turn():
            known = self.get(pattern_id)
            # Of that scope alone: the user's of the same id stays.
            self._scope_of(known).scopes[0].delete(known.id)
        return known

    def _scope_of(self, pattern: Pattern) -> Records:
        return self.records if pattern.project == self.records.project else self.records.shared

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        with _changing, self.hold():
            yield


def _in_scope(scope: Records, pattern_id: str) -> Pattern | None:
    found = [record for record in scope.get(pattern_id) if record.project == scope.project]
    return Pattern.from_record(found[0]) if found else None


def _merged(known: Pattern | None, given: dict[str, Any], project: str) -> Pattern:
    before = (known.applications, known.successes) if known else (0, 0)
    checked_counts(given.get("applications", before[0]), given.get("successes", before[1]))
    if known is None:
        return Pattern(
            id=id_of(given["name"]),
            created_at=datetime.now(UTC),
            project=project,
            outcome="stored",
            **given,
        )
    changed = evolve(known, **given)
    return changed if changed == known else evolve(changed, outcome="updated")
