"""Derive agents' tools from the class of a source's entries."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypedDict, TypeVar

from attrs import NOTHING

from contextkit.models.source import Tool, ToolResult
from contextkit.sources.book import Book
from contextkit.sources.entry import Entry

F = TypeVar("F", bound=Callable[..., Any])

_FOR_ALL = "for_all_projects"
OUTCOME = Annotated[
    Literal["stored", "updated", "unchanged"],
    "whether it is new, changed or unchanged",
]
"""The type of an entry's `outcome`, for a tool that gives it."""


def takes_parts(entry: type[Entry], *names: str) -> Callable[[F], F]:
    """Add an entry's parts to a tool function's parameters.

    They replace its `**given`.

    ```python
    @takes_parts(Dish, "name", "minutes")
    def _cook(kit: ContextKit, **given: Any) -> ToolResult[Dish]: ...
    ```

    Args:
        entry: the class. The type of a part and its `about` describe the parameter; a part
            with a default may be left out, and is then None.
        names: the parts; default: all that have an `about`.
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        first, *others = (p for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD)
        keyword_only = [each.replace(kind=each.KEYWORD_ONLY) for each in others]
        parameters = [first, *_parameters(entry, names), *keyword_only]
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return decorate


def gives(output: Mapping[str, Any]) -> Callable[[F], F]:
    """Declare a tool's output object: name -> type."""

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            return_annotation=_object("given", output)
        )
        return function

    return decorate


def add_tool(book: type[Book[Any]], description: str, *parts: str, name: str = "") -> Tool:
    """Create a tool that adds or changes an entry: `add_dish`.

    Args:
        book: the book.
        description: its effect and when to use it, for an agent that sees nothing else.
        parts: the parts that an agent gives; default: all that have an `about`.
        name: the tool's name; default: `add_` and the entry's noun.
    """

    def run(kit: Any, **given: Any) -> Any:
        entry = book.of(kit).add(shared=given.pop(_FOR_ALL, False), **given)
        return ToolResult({**entry.as_dict(), "outcome": entry.outcome}, book.added_line(entry))

    whose = _parameter(
        _FOR_ALL, bool, "true for what is the user's everywhere, not only in this project", False
    )
    return _tool(
        name or f"add_{book.entry.noun}",
        description,
        run,
        [*_parameters(book.entry, parts), whose],
        {**book.entry.json_types(), "outcome": OUTCOME},
    )


def list_tool(book: type[Book[Any]], description: str) -> Tool:
    """Create a tool that lists entries with ids: `list_dishes`."""

    def run(kit: Any, **given: Any) -> Any:
        entries = book.of(kit)
        found, total = entries.list(**given), entries.count()
        data = {book.source: [entry.as_dict() for entry in found], "total": total}
        return ToolResult(data, book.listing(found, total))

    shown = _object(book.entry.__name__, book.entry.json_types())
    limit = _parameter("limit", int, "how many at most", 20)
    several: Any = list
    output = {book.source: several[shown], "total": int}
    return _tool(f"list_{book.source}", description, run, [limit], output, read_only=True)


def remove_tool(book: type[Book[Any]], description: str, asks_for: str = "its id") -> Tool:
    """Create a tool that deletes an entry: `remove_dish`.

    Args:
        book: the book.
        description: its effect, for an agent.
        asks_for: the description of its only parameter.
    """
    noun = book.entry.noun

    def run(kit: Any, **given: Any) -> Any:
        entry = book.of(kit).remove(given[noun])
        return ToolResult(entry.as_dict(), f"Removed {entry.id}")

    which = _parameter(noun, str, asks_for)
    output = book.entry.json_types()
    return _tool(f"remove_{noun}", description, run, [which], output, destructive=True)


def _parameters(entry: type[Entry], names: tuple[str, ...]) -> list[inspect.Parameter]:
    hints, parts = typing.get_type_hints(entry, include_extras=True), entry.parts()
    return [
        _parameter(
            name,
            hints[name],
            parts[name].metadata["part"].about,
            inspect.Parameter.empty if parts[name].default is NOTHING else None,
        )
        for name in names or entry.given_parts()
    ]


def _parameter(
    name: str, kind: Any, about: str, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    described: Any = Annotated
    annotation = described[kind | None if default is None else kind, about]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def _tool(
    name: str,
    description: str,
    run: Callable[..., Any],
    parameters: list[inspect.Parameter],
    output: Mapping[str, Any],
    **hints: bool,
) -> Tool:
    kit = inspect.Parameter("kit", inspect.Parameter.POSITIONAL_ONLY)
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [kit, *parameters], return_annotation=_object(name, output)
    )
    return Tool(name=name, description=description, run=run, **hints)


def _object(name: str, entries: Mapping[str, Any]) -> Any:
    return TypedDict(name, dict(entries))  # type: ignore[operator]
