"""Validate and normalize categories and tags."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from contextkit_memories.errors import InvalidMemoryError

DEFAULT_CATEGORY = "facts"
MAX_WORD = 40
MAX_TAGS = 20

_STORED = {
    "fact": "facts",
    "preference": "preferences",
    "decision": "decisions",
    "error": "errors",
}
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_IN_CATEGORIES = frozenset("-_")
_IN_TAGS = frozenset("-_.:/+#")


def stored_category(category: str) -> str:
    """Normalize a category.

    Args:
        category: one word in any case: letters, digits, `-` and `_`, 40 characters at most.

    Returns:
        The word in lower case; the four known ones (facts, preferences, decisions, errors)
        always as plurals.

    Raises:
        InvalidMemoryError: it is not such a word.
    """
    word = _word(category, "category", _IN_CATEGORIES)
    return _STORED.get(word, word)


def stored_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Normalize tags.

    Args:
        tags: words in any case: letters, digits and `-_.:/+#`, 40 characters at most each.

    Returns:
        The words in lower case, each once, in the order in which they were given.

    Raises:
        InvalidMemoryError: one is not such a word, or there are more than 20.
    """
    if isinstance(tags, (str, Mapping)) or not isinstance(tags, Iterable):
        raise InvalidMemoryError(f"tags must be a list of words, got {tags!r}")
    stored = tuple(dict.fromkeys(_word(tag, "tag", _IN_TAGS) for tag in tags))
    if len(stored) > MAX_TAGS:
        raise InvalidMemoryError(f"a memory has at most {MAX_TAGS} tags, got {len(stored)}")
    return stored


def category_spellings(category: str) -> tuple[str, ...]:
    """Return stored categories that may mean the same.

    Examples: `bugs` and `bug`; `cases`, `case` and `cas`.

    Args:
        category: one word in any case, singular or plural.

    Returns:
        Its stored form, followed by what it may be in the other number.

    Raises:
        InvalidMemoryError: it is not a category.
    """
    stored = stored_category(category)
    return (stored,) if stored in _STORED.values() else (stored, *_other_numbers(stored))


def _word(word: object, what: str, joiners: frozenset[str]) -> str:
    if not isinstance(word, str):
        raise InvalidMemoryError(f"a {what} is a word, got {word!r}")
    if _PLAIN.fullmatch(word):
        return word
    normal = unicodedata.normalize("NFC", word).strip().lower()
    allowed = " ".join(sorted(joiners))
    if not normal or not _is_word(normal, joiners):
        raise InvalidMemoryError(
            f"a {what} is one word of letters, digits and {allowed} that begins with a letter "
            f"or a digit, got {word!r}"
        )
    if len(normal) > MAX_WORD:
        raise InvalidMemoryError(
            f"a {what} has at most {MAX_WORD} characters, {word[:MAX_WORD]!r}… has {len(normal)}"
        )
    return normal


def _is_word(word: str, joiners: frozenset[str]) -> bool:
    # Letters, marks (vowel signs of many scripts are marks) and numbers.
    kinds = [unicodedata.category(character)[0] for character in word]
    return kinds[0] in "LN" and all(
        kind in "LMN" or character in joiners for kind, character in zip(kinds, word, strict=True)
    )


def _other_numbers(word: str) -> tuple[str, ...]:
    hissing = ("s", "x", "z", "ch", "sh")
    if word.endswith("ies"):
        return (f"{word[:-3]}y", word[:-1])
    if word.endswith("es") and word[:-2].endswith(hissing):
        return (word[:-2], word[:-1])
    if word.endswith("s") and not word.endswith("ss"):
        return (word[:-1],)
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return (f"{word[:-1]}ies",)
    return (f"{word}es" if word.endswith(hissing) else f"{word}s",)
