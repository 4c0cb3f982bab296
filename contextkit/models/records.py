"""Records: what a source stores and searches, and a source's own view of the store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from attrs import evolve, field, frozen

from contextkit.models.record import (
    USER,
    USER_PREFIX,
    Filters,
    Hit,
    Record,
    Search,
)

if TYPE_CHECKING:
    from contextkit.text.secrets import SecretSpan


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
    """What replaces secrets; `contextkit.pipeline.redact` documents each."""

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
        return USER if self.user is None else f"{USER_PREFIX}{self.user}"

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
        self,
        query: str,
        *,
        limit: int = 20,
        filters: Filters | None = None,
        related: bool = False,
        host_limit: int | None = None,
    ) -> list[Hit]:
        """The best matches, best first; searches of one moment travel as one batch.

        Args:
            query: the text to search for.
            limit: hits at most.
            filters: what the records' fields must have.
            related: whether irregular forms of the query's words (`won` for `win`) and things
                of the kinds that it names (`puppy` for `pets`) count too, with less weight.
            host_limit: how many a host's own searcher is asked for, where the source chooses
                among more than it gives; default: `limit`.
        """
        question = self._question(query, limit, filters, related, host_limit)
        if self._searcher is not None:
            return self._found(await self._searcher(question))
        from contextkit.concurrency import in_thread

        return self._found(await in_thread(lambda: self._store.search([question])[0]))

    def search_sync(
        self,
        query: str,
        *,
        limit: int = 20,
        filters: Filters | None = None,
        related: bool = False,
    ) -> list[Hit]:
        """`search` for a source that is not asynchronous; blocks."""
        return self._found(self._store.search([self._question(query, limit, filters, related)])[0])

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

    def _question(
        self,
        query: str,
        limit: int,
        filters: Filters | None,
        related: bool,
        host_limit: int | None = None,
    ) -> Search:
        return Search(
            query=query,
            source=self.source,
            projects=self.projects,
            limit=limit,
            filters=filters or {},
            user=self.user,
            related=related,
            host_limit=host_limit,
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
        from contextkit.text.secrets import find_secrets

        return find_secrets(text)

    def redacted(self, text: str) -> str:
        """A text as it is stored: secrets are replaced, and lines keep their numbers.

        Worth calling where a text is cut before it is stored: a cut may hide what a part is.
        """
        return text if self._redactor is None else self._redactor.texts([text], keep_lines=True)[0]

    def telling(self, told: Callable[[int], None]) -> Records:
        """Return the same records, reporting how many secrets were replaced."""
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
