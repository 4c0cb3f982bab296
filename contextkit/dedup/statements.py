"""Read a short statement: its subject, its verb, and the values that it has."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from attrs import field, frozen

from contextkit.dedup.change_words import (
    ADDS,
    AFTER_THE_OLD,
    AUXILIARIES,
    BEFORE_THE_OLD,
    CHANGE_WORDS,
    CHANGES,
    DECIDED,
    GENERIC,
    HEDGES,
    NOUNS_TOO,
    PAST,
    PRESENT,
    TIMES,
    UNITS,
)
from contextkit.dedup.guard import Word, read_word
from contextkit.dedup.vocabulary import FUNCTION_WORDS, NEGATIONS
from contextkit.text.questions import stem_of
from contextkit.text.words import GREETINGS, STOP_WORDS

_MOST_WORDS = 40
_QUESTION_MARKS = ("?", "？")
_CLAUSE_ENDS = (",", ";", ".", "(", "!")
_CLAUSE_WORDS = frozenset({"since", "because", "after", "until", "so", "but", "and"})
_SEPARATORS = frozenset({":", "=", "->", "→", "=>"})
_FROM_NOW_ON = re.compile(r"\bfrom now on\b", re.IGNORECASE)
_QUANTITY = re.compile(r"v?\d[\d.,:]*[a-z%]{0,3}")

Stems = frozenset[str]


@frozen(slots=False, eq=False)
class Statement:
    """A short text, read for what it says of which subject.

    Each part is computed on first use.
    """

    text: str = field()

    @cached_property
    def is_long(self) -> bool:
        """Whether it says too much to be one statement."""
        return len(self.text.split(None, _MOST_WORDS)) > _MOST_WORDS

    @cached_property
    def is_assertion(self) -> bool:
        """Whether it is a statement, and no question, greeting or long text."""
        if self.text.rstrip().endswith(_QUESTION_MARKS) or self.is_long:
            return False
        return self.opening not in GREETINGS

    @cached_property
    def _chunks(self) -> Sequence[str]:
        return _FROM_NOW_ON.sub(" ", self.text).split()

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All words."""
        return tuple(word for word in map(read_word, self._chunks) if word.key)

    @cached_property
    def main(self) -> tuple[Word, ...]:
        """The words of the first clause, without hedges."""
        words: list[Word] = []
        for place, chunk in enumerate(self._chunks):
            word = read_word(chunk)
            if (chunk.startswith("(") or word.key in _CLAUSE_WORDS) and place > 2:
                break
            if word.key and word.key not in HEDGES:
                words.append(word)
            if chunk.endswith(_CLAUSE_ENDS) and len(words) > 1:
                break
        return tuple(words)

    @cached_property
    def opening(self) -> str:
        """Its first word."""
        return self.main[0].key if self.main else ""

    @cached_property
    def stems(self) -> Stems:
        """The stems of the words that carry meaning."""
        return frozenset(
            stem_in(word.key)
            for word in self.words
            if word.key not in FUNCTION_WORDS and word.key not in AUXILIARIES and not word.negation
        )

    @cached_property
    def topic(self) -> Stems:
        """The stems without verbs and words that any statement has."""
        return self.stems - GENERAL - _VERBS

    @cached_property
    def main_topic(self) -> Stems:
        """The topic of the first clause; a reason that follows is none of it."""
        return self.topic & frozenset(stem_in(word.key) for word in self.main)

    @cached_property
    def values(self) -> Stems:
        """The stems of numbers, names, paths and identifiers."""
        return frozenset(stem_in(w.key) for w in self.words if w.literal or w.name)

    @cached_property
    def quantities(self) -> Stems:
        """The stems of plain numbers, with their units."""
        return frozenset(stem_in(w.key) for w in self.words if _QUANTITY.fullmatch(w.key))

    @cached_property
    def verb(self) -> int | None:
        """The place of the verb, or of the separator, in the first clause."""
        if self.separator is not None:
            return min(self.separator, len(self.main) - 1)
        verbs = [place for place, word in enumerate(self.main) if is_verb(word, place)]
        first = next(iter(verbs), None)
        if first is None or (first and self.main[first - 1].key in GENERIC):
            return first
        sure = [place for place in verbs if self.main[place].key not in NOUNS_TOO]
        return sure[0] if sure else first

    @cached_property
    def separator(self) -> int | None:
        """The place of the word before a colon or an equals sign."""
        place = -1
        for chunk in self._chunks[:10]:
            word = read_word(chunk)
            if word.key and word.key not in HEDGES:
                place += 1
            if chunk in _SEPARATORS or chunk.endswith(":"):
                return place if place >= 0 else None
        return None

    @cached_property
    def is_past(self) -> bool:
        """Whether it says what happened."""
        if self.separator is not None or self.verb is None:
            return False
        key = self.main[self.verb].key
        return key not in PRESENT and key not in DECIDED

    @cached_property
    def subject(self) -> Stems:
        """The stems before the verb that name something."""
        before = self.main[: self.verb + (self.separator is not None)] if self.verb else ()
        return frozenset(stem_in(word.key) for word in before) - GENERAL

    @cached_property
    def verb_key(self) -> str:
        """The verb, or an empty text."""
        return self.main[self.verb].key if self.verb is not None and self.main else ""

    @cached_property
    def verb_stem(self) -> str:
        """The stem of the verb; auxiliaries say too little and have none."""
        return "" if self.verb_key in AUXILIARIES else stem_in(self.verb_key)

    @cached_property
    def all_stems(self) -> Stems:
        """The stems of all words, with the verbs."""
        return frozenset(stem_in(word.key) for word in self.words) - {""}

    @cached_property
    def keys(self) -> Stems:
        """All words in their comparable form."""
        return frozenset(word.key for word in self.words)

    @cached_property
    def has_scope(self) -> bool:
        """Whether it holds for something in particular: `for orders`."""
        return not self.keys.isdisjoint({"for", "in", "during", "under"})

    @cached_property
    def changes(self) -> bool:
        """Whether it says that something changed."""
        return CHANGES.search(self.text) is not None

    @cached_property
    def adds(self) -> bool:
        """Whether it adds to what was said."""
        return ADDS.search(self.text) is not None

    @cached_property
    def negations(self) -> int:
        """The number of its negations."""
        return sum(word.negation for word in self.words)

    def names_another(self, older: Statement) -> bool:
        """Whether it replaces a value that the older one does not have."""
        pairs = itertools.pairwise(self.words)
        return any(
            word.key in {"from", "replaced", "instead"}
            and (value.literal or value.name)
            and stem_in(value.key) not in older.stems
            for word, value in pairs
        )

    def named_as_old(self, older: Stems) -> Stems:
        """Return the stems of another statement that it calls no longer true."""
        found: set[str] = set()
        words = self.words
        for place, word in enumerate(words):
            if word.key in BEFORE_THE_OLD:
                found.update(_first_of(words[place + 1 : place + 6], older))
            stem = stem_in(word.key)
            if stem in older and _is_ended(words[place + 1 : place + 5]):
                found.add(stem)
        return frozenset(found) - GENERAL


