"""An experience: one validated GHAP entry, from goal to lesson."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from attrs import Attribute, asdict, field, fields, frozen

from contextkit.sources import as_json, json_types_of
from contextkit_experiences.errors import InvalidExperienceError, Problem, described
from contextkit_experiences.vocabulary import (
    OPEN,
    STATUSES,
    TIERS,
    Status,
    Tier,
    checked_word,
)

LONGEST_TEXT = 16_000
"""Most characters of one text field."""

ID_PREFIX = "ghap_"
"""Prefix of all ids."""

_MOST_ITERATIONS = 1_000_000
_MOST_NOTES = 1_000
_ID = re.compile(rf"{ID_PREFIX}[A-Za-z0-9_-]{{1,64}}")
_OF_A_RESOLVED_ONE = (
    "outcome_result",
    "surprise",
    "root_cause",
    "lesson",
    "confidence_tier",
    "resolved_at",
)


def new_id(at: datetime) -> str:
    """Return a new unique id; ids sort by time.

    Eleven hexadecimal digits of milliseconds since 1970, then nine of a random UUID.
    """
    return f"{ID_PREFIX}{int(at.timestamp() * 1000):011x}{uuid.uuid4().hex[:9]}"


def is_id(value: Any) -> bool:
    """Return whether a value is a valid experience id.

    It has `ghap_` and letters, digits, `_` or `-`.
    """
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def derived_tier(
    status: Status, iteration_count: int, *, root_cause: bool, lesson: bool
) -> Tier | None:
    """Compute the confidence tier from the outcome; None while open.

    An abandoned experience is `abandoned`. Any other is *direct* when it took one
    iteration, and *explained* when it was confirmed with a lesson or falsified with a
    root cause. Both make `gold`, one makes `silver`, none makes `bronze`.
    """
    if status == OPEN:
        return None
    if status == "abandoned":
        return "abandoned"
    direct = iteration_count == 1
    explained = lesson if status == "confirmed" else root_cause
    return ("bronze", "silver", "gold")[direct + explained]


def _wrong(name: str, value: Any, expected: str) -> InvalidExperienceError:
    return InvalidExperienceError(Problem(name, described(value), expected))


def _trimmed(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _trimmed_or_none(value: Any) -> Any:
    return _trimmed(value) or None if isinstance(value, str) else value


def _domain(value: Any) -> str:
    return checked_word(value, "domain")


def _strategy(value: Any) -> str:
    return checked_word(value, "strategy")


def _check_text(value: Any, name: str) -> None:
    if not isinstance(value, str) or not value:
        raise _wrong(name, value, "a text that is not empty")
    if len(value) > LONGEST_TEXT:
        found = f"{len(value)} characters"
        raise InvalidExperienceError(Problem(name, found, f"at most {LONGEST_TEXT}"))
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise _wrong(name, value, "whole characters, not half of a surrogate pair")


def _text(_: object, attribute: Attribute[str], value: Any) -> None:
    _check_text(value, attribute.name)


def _optional_text(_: object, attribute: Attribute[str | None], value: Any) -> None:
    if value is not None:
        _check_text(value, attribute.name)


def _one_of(words: tuple[str, ...]) -> Callable[[object, Attribute[Any], Any], None]:
    def check(_: object, attribute: Attribute[Any], value: Any) -> None:
        if value not in words:
            raise _wrong(attribute.name, value, f"one of {', '.join(words)}")

    return check


def _utc(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        try:
            return value.astimezone(UTC)
        except OverflowError:
            return value
    return value


def _check_time(_: object, attribute: Attribute[Any], value: Any) -> None:
    if not isinstance(value, datetime) or value.tzinfo is not UTC:
        raise _wrong(attribute.name, value, "a time with its zone, such as 2026-03-01T09:30:00Z")


def _check_optional_time(_: object, attribute: Attribute[Any], value: Any) -> None:
    if value is not None:
        _check_time(_, attribute, value)


@frozen(kw_only=True)
class Lesson:
    """The lesson of an experience.

    Attributes:
        what_worked: what solved the problem in the end.
        takeaway: what to remember for next time, or None.
    """

    what_worked: str = field(converter=_trimmed, validator=_text)
    takeaway: str | None = field(default=None, converter=_trimmed_or_none, validator=_optional_text)

    @classmethod
    def json_types(cls) -> Mapping[str, Any]:
        """Return its JSON types, for a tool's output schema."""
        return json_types_of(cls, [each.name for each in fields(cls)])


