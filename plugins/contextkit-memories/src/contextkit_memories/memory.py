"""What a memory is, what its parts may be, and the record that it is stored as."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from attrs import field, frozen

from contextkit import USER, Record
from contextkit.models.record import belongs_to_user
from contextkit.text.given import given_lines
from contextkit_memories.errors import InvalidMemoryError
from contextkit_memories.words import DEFAULT_CATEGORY

__all__ = [
    "DEFAULT_IMPORTANCE",
    "MAX_TEXT",
    "RUN",
    "Memory",
    "checked_importance",
    "checked_position",
    "checked_sequence",
    "checked_text",
    "checked_time",
    "digest_of",
    "headline",
    "importance_in",
    "place_in_run",
    "place_name",
]

DEFAULT_IMPORTANCE = 0.5
RUN = "run:"
"""What the name of a run begins with, where it stands for a sequence."""

MAX_TEXT = 20_000

_LONGEST_SEQUENCE = 200
_LAST_POSITION = 2**53
_CLOCK_SKEW = timedelta(days=1)


@frozen(kw_only=True)
class Memory:
    """Something worth remembering: a fact, a preference, a decision, an error.

    Attributes:
        id: unique, in the order of time.
        text: what is remembered.
        category: what kind of thing it is, lower case: `facts`, `preferences`,
            `decisions`, `errors` or any other word.
        importance: how much it matters whatever the question, 0..1.
        tags: words to find it by.
        created_at: when it came to be, aware.
        sequence: what it is a part of, such as a session; None where it stands alone.
        position: its place in that; what stands beside it supports it in a search.
        run: of a memory that stands alone, the first of those that were remembered one
            right behind the other, and its place among them.
        project: the project it belongs to; `USER` where it is the user's, seen in all.
        outcome: what remembering did: `stored` a new memory, `updated` one that was there
            or left it `unchanged`. A memory that was read is `unchanged`.
    """

    id: str
    text: str
    category: str = DEFAULT_CATEGORY
    importance: float = DEFAULT_IMPORTANCE
    tags: tuple[str, ...] = ()
    created_at: datetime
    sequence: str | None = None
    position: int | None = None
    run: tuple[str, int] | None = None
    project: str = USER
    outcome: Literal["stored", "updated", "unchanged"] = field(default="unchanged", eq=False)

    @property
    def scope(self) -> Literal["project", "user"]:
        """Whose it is: the project's, or the user's in every project."""
        return "user" if belongs_to_user(self.project) else "project"

    @property
    def title(self) -> str:
        """Its first words, on one line of 60 characters at most."""
        return headline(self.text, 60)

    @classmethod
    def from_record(cls, record: Record) -> Memory:
        """The memory that a record holds; fields that make no sense have their defaults."""
        # Records come from imports and from a host's own search, too.
        fields = record.fields
        category = fields.get("category")
        return cls(
            id=record.id,
            text=record.text,
            category=category if isinstance(category, str) and category else DEFAULT_CATEGORY,
            importance=importance_in(fields),
            tags=_tags_in(fields),
            created_at=record.created_at,
            **_place_in(fields),
            project=record.project,
        )

    def as_record(self) -> Record:
        """The record that it is stored as; its tags are searched beside its text."""
        return Record(
            id=self.id,
            text=self.text,
            keywords=" ".join(self.tags),
            created_at=self.created_at,
            fields={
                "category": self.category,
                "importance": self.importance,
                "tags": list(self.tags),
                "digest": digest_of(self.text),
                **self._place(),
            },
        )

    def _place(self) -> dict[str, Any]:
        """The record's fields that say where it stands."""
        if self.sequence is None or self.position is None:
            if self.run is None:
                return {}
            first, number = self.run
            return {"run": first, "number": number, "place": place_name(*place_in_run(self.run))}
        return {
            "sequence": self.sequence,
            "position": self.position,
            "place": place_name(self.sequence, self.position),
        }

    def as_dict(self) -> dict[str, Any]:
        """The memory as JSON values, for people's scripts."""
        return {
            "id": self.id,
            "text": self.text,
            "category": self.category,
            "importance": self.importance,
            "tags": list(self.tags),
            "scope": self.scope,
            "project": None if belongs_to_user(self.project) else self.project,
            "created_at": self.created_at.isoformat(),
            "sequence": self.sequence,
            "position": self.position,
        }


def importance_in(fields: Mapping[str, Any]) -> float:
    """The importance in a record's fields or an item's metadata; the default where it is none."""
    try:
        return checked_importance(fields.get("importance", DEFAULT_IMPORTANCE))
    except InvalidMemoryError:
        return DEFAULT_IMPORTANCE


