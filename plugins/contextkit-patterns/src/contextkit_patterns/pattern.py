"""What a pattern is, how far it can be trusted, and the record that it is stored as."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from attrs import field, frozen

from contextkit import USER, Record
from contextkit.models.record import belongs_to_user
from contextkit.text.signals import INTENTS
from contextkit_patterns.errors import InvalidPatternError
from contextkit_patterns.words import words_of

__all__ = ["MOST_APPLICATIONS", "Pattern", "checked_counts", "success_rate"]

MOST_APPLICATIONS = 10**9
_OF_INTENT = "intent:"


def success_rate(successes: int, applications: int) -> float:
    """How often it is expected to work the next time, 0..1.

    The mean of the Beta distribution after these applications, from a uniform prior
    (Laplace): as if it had worked once and failed once before. So 1 of 1 is 0.67, behind 95
    of 100 with 0.94, and what was never applied has 0.5.
    """
    return (successes + 1) / (applications + 2)


@frozen(kw_only=True)
class Pattern:
    """A procedure, and what tells that it may be wanted.

    Attributes:
        id: its name's words with hyphens between; unique in its scope.
        name: what it does, on one line.
        steps: what is done, one after the other, each on one line.
        keywords: words or phrases of a query that call for it.
        intents: intents of a query that it suits: `question`, `action`, `fix`, `explain`,
            `other`; any where there are none.
        entity_types: types of entities that it is about, such as `function`.
        applications: how often it was applied.
        successes: how often that worked.
        created_at: when it was first added, aware.
        applied_at: when it was last applied, aware, or None.
        project: the project it belongs to; `USER` where it is the user's, seen in all.
        outcome: what adding did: `stored` a new pattern, `updated` one that was there or
            left it `unchanged`. A pattern that was read is `unchanged`.
    """

    id: str
    name: str
    steps: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    entity_types: tuple[str, ...] = ()
    applications: int = 0
    successes: int = 0
    created_at: datetime
    applied_at: datetime | None = None
    project: str = USER
    outcome: Literal["stored", "updated", "unchanged"] = field(default="unchanged", eq=False)

    @property
    def rate(self) -> float:
        """Its `success_rate`."""
        return success_rate(self.successes, self.applications)

    @property
    def scope(self) -> Literal["project", "user"]:
        """Whose it is: the project's, or the user's in every project."""
        return "user" if belongs_to_user(self.project) else "project"

    @property
    def text(self) -> str:
        """Its name and its steps, a line each."""
        return "\n".join([self.name, *self.steps])

    @property
    def trigger_words(self) -> tuple[str, ...]:
        """What finds it in the store: a word of each trigger, or its intents alone."""
        named = [words_of(trigger)[0] for trigger in (*self.keywords, *self.entity_types)]
        return tuple(dict.fromkeys(named or [f"{_OF_INTENT}{each}" for each in self.intents]))

    @staticmethod
    def words_for(intent: str) -> str:
        """What finds the patterns of an intent that have no other trigger."""
        return f"{_OF_INTENT}{intent}"

    @classmethod
    def from_record(cls, record: Record) -> Pattern:
        """The pattern that a record holds; fields that make no sense have their defaults."""
        # Records come from imports and from a host's own search, too.
        fields = record.fields
        name, *lines = record.text.split("\n")
        applications, successes = _counts_in(fields)
        return cls(
            id=record.id,
            name=str(fields.get("name") or name or record.id),
            steps=_texts_in(fields, "steps") or tuple(lines) or (record.text or record.id,),
            keywords=tuple(word for word in _texts_in(fields, "keywords") if words_of(word)),
            intents=tuple(each for each in _texts_in(fields, "intents") if each in INTENTS),
            entity_types=tuple(w for w in _texts_in(fields, "entity_types") if words_of(w)),
            applications=applications,
            successes=successes,
            created_at=record.created_at,
            applied_at=_time_in(fields),
            project=record.project,
        )

    def as_record(self) -> Record:
        """The record that it is stored as; its triggers are searched beside its text."""
        return Record(
            id=self.id,
            text=self.text,
            keywords=" ".join([*self.keywords, *self.entity_types]),
            created_at=self.created_at,
            fields={
                "name": self.name,
                "steps": list(self.steps),
                "keywords": list(self.keywords),
                "intents": list(self.intents),
                "entity_types": list(self.entity_types),
                "trigger_words": list(self.trigger_words),
                "applications": self.applications,
                "successes": self.successes,
                "applied_at": None if self.applied_at is None else self.applied_at.isoformat(),
            },
        )

    def as_dict(self) -> dict[str, Any]:
        """The pattern as JSON values, for people's scripts."""
        return {
            "id": self.id,
            "name": self.name,
            "steps": list(self.steps),
            "keywords": list(self.keywords),
            "intents": list(self.intents),
            "entity_types": list(self.entity_types),
            "applications": self.applications,
            "successes": self.successes,
            "success_rate": round(self.rate, 4),
            "scope": self.scope,
            "created_at": self.created_at.isoformat(),
            "applied_at": None if self.applied_at is None else self.applied_at.isoformat(),
        }


def checked_counts(applications: int, successes: int) -> tuple[int, int]:
    """Both counts; raises `InvalidPatternError` unless 0 <= successes <= applications."""
    whole = all(type(count) is int for count in (applications, successes))
    if not whole or not 0 <= successes <= applications <= MOST_APPLICATIONS:
        raise InvalidPatternError(
            f"successes and applications are whole numbers, the first from 0 and no more than "
            f"the second, got {successes!r} of {applications!r}"
        )
    return applications, successes


def _counts_in(fields: Mapping[str, Any]) -> tuple[int, int]:
    try:
        return checked_counts(fields.get("applications", 0), fields.get("successes", 0))
    except InvalidPatternError:
        return 0, 0


def _texts_in(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = fields.get(name)
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(each for each in value if isinstance(each, str) and each)


def _time_in(fields: Mapping[str, Any]) -> datetime | None:
    value = fields.get("applied_at")
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.utcoffset() is None else found
