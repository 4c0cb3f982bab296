"""Entries as Markdown documents with front matter, for people who edit them.

The front matter is a part of YAML: names with texts, numbers, true, false and lists of them. The
text of an entry stands below it.
"""

from __future__ import annotations

import contextlib
import json
import re
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from contextkit.sources.entry import Entry, InvalidEntryError, as_json

_FENCE = "---"
_PLAIN = re.compile(r"[^\W\d_][\w./+@-]*|\d{4}-\d\d-\d\d(?:T[\d:.+-]{1,30})?")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_YAML_WORDS = frozenset({*_WORDS, "yes", "no", "on", "off", "y", "n"})
_NAME = re.compile(r"([A-Za-z_][\w-]*):(?: +|$)")
_ELEMENT = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,\[\]{}"']*)\s*(,|$)""", re.DOTALL)


def write_document(values: Mapping[str, Any], text: str, note: str = "") -> str:
    """Write front matter and text.

    Args:
        values: JSON values by name; None is left out.
        text: the text below.
        note: a comment at the top.
    """
    shown = [_line(name, value) for name, value in values.items() if value is not None]
    lines = [_FENCE, *([f"# {note}"] if note else []), *shown, _FENCE]
    return "\n".join([*lines, "", text, ""] if text else [*lines, ""])


def read_document(content: str, texts: Collection[str] = ()) -> tuple[dict[str, Any], str]:
    """Read front matter and the text below it.

    Args:
        content: the document.
        texts: names of values that are texts or lists of them, also if they look like numbers.

    Raises `InvalidEntryError` with the line that cannot be read.
    """
    lines, text = _split(content)
    values: dict[str, Any] = {}
    last = ""
    for number, line in enumerate(lines, 2):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        named = _NAME.match(line)
        try:
            if named is not None:
                last = named[1].replace("-", "_")
                if last in values:
                    raise ValueError(f"{last} is there twice")
                values[last] = _value(line[named.end() :].strip(), last in texts)
            elif stripped.startswith("- ") and isinstance(values.get(last, ""), list | None):
                values[last] = values[last] or []
                values[last].append(_scalar(stripped[2:].strip(), last in texts))
            else:
                raise ValueError(f"expected NAME: VALUE, got {stripped[:60]!r}")
        except ValueError as error:
            raise InvalidEntryError(f"line {number}: {error}") from error
    return values, text


def _split(content: str) -> tuple[list[str], str]:
    """Return the lines of the front matter, and the text below it."""
    first, *lines = content.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if first.rstrip() != _FENCE:
        raise InvalidEntryError(f"line 1 must be {_FENCE}, the start of the front matter")
    end = next((number for number, line in enumerate(lines) if line.rstrip() == _FENCE), None)
    if end is None:
        raise InvalidEntryError(f"the front matter has no end: a line {_FENCE} is missing")
    return lines[:end], "\n".join(lines[end + 1 :]).strip("\n")


def entry_document(entry: Entry, names: Sequence[str]) -> str:
    """Write some parts of an entry as a document to edit."""
    values = {name: as_json(getattr(entry, name)) for name in names}
    text = values.pop("text", "")
    note = f"{entry.id}, {entry.scope}, {entry.created_at:%Y-%m-%d}; parts without a line stay"
    return write_document(values, text, note)


def document_changes(entry: type[Entry], before: str, after: str) -> dict[str, Any]:
    """Return the parts that a person changed in a document.

    Raises `InvalidEntryError` if the document cannot be read.
    """
    known, given = _parts(entry, before), _parts(entry, after)
    return {name: value for name, value in given.items() if value != known.get(name)}


def _parts(entry: type[Entry], content: str) -> dict[str, Any]:
    values, text = read_document(content, text_parts(entry))
    if "text" in entry.parts():
        return {**values, "text": text}
    if text:
        raise entry.invalid(f"the {entry.noun} has no text below its parts: delete {text[:60]!r}")
    return values


def text_parts(entry: type[Entry]) -> list[str]:
    """List the parts that hold texts, dates or lists of them."""
    hints = typing.get_type_hints(entry)
    return [name for name in entry.parts() if not _types(hints[name]) & {int, float, bool}]


def _types(hint: Any) -> set[Any]:
    inner = typing.get_args(hint)
    if typing.get_origin(hint) in {typing.Union, types.UnionType, tuple}:
        return set().union(*map(_types, inner))
    return {hint}


def _line(name: str, value: Any) -> str:
    several = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    if several and any(" " in each for each in value):
        return "\n".join([f"{name}:", *(f"- {_written(each)}" for each in value)])
    return f"{name}: {_written(value)}"


def _written(value: Any) -> str:
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _YAML_WORDS
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Sequence) and not any(isinstance(each, list | dict) for each in value):
        return f"[{', '.join(map(_written, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _value(written: str, as_text: bool) -> Any:
    if written.startswith(("{", "[")) and not as_text:
        # Other values than those of parts may be nested.
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(written)
    if written.startswith("["):
        return _elements(written, as_text)
    if written[:1] in {"{", "|", ">", "&", "*", "!"}:
        raise ValueError(f"{written[:60]!r} is not a text, a number or a list")
    return _scalar(written, as_text)


def _elements(written: str, as_text: bool) -> list[Any]:
    inner = written.partition(" #")[0].rstrip() if '"' not in written else written
    if not inner.endswith("]"):
        raise ValueError("the list has no ] at its end")
    inner, place, found = inner[1:-1].strip(), 0, []
    while place < len(inner):
        element = _ELEMENT.match(inner, place)
        if element is None:
            raise ValueError(f"{inner[place : place + 60]!r} is not a list of texts or numbers")
        found.append(_scalar(element[1].strip(), as_text))
        place = element.end()
    return found


def _scalar(written: str, as_text: bool) -> Any:
    if written.startswith('"'):
        # A text in JSON is one in YAML, too.
        return json.loads(written)
    if written.startswith("'"):
        if len(written) < 2 or not written.endswith("'"):
            raise ValueError(f"{written[:60]!r} has no ' at its end")
        return written[1:-1].replace("''", "'")
    plain = written.partition(" #")[0].rstrip()
    if plain.lower() in _WORDS and not (as_text and plain.isalpha()):
        return _WORDS[plain.lower()]
    if as_text or not _NUMBER.fullmatch(plain):
        return plain
    return float(plain) if re.search(r"[.eE]", plain) else int(plain)