def _tags_in(fields: Mapping[str, Any]) -> tuple[str, ...]:
    tags = fields.get("tags")
    several = tags if isinstance(tags, (list, tuple)) else ()
    return tuple(tag for tag in several if isinstance(tag, str))


def checked_text(text: str) -> str:
    """The text as it is stored.

    Args:
        text: 1 to 20,000 characters.

    Returns:
        It without white space at its ends, terminal codes and controls, lines ended by
        line feeds.

    Raises:
        InvalidMemoryError: it is empty, too long or not text.
    """
    stored = given_lines(text, "a memory's text", InvalidMemoryError)
    if not stored:
        raise InvalidMemoryError("a memory needs a text, this one is empty")
    if len(stored) > MAX_TEXT:
        raise InvalidMemoryError(
            f"a memory has at most {MAX_TEXT:,} characters, this one has {len(stored):,}: "
            f"remember what matters of it, or split it"
        )
    return stored


def checked_importance(importance: float) -> float:
    """An importance as it is stored; raises `InvalidMemoryError` unless it is within 0..1."""
    if isinstance(importance, bool) or not isinstance(importance, (int, float)):
        raise InvalidMemoryError(f"importance must be a number within 0..1, got {importance!r}")
    # Written so that NaN, which no comparison holds for, is refused too.
    if not 0 <= importance <= 1 or not math.isfinite(importance):
        raise InvalidMemoryError(f"importance must be within 0..1, got {importance}")
    return float(importance)


def checked_sequence(sequence: str) -> str:
    """A sequence's name as it is stored; raises `InvalidMemoryError` where it is no name."""
    if not isinstance(sequence, str):
        raise InvalidMemoryError(f"a sequence's name must be a string, got {sequence!r}")
    name = sequence.strip()
    if not 1 <= len(name) <= _LONGEST_SEQUENCE or not name.isprintable():
        raise InvalidMemoryError(
            f"a sequence's name has 1 to {_LONGEST_SEQUENCE} printable characters, "
            f"got {name[:80]!r}"
        )
    return name


def checked_position(position: int) -> int:
    """A position as it is stored; raises `InvalidMemoryError` unless it is a number from 0."""
    whole = isinstance(position, int) and not isinstance(position, bool)
    if not whole or not 0 <= position <= _LAST_POSITION:
        raise InvalidMemoryError(f"position must be a whole number of at least 0, got {position!r}")
    return position


def _place_in(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Where a record's fields say that it stands; nothing where that is no place."""
    # Records come from imports and from a host's own search, too.
    sequence, position = fields.get("sequence"), fields.get("position")
    if isinstance(sequence, str) and type(position) is int:
        return {"sequence": sequence, "position": position}
    run, number = fields.get("run"), fields.get("number")
    return {"run": (run, number)} if isinstance(run, str) and type(number) is int else {}


def place_name(sequence: str, position: int) -> str:
    """What finds the memories at one place of a sequence in the store."""
    return f"{sequence}#{position}"


def place_in_run(run: tuple[str, int]) -> tuple[str, int]:
    """The sequence and the position that stand for a place in a run.

    Every other position is empty: what was remembered together belongs together less often
    than what stands in one session, so a neighbour lends less.
    """
    first, number = run
    return f"{RUN}{first}", 2 * number


def checked_time(created_at: datetime) -> datetime:
    """A time of creation in UTC; raises `InvalidMemoryError` if it is naive or to come."""
    if not isinstance(created_at, datetime) or created_at.utcoffset() is None:
        raise InvalidMemoryError(f"created_at must be a time with a time zone, got {created_at!r}")
    if created_at > datetime.now(UTC) + _CLOCK_SKEW:
        raise InvalidMemoryError(f"created_at lies in the future: {created_at.isoformat()}")
    try:
        return created_at.astimezone(UTC)
    except OverflowError as error:
        raise InvalidMemoryError(
            f"created_at lies before the year 1 in UTC: {created_at.isoformat()}"
        ) from error


def digest_of(text: str) -> str:
    """What finds a memory of exactly this text in the store."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def headline(text: str, width: int) -> str:
    """The first words of a text on one line of at most `width` characters."""
    from contextkit.text.markup import one_line

    line = one_line(text)
    if len(line) <= width:
        return line
    whole_words = line[:width].rpartition(" ")[0]
    return f"{whole_words if len(whole_words) > width // 2 else line[: width - 1]}…"
