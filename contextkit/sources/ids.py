"""Find a record by the beginning of its id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from contextkit.errors import ContextKitError
from contextkit.models.record import Record
from contextkit.models.records import RecordsView

_LISTED = 5


class AmbiguousEntryError(ContextKitError):
    """The beginning of an id matches several entries.

    Attributes:
        id: the requested id.
        matches: the matching ids in full, sorted.
    """

    exit_code = 5
    nouns: ClassVar[str] = "entries"

    def __init__(self, asked: str, matches: Sequence[tuple[str, str]]) -> None:
        self.id = asked
        self.matches = [match for match, _ in matches]
        listed = ", ".join(f"{match} ({title})" for match, title in matches[:_LISTED])
        more = f" and {len(matches) - _LISTED} more" if len(matches) > _LISTED else ""
        super().__init__(
            f"{asked!r} fits {len(matches)} {self.nouns}: {listed}{more}; type more of it"
        )


def beginning_with(
    records: RecordsView, *beginnings: str, filters: dict[str, str] | None = None
) -> list[Record]:
    """Return the visible records whose id has one of the beginnings, sorted by id."""
    fitting = (each for each in records.scan(filters) if each.id.startswith(beginnings))
    return sorted(fitting, key=lambda record: record.id)
