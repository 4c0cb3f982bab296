"""Errors of entities, relations and their names."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit.errors import ContextKitError
from contextkit.sources import InvalidEntryError

_SHOWN = 5


class InvalidEntityError(InvalidEntryError):
    """An entity or relation is invalid; nothing was stored.

    One of its parts has a value that is not allowed.
    """


class UnknownEntityError(ContextKitError):
    """No entity has this name.

    Attributes:
        name: the requested name.
    """

    exit_code = 5

    def __init__(self, asked: str) -> None:
        self.name = asked
        super().__init__(
            f"no entity is called {asked!r}: `contextkit entities list` shows the names, "
            f"`contextkit entities add` makes one"
        )


class AmbiguousEntityError(ContextKitError):
    """Several entities have this name.

    Attributes:
        name: the requested name.
        ids: the ids of these entities.
    """

    exit_code = 5

    def __init__(self, asked: str, ids: Sequence[str]) -> None:
        self.name, self.ids = asked, tuple(ids)
        shown = ", ".join(ids[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")
        super().__init__(f"{len(ids)} entities are called {asked!r}: name one by its id: {shown}")


class UnknownRelationError(ContextKitError):
    """There is no such relation to remove.

    Attributes:
        relation: the requested relation.
    """

    exit_code = 5

    def __init__(self, relation: str) -> None:
        self.relation = relation
        super().__init__(
            f"there is no relation {relation}: `contextkit entities show` lists an entity's"
        )
