"""Vocabulary of experiences: axes, statuses, tiers, known domains and strategies."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal, get_args

from contextkit_experiences.errors import InvalidExperienceError, Problem, described

Axis = Literal["full", "strategy", "surprise", "root_cause"]
Ending = Literal["confirmed", "falsified", "abandoned"]
Status = Literal["open", Ending]
Tier = Literal["gold", "silver", "bronze", "abandoned"]

AXES: tuple[Axis, ...] = get_args(Axis)
ENDINGS: tuple[Ending, ...] = get_args(Ending)
STATUSES: tuple[Status, ...] = get_args(Status)
TIERS: tuple[Tier, ...] = get_args(Tier)

OPEN: Status = "open"
FAILURES: frozenset[str] = frozenset({"falsified", "abandoned"})

SALIENCE: dict[str, float] = {"gold": 1.0, "silver": 0.75, "bronze": 0.5, "abandoned": 0.25}
"""Importance of an experience of each tier, regardless of the query."""

DOMAINS = (
    "configuration",
    "debugging",
    "documentation",
    "feature",
    "integration",
    "performance",
    "refactoring",
    "security",
    "testing",
)
"""Suggested domains; any other word is valid."""

STRATEGIES = (
    "ask-user",
    "check-assumptions",
    "copy-from-similar",
    "divide-and-conquer",
    "read-the-error",
    "research-first",
    "root-cause-analysis",
    "systematic-elimination",
    "trial-and-error",
)
"""Suggested strategies; any other word is valid."""

_WORD = re.compile(r"[^\W_]+(?:[-_][^\W_]+)*")
_LONGEST_WORD = 64


def checked_word(value: Any, field: str) -> str:
    """Normalize a domain or a strategy.

    The word is trimmed, composed and in lower case. It has letters and digits of any script, joined
    by single hyphens or underscores, 64 characters at most. Raises `InvalidExperienceError` naming
    `field` otherwise.
    """
    if isinstance(value, str):
        word = unicodedata.normalize("NFC", value).strip().lower()
        if len(word) <= _LONGEST_WORD and _WORD.fullmatch(word):
            return word
    example = "debugging" if field == "domain" else "systematic-elimination"
    raise InvalidExperienceError(
        Problem(
            field,
            described(value),
            f"one word such as '{example}': letters and digits joined by hyphens, "
            f"at most {_LONGEST_WORD} characters",
        )
    )


def meant_instead(word: str, known: Sequence[str]) -> str | None:
    """Return the known word that a word probably misspells.

    None where there is none.
    """
    if word in known:
        return None
    nearest = difflib.get_close_matches(word, known, n=1, cutoff=0.85)
    return nearest[0] if nearest else None
