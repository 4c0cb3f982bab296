"""Resources: memories, items of any source, and outlines of files.

They are read from the same records as the tools' answers: the project's and the user's own, as
they were stored, without secrets. Each text stands between tags that mark it as data.
"""

from __future__ import annotations

import itertools
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import mcp_types as types

from contextkit import ContextKit, InvalidRequestError
from contextkit.agent import guarded, index_for
from contextkit.models import Record
from contextkit.sources import Book, shortened_line, write_document
from contextkit.text import truncate, visible

MOST_CHARACTERS = 20_000
"""Longest text of a resource."""

LONGEST_URI = 2_048
MOST_LISTED = 10
"""How many memories a client's list has."""

_MEMORIES = "memories"
_SCHEME = "contextkit://"
_TITLE = 72
_MOST_UNITS = 500
_MOST_VALUE = 200
_MOST_COMPLETED = 100
_MARKDOWN = "text/markdown"
_NO_DETAIL = frozenset({"text", "docstring", "digest", "place", "run", "number"})

TEMPLATES = {
    "memory": types.ResourceTemplate(
        name="memory",
        title="A memory",
        uri_template=f"{_SCHEME}memory/{{id}}",
        description="One memory by its id, as list_memories shows it.",
        mime_type=_MARKDOWN,
    ),
    "item": types.ResourceTemplate(
        name="item",
        title="An item of a source",
        uri_template=f"{_SCHEME}item/{{source}}/{{id}}",
        description="The whole of an item of a context, by its source and id.",
        mime_type=_MARKDOWN,
    ),
    "outline": types.ResourceTemplate(
        name="outline",
        title="A file's outline",
        uri_template=f"{_SCHEME}outline/{{+path}}",
        description="The definitions or headings of a file of the project, with their lines.",
        mime_type=_MARKDOWN,
    ),
}
"""Kind of resource -> its template."""


def templates(kit: ContextKit) -> list[types.ResourceTemplate]:
    """List the templates that the kit's sources can fill."""
    has_memories = _MEMORIES in kit.registry.sources
    return [each for kind, each in TEMPLATES.items() if has_memories or kind != "memory"]


def recent_memories(kit: ContextKit) -> list[types.Resource]:
    """List the newest memories; blocks."""
    if _MEMORIES not in kit.registry.sources:
        return []
    return [
        types.Resource(
            name=visible(record.id),
            title=visible(shortened_line(record.text, _TITLE)),
            uri=f"{_SCHEME}memory/{quote(record.id, safe='')}",
            mime_type=_MARKDOWN,
        )
        for record in kit.records(_MEMORIES).newest(MOST_LISTED)
    ]


def read_resource(kit: ContextKit, uri: str) -> types.TextResourceContents:
    """Read a resource; blocks.

    Raises `InvalidRequestError` for a URI that names nothing, and what the sources raise.
    """
    kind, *parts = _parts(uri)
    match kind, parts:
        case "memory", [entry_id]:
            text = _item(kit, _MEMORIES, entry_id)
        case "item", [source, item_id]:
            text = _item(kit, source, item_id)
        case "outline", [path]:
            text = _outline(kit, _checked_path(path))
        case _:
            known = ", ".join(each.uri_template for each in TEMPLATES.values())
            raise InvalidRequestError(f"no resource has the URI {_shown(uri)}; there is: {known}")
    note = f"the rest is left out, as a resource has at most {MOST_CHARACTERS:,} characters"
    short = truncate(visible(text), MOST_CHARACTERS, len, f"\n[{note}]")
    return types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=guarded(short))


def complete(
    kit: ContextKit, template: str, name: str, value: str, given: Mapping[str, str]
) -> list[str]:
    """List values of a template's variable that begin with a text; blocks.

    Args:
        kit: whose sources and records.
        template: the template.
        name: the variable.
        value: the beginning.
        given: the variables that are known already.
    """
    kind = next((k for k, each in TEMPLATES.items() if each.uri_template == template), None)
    if (kind, name) == ("item", "source"):
        return [source for source in kit.registry.sources if source.startswith(value)]
    source = _MEMORIES if kind == "memory" else given.get("source")
    if name != "id" or source not in kit.registry.sources:
        return []
    newest = kit.records(source).newest(_MOST_COMPLETED)
    return [visible(record.id) for record in newest if record.id.startswith(value)]


