"""What a hook may use of the kit that calls it."""

from __future__ import annotations

from typing import Protocol

from contextkit.models.records import Records
from contextkit.workspace.find import Workspace


class Kit(Protocol):
    """An open `contextkit.ContextKit`, which has more than this.

    Attributes:
        workspace: the folder that the agent works in, and what is known of it.
        project: the project whose records are read and written.
    """

    @property
    def workspace(self) -> Workspace: ...

    @property
    def project(self) -> str: ...

    def records(self, source: str) -> Records:
        """The records of one source; raises `InvalidContextTypeError` where it is off."""
