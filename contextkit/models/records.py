"""A source's view of the store: its records."""

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
    """The store interface that `Records` needs; see `contextkit.store.base`."""

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
    """The interface that replaces secrets; see `contextkit.pipeline.redact`."""

    def find(self, texts: Sequence[str]) -> list[list[SecretSpan]]: ...
    def texts(self, texts: Sequence[str], *, keep_lines: bool = False) -> list[str]: ...
    def records(self, records: Sequence[Record]) -> list[Record]: ...
    def telling(self, told: Callable[[int], None]) -> Redacts: ...


@frozen
class Checkout:
    """The folder of a project in which index runs read.

    Attributes:
        folder: its path.
        root: the project of what they write: the path, or on a server this installation's name
            for it.
        project: the project that people and agents write to.
        sources: the sources with index runs.
    """

    folder: str
    root: str
    project: str
    sources: Collection[str]


@frozen
class RecordsView:
    """One source's records, the project's and the user's, for reading.

    Records of other users are never visible. All methods except `search` block: call them from a
    thread if an event loop must not wait.

    Attributes:
        source: their source.
        project: their project.
        user: the user whose own records are visible, if a host has many users; None for the
            user of this installation.
        checkout: the folder whose index run made further visible records, or None.
        own: the project of the records of this installation's user: `USER`, or `user:ID` on a
            server.
    """

    _store: Store
    source: str
    project: str
    _searcher: Callable[[Search], Awaitable[list[Hit]]] | None = None
    _alone: bool = False
    user: str | None = field(default=None, kw_only=True)
    checkout: Checkout | None = field(default=None, kw_only=True, repr=False)
    own: str = field(default=USER, kw_only=True)
    _redactor: Redacts | None = field(default=None, kw_only=True, eq=False, repr=False)
    _given: set[str] | None = field(default=None, kw_only=True, eq=False, repr=False)

    @property
    def given(self) -> Collection[str]:
        """Ids of the records returned for one context's query."""
        return self._given or ()

    @property
    def projects(self) -> tuple[str, ...]:
        """The visible projects: `project`, an indexed source's checkout, and the user's own."""
        if self._alone:
            return (self.project,)
        visible = [self.project]
        if self.checkout is not None and self.source in self.checkout.sources:
            visible += [self.checkout.project, self.checkout.root]
        return tuple(dict.fromkeys((*visible, self._users)))

    @property
    def has_other_users(self) -> bool:
        """Whether other users see the project's records, but not this user's.

        What is derived from both must then not become the project's.
        """
        return self.user is not None or self.own != USER

    @property
    def _users(self) -> str:
        return self.own if self.user is None else f"{USER_PREFIX}{self.user}"

    @property
    def known_empty(self) -> bool:
        """Whether the store knows, without looking, that no record is visible.

        A source can then answer at once. It is False where the store would have to look.
        """
        # Only an open embedded store knows.
        known = getattr(self._store, "known_empty", None)
        return known is not None and bool(known(self.source, self.projects))

    def others(self, source: str) -> RecordsView:
        """Return another source's records of the same project, for reading.

        A source whose index run reads them must list it in `SourceInfo.reads`.
        """
        return RecordsView(
            self._store,
            source,
            self.checkout.project if self.checkout else self.project,
            self._searcher,
            user=self.user,
            checkout=self.checkout,
            own=self.own,
            given=self._given,
        )

    def get(self, *ids: str) -> list[Record]:
        """Return the visible records with these ids, without missing ones."""
        if self.known_empty:
            return []
        points = [
            Record(id=i, text="", source=self.source, project=p).point_id
            for i in ids
            for p in self.projects
        ]
        return self._noted(self._store.get(points))

    def scan(self, filters: Filters | None = None) -> Iterator[Record]:
        """Iterate over the matching visible records, in no particular order."""
        found = self._store.scan(self.source, self.projects, filters or {})
        return found if self._given is None else map(self._note, found)

    def newest(self, limit: int, filters: Filters | None = None) -> list[Record]:
        """Return the matching visible records, newest first."""
        return self._noted(self._store.newest(self.source, self.projects, filters or {}, limit))

    def count(self, filters: Filters | None = None) -> int:
        """Count the matching visible records."""
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
        """Search the visible records, best first.

        Concurrent searches form one batch.

        With `related`, irregular forms of the query's words (`won` for `win`) and things of the
        kinds that it names (`puppy` for `pets`) count too, with less weight.
        """
        if self.known_empty:
            return []
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
        """`search` for a synchronous source; blocks."""
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
    """One source's records for reading and writing.

    Reads see the project's records and the user's own, never another user's; writes go to
    `project`. All methods except `search` block: call them from a thread if an event loop must
    not wait.

    Attributes:
        source: their source.
        project: the project to write to.
        user: the user whose own records are visible, if a host has many users; None for the
            user of this installation.
    """

    @property
    def shared(self) -> Records:
        """The same source's records that belong to the user."""
        return evolve(self, project=self._users, checkout=None)

    @property
    def of_checkout(self) -> Records:
        """The same source's records, for writing what an index run reads from the workspace."""
        return self if self.checkout is None else evolve(self, project=self.checkout.root)

    @property
    def scopes(self) -> tuple[Records, ...]:
        """The project's and the user's records, separately."""
        alone = evolve(self, alone=True)
        return (alone,) if self.project == self._users else (alone, self.shared)

    def put(self, records: Sequence[Record]) -> list[Record]:
        """Store records, replacing those of the same id.

        Return them as stored.

        Secrets are replaced first (`contextkit_redact`), unless a record has the field
        `keep_secret: true`. The records survive the end of the process as soon as this returns.
        Raises `RecordError` for a record that is not JSON; then nothing is stored.
        """
        bound = [evolve(r, source=self.source, project=self.project).checked() for r in records]
        if bound and self._redactor is not None:
            bound = self._redactor.records(bound)
        if bound:
            self._store.put(bound)
        return bound

    def secrets_in(self, text: str) -> list[SecretSpan]:
        """Find secrets in a text, even if not replaced."""
        if self._redactor is not None:
            return self._redactor.find([text])[0]
        from contextkit.text.secrets import find_secrets

        return find_secrets(text)

    def redacted(self, text: str) -> str:
        """Replace the secrets in a text, preserving its lines.

        Call it before cutting a text into records: a part of a secret may not be recognised.
        """
        return text if self._redactor is None else self._redactor.texts([text], keep_lines=True)[0]

    def telling(self, told: Callable[[int], None]) -> Records:
        """Return the same records.

        `told` gets the number of replaced secrets.
        """
        redactor = None if self._redactor is None else self._redactor.telling(told)
        return evolve(self, redactor=redactor)

    def delete(self, *ids: str) -> int:
        """Delete the visible records with these ids; return their number."""
        found = self.get(*ids)
        if found:
            self._store.delete([record.point_id for record in found])
        return len(found)

    def delete_where(self, filters: Filters) -> None:
        """Delete the matching records of `project`, not the user's."""
        self._store.delete_where(self.source, (self.project,), filters)
