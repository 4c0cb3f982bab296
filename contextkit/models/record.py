"""Records, searches and hits: values that sources and stores share."""

from __future__ import annotations

import hashlib
import math
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import field, frozen

from contextkit.errors import RecordError

USER = ""
"""The project of the user's own records in an embedded store, visible in all projects."""

NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""The creation time of undated things: long ago, so that recency does not favour them."""

KEEP_SECRET = "keep_secret"  # noqa: S105 - a field's name
"""A record's field: true keeps its secrets, as the user asked."""

REDACTIONS = "redactions"
"""A record's field: the number of replaced secrets in it."""

USER_PREFIX = "user:"
FOLDER_PREFIX = "folder:"
CHECKOUT_PREFIX = "checkout:"

CHECKOUTS = ".checkouts"
"""The source of the records that describe checkouts on a server; no plugin has such a name."""

Filters = Mapping[str, Any]
"""Record field -> a value, a sequence of values (any of them), a `Range`, or None.

None selects the records without the field.
"""

_LEVELS = 64
"""Maximum nesting of fields; the engine could not read a deeper record back."""

_LONGEST_PLACE = 150
"""Characters of a place in fields that an error shows."""

_RECORD_NAMESPACE = uuid.UUID("8f5b0c1e-6d0e-4f0a-9a53-0f9d3c1f7a55").bytes
_VARIANTS = {f"{digit:x}": f"{digit & 0b11 | 0b1000:x}" for digit in range(16)}
"""A digit of a hash -> that of a UUID, whose first two bits are its variant."""


def belongs_to_user(project: str) -> bool:
    """Whether a project has some user's own records."""
    return project == USER or project.startswith(USER_PREFIX)


def _now() -> datetime:
    return datetime.now(UTC)


def _aware(value: datetime) -> datetime:
    if value.tzinfo is UTC:
        return value
    if value.utcoffset() is None:
        raise RecordError(f"created_at must carry a time zone, got {value.isoformat()}")
    return value.astimezone(UTC)


def point_digits(source: str, project: str, record_id: str) -> str:
    """The hexadecimal digits of a record's UUID, of version 5.

    A search computes a hundred of them, for which `uuid.UUID` takes three times as long.
    """
    # An id to look up may be invalid, such as an argument that is not UTF-8.
    name = f"{source}\0{project}\0{record_id}".encode("utf-8", "surrogatepass")
    digits = hashlib.sha1(_RECORD_NAMESPACE + name, usedforsecurity=False).hexdigest()
    return f"{digits[:12]}5{digits[13:16]}{_VARIANTS[digits[16]]}{digits[17:32]}"


@frozen(kw_only=True)
class Range:
    """A filter for numbers or datetimes with a time zone.

    All given bounds must hold.

    Attributes:
        gte, gt, lte, lt: at least, more than, at most, less than; None for no bound.
    """

    gte: float | datetime | None = None
    gt: float | datetime | None = None
    lte: float | datetime | None = None
    lt: float | datetime | None = None


@frozen(kw_only=True)
class Record:
    """A stored record, such as a memory or a commit.

    Attributes:
        id: unique among its source's records of one project.
        text: its own text, for searches and for finding duplicates.
        fields: further data of the source; JSON values, finite numbers.
        keywords: further words under which it is found (the parts of a path or identifier);
            searched, never shown.
        created_at: the creation time with a time zone; default: now.
        source: set by the `Records` that stores it.
        project: set by the `Records` that stores it; `USER` for the user's own in an embedded
            store, `user:ID` on a server.
    """

    id: str
    text: str
    fields: Mapping[str, Any] = field(factory=dict)
    keywords: str = ""
    created_at: datetime = field(factory=_now, converter=_aware)
    source: str = ""
    project: str = USER

    @property
    def point_id(self) -> str:
        """The record's UUID in the store.

        It is made from source, project and id.
        """
        digits = point_digits(self.source, self.project, self.id)
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    @property
    def searched_text(self) -> str:
        """The text that vectors are made from."""
        return f"{self.text}\n{self.keywords}" if self.keywords else self.text

    def checked(self) -> Record:
        """Return the record if a store can hold it.

        Raise `RecordError` otherwise.
        """
        if not self.id or not self.source:
            raise RecordError("a record needs an id and a source")
        where = f"{self.source} record {self.id!r}"
        for name in ("id", "text", "keywords", "project"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise RecordError(f"{where}: {name} is a {type(value).__name__}, which is not text")
            if (what := _scalar_problem(value)) is not None:
                raise RecordError(f"{where}: {name}: {what}")
        if (problem := _problem(dict(self.fields))) is not None:
            raise RecordError(f"{where}: fields{problem[0][:_LONGEST_PLACE]}: {problem[1]}")
        return self


def _problem(value: object, levels: int = _LEVELS) -> tuple[str, str] | None:
    """Return where a value is not JSON, and why; None if it is.

    A place is only put together for a value that is refused.
    """
    what: str | None
    if value is None or isinstance(value, (str, int, float)):
        what = _scalar_problem(value)
    elif isinstance(value, (list, tuple)):
        return _inner_problem(enumerate(value), levels - 1)
    elif isinstance(value, Mapping):
        what = next(filter(None, map(_key_problem, value)), None)
        if what is None:
            return _inner_problem(value.items(), levels - 1)
    else:
        what = f"a {type(value).__name__} is not a JSON value"
    return None if what is None else ("", what)


def _inner_problem(values: Iterable[tuple[object, object]], levels: int) -> tuple[str, str] | None:
    for key, inner in values:
        if levels < 0:
            return "", f"nested deeper than {_LEVELS} levels"
        if (problem := _problem(inner, levels)) is not None:
            place = f".{key}" if isinstance(key, str) else f"[{key}]"
            return f"{place}{problem[0]}", problem[1]
    return None


def _scalar_problem(value: str | float | None) -> str | None:
    if isinstance(value, str):
        return None if value.isascii() else _text_problem(value)
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{value} is not a finite number"
    fits = value is None or -(2**63) <= value < 2**63
    return None if fits else f"{value} does not fit in 64 bits"


def _key_problem(key: object) -> str | None:
    return _text_problem(key) if isinstance(key, str) else f"the key {key!r} is not a string"


def _text_problem(value: str) -> str | None:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"character {error.start} is half a surrogate pair, which is not text"
    return None


@frozen(kw_only=True)
class Hit:
    """A record that was found by a search.

    Attributes:
        record: the record.
        relevance: 0..1, comparable within one search (see `contextkit.store.hybrid`).
        keyword_score: the raw BM25 score; 0 if it was not found by keywords.
        similarity: the cosine of the dense vectors, or None without any.
    """

    record: Record
    relevance: float
    keyword_score: float
    similarity: float | None


@frozen(kw_only=True)
class Search:
    """One search in the store.

    Attributes:
        query: the text to search for.
        source: the source whose records are searched.
        projects: the projects whose records are searched.
        limit: maximum number of hits.
        filters: conditions on the records' fields and on `created_at`.
        user: the user whose records are searched besides the project's; None for the user of
            this installation.
        related: whether to search also for irregular forms of the query's words, and for things
            of the kinds that it names, with less weight.
    """

    query: str
    source: str
    projects: tuple[str, ...]
    limit: int = 20
    filters: Filters = field(factory=dict)
    user: str | None = None
    related: bool = False
    host_limit: int | None = None
