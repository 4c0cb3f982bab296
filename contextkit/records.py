"""Records: what a source stores and searches, and a source's own view of the store."""

from __future__ import annotations

import hashlib
import math
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from attrs import evolve, field, frozen

from contextkit.errors import RecordError

if TYPE_CHECKING:
    from contextkit.secret_shapes import SecretSpan

__all__ = [
    "KEEP_SECRET",
    "NO_TIME",
    "REDACTIONS",
    "USER",
    "Filters",
    "Hit",
    "Range",
    "Record",
    "Records",
    "RecordsView",
    "Redacts",
    "Search",
    "Store",
    "belongs_to_user",
]

USER = ""
"""The project of records that belong to the user: seen in each of their projects."""

NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""When a thing came to be that does not say so: long ago, so that it gains nothing by it."""

KEEP_SECRET = "keep_secret"  # noqa: S105 - a field's name
"""The field of a record that is stored with its secrets, as the user asked for it: true."""

REDACTIONS = "redactions"
"""The field of a record whose secrets were replaced: how many marks stand in it."""

_USER_PREFIX = "user:"

Filters = Mapping[str, Any]
"""Record field -> a value, a sequence of values (any of them), or a `Range`."""

_LEVELS = 64
"""How deep fields may be nested; one that the engine cannot read back costs all others."""

_RECORD_NAMESPACE = uuid.UUID("8f5b0c1e-6d0e-4f0a-9a53-0f9d3c1f7a55")


def belongs_to_user(project: str) -> bool:
    """Whether records of a project are a user's own, of whichever user."""
    return project == USER or project.startswith(_USER_PREFIX)


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
        relevance: 0..1, comparable within one search (see `contextkit.store.fusion`).
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
    """

    query: str
    source: str
    projects: tuple[str, ...]
    limit: int = 20
    filters: Filters = field(factory=dict)
    user: str | None = None


class Store(Protocol):
    """What `Records` needs of a store; `contextkit.store.base` documents each."""

    def put(self, records: Sequence[Record]) -> None: ...
    def delete(self, point_ids: Sequence[str]) -> None: ...
    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None: ...
    def get(self, point_ids: Sequence[str]) -> list[Record]: ...
    def search(self, searches: Sequence[Search]) -> list[list[Hit]]: ...
    def scan(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]: ...
    def newest(
        self, source: str, projects: Sequence[str], filters: Filters, limit: int
    ) -> list[Record]: ...
    def count(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> int: ...


class Redacts(Protocol):
    """What replaces secrets; `contextkit.redaction` documents each."""

    def find(self, texts: Sequence[str]) -> list[list[SecretSpan]]: ...
    def texts(self, texts: Sequence[str], *, keep_lines: bool = False) -> list[str]: ...
    def records(self, records: Sequence[Record]) -> list[Record]: ...
    def telling(self, told: Callable[[int], None]) -> Redacts: ...


@frozen
class RecordsView:
    """One source's records, to be read: the project's, and the user's own (`USER`).

    Never another user's. Everything but `search` blocks: call it from a thread where an event
    loop must go on.

    Attributes:
        source: the source they belong to.
        project: the project they belong to.
        user: whose own records are seen, where a host has many users; None for the one user
            of this machine, whose project is `USER`.
    """

    _store: Store
    source: str
    project: str
    _searcher: Callable[[Search], Awaitable[list[Hit]]] | None = None
    _alone: bool = False
    user: str | None = field(default=None, kw_only=True)
    _redactor: Redacts | None = field(default=None, kw_only=True, eq=False, repr=False)
    _given: set[str] | None = field(default=None, kw_only=True, eq=False, repr=False)

    @property
    def given(self) -> Collection[str]:
        """The ids of the records that the store gave for one question of a context."""
        return self._given or ()

    @property
    def projects(self) -> tuple[str, ...]:
        """The projects whose records are seen: `project` and the user's own."""
        return (self.project,) if self._alone else tuple(dict.fromkeys((self.project, self._users)))

    @property
    def _users(self) -> str:
        return USER if self.user is None else f"{_USER_PREFIX}{self.user}"

    def others(self, source: str) -> RecordsView:
        """Another source's records of the same project, to be read; none where there is no such.

        A source whose index run reads them says so in `SourceInfo.reads`.
        """
        return RecordsView(
            self._store, source, self.project, self._searcher, user=self.user, given=self._given
        )

    def get(self, *ids: str) -> list[Record]:
        """The visible records with these ids; ids that are not there are left out."""
        points = [
            Record(id=i, text="", source=self.source, project=p).point_id
            for i in ids
            for p in self.projects
        ]
        return self._noted(self._store.get(points))

    def scan(self, filters: Filters | None = None) -> Iterator[Record]:
        """Every visible record that matches, in no particular order, page by page."""
        found = self._store.scan(self.source, self.projects, filters or {})
        return found if self._given is None else map(self._note, found)

    def newest(self, limit: int, filters: Filters | None = None) -> list[Record]:
        """The visible records that match, newest first."""
        return self._noted(self._store.newest(self.source, self.projects, filters or {}, limit))

    def count(self, filters: Filters | None = None) -> int:
        """How many visible records match."""
        return self._store.count(self.source, self.projects, filters or {})

    async def search(
        self, query: str, *, limit: int = 20, filters: Filters | None = None
    ) -> list[Hit]:
        """The best matches, best first; searches of one moment travel as one batch."""
        question = self._question(query, limit, filters)
        if self._searcher is not None:
            return self._found(await self._searcher(question))
        from contextkit.background import in_thread

        return self._found(await in_thread(lambda: self._store.search([question])[0]))

    def search_sync(
        self, query: str, *, limit: int = 20, filters: Filters | None = None
    ) -> list[Hit]:
        """`search` for a source that is not asynchronous; blocks."""
        return self._found(self._store.search([self._question(query, limit, filters)])[0])

    def _found(self, hits: list[Hit]) -> list[Hit]:
        if self._given is not None:
            self._given.update(hit.record.id for hit in hits)
        return hits

    def _noted(self, records: list[Record]) -> list[Record]:
        if self._given is not None:
            self._given.update(record.id for record in records)
        return records

    def _note(self, record: Record) -> Record:
        return self._noted([record])[0]

    def _question(self, query: str, limit: int, filters: Filters | None) -> Search:
        return Search(
            query=query,
            source=self.source,
            projects=self.projects,
            limit=limit,
            filters=filters or {},
            user=self.user,
        )


