"""Records, searches and hits: values that sources and stores share."""

from __future__ import annotations

import hashlib
import math
import uuid
from collections.abc import Mapping
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

_RECORD_NAMESPACE = uuid.UUID("8f5b0c1e-6d0e-4f0a-9a53-0f9d3c1f7a55")
_UUID_MASK = ~((0xF << 76) | (0x3 << 62))
_UUID_VERSION_5 = (0x5 << 76) | (0x2 << 62)


def belongs_to_user(project: str) -> bool:
    """Whether a project has some user's own records."""
    return project == USER or project.startswith(USER_PREFIX)


def _now() -> datetime:
    return datetime.now(UTC)


def _aware(value: datetime) -> datetime:
    if value.utcoffset() is None:
        raise RecordError(f"created_at must carry a time zone, got {value.isoformat()}")
    return value.astimezone(UTC)


def point_digits(source: str, project: str, record_id: str) -> str:
    """The hexadecimal digits of a record's UUID, of version 5.

    A search computes a hundred of them, for which `uuid.UUID` takes three times as long.
    """
    # An id to look up may be invalid, such as an argument that is not UTF-8.
    name = f"{source}\0{project}\0{record_id}".encode("utf-8", "surrogatepass")
    digest = hashlib.sha1(_RECORD_NAMESPACE.bytes + name, usedforsecurity=False).digest()[:16]
    return f"{int.from_bytes(digest) & _UUID_MASK | _UUID_VERSION_5:032x}"


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
            _check_text(value, f"{where}: {name}")
        _check_json(dict(self.fields), f"{where}: fields")
        return self


def _check_json(value: object, where: str, levels: int = _LEVELS) -> None:
    if levels < 0:
        raise RecordError(f"{where[:200]}: nested deeper than {_LEVELS} levels")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise RecordError(f"{where}: the key {key!r} is not a string")
            _check_text(key, where)
            _check_json(inner, f"{where}.{key}", levels - 1)
    elif isinstance(value, (list, tuple)):
        for position, inner in enumerate(value):
            _check_json(inner, f"{where}[{position}]", levels - 1)
    else:
        _check_scalar(value, where)


def _check_scalar(value: object, where: str) -> None:
    match value:
        case str():
            _check_text(value, where)
        case None | bool():
            pass
        case int():
            if not -(2**63) <= value < 2**63:
                raise RecordError(f"{where}: {value} does not fit in 64 bits")
        case float():
            if not math.isfinite(value):
                raise RecordError(f"{where}: {value} is not a finite number")
        case _:
            raise RecordError(f"{where}: a {type(value).__name__} is not a JSON value")


def _check_text(value: str, where: str) -> None:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RecordError(
            f"{where}: character {error.start} is half a surrogate pair, which is not text"
        ) from error


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