def is_verb(word: Word, place: int) -> bool:
    """Whether a word at a place of a clause may be its verb."""
    key = word.key
    if key in PRESENT or key in PAST or key in DECIDED:
        return True
    return place > 0 and key.endswith("ed") and key.isalpha()


@lru_cache(maxsize=8192)
def stem_in(word: str) -> str:
    """Return the stem of a word in its comparable form."""
    # `deploys` loses its ending in two steps, `deploy` in one.
    return stem_of(stem_of(word))


GENERAL: Stems = frozenset(
    stem_in(word)
    for word in GENERIC
    | CHANGE_WORDS
    | TIMES
    | HEDGES
    | FUNCTION_WORDS
    | AUXILIARIES
    | NEGATIONS
    | STOP_WORDS
    | UNITS
)

ANY_VERBS: Stems = frozenset(stem_in(word) for word in PRESENT | PAST)
"""The stems of verbs, with those that may be nouns."""

_VERBS: Stems = frozenset(stem_in(word) for word in PRESENT - NOUNS_TOO | PAST)


def _first_of(words: Sequence[Word], older: Stems) -> Iterator[str]:
    """Yield the stems of the first words that another statement has, too."""
    begun = False
    for word in words:
        stem = stem_in(word.key)
        if stem in older and stem not in GENERAL:
            begun = True
            yield stem
        elif begun or not (word.key in FUNCTION_WORDS or word.key in GENERIC or word.key == "own"):
            return


def _is_ended(following: Sequence[Word]) -> bool:
    for word in following:
        if word.key in AFTER_THE_OLD or word.negation:
            return True
        if word.key not in AUXILIARIES:
            return False
    return False
