"""An experience as a JSON object, in and out.

The object's keys are the attributes of `Experience`; times are ISO 8601 with a zone. What
comes in may leave out `id` (a new one is made), `started_at` (the
earliest time that is given, or now) and whatever has a
default; `null` means the same as leaving it out. A key that is not known is an error.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import fields

from contextkit_experiences.errors import InvalidExperienceError, Problem, described
from contextkit_experiences.model import Experience, Lesson, new_id

_TIMES = ("started_at", "updated_at", "resolved_at", "valid_until")
_TEXTS = ("goal", "hypothesis", "action", "prediction", "domain", "strategy")
_KEYS = tuple(attribute.name for attribute in fields(Experience))
_LESSON_KEYS = tuple(attribute.name for attribute in fields(Lesson))


def to_json(experience: Experience) -> dict[str, Any]:
    """Return the experience as JSON values, with every key."""
    return experience.as_dict()


def from_json(data: Any, *, now: datetime | None = None) -> Experience:
    """Build an experience from JSON values.

    Args:
        data: the object.
        now: the current time; default: the clock's.

    Raises:
        InvalidExperienceError: a value is invalid; the error names the field.
    """
    if not isinstance(data, Mapping):
        expected = f"an object with {', '.join(_TEXTS)} and more"
        raise InvalidExperienceError(Problem("", described(data), expected))
    given = _given(data, _KEYS)
    _require(given, _TEXTS)
    at = now or datetime.now(UTC)
    for name in _TIMES:
        if name in given:
            given[name] = _time(given[name])
    replaces = given.get("replaces", [])
    if not isinstance(replaces, (list, tuple)):
        raise InvalidExperienceError(Problem("replaces", described(replaces), "a list of ids"))
    given.setdefault("started_at", min(_moments(given), default=at))
    if "resolved_at" in given:
        given.setdefault("updated_at", given["resolved_at"])
    if "lesson" in given:
        given["lesson"] = _lesson(given["lesson"])
    if isinstance(given.get("notes"), list):
        given["notes"] = tuple(given["notes"])
    given.setdefault("id", new_id(at))
    return Experience(**given)


def _given(data: Mapping[Any, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    for key in data:
        if key not in keys:
            raise _unknown_key(key, keys)
    return {key: value for key, value in data.items() if value is not None}


def _unknown_key(key: Any, keys: tuple[str, ...]) -> InvalidExperienceError:
    nearest = difflib.get_close_matches(str(key), keys, n=1)
    expected = f"'{nearest[0]}'" if nearest else f"one of {', '.join(keys)}"
    # Shown in Python's notation: a key may contain line ends and controls.
    shown = repr(str(key))[1:-1]
    return InvalidExperienceError(Problem(shown, "a key that is not known", expected))


def _require(given: Mapping[str, Any], names: Iterable[str]) -> None:
    for name in names:
        if name not in given:
            raise InvalidExperienceError(Problem(name, "nothing", "a text that is not empty"))


def _moments(given: Mapping[str, Any]) -> Iterator[datetime]:
    for name in _TIMES:
        value = given.get(name)
        if isinstance(value, datetime) and value.tzinfo is not None:
            yield value


def _time(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return value


def _lesson(value: Any) -> Lesson:
    if not isinstance(value, Mapping):
        expected = "an object with what_worked and takeaway"
        raise InvalidExperienceError(Problem("lesson", described(value), expected))
    try:
        given = _given(value, _LESSON_KEYS)
        _require(given, ("what_worked",))
        return Lesson(**given)
    except InvalidExperienceError as error:
        raise error.within("lesson") from None
