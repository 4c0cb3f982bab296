"""The part of the calling kit that hooks may use."""

from __future__ import annotations

from typing import Protocol

from contextkit.models.records import Records
from contextkit.workspace.find import Workspace


class Kit(Protocol):
    """An open `contextkit.ContextKit`, which offers more than this.

    Attributes:
        workspace: the agent's working folder and facts about it.
        project: the project whose records are read and written.
    """

    @property
    def workspace(self) -> Workspace: ...

    @property
    def project(self) -> str: ...

    def records(self, source: str) -> Records:
        """The records of a source.

        Raises `InvalidContextTypeError` if it is disabled.
        """
