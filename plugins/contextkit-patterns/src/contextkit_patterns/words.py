"""Names, steps and triggers: what they may be, and the form in which they are stored."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import partial

from contextkit.text.given import given_line
from contextkit.text.signals import INTENTS
from contextkit_patterns.errors import InvalidPatternError

__all__ = [
    "MAX_STEP",
    "id_of",
    "stored_entity_types",
    "stored_intents",
    "stored_keywords",
    "stored_name",
    "stored_steps",
    "words_of",
]

MAX_STEP = 2_000

_MAX_NAME = 80
_MAX_STEPS = 50
_MAX_TRIGGER = 60
_MAX_TRIGGERS = 50
_ENTITY_TYPE = "entity type"
_WORD = re.compile(r"\w+")

_line = partial(given_line, error=InvalidPatternError)


def words_of(text: str) -> list[str]:
    """The words of a text in the form in which words are compared, in their order."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def id_of(name: str) -> str:
    """The id of the pattern of that name: its words with hyphens between."""
    return "-".join(words_of(name))


def stored_name(name: object) -> str:
    """A name on one line; raises `InvalidPatternError` unless it has 1 to 80 characters."""
    stored = _line(name, "a name", _MAX_NAME)
    if not words_of(stored):
        raise InvalidPatternError(f"a pattern's name has a letter or a digit, got {stored!r}")
    return stored


def stored_steps(steps: Iterable[object]) -> tuple[str, ...]:
    """Steps, each on one line.

    Raises `InvalidPatternError` unless there are 1 to 50 of 1 to 2,000 characters.
    """
    stored = tuple(_line(step, "a step", MAX_STEP) for step in _several(steps, "steps"))
    if not 1 <= len(stored) <= _MAX_STEPS:
        raise InvalidPatternError(f"a pattern has 1 to {_MAX_STEPS} steps, got {len(stored)}")
    return stored


def stored_keywords(keywords: Iterable[object]) -> tuple[str, ...]:
    """Words or phrases in the form in which they are compared, each once.

    Raises `InvalidPatternError` for what has no word, or for more than 50.
    """
    return _triggers(keywords, "keyword")


def stored_entity_types(entity_types: Iterable[object]) -> tuple[str, ...]:
    """Types of entities, `function` or `table`, as `stored_keywords` gives keywords."""
    return _triggers(entity_types, _ENTITY_TYPE)


def stored_intents(intents: Iterable[object]) -> tuple[str, ...]:
    """Intents, each once; raises `InvalidPatternError` for what is none of `INTENTS`."""
    stored = []
    for intent in _several(intents, "intents"):
        if intent not in INTENTS:
            raise InvalidPatternError(
                f"an intent is one of {', '.join(INTENTS)}, got {str(intent)[:_MAX_TRIGGER]!r}"
            )
        stored.append(str(intent))
    return tuple(dict.fromkeys(stored))


def _triggers(given: Iterable[object], what: str) -> tuple[str, ...]:
    stored = []
    for each in _several(given, f"{what}s"):
        words = words_of(_line(each, _a(what), _MAX_TRIGGER))
        if not words:
            raise InvalidPatternError(f"{_a(what)} has a letter or a digit, got {each!r}")
        stored.append(" ".join(words))
    if len(stored) > _MAX_TRIGGERS:
        raise InvalidPatternError(
            f"a pattern has at most {_MAX_TRIGGERS} {what}s, got {len(stored)}"
        )
    return tuple(dict.fromkeys(stored))


def _several(given: Iterable[object], what: str) -> list[object]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InvalidPatternError(f"{what} must be a list of texts, got {given!r}")
    return list(given)


def _a(what: str) -> str:
    return f"an {what}" if what == _ENTITY_TYPE else f"a {what}"
