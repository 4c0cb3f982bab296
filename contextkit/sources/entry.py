"""Records as classes of declared fields.

Each field declares how it is checked, stored, shown and described.
"""

from __future__ import annotations

import abc
import functools
import secrets
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Literal, Self

from attrs import NOTHING, Attribute, field, fields, frozen

from contextkit.errors import ContextKitError, RecordError
from contextkit.models.items import ContextItem
from contextkit.models.record import USER, Record, belongs_to_user

_TITLE = 60
_PLAIN = frozenset({str, int, float, bool, type(None)})
_CLOCK_SKEW = timedelta(days=1)


class InvalidEntryError(RecordError):
    """An entry's part has an invalid value; nothing was stored."""

    exit_code = 2


class UnknownEntryError(ContextKitError):
    """No entry has this id.

    Attributes:
        id: the requested id.
    """

    exit_code = 5
    noun: ClassVar[str] = "entry"
    command: ClassVar[str] = ""

    def __init__(self, asked: str) -> None:
        self.id = asked
        hint = f": `contextkit {self.command} list` shows the ids" if self.command else ""
        super().__init__(f"no {self.noun} has the id {asked!r}{hint}")


@frozen
class Part:
    """The declaration of one part of an entry.

    Attributes:
        check: value -> the value as it is stored; raises `InvalidEntryError`.
        about: one line for `--help` and for an agent's tool description.
        flags: its options on the command line, such as `("-s", "--step")`; default: one
            made from its name.
    """

    check: Callable[[Any], Any]
    about: str = ""
    flags: tuple[str, ...] = ()


def part(
    check: Callable[[Any], Any], default: Any = NOTHING, *, about: str = "", flags: str = ""
) -> Any:
    """Declare a part of an `Entry`: a stored field.

    Args:
        check: value -> the value as it is stored; raises `InvalidEntryError`. Some are in
            `contextkit.sources.checks`.
        default: the value of an entry for which none was given; without it the part is required.
        about: one line for `--help` and for an agent's tool description; without it neither
            commands nor tools give the part.
        flags: its options on the command line, separated by spaces; default: `--NAME`.
    """
    declared = Part(check, about, tuple(flags.split()))
    return field(default=default, metadata={"part": declared})


