"""A memory and its stored record."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from attrs import frozen

from contextkit import Record
from contextkit.sources import LastingEntry, name, number, part, text, whole
from contextkit_memories.anchors import Anchor, stored_anchors
from contextkit_memories.errors import InvalidMemoryError
from contextkit_memories.words import DEFAULT_CATEGORY, stored_category, stored_tags

RUN = "run:"
"""Prefix of a run's name used as a sequence."""

MAX_TEXT = 20_000


@frozen(kw_only=True)
class Memory(LastingEntry):
    """Something worth remembering: a fact, preference, decision or error.

    Attributes:
        text: the text.
        category: its category, lower case: `facts`, `preferences`, `decisions`, `errors` or any
            other word.
        importance: its importance regardless of the query, 0..1.
        tags: words to find it by.
        sequence: its sequence, such as a session; None where it stands alone.
        position: its position in the sequence; its neighbours support it in a search.
        exported: a hash of what its Markdown file last said, so that a later change of the file
            and one of the store are told apart; None without a file.
        run: for a memory without a sequence, the first of the memories stored directly one after
            another, and its place among them.
        anchors: what it mentions of the workspace; None where that was not looked up.
    """

    noun = "memory"
    shown = (
        "id", "text", "category", "importance", "tags", "scope", "project", "created_at",
        "sequence", "position", "valid_from", "valid_until", "replaces", "replaced_by",
    )  # fmt: skip
    invalid = InvalidMemoryError

    text: str = part(
        text("a memory", MAX_TEXT, "remember what matters of it, or split it"),
        about="sentences that stand alone, to 20,000 characters",
    )
    category: str = part(
        stored_category,
        DEFAULT_CATEGORY,
        about="facts, preferences, decisions, errors, or any other word",
        flags="-c --category",
    )
    importance: float = part(
        number("importance"),
        0.5,
        about="how much it matters, 0 to 1",
        flags="-i --importance",
    )
    tags: tuple[str, ...] = part(stored_tags, (), about="words to find it by", flags="-t --tag")
    sequence: str | None = part(
        name("a sequence's name", 200),
        None,
        about="what it continues, such as a session",
    )
    position: int | None = part(whole("position"), None)
    exported: str | None = part(name("a hash", 64), None)
    run: tuple[str, int] | None = None
    anchors: tuple[Anchor, ...] | None = part(stored_anchors, None)

    @classmethod
    def json_types(cls) -> Mapping[str, Any]:
        """Return the types of `as_dict`."""
        whose = Literal["project", "user"]
        return {
            **super().json_types(),
            "scope": Annotated[whose, "whose it is: the project's, or the user's"],
            "project": str | None,
        }

    def as_dict(self) -> dict[str, Any]:
        """Return its JSON; a user's memory belongs to no project."""
        return {**super().as_dict(), "project": None if self.scope == "user" else self.project}

    @property
    def search_words(self) -> str:
        """Return its tags, which are searched beside its text."""
        return " ".join(self.tags)

    @classmethod
    def read(cls, record: Record) -> dict[str, Any]:
        """Return a record's allowed values; an incomplete place is dropped."""
        found = super().read(record)
        if "anchors" in found:
            # The text may have been edited in a file.
            found["anchors"] = tuple(each for each in found["anchors"] if each[1] in record.text)
        if "sequence" in found and "position" in found:
            return found
        first, place = record.fields.get("run"), record.fields.get("number")
        run = (first, place) if isinstance(first, str) and type(place) is int else None
        return {**found, "sequence": None, "position": None, "run": run}

    def derived_fields(self) -> Mapping[str, Any]:
        """Return the fields to look up its text and place."""
        fields: dict[str, Any] = {"digest": digest_of(self.text)}
        if self.sequence is not None and self.position is not None:
            fields["place"] = place_name(self.sequence, self.position)
        elif self.run is not None:
            fields |= {"run": self.run[0], "number": self.run[1]}
            fields["place"] = place_name(*place_in_run(self.run))
        return fields


def place_name(sequence: str, position: int) -> str:
    """Return the lookup key of a place in a sequence."""
    return f"{sequence}#{position}"


def place_in_run(run: tuple[str, int]) -> tuple[str, int]:
    """Map a place in a run to sequence and position.

    Every other position is empty: memories stored together belong together less often than those of
    one session, so a neighbour lends less.
    """
    first, number = run
    return f"{RUN}{first}", 2 * number


def digest_of(text: str) -> str:
    """Return the lookup key of exactly this text."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
