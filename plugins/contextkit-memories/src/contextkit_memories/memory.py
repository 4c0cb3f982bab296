"""What a memory is, and the record that it is stored as."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from attrs import frozen

from contextkit import Record
from contextkit.sources import Entry, name, number, part, text, whole
from contextkit_memories.errors import InvalidMemoryError
from contextkit_memories.words import DEFAULT_CATEGORY, stored_category, stored_tags

RUN = "run:"
"""The beginning of a run's name, where it stands for a sequence."""

MAX_TEXT = 20_000


@frozen(kw_only=True)
class Memory(Entry):
    """Something worth remembering: a fact, a preference, a decision, an error.

    Attributes:
        text: what is remembered.
        category: what kind of thing it is, lower case: `facts`, `preferences`,
            `decisions`, `errors` or any other word.
        importance: how much it matters whatever the question, 0..1.
        tags: words to find it by.
        sequence: what it is a part of, such as a session; None where it stands alone.
        position: its place in that; what stands beside it supports it in a search.
        run: of a memory that stands alone, the first of those that were remembered one
            right behind the other, and its place among them.
    """

    noun = "memory"
    shown = (
        "id", "text", "category", "importance", "tags", "scope", "project", "created_at",
        "sequence", "position",
    )  # fmt: skip
    invalid = InvalidMemoryError

    text: str = part(
        text("a memory", MAX_TEXT, "remember what matters of it, or split it"),
        about="what to remember, whole sentences that stand alone, to 20,000 characters",
    )
    category: str = part(
        stored_category,
        DEFAULT_CATEGORY,
        about="facts (default), preferences, decisions, errors, or any other word",
        flags="-c --category",
    )
    importance: float = part(
        number("importance"),
        0.5,
        about="how much it matters whatever the question, 0 to 1; default 0.5",
        flags="-i --importance",
    )
    tags: tuple[str, ...] = part(stored_tags, (), about="words to find it by", flags="-t --tag")
    sequence: str | None = part(
        name("a sequence's name", 200),
        None,
        about="what it is the next part of, such as a session",
    )
    position: int | None = part(whole("position"), None)
    run: tuple[str, int] | None = None

    @classmethod
    def json_types(cls) -> Mapping[str, Any]:
        """The types of `as_dict`."""
        whose = Literal["project", "user"]
        return {
            **super().json_types(),
            "scope": Annotated[whose, "whose it is: the project's, or the user's"],
            "project": str | None,
        }

    def as_dict(self) -> dict[str, Any]:
        """Its JSON; a user's memory belongs to no project."""
        return {**super().as_dict(), "project": None if self.scope == "user" else self.project}

    @property
    def search_words(self) -> str:
        """Its tags, which are searched beside its text."""
        return " ".join(self.tags)

    @classmethod
    def read(cls, record: Record) -> dict[str, Any]:
        """The allowed values in a record's fields; half a place is none."""
        found = super().read(record)
        if "sequence" in found and "position" in found:
            return found
        first, place = record.fields.get("run"), record.fields.get("number")
        run = (first, place) if isinstance(first, str) and type(place) is int else None
        return {**found, "sequence": None, "position": None, "run": run}

    def derived_fields(self) -> Mapping[str, Any]:
        """What finds its text, and its place."""
        fields: dict[str, Any] = {"digest": digest_of(self.text)}
        if self.sequence is not None and self.position is not None:
            fields["place"] = place_name(self.sequence, self.position)
        elif self.run is not None:
            fields |= {"run": self.run[0], "number": self.run[1]}
            fields["place"] = place_name(*place_in_run(self.run))
        return fields


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


def digest_of(text: str) -> str:
    """What finds a memory of exactly this text in the store."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
