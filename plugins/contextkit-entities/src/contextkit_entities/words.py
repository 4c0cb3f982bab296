"""Validate and normalize names, types, properties and measures.

A name is looked up by its keys, so that a mention of it is found however it is written. A key is
its words in lower case, separated by single spaces. `contextkit/tokens.py` and
`contextkit.tokens.py` have the key `contextkit tokens py`, and `TokenCounter` has `tokencounter`
and `token counter`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from contextkit.text import given_line
from contextkit_entities.errors import InvalidEntityError

KEY_WORDS = 8
"""Most words of a key that is looked up."""

_MAX_NAME = 200
_MAX_TYPE = 40
_MAX_ALIASES = 20
_MAX_PROPERTIES = 20
_MAX_PROPERTY = 60
_MAX_VALUE = 500

_WORD = re.compile(r"\w+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|\d+")
_SIGNIFICANT = 3

_line = partial(given_line, error=InvalidEntityError)


def key_of(name: str) -> str:
    """Return a name's key; empty without a letter or digit."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", name).casefold()))


def identifier_words(name: str) -> str:
    """Return an identifier's words as a key.

    `TokenCounter` and `token_counter` have two. Empty for a single word, and where fewer than two
    words have three letters: `is_a` is not mentioned wherever a text has "is a".
    """
    if not name.isascii() or not name.isidentifier():
        return ""
    words = [word.lower() for word in _HUMPS.findall(name)]
    telling = sum(len(word) >= _SIGNIFICANT for word in words)
    return " ".join(words) if telling >= 2 else ""


def name_keys(names: Iterable[str]) -> tuple[str, ...]:
    """Return the lookup keys of names, each once."""
    keys = (key for name in names for key in (key_of(name), identifier_words(name)))
    return tuple(dict.fromkeys(key for key in keys if 1 <= len(key.split()) <= KEY_WORDS))


def stored_name(name: object) -> str:
    """Return a name on one line.

    Raises `InvalidEntityError` unless it has 1 to 200 characters.
    """
    stored = _line(name, "a name", _MAX_NAME)
    if not key_of(stored):
        raise InvalidEntityError(f"an entity's name has a letter or a digit, got {stored!r}")
    return stored


def stored_type(kind: object) -> str:
    """Return a type, lower-cased, its words separated by spaces.

    Raises `InvalidEntityError` unless it has 1 to 40 characters.
    """
    stored = key_of(_line(kind, "a type", _MAX_TYPE).replace("_", " "))
    if not stored:
        raise InvalidEntityError(f"a type has a letter or a digit, got {kind!r}")
    return stored


def stored_aliases(aliases: Iterable[object]) -> tuple[str, ...]:
    """Return aliases, each once.

    Raises `InvalidEntityError` for one that is not a name, or for more than 20.
    """
    if isinstance(aliases, (str, bytes)) or not isinstance(aliases, Iterable):
        raise InvalidEntityError(f"aliases must be a list of names, got {aliases!r}")
    stored = tuple(dict.fromkeys(_line(alias, "an alias", _MAX_NAME) for alias in aliases))
    for alias in stored:
        if not key_of(alias):
            raise InvalidEntityError(f"an alias has a letter or a digit, got {alias!r}")
    if len(stored) > _MAX_ALIASES:
        raise InvalidEntityError(f"an entity has at most {_MAX_ALIASES} aliases, got {len(stored)}")
    return stored


def stored_properties(given: object, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Merge given properties over the known ones.

    A property is name -> text, number or truth value. Raises `InvalidEntityError` for other values,
    for names over 60 characters and texts over 500, or for more than 20 properties. A value of None
    removes the property.
    """
    if not isinstance(given, Mapping):
        raise InvalidEntityError(f"properties must be name -> value, got {given!r}")
    stored = dict(known or {})
    for key, value in given.items():
        name = _line(key, "a property's name", _MAX_PROPERTY)
        if value is None:
            stored.pop(name, None)
        else:
            stored[name] = _value(name, value)
    if len(stored) > _MAX_PROPERTIES:
        raise InvalidEntityError(f"properties: at most {_MAX_PROPERTIES}, got {len(stored)}")
    return stored


def stored_measure(name: str, value: object) -> float:
    """Validate a salience or a weight.

    Raises `InvalidEntityError` unless it is a number within 0..1.
    """
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:  # type: ignore[operator]
        raise InvalidEntityError(f"{name} must be a number within 0..1, got {value!r}")
    return float(value)  # type: ignore[arg-type]


def _value(name: str, value: object) -> str | int | float | bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        if math.isfinite(value) and abs(value) < 2**63:
            return value
    elif isinstance(value, str):
        return _line(value, f"property {name!r}", _MAX_VALUE)
    raise InvalidEntityError(
        f"property {name!r} is a text, a number, or true or false, got {value!r}"
    )
