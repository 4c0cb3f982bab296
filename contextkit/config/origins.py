"""Record where a value came from, and which was overruled."""

from __future__ import annotations

from typing import Any

from attrs import frozen


@frozen
class Origin:
    """The origin of a value.

    Attributes:
        layer: `default`, `user`, `project`, `environment`, `flag` or `run time`.
        label: the name of the file, the variable or the flag, for messages.
        line: the line in the file, counted from 1, or None.
    """

    layer: str
    label: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.label}:{self.line}" if self.line else self.label


@frozen
class Overruled:
    """A workspace's value that counts only partly, or not.

    Attributes:
        value: the value in the workspace's file.
        origin: its place there.
        users: the origin of the user's choice that overrules it.
    """

    value: Any
    origin: Origin
    users: Origin


@frozen
class Contested:
    """A source's own setting that user and workspace both set.

    Attributes:
        users, workspaces: the two values.
        users_origin, workspaces_origin: where they are.
    """

    users: Any
    users_origin: Origin
    workspaces: Any
    workspaces_origin: Origin
