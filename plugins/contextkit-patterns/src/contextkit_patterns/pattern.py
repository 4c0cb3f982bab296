"""A pattern: a procedure, its triggers and its success rate."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from attrs import frozen

from contextkit import Record
from contextkit.sources import (
    Entry,
    InvalidEntryError,
    UnknownEntryError,
    choice,
    line,
    part,
    several,
    time_of,
    whole,
)
from contextkit.text import INTENTS

MOST_APPLICATIONS = 10**9

Intent = Literal["question", "action", "fix", "explain", "other"]

_WORD = re.compile(r"\w+")
_named = line("a name", 80)


class InvalidPatternError(InvalidEntryError):
    """A pattern is invalid; nothing was stored.

    One of its parts has a value that is not allowed.
    """


class UnknownPatternError(UnknownEntryError):
    """No pattern has this id."""

    noun, command = "pattern", "patterns"


def words_of(text: str) -> list[str]:
    """Return a text's words in normalized form, in order."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def id_of(name: str) -> str:
    """Return the id of the pattern of that name.

    It has the name's words with hyphens between.
    """
    return "-".join(words_of(name))


def success_rate(successes: int, applications: int) -> float:
    """Return the expected success rate, 0..1.

    It is the mean of the Beta distribution after these applications, from a uniform prior
    (Laplace): as if it had worked once and failed once before. So 1 of 1 is 0.67, behind 95 of 100
    with 0.94, and a pattern that was never applied has 0.5.
    """
    return (successes + 1) / (applications + 2)


def _name(value: Any) -> str:
    stored = _named(value)
    if not words_of(stored):
        raise InvalidPatternError(f"a pattern's name has a letter or a digit, got {stored!r}")
    return stored


def _triggers(what: str, a: str) -> Any:
    """Return a check for trigger words or phrases.

    They are checked in normalized form.
    """
    on_one_line = line(a, 60)

    def trigger(value: Any) -> str:
        words = words_of(on_one_line(value))
        if not words:
            raise InvalidPatternError(f"{a} has a letter or a digit, got {value!r}")
        return " ".join(words)

    return several(what, trigger)


@frozen(kw_only=True)
class Pattern(Entry):
    """A procedure and its triggers.

    Attributes:
        id: its name's words with hyphens between; unique in its scope.
        name: its purpose, on one line.
        steps: its steps in order, each on one line.
        keywords: words or phrases of a query that trigger it.
        intents: intents of a query that it suits; any if empty.
        entity_types: types of entities that it is about, such as `function`.
        applications: the number of times it was applied.
        successes: the number of those times that it worked.
        applied_at: when it was last applied, aware, or None.
    """

    noun = "pattern"
    shown = (
        "id", "name", "steps", "keywords", "intents", "entity_types", "applications", "successes",
        "success_rate", "scope", "created_at", "applied_at",
    )  # fmt: skip
    invalid = InvalidPatternError

    name: str = part(_name, about="what it does, to 80 characters")
    steps: tuple[str, ...] = part(
        several("steps", line("a step", 2_000), least=1, once=False),
        about="what is done, in order, one line each",
        flags="-s --step",
    )
    keywords: tuple[str, ...] = part(
        _triggers("keywords", "a keyword"),
        (),
        about="words or phrases of a query that call for it",
        flags="-k --keyword",
    )
    intents: tuple[Intent, ...] = part(
        several("intents", choice("an intent", INTENTS)),
        (),
        about="the intents it suits; without one, any",
        flags="-i --intent",
    )
    entity_types: tuple[str, ...] = part(
        _triggers("entity types", "an entity type"),
        (),
        about="what it is about, such as function",
        flags="-e --entity-type",
    )
    applications: int = part(
        whole("applications", 0, MOST_APPLICATIONS), 0, about="how often it was applied before"
    )
    successes: int = part(
        whole("successes", 0, MOST_APPLICATIONS), 0, about="how often that worked"
    )
    applied_at: datetime | None = part(time_of, None)

    def __attrs_post_init__(self) -> None:
        if self.successes > self.applications:
            raise InvalidPatternError(
                f"successes must be no more than applications, got {self.successes} of "
                f"{self.applications}"
            )

    @property
    def success_rate(self) -> Annotated[float, "how often it is expected to work next time, 0..1"]:
        """Its `success_rate`, rounded."""
        return round(self.rate, 4)

    @property
    def rate(self) -> float:
        """Return the expected success rate."""
        return success_rate(self.successes, self.applications)

    @property
    def text(self) -> str:
        """Return its name and its steps, one per line."""
        return "\n".join([self.name, *self.steps])

    @property
    def title(self) -> str:
        """Return the beginning of its name."""
        return self.name[:60]

    @property
    def search_words(self) -> str:
        """Return its triggers, which are searched beside its text."""
        return " ".join([*self.keywords, *self.entity_types])

    def derived_fields(self) -> Mapping[str, Any]:
        """Return its lookup keys: a word per trigger, or intents.

        Intents are keys only where it has no other triggers.
        """
        named = [words_of(trigger)[0] for trigger in (*self.keywords, *self.entity_types)]
        words = dict.fromkeys(named or [f"intent:{each}" for each in self.intents])
        return {"trigger_words": list(words)}

    @classmethod
    def new_id(cls, given: Mapping[str, Any], created_at: datetime) -> str:  # noqa: ARG003
        """Return its name's words as its id."""
        return id_of(given["name"])

    @classmethod
    def defaults_for(cls, record: Record) -> Mapping[str, Any]:
        """Return an imported record's lines as name and steps."""
        name, *lines = record.text.split("\n")
        steps = tuple(lines) or (record.text or record.id,)
        return {"name": name or record.id, "steps": steps}
