"""The part of the calling kit that hooks may use."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from contextkit.models.records import Records
from contextkit.workspace.find import Workspace


class Holding(Protocol):
    """A store, as far as sources see it."""

    def hold(self) -> AbstractContextManager[None]:
        """Keep the store open for this process, so that reading and writing are one step."""


class Kit(Protocol):
    """An open `contextkit.ContextKit`, which offers more than this.

    Attributes:
        workspace: the agent's working folder and facts about it.
        project: the project whose records are read and written.
        store: where the records are.
    """

    @property
    def workspace(self) -> Workspace: ...

    @property
    def project(self) -> str: ...

    @property
    def store(self) -> Holding: ...

    def records(self, source: str) -> Records:
        """The records of a source.

        Raises `InvalidContextTypeError` if it is disabled.
        """
