"""Rank commits by subject, in addition to the store's score.

A commit's first line is its author's own summary, and short: a word that it shares with the query
says more than the same word somewhere in the body or in a path. The share of the subject that the
query covers counts: a query may be ten times as long, as the entry of a changelog is, and still
cover all of it.
"""

from __future__ import annotations

import re

from contextkit.models import Hit, Record
from contextkit_commits.own_words import ROUTINE_SUBJECT, is_bot

_ROUTINE = 0.35
"""Factor for dependency updates and merges.

It does not apply if the query asks for them.
"""

_ASKS_FOR_ROUTINE = frozenset({"bump", "bumped", "depend", "renova", "upgrad"})
"""Words that ask for routine commits, as `words_of` returns them."""

_WORD = re.compile(r"[^\W_]{2,}")
_STEM = 6
_COMMON = frozenset(
    _WORD.findall(
        "an and are as at be by for from if in is it not of on or that the this to was what "
        "when which why with"
    )
)
_SUBJECT_GAIN = 4.0
_USUAL_SHARE = 0.15
_SHORT_SUBJECT = 2
_DEFAULT_MERGE = re.compile(
    r"Merge (?:branch|branches|commit|commits|pull request|remote-tracking branch|"
    r"remote-tracking branches|tag|tags)\b"
)
# Lines that git adds below a merge's subject: the files in conflict, and trailers.
_ADDED_LINE = re.compile(r"\s*$|#|\t|Conflicts:|[A-Z][A-Za-z-]*-by: ")


def relevance_of(hit: Hit, query_words: frozenset[str]) -> float:
    """Return a hit's relevance, over 1 for the very best.

    The store's score is raised where the subject shares more with the query than subjects usually
    do, and lowered where it shares less.

    Args:
        hit: the store's hit.
        query_words: `words_of` the query.
    """
    share = _share(words_of(hit.record.text.partition("\n")[0]), query_words)
    relevance = hit.relevance * (1 + _SUBJECT_GAIN * share) / (1 + _SUBJECT_GAIN * _USUAL_SHARE)
    is_wanted = _ASKS_FOR_ROUTINE & query_words or not _is_routine(hit.record)
    return relevance if is_wanted else relevance * _ROUTINE


def words_of(text: str) -> frozenset[str]:
    """Return a text's stems without the most common words.

    A stem is the first letters of a word.
    """
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word[:_STEM] for word in words if word not in _COMMON)


def _share(subject: frozenset[str], query: frozenset[str]) -> float:
    """Return the share of a subject's words in the query.

    For one or two words it stays small.
    """
    return len(subject & query) / (len(subject) + _SHORT_SUBJECT)


def _is_routine(record: Record) -> bool:
    """Return whether a commit is routine.

    A bot made it, it updates a dependency, or it merges commits that are indexed.
    """
    subject = record.text.partition("\n")[0]
    return (
        is_bot(str(record.fields.get("author") or ""))
        or ROUTINE_SUBJECT.match(subject) is not None
        or _DEFAULT_MERGE.match(subject) is not None
    )


def is_silent_merge(record: Record) -> bool:
    """Return whether a merge has no message of its own."""
    if not record.fields.get("is_merge"):
        return False
    subject, _, body = record.text.partition("\n")
    if subject and not _DEFAULT_MERGE.match(subject):
        return False
    return all(_ADDED_LINE.match(line) for line in body.split("\n"))
