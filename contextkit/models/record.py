"""Records, and what a search asks and finds: values that sources and stores share."""

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
"""The project of records that belong to the user: seen in each of their projects."""

NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""When a thing came to be that does not say so: long ago, so that it gains nothing by it."""

KEEP_SECRET = "keep_secret"  # noqa: S105 - a field's name
"""The field of a record that is stored with its secrets, as the user asked for it: true."""

REDACTIONS = "redactions"
"""The field of a record whose secrets were replaced: how many marks stand in it."""

USER_PREFIX = "user:"

Filters = Mapping[str, Any]
"""Record field -> a value, a sequence of values (any of them), or a `Range`."""

_LEVELS = 64
"""How deep fields may be nested; one that the engine cannot read back costs all others."""

_RECORD_NAMESPACE = uuid.UUID("8f5b0c1e-6d0e-4f0a-9a53-0f9d3c1f7a55")


def belongs_to_user(project: str) -> bool:
    """Whether records of a project are a user's own, of whichever user."""
    return project == USER or project.startswith(USER_PREFIX)


def _now() -> datetime:
    return datetime.now(UTC)


def _aware(value: datetime) -> datetime:
    if value.utcoffset() is None:
        raise RecordError(f"created_at must carry a time zone, got {value.isoformat()}")
    return value.astimezone(UTC)


@frozen(kw_only=True)
class Range:
    """A filter for numbers or for aware datetimes: every bound that is given must hold.

    Attributes:
        gte, gt, lte, lt: at least, more than, at most, less than this; None for no such bound.
    """

    gte: float | datetime | None = None
    gt: float | datetime | None = None
    lte: float | datetime | None = None
    lt: float | datetime | None = None


@frozen(kw_only=True)
class Record:
    """One stored thing: a memory, a code unit, an experience, a value, a commit.

    Attributes:
        id: unique among its source's records of one project.
        text: its own words; searched, and compared when duplicates are looked for.
        fields: whatever else the source keeps; JSON values, finite numbers.
        keywords: words that shall find it though its text does not hold them
            (a path's parts, the parts of an identifier); searched, never shown.
        created_at: when the thing came to be, aware; default: now.
        source: filled in by the `Records` that stores it.
        project: filled in likewise; `USER` for the user's own.
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
        """The store's id of it: a UUID made from source, project and id."""
        # What is looked up may be no text, such as an argument that is not UTF-8: it is not there.
        name = f"{self.source}\0{self.project}\0{self.id}".encode("utf-8", "surrogatepass")
        digest = hashlib.sha1(_RECORD_NAMESPACE.bytes + name, usedforsecurity=False).digest()
        return str(uuid.UUID(bytes=digest[:16], version=5))

    @property
    def searched_text(self) -> str:
        """What vectors are made from."""
        return f"{self.text}\n{self.keywords}" if self.keywords else self.text

    def checked(self) -> Record:
        """Return it unchanged if a store can hold it; raise `RecordError` naming what cannot."""
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
    """A record that a search found.

    Attributes:
        record: the record.
        relevance: 0..1, comparable within one search (see `contextkit.store.hybrid`).
        keyword_score: the raw BM25 score, 0 where the keywords did not find it.
        similarity: the cosine of the dense vectors, or None where there are none.
    """

    record: Record
    relevance: float
    keyword_score: float
    similarity: float | None


@frozen(kw_only=True)
class Search:
    """One question to the store.

    Attributes:
        query: the text that is searched for.
        source: the source whose records are searched.
        projects: the projects whose records are searched.
        limit: hits at most.
        filters: what the records' fields must have; `created_at` is one of the keys.
        user: whose records are searched beside the project's; None for the one user of this
            machine.
        related: whether irregular forms of the query's words, and things of the kinds that
            it names, are searched for too, with less weight.
        host_limit: how many a host's own searcher is asked for, where the source chooses among
            more; None: `limit`.
    """

    query: str
    source: str
    projects: tuple[str, ...]
    limit: int = 20
    filters: Filters = field(factory=dict)
    user: str | None = None
    related: bool = False
    host_limit: int | None = None
