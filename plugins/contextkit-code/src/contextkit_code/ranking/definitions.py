"""Detect whether a question means a definition.

It may give the name itself, or the words in the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from contextkit import Hit
from contextkit_code.ranking.question import Question
from contextkit_code.ranking.words import closest, likeness, words_of
from contextkit_code.record_kinds import CELL

_FUNCTION = 0.75
_WITHIN = 0.45
"""Weight of a nested definition, such as a method."""

_TYPE = 1.0
_HELD = 0.2
"""Weight of a unit that has a name of several words in its text."""

_MOST_NAMES = 20
"""Most names that are looked for in the text of each unit; a query of more is a pasted text."""

_QUOTES = ("'", '"')
_AUXILIARIES = frozenset({"are", "can", "does", "has", "have", "is", "was", "will"})
_PRIVATE = re.compile(r"(?:\w+ )*?(?:(?:private|fileprivate|protected|internal)\b|pub\()")
_INNER = frozenset({"detail", "details", "impl", "internal", "internals", "private"})
"""Folders and namespaces of what a library keeps to itself."""

_APART = 0.7
"""Factor for a name whose words do not follow each other in the question."""

_LEAST_WORDS = 2
_MOST_WORDS = 8


def named(hit: Hit, question: Question) -> float:
    """Score a unit's match with the named definition, 0..1.

    The type of that name comes before a method, and what uses a name of several words, such as
    `FST_ERR_INVALID_URL`, before what only has its words. So does what has an option's name, such
    as `line-length`, in quotes.
    """
    defined = _defined(hit.record.fields, question)
    most = max(len(question.names), len(question.keys))
    if defined or question.has_lines or not 0 < most <= _MOST_NAMES:
        return defined
    text = hit.record.text
    own = {part for name in question.names for part in (name, _last(name))}
    held = [name for name in own if name in text and len(words_of(name)) > 1]
    quoted = (f"{mark}{key}{mark}" in text for key in question.keys for mark in _QUOTES)
    if any(quoted) or any(_is_set(name, line) for name in held for line in text.split("\n")):
        return _WITHIN
    return _HELD if held else 0.0


def _is_set(name: str, line: str) -> bool:
    """Return whether a line sets a constant: `NAME = 1`, `NAME: make(`, `#define NAME`."""
    before, found, behind = line.partition(name)
    # An alias or a variable is explained by what it is used for.
    if not found or not name.lstrip("_$")[:1].isupper() or any(mark in before for mark in "(=\"'`"):
        return False
    gets = behind.lstrip()
    return "#define" in before or (gets.startswith((":", "=")) and not gets.startswith("=="))


def _defined(fields: Mapping[str, Any], question: Question) -> float:
    names = question.names
    if not names:
        return 0.0
    if fields.get("signature") and names & {fields.get("name"), fields.get("qualified_name")}:
        return {"function": _FUNCTION, "method": _WITHIN}.get(fields["unit_type"], _TYPE)
    held = fields.get("defines", ())
    return _WITHIN if any(name in names or _last(name) in names for name in held) else 0.0


def spelled(fields: Mapping[str, Any], question: Question) -> float:
    """Score how far the question spells a definition's name, 0..1.

    The definition is the unit or one within it. `JSON array operations` spells `JsonArray`, with
    two of its three words. A name counts only if it has several words and the question has each of
    them, and less if these do not follow each other there.
    """
    if not question.words:
        return 0.0
    most = max([_words_spelled(name, question) for name in _names(fields)], default=0.0)
    return most / len(question.words)


def resembling(fields: Mapping[str, Any], question: Question) -> float:
    """Score the share of a unit's name in the question.

    The score is 0..1, and 0 for a window. A notebook's cell has the name of its heading.
    """
    is_named = fields.get("signature") or fields.get("unit_type") == CELL
    words = words_of(str(fields.get("name", ""))) if is_named else ()
    if not words or not question.words:
        return 0.0
    return sum(closest(word, question.words) for word in words) / len(words)


def is_private(fields: Mapping[str, Any]) -> bool:
    """Return whether a unit is for its own file, class or library alone.

    It is where its modifiers, its name or its place say so.
    """
    signature, name = str(fields.get("signature", "")), str(fields.get("name", ""))
    by_language = {
        "c": signature.startswith("static "),
        "go": name[:1].islower(),
        "rust": fields["unit_type"] == "function" and not signature.startswith("pub"),
        # What is `internal` is for every contract that inherits it, or uses the library.
        "solidity": " private" in signature,
    }
    # Infrastructure is named for the networks that it is in.
    qualified = "" if fields.get("language") == "hcl" else fields["qualified_name"]
    places = re.split(r"[./]", f"{fields.get('file_path', '')}/{qualified}".lower())
    return (
        _PRIVATE.match(signature) is not None
        or by_language.get(str(fields.get("language")), False)
        or any(place in _INNER or re.match(r"_[^_]", place) for place in places)
    )


def _names(fields: Mapping[str, Any]) -> Iterator[str]:
    if fields.get("signature"):
        yield str(fields.get("name", ""))
    for name in fields.get("defines", ()):
        yield _last(name)


def _words_spelled(name: str, question: Question) -> float:
    """Return how many of the question's words spell a name; fewer where they are apart."""
    words = [word for word in words_of(name) if word not in _AUXILIARIES]
    if not _LEAST_WORDS <= len(words) <= _MOST_WORDS:
        return 0.0
    asked = question.words
    if not all(closest(word, asked) == 1.0 for word in words):
        return 0.0
    places = [
        {place for place, each in enumerate(asked) if likeness(word, each) == 1.0} for word in words
    ]
    follows = (not other.isdisjoint(place + 1 for place in one) for one, other in pairwise(places))
    return len(set().union(*places)) * (1.0 if all(follows) else _APART)


def _last(name: str) -> str:
    return name.rpartition(".")[2]
