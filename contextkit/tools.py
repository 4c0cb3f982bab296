"""Tools: what an agent can do with a source, beyond asking for context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from attrs import frozen

__all__ = ["Tool", "ToolResult"]

T = TypeVar("T")


@frozen(kw_only=True)
class Tool:
    """A tool that a plugin offers to agents, from `contextkit_tools`.

    ```python
    class Report(TypedDict):
        station: str
        metres: float


    def report_tide(
        kit: ContextKit,
        station: Annotated[str, "the station's name"],
        metres: Annotated[float, "how high the water stands"] = 0.0,
    ) -> Report:
        kit.records("tide").put([Record(id=station, text=f"{station}: {metres} m")])
        return {"station": station, "metres": metres}


    Tool(name="report_tide", description="Note how high the water stands.", run=report_tide)
    ```

    Attributes:
        name: what an agent calls it by: lower-case letters, digits and `_`.
        description: what it does and when to use it, for an agent that sees nothing else.
        run: what does it, sync (it may block) or async. Its first parameter gets the
            `ContextKit`; each other is a parameter of the tool, whose type becomes its schema
            and whose text in `Annotated[T, "…"]` its description. One that is called
            `progress` is none: it gets a function that takes a `Progress`. The type of its
            result is a `TypedDict`, a mapping, a class with `as_dict`, or a `ToolResult` of
            one of these. A `ContextKitError` tells the agent in one line what was wrong.
        read_only: True where it changes nothing.
        destructive: True where it deletes or overwrites.
    """

    name: str
    description: str
    run: Callable[..., Any]
    read_only: bool = False
    destructive: bool = False


@frozen
class ToolResult(Generic[T]):
    """What a tool gives, where its text is not just its data as JSON.

    Attributes:
        data: the result for a program: JSON values, or what has `as_dict`.
        text: the same for an agent to read.
    """

    data: T
    text: str
