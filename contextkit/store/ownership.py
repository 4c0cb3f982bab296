"""Decide whose records are whose in a store.

An embedded store is one user's, on one machine: the user's own records belong to the project
`USER`, and those of a folder without a repository or name belong to its path. On a server, other
users have global records and the same paths, too. So there

- the user's own records belong to `user:ID`, the id being `store.user` or the installation's;
- those of a folder belong to `folder:INSTALLATION:PATH`;
- those of an index run belong to `checkout:INSTALLATION:PATH`.

`Ownership.of(config).adopted(records, indexed_sources(registry))` renames the projects of records
that come from another store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import PurePosixPath, PureWindowsPath

from attrs import define, evolve

from contextkit.config.installation import installation_id, known_installation_id
from contextkit.config.settings import Config
from contextkit.models.record import (
    CHECKOUT_PREFIX,
    FOLDER_PREFIX,
    USER,
    USER_PREFIX,
    Filters,
    Record,
)
from contextkit.store.searcher_filters import matches


@define(eq=False)
class Ownership:
    """The projects in a store that belong to one user or one installation.

    Attributes:
        is_shared: whether other users and machines may use the store.
        named: the user's name in the settings, or None.
    """

    is_shared: bool = False
    named: str | None = None

    @classmethod
    def of(cls, config: Config) -> Ownership:
        """The ownership in the configured store."""
        return cls(config.store.url is not None, config.store.user)

    @cached_property
    def installation(self) -> str:
        """The id of this installation.

        Raises `StoreError` where it cannot be kept.
        """
        return installation_id()

    @cached_property
    def user(self) -> str:
        """The project of the user's own records.

        Raises `StoreError` where the installation's id is needed and cannot be kept.
        """
        if not self.is_shared:
            return USER
        return f"{USER_PREFIX}{self.named or self.installation}"

    def project(self, key: str) -> str:
        """The project in the store for one that the workspace's identity names."""
        return self._of_path(FOLDER_PREFIX, key) if self.is_shared and is_path(key) else key

    def checkout(self, path: str) -> str:
        """The project of what index runs in a folder write."""
        return self._of_path(CHECKOUT_PREFIX, path) if self.is_shared else path

    def _of_path(self, prefix: str, path: str) -> str:
        return f"{prefix}{self.installation}:{path}"

    # -- records of another store ---------------------------------------------------------

    def adopted(
        self, records: Iterable[Record], indexed: Mapping[str, Filters | None]
    ) -> list[Record]:
        """Rename the projects of records that come from another store.

        On a server, this user takes over `USER` and this installation takes over paths. In an
        embedded store, it is the other way round. Other projects keep their names: those of git,
        names, and what belongs to other users.

        Args:
            records: the records, as an export or an embedded store has them.
            indexed: the sources with index runs (`contextkit.store.projects.indexed_sources`).
        """
        return [evolve(each, project=self._adopting(each, indexed)) for each in records]

    def _adopting(self, record: Record, indexed: Mapping[str, Filters | None]) -> str:
        project = record.project
        if not self.is_shared:
            return self._own_here(project)
        if project == USER:
            return self.user
        if not is_path(project):
            return project
        by_hand = indexed.get(record.source, {})
        is_written = by_hand is not None and matches(record, by_hand)
        return self.project(project) if is_written else self.checkout(project)

    def _own_here(self, project: str) -> str:
        known = known_installation_id()
        if project in {f"{USER_PREFIX}{name}" for name in (self.named, known) if name}:
            return USER
        for prefix in (FOLDER_PREFIX, CHECKOUT_PREFIX):
            if known and project.startswith(own := f"{prefix}{known}:"):
                return project.removeprefix(own)
        return project

    def is_visible(self, project: str) -> bool:
        """Whether no other user or installation owns a project alone.

        In an embedded store this user owns everything.
        """
        if not self.is_shared or project == self.user:
            return True
        if project.startswith((FOLDER_PREFIX, CHECKOUT_PREFIX)):
            return project.split(":", 2)[1] == self.installation
        return not project.startswith(USER_PREFIX)


def is_path(project: str) -> bool:
    """Whether a project is a folder's path."""
    # An export may come from another operating system.
    return PurePosixPath(project).is_absolute() or PureWindowsPath(project).is_absolute()
