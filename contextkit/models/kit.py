"""What a hook may use of the kit that calls it."""

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
    """An open `contextkit.ContextKit`, which has more than this.

    Attributes:
        workspace: the folder that the agent works in, and what is known of it.
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
        """The records of one source; raises `InvalidContextTypeError` where it is off."""