def _parts(uri: str) -> list[str]:
    """Split a URI into its kind and the decoded values of the template's variables."""
    if len(uri) > LONGEST_URI:
        raise InvalidRequestError(
            f"the URI has {len(uri):,} characters; a resource's has {LONGEST_URI:,} at most"
        )
    if not uri.startswith(_SCHEME):
        raise InvalidRequestError(f"a resource's URI begins with {_SCHEME}, got {_shown(uri)}")
    kind, _, rest = uri.removeprefix(_SCHEME).partition("/")
    values = rest.split("/", 1) if kind == "item" else [rest]
    try:
        parts = [unquote_to_bytes(value).decode() for value in values]
    except UnicodeError as error:
        raise InvalidRequestError(f"the URI {_shown(uri)} is not UTF-8") from error
    return [kind, *parts] if all(parts) else [kind]


def _shown(text: str) -> str:
    return f"'{visible(shortened_line(text, _TITLE))}'"


# -- items ----------------------------------------------------------------------------------


def _item(kit: ContextKit, source: str, item_id: str) -> str:
    book = _book(kit, source)
    if book is not None:
        entry = book.get(item_id)
        values = entry.as_dict()
        return write_document(_details({"source": source, **values}), entry.text)
    found = kit.records(source).get(item_id)
    if not found:
        raise InvalidRequestError(
            f"{source} has no record {_shown(item_id)}; the `sources` of an assembled context "
            f"have the ids"
        )
    record = found[0]
    head = {"source": source, "id": record.id, "created_at": record.created_at.isoformat()}
    return write_document(_details({**head, **record.fields}), record.text)


def _book(kit: ContextKit, source: str) -> Book[Any] | None:
    kit.registry.require(source)
    target = kit.registry.info(source).book
    if not target:
        return None
    book: type[Book[Any]] = pkgutil.resolve_name(target)
    return book.of(kit)


def _details(values: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the values that say something to a reader, in one line each."""
    return {name: each for name, value in values.items() if (each := _detail(name, value))}


def _detail(name: str, value: object) -> object:
    if name in _NO_DETAIL:
        return None
    match value:
        case str():
            return shortened_line(value, _MOST_VALUE)
        case datetime():
            return value.isoformat()
        case bool() | int() | float():
            return value
        case [*several]:
            texts = [each for each in several[:MOST_LISTED] if isinstance(each, str)]
            return [shortened_line(each, _MOST_VALUE) for each in texts]
    return None


# -- outlines -------------------------------------------------------------------------------


def _checked_path(path: str) -> str:
    posix = PurePosixPath(path)
    leaves = posix.is_absolute() or ".." in posix.parts or PureWindowsPath(path).drive
    if leaves or "\\" in path or "\0" in path:
        raise InvalidRequestError(
            f"{_shown(path)} is not a path in the project; give one relative to its root, with /"
        )
    return posix.as_posix()


def _outline(kit: ContextKit, path: str) -> str:
    names = [n for n in kit.registry.sources if kit.registry.implements(n, "contextkit_index")]
    index_for(kit, path, names, lambda _: None)
    units = {row for name in names for row in _units(kit, name, path)}
    if not units:
        raise InvalidRequestError(
            f"no source has indexed a file {_shown(path)}; its path is relative to the project's "
            f"root, and ignored and binary files are left out"
        )
    return "\n".join([f"# {path}", "", *(f"- {row}" for _, _, row in sorted(units))])


def _units(kit: ContextKit, source: str, path: str) -> Iterator[tuple[int, int, str]]:
    found = kit.records(source).scan({"file_path": path})
    for record in itertools.islice(found, _MOST_UNITS):
        first, last = record.fields.get("start_line"), record.fields.get("end_line")
        if isinstance(first, int) and isinstance(last, int):
            yield first, last, f"{first}-{last}: {_name(record)}"


def _name(record: Record) -> str:
    signature, headings = record.fields.get("signature"), record.fields.get("headings")
    if isinstance(headings, Sequence) and not isinstance(headings, str) and headings:
        return shortened_line(" > ".join(map(str, headings)), _MOST_VALUE)
    named = str(signature or record.fields.get("qualified_name") or record.text)
    inside = _detail("defines", record.fields.get("defines"))
    more = f" ({', '.join(inside)})" if isinstance(inside, list) and inside else ""
    return f"{shortened_line(named, _MOST_VALUE)}{more}"
