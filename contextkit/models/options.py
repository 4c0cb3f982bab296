"""Options: fields that say which values they take, for requests, settings and strategies.

An option is declared once, as a field of an attrs class. The configuration, the command line, the
tools of agents, the reference pages and the keys of the cache read what they need from there.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import Attribute, field, frozen

from contextkit.errors import InvalidRequestError

if TYPE_CHECKING:
    from contextkit.models.source import WorkspaceRule

Affects = Literal["answers", "context", "nothing"]

_TEXT: Mapping[str, Any] = {"type": "string"}
_SHOWN = 80
_MOST_NAMES = 1000
_MOST = 10**12
"""Largest whole number: sums of several stay within what Python and the store can count."""

_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


class UnfitError(ValueError):
    """A value has the wrong type or format.

    Attributes:
        expected: the values that fit, as in "expected a number".
        found: the value.
        path: where in the whole it stands, such as `lesson.takeaway` or `tags[2]`.
    """

    def __init__(self, expected: str, found: object, path: str = "") -> None:
        self.expected = expected
        self.found = found
        self.path = path
        super().__init__(f"{f'{path}: ' if path else ''}expected {expected}, got {shown(found)}")

    def within(self, path: str) -> UnfitError:
        """The same error for a value that lies in another one."""
        dot = "." if self.path and not self.path.startswith("[") else ""
        return UnfitError(self.expected, self.found, f"{path}{dot}{self.path}")


def shown(value: object) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@frozen(eq=False)
class Values:
    """The values that an option takes.

    Attributes:
        expected: the values, as in "max_tokens must be a whole number of at least 1".
        read: the option's value for one of a program or a file; raises `ValueError` for
            a value that does not fit.
        parse: what `read` takes, for a text of a variable or of the command line.
        metavar: what stands for a value in a command's help.
        schema: a JSON schema of them.
    """

    expected: str
    read: Callable[[Any], Any]
    parse: Callable[[str], Any] = str
    metavar: str = "TEXT"
    schema: Mapping[str, Any] = _TEXT

    @property
    def choices(self) -> Sequence[str]:
        """Every value, where there are few."""
        choices: Sequence[str] = self.schema.get("enum", ())
        return choices

    def checked(self, raw: object, *, as_text: bool = False) -> Any:
        """The option's value. Raises `UnfitError` for one that does not fit."""
        try:
            return self.read(self.parse(raw) if as_text and isinstance(raw, str) else raw)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            if not isinstance(error, UnfitError):
                raise UnfitError(self.expected, raw) from error
            if error.path or not as_text:
                raise
            # The number of a text is not what the user wrote.
            raise UnfitError(error.expected, raw) from error


def option(
    default: Any,
    about: str,
    values: Values,
    rule: WorkspaceRule = "free",
    *,
    affects: Affects = "answers",
    host_only: bool = False,
    common: bool = False,
    flags: Sequence[str] = (),
    **more: Any,
) -> Any:
    """Declare an option.

    Args:
        default: its value where it is not set; None leaves it unset.
        about: what it does, for the reference and the help of commands.
        values: the values that it takes.
        rule: what a workspace's file may change, for a setting.
        host_only: whether an agent may not set it.
        affects: what depends on it, for an option of a request: the sources' answers, only
            the context that is made of them, or nothing that a cache keeps.
        common: whether commands have a flag for it, beside `--set`.
        flags: its flags, where they are not its name.
        more: what else `attrs.field` takes.
    """
    metadata = {
        "help": about,
        "values": values,
        "expected": values.expected,
        "rule": rule,
        "affects": affects,
        "host_only": host_only,
        "common": common,
        "flags": tuple(flags),
    }
    return field(default=default, metadata=metadata, **more)


def values_of(attribute: Attribute[Any]) -> Values:
    """The values that a declared option takes."""
    values: Values = attribute.metadata["values"]
    return values


# -- kinds of values ------------------------------------------------------------------------


def is_number(value: object) -> bool:
    """Whether it is a finite number, and no truth."""
    if isinstance(value, int):
        # One of hundreds of digits is too large for a float.
        return not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return isinstance(value, float) and math.isfinite(value)


def fitting(
    expected: str,
    fits: Callable[[Any], bool],
    parse: Callable[[str], Any] = str,
    metavar: str = "TEXT",
    schema: Mapping[str, Any] = _TEXT,
) -> Values:
    """Values that pass a test, as they are."""

    def read(value: Any) -> Any:
        if not fits(value):
            raise UnfitError(expected, value)
        return value

    return Values(expected, read, parse, metavar, schema)


def integers(least: int = 1, most: int = _MOST) -> Values:
    """Whole numbers."""
    limits = f"of at least {least}" if most == _MOST else f"within {least}..{most}"
    expected = f"a whole number {limits}"

    def read(value: Any) -> int:
        if type(value) is int and value > _MOST:
            raise UnfitError(f"a whole number of at most {_MOST:,}", value)
        if type(value) is not int or not least <= value <= most:
            raise UnfitError(expected, value)
        return value

    return Values(expected, read, int, "INTEGER", {"type": "integer"})


