"""Find statements that a newer statement makes untrue.

`The timeout is 30 s` and `The timeout is 60 s` cannot both be true; `The EU cluster has 12 nodes`
and `The US cluster has 20 nodes` can, and so can `Ada speaks German` and `Ada speaks French`. Words
alone decide, so a pair needs proof:

- *A flipped value*: the statements are the same up to and including the verb. Behind it a number, a
  name or a path differs, or one is negated, and the verb is true of one value at a time.
- *A change word* in the newer one (`now`, `no longer`, `moved from`, `took over`), on the same
  subject. The newer one names the old value as such, or both have most words in common.

Questions, events in the past, statements that add something (`also`) and long texts are no proof.
"""

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
    HANDED_OVER,
    HEDGES,
    HOMES,
    MOVED,
    MOVED_ON,
    NOUNS_TOO,
    OWNING,
    PAST,
    PLACED,
    PRESENT,
    SCALED,
    SCOPE_PREPOSITIONS,
    SCOPES,
    SEVERAL,
    TIMES,
    WITH_PLACE,
)
from contextkit.dedup.guard import Word, contrast, read_word, runs_of_difference
from contextkit.dedup.vocabulary import FUNCTION_WORDS, NEGATIONS
from contextkit.text.questions import stem_of
from contextkit.text.words import GREETINGS, STOP_WORDS

_MOST_WORDS = 40
_MOST_OF_A_VALUE = 4
_QUESTION_MARKS = ("?", "？")
_CLAUSE_ENDS = (",", ";", ".", "(", "!")
_CLAUSE_WORDS = frozenset({"since", "because", "after", "until", "so", "but", "and"})
_SEPARATORS = frozenset({":", "=", "->", "→", "=>"})
_EDGES = ",;.:!()\"'`“”‘’"
_UNITS = frozenset(
    [
        "s",
        "ms",
        "sec",
        "secs",
        "second",
        "seconds",
        "m",
        "min",
        "mins",
        "minute",
        "minutes",
        "h",
        "hour",
        "hours",
        "day",
        "days",
        "week",
        "weeks",
        "month",
        "months",
        "year",
        "years",
        "b",
        "kb",
        "mb",
        "gb",
        "tb",
        "%",
        "percent",
        "euro",
        "euros",
        "eur",
        "usd",
        "dollars",
    ]
)

_FROM_NOW_ON = re.compile(r"\bfrom now on\b", re.IGNORECASE)
_QUANTITY = re.compile(r"v?\d[\d.,:]*[a-z%]{0,3}")

_Stems = frozenset[str]


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
    def stems(self) -> _Stems:
        """The stems of the words that carry meaning."""
        return frozenset(
            _stem(word.key)
            for word in self.words
            if word.key not in FUNCTION_WORDS and word.key not in AUXILIARIES and not word.negation
        )

    @cached_property
    def topic(self) -> _Stems:
        """The stems without verbs and words that any statement has."""
        return self.stems - _GENERAL - _VERBS

    @cached_property
    def values(self) -> _Stems:
        """The stems of numbers, names, paths and identifiers."""
        return frozenset(_stem(w.key) for w in self.words if w.literal or w.name)

    @cached_property
    def quantities(self) -> _Stems:
        """The stems of plain numbers, with their units."""
        return frozenset(_stem(w.key) for w in self.words if _QUANTITY.fullmatch(w.key))

    @cached_property
    def verb(self) -> int | None:
        """The place of the verb, or of the separator, in the first clause."""
        if self.separator is not None:
            return min(self.separator, len(self.main) - 1)
        verbs = [place for place, word in enumerate(self.main) if _is_verb(word, place)]
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
    def subject(self) -> _Stems:
        """The stems before the verb that name something."""
        before = self.main[: self.verb + (self.separator is not None)] if self.verb else ()
        return frozenset(_stem(word.key) for word in before) - _GENERAL

    @cached_property
    def verb_key(self) -> str:
        """The verb, or an empty text."""
        return self.main[self.verb].key if self.verb is not None and self.main else ""

    @cached_property
    def verb_stem(self) -> str:
        """The stem of the verb; auxiliaries say too little and have none."""
        return "" if self.verb_key in AUXILIARIES else _stem(self.verb_key)

    @cached_property
    def verb_stems(self) -> _Stems:
        """The stems of all words, among them the verbs."""
        return frozenset(_stem(word.key) for word in self.words) - {""}

    @cached_property
    def keys(self) -> _Stems:
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
            and _stem(value.key) not in older.stems
            for word, value in pairs
        )

    def named_as_old(self, older: _Stems) -> _Stems:
        """Return the stems of another statement that it calls no longer true."""
        found: set[str] = set()
        words = self.words
        for place, word in enumerate(words):
            if word.key in BEFORE_THE_OLD:
                found.update(_first_of(words[place + 1 : place + 6], older))
            stem = _stem(word.key)
            if stem in older and _is_ended(words[place + 1 : place + 5]):
                found.add(stem)
        return frozenset(found) - _GENERAL


