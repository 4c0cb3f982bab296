"""Whether a question means a definition: by its name, or by the words that its name is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contextkit_code.ranking.question import Question
from contextkit_code.ranking.words import closest, likeness, words_of

_FUNCTION = 0.75
_WITHIN = 0.45
"""A method, and whatever else stands within another definition."""

_TYPE = 1.0
_LEAST_WORDS = 2
_MOST_WORDS = 8


def named(fields: Mapping[str, Any], question: Question) -> float:
    """How much a unit is what the question names, 0..1; the type of that name before a method."""
    names = question.names
    if not names:
        return 0.0
    if fields.get("signature") and names & {fields.get("name"), fields.get("qualified_name")}:
        return {"function": _FUNCTION, "method": _WITHIN}.get(fields["unit_type"], _TYPE)
    held = fields.get("defines", ())
    return _WITHIN if any(name in names or _last(name) in names for name in held) else 0.0


def spelled(fields: Mapping[str, Any], question: Question) -> float:
    """How much of the question spells the name of a unit, or of what stands in it, 0..1.

    `JSON array operations` spells `JsonArray`, with two of its three words. A name counts
    where each of its words is in the question, and only where it has several.
    """
    if not question.words:
        return 0.0
    most = max((_words_spelled(name, question) for name in _names(fields)), default=0)
    return most / len(question.words)


def resembling(fields: Mapping[str, Any], question: Question) -> float:
    """How much of a unit's own name the question has, 0..1; of a window nothing.

    `default of a missing prompt` has all of `prompt_default` and half of `prompt_user`.
    """
    words = words_of(str(fields.get("name", ""))) if fields.get("signature") else ()
    if not words or not question.words:
        return 0.0
    return sum(closest(word, question.words) for word in words) / len(words)


def _names(fields: Mapping[str, Any]) -> Iterator[str]:
    if fields.get("signature"):
        yield str(fields.get("name", ""))
    for name in fields.get("defines", ()):
        yield _last(name)


def _words_spelled(name: str, question: Question) -> int:
    words = words_of(name)
    if not _LEAST_WORDS <= len(words) <= _MOST_WORDS:
        return 0
    asked = question.words
    if not all(closest(word, asked) == 1.0 for word in words):
        return 0
    return sum(any(likeness(word, each) == 1.0 for word in words) for each in asked)


def _last(name: str) -> str:
    return name.rpartition(".")[2]
