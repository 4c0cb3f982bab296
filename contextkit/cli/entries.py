"""Derive commands from the class of a source's entries."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar

import click
from attrs import NOTHING

from contextkit.cli.edit import EDITED, edit_in_editor
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.sources.book import Book
from contextkit.sources.entry import Entry

F = TypeVar("F", bound=Callable[..., Any])

_TYPES: dict[Any, Any] = {int: int, float: float, str: str, bool: bool}


def entry_commands(book: type[Book[Any]], about: str) -> click.Group:
    """Create a source's group: `add`, `list`, `search`, `edit`, `remove`.

    ```python
    dishes = entry_commands(DishBook, "Keep dishes and how long they take.")
    ```
    """
    group = click.Group(book.source, help=about)
    for make in (add_command, list_command, search_command, edit_command, remove_command):
        group.add_command(make(book))
    return group


def add_command(book: type[Book[Any]], about: str = "") -> click.Command:
    """Create `add`: an argument and options for an entry's parts.

    The first part is the argument; the others are options.
    """
    entry = book.entry
    argument, *others = entry.given_parts()

    @click.command("add", help=about or f"Store a new {entry.noun}, or change the one with its id.")
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


def search_command(book: type[Book[Any]], about: str = "") -> click.Command:
    """Create `search`, which takes a query, with the option `--limit`."""

    @click.command("search", help=about or f"List the {book.source} that match QUERY, best first.")
    @click.argument("query")
    @click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
    @json_option
    @pass_session
    def search(session: Session, /, query: str, limit: int, as_json: bool) -> None:
        emit_found(session, book, book.of(session.kit).search(query, limit), as_json)

    return search


def emit_found(
    session: Session, book: type[Book[Any]], found: Sequence[tuple[Any, float]], as_json: bool
) -> None:
    """Print what a search found, with its relevance."""
    data = [{**entry.as_dict(), "relevance": relevance} for entry, relevance in found]
    rows = zip(book.rows([entry for entry, _ in found]), found, strict=True)
    lines = [f"{relevance:.2f}  {row}" for row, (_, relevance) in rows]
    session.emit(data, "\n".join(lines) or f"No {book.source} match.", as_json)


def edit_command(book: type[Book[Any]], about: str = "") -> click.Command:
    """Create `edit`, which takes an id, and options or an editor."""
    noun = book.entry.noun

    @click.command("edit", help=about or f"Change the {noun} with this ID.\n\n{EDITED}")
    @click.argument("entry_id", metavar="ID")
    @part_options(book.entry, *book.editable(), required=False)
    @json_option
    @pass_session
    def edit(session: Session, /, entry_id: str, as_json: bool, **given: Any) -> None:
        entries = book.of(session.kit)
        given = {name: value for name, value in _without_empty(given).items() if value is not None}
        if given:
            entry = entries.change(entry_id, **given)
        else:
            entry = edit_in_editor(entries, entry_id, session.warn)
        done = "Nothing changed in" if entry.outcome == "unchanged" else "Changed"
        data = {**entry.as_dict(), "outcome": entry.outcome}
        session.emit(data, f"{done} {entry.id}: {entry.title}", as_json)
        for warning in entries.warnings(entry):
            session.warn(warning)

    return edit


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


def part_options(entry: type[Entry], *names: str, required: bool = True) -> Callable[[F], F]:
    """Create options for parts of an entry, in order.

    A part with a list becomes an option that may be repeated. The type of a part, its `about` and
    its default describe the option.

    Args:
        entry: the class of the entry.
        names: the parts.
        required: whether a part without a default is required, for a new entry; else the options
            change one, and have no defaults.
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
                required=required and attribute.default is NOTHING,
                help=_help(declared.about, repeated, attribute.default, new=required),
            )(function)
        return function

    return decorate


def _without_empty(given: dict[str, Any]) -> dict[str, Any]:
    """Drop options that were not given.

    A repeatable option without any values was not given.
    """
    return {name: value for name, value in given.items() if value != ()}


def _help(about: str, repeated: bool, default: Any, *, new: bool) -> str:
    more = ""
    if repeated:
        more = "; repeatable" if new else "; repeatable, replaces all"
    elif new and default not in (NOTHING, None, ""):
        more = f"; default: {default}"
    return f"{about[:1].upper()}{about[1:]}{more}."


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