@frozen(kw_only=True)
class Experience:
    """One GHAP entry: goal, hypothesis, action, prediction and outcome.

    An invalid value raises `InvalidExperienceError`, which names the field. Texts are trimmed and
    hold `LONGEST_TEXT` characters at most; an empty optional text is None; times are aware and are
    converted to UTC.

    Attributes:
        id: `ghap_…`, unique.
        goal: the goal.
        hypothesis: the hypothesis.
        action: the action that tests it.
        prediction: the expected result.
        domain: the kind of work, one word (`vocabulary.DOMAINS` suggests some).
        strategy: the way of working, one word (`vocabulary.STRATEGIES` suggests some).
        outcome_status: `open` until it is resolved, then `confirmed`, `falsified` or
            `abandoned`.
        outcome_result: the result; required once it is resolved, None before.
        surprise: the unexpected part, or None.
        root_cause: why the hypothesis failed, or what was behind it all, or None.
        lesson: the lesson, or None.
        confidence_tier: `gold`, `silver`, `bronze`, or `abandoned` for an abandoned experience;
            default: `derived_tier`. None while it is open.
        iteration_count: the number of hypotheses tried, from 1.
        notes: remarks made during the work, oldest first.
        started_at: when it began.
        updated_at: when it last changed; default: `started_at`.
        resolved_at: when it was resolved; default: `updated_at`. None while it is open.
        replaces: ids of the experiences whose outcome this one overturned.
        replaced_by: the id of the experience that overturned this one, or None.
        valid_until: when that happened, or None.
    """

    id: Annotated[str, "the id that later calls name it by"] = field()
    goal: str = field(converter=_trimmed, validator=_text)
    hypothesis: str = field(converter=_trimmed, validator=_text)
    action: str = field(converter=_trimmed, validator=_text)
    prediction: str = field(converter=_trimmed, validator=_text)
    domain: str = field(converter=_domain)
    strategy: str = field(converter=_strategy)
    outcome_status: Status = field(default=OPEN, validator=_one_of(STATUSES))
    outcome_result: str | None = field(
        default=None, converter=_trimmed_or_none, validator=_optional_text
    )
    surprise: str | None = field(default=None, converter=_trimmed_or_none, validator=_optional_text)
    root_cause: str | None = field(
        default=None, converter=_trimmed_or_none, validator=_optional_text
    )
    lesson: Lesson | None = field(default=None)
    iteration_count: Annotated[int, "how many hypotheses were tried"] = field(default=1)
    notes: tuple[str, ...] = field(default=())
    started_at: datetime = field(converter=_utc, validator=_check_time)
    updated_at: datetime = field(converter=_utc, validator=_check_time)
    resolved_at: datetime | None = field(converter=_utc, validator=_check_optional_time)
    confidence_tier: Annotated[Tier | None, "how far to trust it; null while it is open"] = field()
    replaces: Annotated[tuple[str, ...], "ids of those whose outcome this one overturned"] = field(
        default=(), converter=tuple
    )
    replaced_by: Annotated[str | None, "id of the one that overturned this one's outcome"] = field(
        default=None
    )
    valid_until: Annotated[datetime | None, "when that was"] = field(
        default=None, converter=_utc, validator=_check_optional_time
    )

    @updated_at.default
    def _no_change_since_it_began(self) -> datetime:
        return self.started_at

    @resolved_at.default
    def _resolved_by_the_last_change(self) -> datetime | None:
        return None if self.outcome_status == OPEN else self.updated_at

    @confidence_tier.default
    def _derived(self) -> Tier | None:
        return derived_tier(
            self.outcome_status,
            self.iteration_count,
            root_cause=self.root_cause is not None,
            lesson=self.lesson is not None,
        )

    @id.validator
    def _is_an_id(self, _: Attribute[str], value: Any) -> None:
        if not is_id(value):
            raise _wrong("id", value, "'ghap_' and up to 64 letters, digits, '_' or '-'")

    @replaces.validator
    def _are_ids(self, _: Attribute[tuple[str, ...]], value: tuple[Any, ...]) -> None:
        for each in value:
            if not is_id(each):
                raise _wrong("replaces", each, "ids of experiences")

    @replaced_by.validator
    def _is_an_id_or_none(self, _: Attribute[str | None], value: Any) -> None:
        if value is not None and not is_id(value):
            raise _wrong("replaced_by", value, "the id of an experience")

    @lesson.validator
    def _is_a_lesson(self, _: Attribute[Lesson | None], value: Any) -> None:
        if value is not None and not isinstance(value, Lesson):
            raise _wrong("lesson", value, "a lesson with what_worked and takeaway")

    @iteration_count.validator
    def _is_a_count(self, _: Attribute[int], value: Any) -> None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not 1 <= value <= _MOST_ITERATIONS:
            raise _wrong("iteration_count", value, "a whole number from 1")

    @notes.validator
    def _are_texts(self, _: Attribute[tuple[str, ...]], value: Any) -> None:
        if not isinstance(value, tuple):
            raise _wrong("notes", value, "a list of texts")
        if len(value) > _MOST_NOTES:
            raise InvalidExperienceError(
                Problem("notes", f"{len(value)} notes", f"at most {_MOST_NOTES}")
            )
        for position, note in enumerate(value):
            _check_text(note, f"notes[{position}]")

    @confidence_tier.validator
    def _is_a_tier(self, _: Attribute[Tier | None], value: Any) -> None:
        if value is not None and value not in TIERS:
            raise _wrong("confidence_tier", value, f"one of {', '.join(TIERS)}")

    def __attrs_post_init__(self) -> None:
        if self.outcome_status == OPEN:
            self._check_open()
        else:
            self._check_resolved()
        self._check_order()

    @classmethod
    def json_types(cls) -> Mapping[str, Any]:
        """Return its JSON types, for a tool's output schema."""
        return json_types_of(cls, [each.name for each in fields(cls)])

    def as_dict(self) -> dict[str, Any]:
        """Return its JSON, with every key."""
        return {name: as_json(value) for name, value in asdict(self).items()}

    @property
    def is_open(self) -> bool:
        """Return whether it is unresolved."""
        return self.outcome_status == OPEN

    def _check_open(self) -> None:
        for name in _OF_A_RESOLVED_ONE:
            value = getattr(self, name)
            if value is not None:
                raise _wrong(name, value, "nothing while outcome_status is 'open'")

    def _check_resolved(self) -> None:
        if self.outcome_result is None:
            raise _wrong("outcome_result", None, "what happened, now that it is resolved")
        if self.resolved_at is None:
            raise _wrong("resolved_at", None, "a time, now that it is resolved")
        given_up = self.outcome_status == "abandoned"
        if self.confidence_tier is None or given_up != (self.confidence_tier == "abandoned"):
            raise InvalidExperienceError(
                Problem(
                    "confidence_tier",
                    f"{described(self.confidence_tier)} with outcome_status "
                    f"'{self.outcome_status}'",
                    "'abandoned' for what was abandoned and one of gold, silver, bronze "
                    "for anything else",
                )
            )

    def _check_order(self) -> None:
        for name in ("updated_at", "resolved_at"):
            value = getattr(self, name)
            if value is not None and value < self.started_at:
                raise InvalidExperienceError(
                    Problem(
                        name, value.isoformat(), f"no time before {self.started_at} (started_at)"
                    )
                )
