"""Where a value came from, and what became of one that the user's choice stands against."""

from __future__ import annotations

from typing import Any

from attrs import frozen


@frozen
class Origin:
    """Where a value came from.

    Attributes:
        layer: `default`, `user`, `project`, `environment`, `flag` or `run time`.
        label: for a person: a file's name, a variable's or a flag's.
        line: the line in the file, counted from 1, or None.
    """

    layer: str
    label: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.label}:{self.line}" if self.line else self.label


@frozen
class Overruled:
    """A value of a workspace's file that does not count, or not as it stands there.

    Attributes:
        value: what the workspace's file says.
        origin: where.
        users: where the user's choice is that stands against it.
    """

    value: Any
    origin: Origin
    users: Origin


@frozen
class Contested:
    """A source's own setting that both the user's and the workspace's file have.

    Attributes:
        users, workspaces: the two values.
        users_origin, workspaces_origin: where they are.
    """

    users: Any
    users_origin: Origin
    workspaces: Any
    workspaces_origin: Origin
