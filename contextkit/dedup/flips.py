"""Decide whether a newer statement gives another value to the same subject.

The statements are the same up to and including the verb, or the colon of `max retries: 3`. Behind
it something differs that can only have one value: a number, a name, a path, a day. Verbs that may
be true of several things at once, such as `speaks`, prove nothing. Neither does a difference in
what the statement is about: `in staging`, `in production`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from contextkit.dedup.change_words import (
    DECIDED,
    ONE_THING,
    PARTICIPLES,
    PLACED,
    SCOPE_PREPOSITIONS,
    SCOPES,
    SEVERAL,
    UNITS,
    WITH_PLACE,
)
from contextkit.dedup.guard import Word, contrast, runs_of_difference
from contextkit.dedup.statements import GENERAL, Statement, is_verb, stem_in

_MOST_OF_A_VALUE = 4

_Run = tuple[int, Sequence[Word], Sequence[Word]]
"""A place in the older statement, and the words there in both."""


def is_negated(newer: Statement, older: Statement) -> bool:
    """Whether one is the negation of the other."""
    if newer.negations == older.negations or newer.is_past:
        return False
    less, more = sorted((newer.stems - GENERAL, older.stems - GENERAL), key=len)
    if len(less) < 2 or len(more) - len(less) > 2:
        return False
    return less <= more or (newer.changes and len(less & more) >= 0.75 * len(more))


def is_flipped(newer: Statement, older: Statement) -> bool:
    """Whether a value behind the same verb differs."""
    if older.is_past or newer.is_past or newer.negations != older.negations:
        return False
    if (older.separator is None) != (newer.separator is None):
        return False
    if _is_turned(newer, older):
        return True
    runs = runs_of_difference(older.main, newer.main)
    before = not runs or runs[0][0] <= max(older.verb or 0, newer.verb or 0)
    if before or not all(old and new for _, old, new in runs):
        return False
    if older.verb is None or len(runs) > 1:
        return _are_values(older, runs)
    return _is_other_value(older, runs[0])


def _is_turned(newer: Statement, older: Statement) -> bool:
    """Whether `tabs over spaces` became `spaces over tabs`."""
    old, new = ([word.key for word in each.main] for each in (older, newer))
    return "over" in old and old != new and sorted(old) == sorted(new)


def _are_values(older: Statement, runs: Sequence[_Run]) -> bool:
    """Whether all differences are values, and none is what the statement is about."""
    first, old, new = runs[0]
    if older.verb is None and not _are_literal(old, new):
        return False
    return all(
        (_are_literal(old, new) or _is_contrast(old, new))
        and (at == first or older.main[at - 1].key not in SCOPE_PREPOSITIONS)
        for at, old, new in runs
    )


def _is_other_value(older: Statement, run: _Run) -> bool:
    """Whether the one value that differs excludes the other."""
    _, old, new = run
    words, verb = older.main, older.verb or 0
    if SCOPES & {word.key for word in (*old, *new)}:
        return False
    if older.separator is not None:
        # `Ada: yes` is a turn of a conversation, `CTO: Ada` is not.
        is_speaker = verb == 0 and words[0].name and not older.text[:2].isupper()
        return max(len(old), len(new)) <= _MOST_OF_A_VALUE and not is_speaker
    if _are_literal(old, new):
        return words[verb].key not in SEVERAL
    return _is_contrast(old, new) or _is_only_one(older, run)


def _is_only_one(older: Statement, run: _Run) -> bool:
    """Whether the verb is true of one thing: what was behind it is no longer so."""
    at, old, new = run
    words, verb = older.main, older.verb or 0
    key, between = words[verb].key, [word.key for word in words[verb + 1 : at]]
    behind = (word.key for word in words[at + len(old) :])
    follows = any(stem_in(word) not in GENERAL and word not in PLACED for word in behind)
    if key in ONE_THING or key in DECIDED:
        return follows and len(old) == len(new) == 1
    if key in SEVERAL:
        # `Write docstrings in Google style`: what is written is the same.
        placed = len(between) > 1 and between[-1] in PLACED
        return verb == 0 and placed and follows
    if not (_has_value(old) and _has_value(new)) or _says_more([*old, *new]):
        return False
    if key in {"is", "are"}:
        participles = itertools.takewhile(lambda word: word not in PLACED, between)
        return all(word.endswith(("ed", "en")) or word in PARTICIPLES for word in participles)
    return key in WITH_PLACE and not PLACED.isdisjoint(between)


def _are_literal(old: Sequence[Word], new: Sequence[Word]) -> bool:
    """Whether two runs are numbers, paths or identifiers, perhaps with units."""
    return all(
        any(word.literal for word in run) and all(word.literal or word.key in UNITS for word in run)
        for run in (old, new)
    )


def _is_contrast(old: Sequence[Word], new: Sequence[Word]) -> bool:
    return len(old) == len(new) == 1 and contrast(old[0], new[0])


def _says_more(run: Sequence[Word]) -> bool:
    """Whether a run has more than a value: `defined in flags.toml`."""
    return any(word.key in PLACED or is_verb(word, 1) for word in run)


def _has_value(run: Sequence[Word]) -> bool:
    return any(word.literal or word.name for word in run)