@frozen(kw_only=True)
class Entry(abc.ABC):
    """One stored record; subclasses add parts and the searched text.

    ```python
    @frozen(kw_only=True)
    class Dish(Entry):
        noun = "dish"
        shown = ("id", "name", "minutes", "scope", "created_at")

        name: str = part(line("a dish's name", 80), about="what it is called")
        minutes: int = part(whole("minutes", 1, 600), 10, about="how long it takes")

        @property
        def text(self) -> str:
            return f"{self.name}, {self.minutes} minutes"
    ```

    Attributes:
        id: unique in its scope.
        created_at: when it was first stored, aware.
        project: the project it belongs to; `USER` for the user's own, seen in all projects.
        outcome: the result of adding it. An entry that was read is `unchanged`.
    """

    noun: ClassVar[str] = "entry"
    """One of them, for ids, errors and tools."""

    shown: ClassVar[tuple[str, ...]] = ("id", "text", "scope", "created_at")
    """The fields and properties that make its JSON, in this order."""

    invalid: ClassVar[type[InvalidEntryError]] = InvalidEntryError
    """The error for a value that is not allowed."""

    id: str
    created_at: datetime
    project: str = USER
    outcome: Literal["stored", "updated", "unchanged"] = field(default="unchanged", eq=False)

    @property
    def scope(self) -> Literal["project", "user"]:
        """The entry's scope: its project, or the user."""
        return "user" if belongs_to_user(self.project) else "project"

    @property
    @abc.abstractmethod
    def text(self) -> str:
        """The searched text, shown if there is no `contextkit_format`."""

    @property
    def search_words(self) -> str:
        """Words that find the entry although its text lacks them."""
        return ""

    @property
    def title(self) -> str:
        """The first words of the text, on one line."""
        return shortened_line(self.text, _TITLE)

    def derived_fields(self) -> Mapping[str, Any]:
        """Further fields of the record, which filters need."""
        return {}

    @classmethod
    def parts(cls) -> Mapping[str, Attribute[Any]]:
        """The entry's parts, in the order of the class."""
        entry: Any = cls
        return _parts(entry)

    @classmethod
    def given_parts(cls) -> list[str]:
        """List the parts that people and agents give.

        Those are the parts with an `about`.
        """
        return [name for name, each in cls.parts().items() if each.metadata["part"].about]

    @classmethod
    def required_parts(cls) -> list[str]:
        """List the names of the parts without a default."""
        return [name for name, each in cls.parts().items() if each.default is NOTHING]

    @classmethod
    def new_id(cls, given: Mapping[str, Any], created_at: datetime) -> str:  # noqa: ARG003 - for overrides
        """Create the id of a new entry.

        Ids sort by time, and no two processes create the same one.
        """
        milliseconds = max(0, int(created_at.timestamp() * 1000))
        return f"{cls.noun}_{milliseconds:011x}{secrets.token_hex(4)}"

    @classmethod
    def checked(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check the given parts and `created_at`.

        Returns the values as they are stored. None counts as not given.

        Raises the class's `invalid` error for a value that is not allowed, such as None for a
        required part.
        """
        checks = {name: each.metadata["part"].check for name, each in cls.parts().items()}
        required = cls.required_parts()
        checks["created_at"] = checked_time
        try:
            return {
                name: checks[name](value)
                for name, value in given.items()
                if value is not None or name in required
            }
        except InvalidEntryError as error:
            raise (error if isinstance(error, cls.invalid) else cls.invalid(str(error))) from error

    @classmethod
    def defaults_for(cls, record: Record) -> Mapping[str, Any]:  # noqa: ARG003 - for overrides
        """Return values for parts that a record lacks.

        They include at least the required parts.
        """
        return {}

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Create the entry that a record holds.

        Imported records may have any values in their fields. An invalid value counts as missing,
        and so does an invalid element of a list.
        """
        found = cls.read(record)
        known: dict[str, Any] = {
            "id": record.id,
            "created_at": record.created_at,
            "project": record.project,
        }
        try:
            return cls(**known, **found)
        except InvalidEntryError:
            # Each value is valid, but they contradict each other.
            return cls(**known, **{name: found[name] for name in cls.required_parts()})

    @classmethod
    def read(cls, record: Record) -> dict[str, Any]:
        """Read a record's valid values, by part name."""
        entry: Any = cls
        found, fields = dict(cls.defaults_for(record)), record.fields
        for name, check in _checks(entry):
            value = fields.get(name)
            if name == "text":
                found[name] = record.text
            elif value is not None:
                try:
                    found[name] = _allowed(check, value)
                except InvalidEntryError:
                    continue
        return found

    def as_record(self) -> Record:
        """Convert the entry to the record that stores it."""
        parts = {name: as_json(getattr(self, name)) for name in self.parts() if name != "text"}
        stored = {name: value for name, value in parts.items() if value is not None}
        return Record(
            id=self.id,
            text=self.text,
            keywords=self.search_words,
            created_at=self.created_at,
            fields={**stored, **self.derived_fields()},
        )

    def as_dict(self) -> dict[str, Any]:
        """Convert the entry to JSON, with the fields in `shown`."""
        return {name: as_json(getattr(self, name)) for name in self.shown}

    @classmethod
    def json_types(cls) -> Mapping[str, Any]:
        """The types in `as_dict`, by name, for output schemas."""
        return json_types_of(cls, cls.shown)

    def as_item(self, source: str, relevance: float, **more: Any) -> ContextItem:
        """Convert the entry to a context's item.

        Args:
            source: the source's name.
            relevance: how well it matches, 0..1.
            more: other fields of `ContextItem`, stronger than those made here.
        """
        made: dict[str, Any] = {
            "id": self.id,
            "kind": self.noun,
            "title": self.title,
            "created_at": self.created_at,
            "location": f"{self.noun} {self.id}",
        }
        if "metadata" not in more:
            made["metadata"] = self.as_dict()
        return ContextItem(source, self.text, relevance, **{**made, **more})


@functools.cache
def _parts(entry: type[Entry]) -> Mapping[str, Attribute[Any]]:
    parts = [each for each in fields(entry) if "part" in each.metadata]
    # Its own come before those of a base: the first one is the argument of commands.
    return {each.name: each for each in sorted(parts, key=lambda each: each.inherited)}


@functools.cache
def _checks(entry: type[Entry]) -> Sequence[tuple[str, Callable[[Any], Any]]]:
    return [(name, each.metadata["part"].check) for name, each in entry.parts().items()]


def as_json(value: Any) -> Any:
    """Convert a part's value to JSON.

    Times become ISO 8601 texts, and tuples become lists.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def shortened_line(text: str, width: int) -> str:
    """Shorten a text to one line of `width` characters."""
    from contextkit.text.markup import one_line

    line = one_line(text)
    if len(line) <= width:
        return line
    whole_words = line[:width].rpartition(" ")[0]
    return f"{whole_words if len(whole_words) > width // 2 else line[: width - 1]}…"


def checked_time(value: Any, what: str = "created_at") -> datetime:
    """Check a time with a zone; return it in UTC.

    A time in the future is refused. A text in ISO 8601 is accepted.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise InvalidEntryError(
                f"{what} must be a time such as 2026-01-02T03:04:05Z, got {value!r}"
            ) from error
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise InvalidEntryError(f"{what} must be a time with a time zone, got {value!r}")
    if value > datetime.now(UTC) + _CLOCK_SKEW:
        raise InvalidEntryError(f"{what} lies in the future: {value.isoformat()}")
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidEntryError(
            f"{what} lies before the year 1 in UTC: {value.isoformat()}"
        ) from error


def time_of(value: object) -> datetime | None:
    """Check a part's time, and return it in UTC.

    A time without a zone counts as UTC. Anything else gives None.
    """
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    if not isinstance(found, datetime):
        return None
    return found.replace(tzinfo=UTC) if found.utcoffset() is None else found


def json_types_of(kind: type, names: Sequence[str]) -> Mapping[str, Any]:
    """Map a class's field and property names to JSON types."""
    known = typing.get_type_hints(kind, include_extras=True)
    for name in names:
        if isinstance(shown := getattr(kind, name, None), property):
            known[name] = typing.get_type_hints(shown.fget, include_extras=True)["return"]
    return {name: _json_type(known[name]) for name in names}


def _json_type(annotation: Any) -> Any:
    """Replace times by texts in a type, also in unions."""
    if annotation is datetime:
        return str
    return str | None if annotation == datetime | None else annotation


def _allowed(check: Callable[[Any], Any], value: Any) -> Any:
    """Return the checked value, or a list's valid elements."""
    try:
        return check(value)
    except InvalidEntryError:
        if not isinstance(value, (list, tuple)):
            raise
    return check([each for each in value if _passes(check, each)])


def _passes(check: Callable[[Any], Any], value: Any) -> bool:
    try:
        check([value])
    except InvalidEntryError:
        return False
    return True
