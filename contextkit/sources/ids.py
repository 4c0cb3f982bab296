"""Find the record that an abbreviated id means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from contextkit.errors import ContextKitError
from contextkit.models.record import Record
from contextkit.sources.entry import shortened_line

_LISTED = 5
_TITLE = 60


class AmbiguousEntryError(ContextKitError):
    """An abbreviated id fits several entries.

    Attributes:
        id: the requested id.
        matches: the matching ids in full, in order.
    """

    exit_code = 5

    def __init__(self, asked: str, source: str, matches: Sequence[tuple[str, str]]) -> None:
        self.id = asked
        self.matches = [match for match, _ in matches]
        listed = ", ".join(f"{match} ({title})" for match, title in matches[:_LISTED])
        more = f" and {len(matches) - _LISTED} more" if len(matches) > _LISTED else ""
        super().__init__(f"{asked!r} fits {len(matches)} {source}: {listed}{more}; type more of it")


def by_beginning(
    asked: str,
    records: Iterable[Record],
    *,
    spellings: Sequence[str],
    prefix: str = "",
    id_of: Callable[[Record], str] = lambda record: record.id,
) -> list[Record]:
    """Return the records whose id begins as typed.

    A beginning that all ids share fits none of them.

    Args:
        asked: the beginning as it was typed, for errors.
        records: the records to look through, of one source.
        spellings: the beginnings that count, with or without the prefix.
        prefix: the beginning that all ids share.
        id_of: a record's id as people see it.

    Raises `AmbiguousEntryError` if several ids begin so.
    """
    beginnings = tuple(each for typed in spellings if (each := typed.removeprefix(prefix)))
    found: dict[str, list[Record]] = {}
    for record in records if beginnings else ():
        if id_of(record).removeprefix(prefix).startswith(beginnings):
            found.setdefault(id_of(record), []).append(record)
    if len(found) > 1:
        matches = [
            (each, shortened_line(same[0].text, _TITLE)) for each, same in sorted(found.items())
        ]
        source = next(iter(found.values()))[0].source
        raise AmbiguousEntryError(asked, source, matches)
    return next(iter(found.values()), [])
