"""Derive commands from the class of a source's entries."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

import click
from attrs import NOTHING

from contextkit.cli.session import Session, json_option, pass_session
from contextkit.sources.book import Book
from contextkit.sources.entry import Entry

F = TypeVar("F", bound=Callable[..., Any])

_TYPES: dict[Any, Any] = {int: int, float: float, str: str, bool: bool}


def entry_commands(book: type[Book[Any]], about: str) -> click.Group:
    """Create a source's group with `add`, `list` and `remove`.

    ```python
    dishes = entry_commands(DishBook, "Keep dishes and how long they take.")
    ```
    """
    group = click.Group(book.source, help=about)
    for command in (add_command(book), list_command(book), remove_command(book)):
        group.add_command(command)
    return group


def add_command(book: type[Book[Any]], about: str = "") -> click.Command:
    """Create `add`: an argument and options for an entry's parts.

    The first part is the argument; the others are options.
    """
    entry = book.entry
    argument, *others = entry.given_parts()

    @click.command("add", help=about or f"Store a {entry.noun}, or change the one with its id.")
    @click.argument(argument)
    @part_options(entry, *others)
    @click.option("--global", "shared", is_flag=True, help="For all of your projects.")
    @json_option
    @pass_session
    def add(session: Session, /, shared: bool, as_json: bool, **given: Any) -> None:
        added = book.of(session.kit).add(shared=shared, **_without_empty(given))
        data = {**added.as_dict(), "outcome": added.outcome}
        session.emit(data, book.added_line(added), as_json)

    return add


def list_command(book: type[Book[Any]], about: str = "") -> click.Command:
    """Create `list`, with the option `--limit`."""

    @click.command("list", help=about or f"List {book.source}, newest first.")
    @click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
    @json_option
    @pass_session
    def list_entries(session: Session, /, limit: int, as_json: bool) -> None:
        entries = book.of(session.kit)
        found = entries.list(limit)
        text = book.listing(found, entries.count())
        session.emit([entry.as_dict() for entry in found], text, as_json)

    return list_entries


def remove_command(book: type[Book[Any]], about: str = "") -> click.Command:
    """Create `remove`, which takes an id."""

    @click.command("remove", help=about or f"Delete the {book.entry.noun} with this ID.")
    @click.argument("entry_id", metavar="ID")
    @json_option
    @pass_session
    def remove(session: Session, /, entry_id: str, as_json: bool) -> None:
        removed = book.of(session.kit).remove(entry_id)
        session.emit(removed.as_dict(), f"Removed {removed.id}", as_json)

    return remove


def part_options(entry: type[Entry], *names: str) -> Callable[[F], F]:
    """Create options for parts of an entry, in order.

    A part with a list becomes an option that may be repeated. The type of a part and its `about`
    describe the option.
    """
    hints = typing.get_type_hints(entry)

    def decorate(function: F) -> F:
        for name in reversed(names):
            attribute = entry.parts()[name]
            declared = attribute.metadata["part"]
            kind, repeated = _kind(hints[name])
            function = click.option(
                *(declared.flags or (f"--{name.replace('_', '-')}",)),
                name,
                type=kind,
                multiple=repeated,
                required=attribute.default is NOTHING,
                help=_help(declared.about, repeated),
            )(function)
        return function

    return decorate


def _without_empty(given: dict[str, Any]) -> dict[str, Any]:
    """Drop options that were not given.

    A repeatable option without any values was not given.
    """
    return {name: value for name, value in given.items() if value != ()}


def _help(about: str, repeated: bool) -> str:
    return f"{about[:1].upper()}{about[1:]}{'; repeatable' if repeated else ''}."


def _kind(hint: Any) -> tuple[Any, bool]:
    """Return the click type of a part, and its multiplicity.

    The second value says whether there may be several values.
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return _kind(inner[0])[0], True
    if origin in {typing.Union, types.UnionType}:
        return _kind(_first(each for each in inner if each is not types.NoneType))
    if origin is Literal:
        return click.Choice(inner), False
    return _TYPES.get(hint, str), False


def _first(kinds: Iterable[Any]) -> Any:
    return next(iter(kinds))