@frozen
class Records(RecordsView):
    """One source's records, as that source sees them: what a `RecordsView` has, and writing.

    Reads see the project's records and the user's own, never another user's; writes go to
    `project`. Everything but `search` blocks: call it from a thread where an event loop must go on.

    Attributes:
        source: the source they belong to.
        project: where writes go.
        user: whose own records are seen, where a host has many users; None for the one user
            of this machine, whose project is `USER`.
    """

    @property
    def shared(self) -> Records:
        """The same source's records that belong to the user instead of the project."""
        return evolve(self, project=self._users)

    @property
    def scopes(self) -> tuple[Records, ...]:
        """The project's records without the user's, and the user's: each record is in one."""
        alone = evolve(self, alone=True)
        return (alone,) if self.project == self._users else (alone, self.shared)

    def put(self, records: Sequence[Record]) -> list[Record]:
        """Store records, replacing those of the same id; return them as stored.

        Secrets in them are replaced first (`contextkit_redact`), unless a record has the field
        `keep_secret: true`. When it returns they are durable against the end of the process.
        Raises `RecordError`, before anything is stored, for a record that is not JSON.
        """
        bound = [evolve(r, source=self.source, project=self.project).checked() for r in records]
        if bound and self._redactor is not None:
            bound = self._redactor.records(bound)
        if bound:
            self._store.put(bound)
        return bound

    def secrets_in(self, text: str) -> list[SecretSpan]:
        """What looks like a secret in a text, whether secrets are replaced or not."""
        if self._redactor is not None:
            return self._redactor.find([text])[0]
        from contextkit.secret_shapes import find_secrets

        return find_secrets(text)

    def redacted(self, text: str) -> str:
        """A text as it is stored: secrets are replaced, and lines keep their numbers.

        Worth calling where a text is cut before it is stored: a cut may hide what a part is.
        """
        return text if self._redactor is None else self._redactor.texts([text], keep_lines=True)[0]

    def telling(self, told: Callable[[int], None]) -> Records:
        """The same records, with somebody who is told how many secrets were replaced."""
        redactor = None if self._redactor is None else self._redactor.telling(told)
        return evolve(self, redactor=redactor)

    def delete(self, *ids: str) -> int:
        """Delete the visible records with these ids; return how many there were."""
        found = self.get(*ids)
        if found:
            self._store.delete([record.point_id for record in found])
        return len(found)

    def delete_where(self, filters: Filters) -> None:
        """Delete the records of `project` (not the user's) that match the filters."""
        self._store.delete_where(self.source, (self.project,), filters)
