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

from collections.abc import Iterator, Sequence
from functools import lru_cache

from contextkit.dedup.change_words import (
    HANDED_OVER,
    HOMES,
    MOVED,
    MOVED_ON,
    OWNING,
    SCALED,
    SCOPES,
)
from contextkit.dedup.flips import is_flipped, is_negated
from contextkit.dedup.statements import ANY_VERBS, Statement, Stems
from contextkit.text.derived import cached_by_text

_statement = cached_by_text(Statement)


def updated_pairs(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the positions of statements and of those that replace them.

    Args:
        texts: the texts, oldest first.
    """
    statements = [
        (place, statement)
        for place, statement in enumerate(map(_statement, texts))
        if statement.is_assertion
    ]
    for later, (new_place, newer) in enumerate(statements):
        for old_place, older in statements[:later]:
            if _may_replace(newer, older) and _replaces(newer, older):
                yield old_place, new_place


def _may_replace(newer: Statement, older: Statement) -> bool:
    """Whether two statements are worth comparing."""
    has_sign = newer.changes or newer.opening == older.opening or newer.negations != older.negations
    return has_sign and not older.stems.isdisjoint(newer.stems)


@lru_cache(maxsize=4096)
def _replaces(newer: Statement, older: Statement) -> bool:
    """Whether a newer statement makes an older one untrue."""
    if older.text == newer.text or (older.is_past and not older.changes):
        return False
    if is_negated(newer, older):
        return True
    if newer.adds:
        return False
    return is_flipped(newer, older) or (newer.changes and _is_changed(newer, older))


def _is_changed(newer: Statement, older: Statement) -> bool:
    """Whether the newer one says that the older one's subject changed."""
    gone = newer.named_as_old(older.topic)
    # What the newer one repeats in full is still true.
    if not gone and older.topic <= newer.stems:
        return False
    mine = newer.subject - older.stems - newer.values
    if mine and older.subject - newer.stems - older.values:
        return False
    if gone:
        return _is_of_the_same(newer, older, gone)
    if mine and older.subject - newer.stems:
        return False
    return not _is_elsewhere(newer, older) and (_has_moved(newer, older) or _is_near(newer, older))


def _is_elsewhere(newer: Statement, older: Statement) -> bool:
    """Whether the change is in something else, or the older one is about the past."""
    scopes = {word.key for word in older.words} & SCOPES
    return older.is_past or newer.names_another(older) or bool(scopes - newer.keys)


def _has_moved(newer: Statement, older: Statement) -> bool:
    """Whether somebody's home changed."""
    start = older.verb or 0
    old, new = ([word.key for word in each.main[:start]] for each in (older, newer))
    if not old or old != new:
        return False
    return bool(HOMES.search(older.text) and MOVED.search(newer.text))


def _is_near(newer: Statement, older: Statement) -> bool:
    """Whether two statements have their subject and more in common."""
    common = older.topic & newer.topic
    names_subject = bool(older.subject) and older.subject <= newer.stems
    has_values = bool(older.values - newer.stems) and bool(newer.values - older.stems)
    others = newer.main_topic - older.topic - newer.values
    if older.topic - newer.stems - older.values and others:
        return False
    if names_subject and older.quantities and newer.quantities and SCALED.search(newer.text):
        return older.values - older.quantities <= newer.stems and not others
    if names_subject and has_values and not others and MOVED_ON.search(newer.text):
        return older.topic - older.values <= newer.stems
    says_the_same = bool(common - older.subject) or older.verb_stem in newer.all_stems
    return (
        says_the_same
        and len(common) > 1
        and (names_subject or has_values)
        and 2 * len(common) >= len(older.topic)
    )


def _is_of_the_same(newer: Statement, older: Statement, gone: Stems) -> bool:
    """Whether what is no longer true was said of the same subject."""
    if HANDED_OVER.search(newer.text) and older.verb_key not in OWNING:
        return False
    left = older.topic - gone
    unknown, others = left - newer.stems, newer.main_topic - older.topic - newer.values
    if left & newer.topic:
        return not (unknown and others)
    is_general = not others and not older.has_scope and not older.subject - gone
    return is_general and not gone <= older.subject | ANY_VERBS