def numbers(expected: str, fits: Callable[[float], bool], *, infinite: bool = False) -> Values:
    """Numbers, as floats."""

    def read(value: Any) -> float:
        is_infinite = infinite and isinstance(value, float) and math.isinf(value)
        if not (is_infinite or is_number(value)) or not fits(value):
            raise UnfitError(expected, value)
        return float(value)

    return Values(expected, read, float, "NUMBER", {"type": "number"})


def over_0(unit: str = "", *, infinite: bool = False) -> Values:
    """Numbers over 0, as of seconds."""
    of = f" of {unit}" if unit else ""
    return numbers(f"a number{of} over 0", lambda value: value > 0, infinite=infinite)


UNIT = numbers("a number within 0..1", lambda value: 0 <= value <= 1)
WEIGHT = numbers("a number of at least 0", lambda value: value >= 0)
SWITCH = fitting(
    "true or false",
    lambda value: isinstance(value, bool),
    lambda text: _WORDS[text.strip().lower()],
    "true|false",
    {"type": "boolean"},
)


def choice(*known: str) -> Values:
    """One of a few texts."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise UnfitError(f"one of {', '.join(known)}", value)
        return value

    schema = {**_TEXT, "enum": list(known)}
    return Values(f"one of {', '.join(known)}", read, metavar="|".join(known), schema=schema)


def text(expected: str, pattern: re.Pattern[str] | None = None) -> Values:
    """Texts that are not blank, of the form of a pattern."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise UnfitError(expected, value)
        if pattern is not None and not pattern.fullmatch(value):
            raise UnfitError(expected, value)
        _check_unicode(value)
        return value

    return Values(expected, read)


def _check_unicode(value: str) -> None:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise UnfitError("valid Unicode", value) from None


def _read_words(value: Any) -> str:
    if not isinstance(value, str):
        raise UnfitError("a text", value)
    # Half a surrogate pair is no text that a host could write anywhere.
    return value.encode("utf-8", "replace").decode("utf-8")


WORDS = Values("a text", _read_words)


def names(expected: str = "a list of names") -> Values:
    """Lists of names, each once; as a text `a,b` or a JSON list."""

    def read(value: Any) -> tuple[str, ...]:
        if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, Set)):
            raise UnfitError(expected, value)
        found = list(value)
        if not all(isinstance(name, str) and name.strip() for name in found):
            raise UnfitError(expected, value)
        if len(found) > _MOST_NAMES:
            raise UnfitError(f"a list of at most {_MOST_NAMES} names", found)
        for name in found:
            _check_unicode(name)
        return tuple(dict.fromkeys(sorted(found) if isinstance(value, Set) else found))

    return Values(expected, read, _listed, "NAMES", {"type": "array", "items": _TEXT})


def _listed(given: str) -> Any:
    if given.lstrip().startswith("["):
        return _from_json(given)
    return [name.strip() for name in given.split(",") if name.strip()]


def _from_json(given: str) -> Any:
    # Help texts need no JSON.
    import json

    return json.loads(given)


def table(expected: str, entry: Values) -> Values:
    """Tables of names and values; as a text `a=1,b=2` or a JSON object."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise UnfitError(expected, value)
        return {name: _entry(name, each) for name, each in value.items()}

    def _entry(name: str, value: object) -> Any:
        try:
            return entry.checked(value)
        except UnfitError as error:
            raise error.within(name) from None

    def parse(given: str) -> Any:
        if given.lstrip().startswith("{"):
            return _from_json(given)
        pairs = [part.partition("=") for part in given.split(",") if part.strip()]
        if not all(equals and name.strip() for name, equals, _ in pairs):
            raise UnfitError(expected, given)
        return {name.strip(): entry.parse(value.strip()) for name, _, value in pairs}

    return Values(expected, read, parse, "NAME=VALUE,...", {"type": "object"})


ANYTHING = Values("a value", lambda value: value)


def _paths(expected: str) -> Values:
    def read(value: Any) -> Path:
        if not isinstance(value, (str, Path)) or not str(value).strip() or "\0" in str(value):
            raise UnfitError(expected, value)
        return Path(value).expanduser()

    return Values(expected, read)


FOLDER = _paths("a folder")
FILE = _paths("a file")


def _read_time(value: Any) -> datetime:
    from contextkit.text.dates import parse_since

    try:
        found = parse_since(value) if isinstance(value, str) else value
    except InvalidRequestError:
        raise UnfitError(_TIME, value) from None
    if not isinstance(found, datetime) or found.utcoffset() is None:
        raise UnfitError(_TIME, value)
    return found


_TIME = "a time such as 7d, 12h or 2026-05-01, or a datetime with a time zone"
TIME = Values(_TIME, _read_time, metavar="TIME")
