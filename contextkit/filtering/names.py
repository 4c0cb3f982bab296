"""The names in a question, and whether what was found for it has them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from contextkit.models import ContextItem
from contextkit.ranking.evidence import Word, text_of
from contextkit.ranking.named_dates import named_dates
from contextkit.request import ContextRequest
from contextkit.signals.reading import is_code_name, name_parts, stem_of

__all__ = ["Names", "names_in"]

_WORD = re.compile(r"[^\W_]+(?:['’]s)?")
_OWNED = re.compile(r"['’]s$")
_WEEKDAYS = frozenset(
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
)
_IDENTIFIER = re.compile(r"\w+")
_LETTERS_A_SLIP = 5
_MOST_WRONG = 2
_JOINT = r"[\W_]{0,2}"
_MARKED = re.compile(r"[_./:>()#]")
"""What no proper name has, as `NO_PROXY` and `index.rst` have it."""

_SHORT = 5
"""A name of so few letters is found as a whole: React is not in `reaction`."""


@frozen
class Names:
    """The names in a question.

    Attributes:
        found: those that something has that was found.
        missing: those that nothing has, nor a name that is nearly the same.
        is_of_code: whether one is written as nothing but code is, as `NO_PROXY`.
    """

    found: Sequence[str] = ()
    missing: Sequence[str] = ()
    is_of_code: bool = False


def names_in(request: ContextRequest, items: Sequence[ContextItem]) -> Names:
    """Tell which names of a question the items have.

    Args:
        request: its query, and the names in that.
        items: all that was found.
    """
    names = [name for name in request.signals.entities if not _is_date(name)]
    if not names:
        return Names()
    texts = [(text, text.lower()) for text in map(text_of, items)]
    code = [name for name in names if is_code_name(name)]
    proper = [name for name in names if name not in code and not name.islower()]
    found = [name for name in code if _has_code(texts, name)]
    found += [name for name in proper if _has_all(texts, name)]
    missing = [name for name in (*proper, *code) if name not in found]
    if missing and _is_title(request.query, proper):
        missing = []
    return Names(
        found=found,
        missing=[n for n in missing if n not in code or not _is_nearly_in(texts, n)],
        is_of_code=any(map(_MARKED.search, code)),
    )


def _is_date(name: str) -> bool:
    return bool(named_dates(name)) or name.lower() in _WEEKDAYS


def _has_code(texts: Sequence[tuple[str, str]], name: str) -> bool:
    """Whether a text has the name, however its parts are joined."""
    parts = [re.escape(part) for part in name_parts(name)]
    # iOS is not in `axios`.
    pattern = re.compile(rf"(?<![^\W\d_]){_JOINT.join(parts)}(?![^\W\d_])")
    return bool(parts) and any(pattern.search(lowered) for _, lowered in texts)


def _is_nearly_in(texts: Sequence[tuple[str, str]], name: str) -> bool:
    """Whether a text has a name like this, which may be mistyped."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    wrong = min(_MOST_WRONG, len(name) // _LETTERS_A_SLIP)
    known = {each for _, lowered in texts for each in _IDENTIFIER.findall(lowered)}
    scored = process.extractOne(name.lower(), known, scorer=OSA.distance, score_cutoff=wrong)
    return scored is not None


def _has_all(texts: Sequence[tuple[str, str]], name: str) -> bool:
    words = [_OWNED.sub("", word) for word in _WORD.findall(name)]
    return all(any(word.is_in(*text) for text in texts) for word in map(_word, words))


def _word(name: str) -> Word:
    lowered = name.lower()
    return Word.whole(lowered) if len(name) <= _SHORT else Word.of(stem_of(lowered))


def _is_title(query: str, proper: Sequence[str]) -> bool:
    """Whether capitals say nothing: a text of several lines, or one With Each Word So."""
    words = sum(len(name.split()) for name in proper)
    return "\n" in query.strip() or 2 * words > len(query.split())