def _is_verb(word: Word, place: int) -> bool:
    key = word.key
    if key in PRESENT or key in PAST or key in DECIDED:
        return True
    return place > 0 and key.endswith("ed") and key.isalpha()


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    # `deploys` loses its ending in two steps, `deploy` in one.
    return stem_of(stem_of(word))


_GENERAL: _Stems = frozenset(
    _stem(word)
    for word in GENERIC
    | CHANGE_WORDS
    | TIMES
    | HEDGES
    | FUNCTION_WORDS
    | AUXILIARIES
    | NEGATIONS
    | STOP_WORDS
    | _UNITS
)

_VERBS: _Stems = frozenset(_stem(word) for word in PRESENT - NOUNS_TOO | PAST)


def _first_of(words: Sequence[Word], older: _Stems) -> Iterator[str]:
    """Yield the stems of the first words that another statement has, too."""
    begun = False
    for word in words:
        stem = _stem(word.key)
        if stem in older and stem not in _GENERAL:
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


def updated_pairs(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the positions of statements and of those that replace them.

    Args:
        texts: the texts, oldest first.
    """
    statements = [
        (place, statement)
        for place, statement in enumerate(map(Statement, texts))
        if statement.is_assertion
    ]
    for later, (new_place, newer) in enumerate(statements):
        for old_place, older in statements[:later]:
            if _may_replace(newer, older) and replaces(newer, older):
                yield old_place, new_place


def _may_replace(newer: Statement, older: Statement) -> bool:
    """Whether two statements are worth comparing."""
    has_sign = newer.changes or newer.opening == older.opening or newer.negations != older.negations
    return has_sign and not older.stems.isdisjoint(newer.stems)


def replaces(newer: Statement, older: Statement) -> bool:
    """Whether a newer statement makes an older one untrue."""
    if older.text == newer.text or (older.is_past and not older.changes):
        return False
    if _is_negated(newer, older):
        return True
    if newer.adds:
        return False
    return _is_flipped(newer, older) or (newer.changes and _is_changed(newer, older))


# -- a flipped value ------------------------------------------------------------------------


def _is_negated(newer: Statement, older: Statement) -> bool:
    """Whether one is the negation of the other."""
    if newer.negations == older.negations or newer.is_past:
        return False
    less, more = sorted((newer.stems - _GENERAL, older.stems - _GENERAL), key=len)
    if len(less) < 2 or len(more) - len(less) > 2:
        return False
    return less <= more or (newer.changes and len(less & more) >= 0.75 * len(more))


def _is_flipped(newer: Statement, older: Statement) -> bool:
    """Whether a value behind the same verb differs."""
    if older.is_past or newer.is_past or newer.negations != older.negations:
        return False
    if (older.separator is None) != (newer.separator is None):
        return False
    if _is_turned(newer, older):
        return True
    runs = runs_of_difference(older.main, newer.main)
    if not runs or not all(old and new for _, old, new in runs):
        return False
    start = runs[0][0]
    if start <= max(older.verb or 0, newer.verb or 0):
        return False
    if older.verb is None and not _is_number(*runs[0][1:]):
        return False
    if older.verb is None or len(runs) > 1:
        return all(
            (_is_number(old, new) or _is_contrast(old, new))
            and (at == start or older.main[at - 1].key not in SCOPE_PREPOSITIONS)
            for at, old, new in runs
        )
    return _is_other_value(older, *runs[0])


def _is_turned(newer: Statement, older: Statement) -> bool:
    """Whether `tabs over spaces` became `spaces over tabs`."""
    old, new = ([word.key for word in each.main] for each in (older, newer))
    return "over" in old and old != new and sorted(old) == sorted(new)


def _is_other_value(older: Statement, at: int, old: Sequence[Word], new: Sequence[Word]) -> bool:
    """Whether one value behind a verb excludes the other."""
    words, verb = older.main, older.main[older.verb or 0]
    if SCOPES & {word.key for word in (*old, *new)}:
        return False
    if older.separator is not None:
        # `Ada: yes` is a turn of a conversation, `CTO: Ada` is not.
        is_speaker = older.separator == 0 and verb.name and not older.text[:2].isupper()
        return max(len(old), len(new)) <= _MOST_OF_A_VALUE and not is_speaker
    between = [word.key for word in words[(older.verb or 0) + 1 : at]]
    if _is_number(old, new):
        return verb.key not in SEVERAL
    if _is_contrast(old, new):
        return True
    rest = words[at + len(old) :]
    follows = any(_stem(w.key) not in _GENERAL and w.key not in PLACED for w in rest)
    if verb.key in DECIDED or verb.key in {
        "use",
        "uses",
        "prefer",
        "prefers",
        "ask",
        "want",
        "wants",
    }:
        return follows and len(old) == len(new) == 1
    if verb.key in SEVERAL:
        # `Write docstrings in Google style`: what is written is the same.
        placed = bool(between) and between[-1] in PLACED
        return older.verb == 0 and placed and len(between) > 1 and follows
    if not (_has_value(old) and _has_value(new)) or _says_more([*old, *new]):
        return False
    if verb.key in {"is", "are"}:
        before_place = itertools.takewhile(lambda key: key not in PLACED, between)
        return all(key.endswith(("ed", "en", "set")) for key in before_place)
    return verb.key in WITH_PLACE and not PLACED.isdisjoint(between)


def _is_number(old: Sequence[Word], new: Sequence[Word]) -> bool:
    """Whether two runs are numbers, perhaps with other units."""
    return all(
        any(word.literal and _has_digit_or_is_number(word) for word in run)
        and all(word.literal or word.key in _UNITS for word in run)
        for run in (old, new)
    )


def _has_digit_or_is_number(word: Word) -> bool:
    return word.number or word.literal


def _is_contrast(old: Sequence[Word], new: Sequence[Word]) -> bool:
    return len(old) == len(new) == 1 and contrast(old[0], new[0])


def _says_more(run: Sequence[Word]) -> bool:
    """Whether a run has more than a value: `defined in flags.toml`."""
    return any(word.key in PLACED or _is_verb(word, 1) for word in run)


def _has_value(run: Sequence[Word]) -> bool:
    return any(word.literal or word.name for word in run)


# -- a change word --------------------------------------------------------------------------


def _is_changed(newer: Statement, older: Statement) -> bool:
    """Whether the newer one says that the older one's subject changed."""
    # What the newer one repeats in full is still true.
    if older.topic <= newer.stems and not newer.named_as_old(older.topic):
        return False
    mine = newer.subject - older.stems - newer.values
    if (older.subject - newer.stems - older.values) and mine:
        return False
    gone = newer.named_as_old(older.topic)
    if gone:
        return _is_of_the_same(newer, older, gone)
    if older.is_past or newer.names_another(older):
        return False
    if not SCOPES.isdisjoint({word.key for word in older.words} - newer.keys):
        return False
    if _same_beginning(newer, older) and HOMES.search(older.text) and MOVED.search(newer.text):
        return True
    return not (older.subject - newer.stems and mine) and _is_near(newer, older)


def _is_near(newer: Statement, older: Statement) -> bool:
    """Whether two statements have their subject and more in common."""
    common = older.topic & newer.topic
    names_subject = bool(older.subject) and older.subject <= newer.stems
    has_values = bool(older.values - newer.stems) and bool(newer.values - older.stems)
    others = newer.topic - older.topic - newer.values
    if older.topic - newer.stems - older.values and others:
        return False
    if names_subject and older.quantities and newer.quantities and SCALED.search(newer.text):
        return older.values - older.quantities <= newer.stems and not others
    if names_subject and has_values and not others and MOVED_ON.search(newer.text):
        return older.topic - older.values <= newer.stems
    says_the_same = bool(common - older.subject) or older.verb_stem in newer.verb_stems
    return (
        says_the_same
        and len(common) > 1
        and (names_subject or has_values)
        and 2 * len(common) >= len(older.topic)
    )


def _is_of_the_same(newer: Statement, older: Statement, gone: _Stems) -> bool:
    """Whether what is no longer true was said of the same subject."""
    if HANDED_OVER.search(newer.text) and older.verb_key not in OWNING:
        return False
    left = older.topic - gone
    unknown, others = left - newer.stems, newer.topic - older.topic - newer.values
    if left & newer.topic:
        return not (unknown and others)
    if gone <= older.subject:
        return False
    return not (older.subject - gone) and not others and not older.has_scope


def _same_beginning(newer: Statement, older: Statement) -> bool:
    start = older.verb or 0
    old, new = ([word.key for word in each.main[:start]] for each in (older, newer))
    return start > 0 and old == new
