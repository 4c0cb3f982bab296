"""Find commits for a request."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import lru_cache

from contextkit.concurrency import in_thread
from contextkit.models import ContextItem, ContextRequest, Filters, Hit, Record
from contextkit.text import STOP_WORDS
from contextkit_commits.commit_records import SHORT_SHA, commit_item
from contextkit_commits.own_words import ROUTINE_SUBJECT, is_bot
from contextkit_commits.recent import (
    HistoryQuestion,
    authors_in,
    by_time,
    filters_of,
    newest_commits,
    without_names,
)

_SHA = re.compile(r"(?<![0-9A-Za-z_])[0-9a-f]{7,64}(?![0-9A-Za-z_])", re.IGNORECASE)
_MOST_SHAS = 20
_CANDIDATES = 3
_CACHED = 4096
"""Subjects whose words are kept: consecutive queries find many of the same commits."""

_ROUTINE = 0.35
"""Factor for dependency updates and merges.

It does not apply if the query asks for them.
"""

_FEW = 5
_BEYOND = 0.3
"""Factor for the commits behind the first few, unless the question is about the history.

"Why is the connection dropped?" asks for code. Many a commit has its words, and few say why.
"""

_ASKS_FOR_ROUTINE = frozenset({"bump", "bumped", "depend", "releas", "renova", "upgrad", "versio"})
"""Words that ask for routine commits, as `words_of` returns them."""

_WORD = re.compile(r"[^\W_]{2,}")
_STEM = 6
_SUBJECT_GAIN = 4.0
_USUAL_SHARE = 0.15
_SHORT_SUBJECT = 2
_DEFAULT_MERGE = re.compile(
    r"Merge (?:branch|branches|commit|commits|pull request|remote-tracking branch|"
    r"remote-tracking branches|tag|tags)\b"
)
_REQUEST = re.compile(r"\(#\d+\)")
_LEAST_WORDS = 3
"""Words that two subjects have at least, to be compared: "Fix CI" is often written."""

# Lines that git adds below a merge's subject: the files in conflict, and trailers.
_ADDED_LINE = re.compile(r"\s*$|#|\t|Conflicts:|[A-Z][A-Za-z-]*-by: ")


async def find_commits(request: ContextRequest) -> list[ContextItem]:
    """Return commits that a request names, then the best matches.

    A merge without a message of its own ("Merge branch 'x'") is found only by its sha: the commits
    that it merged are indexed.
    """
    if request.signals.topics == ("overview",):
        return []
    asked = HistoryQuestion.of(request.query, request.signals.topics, request.project_name)
    named, hits = await asyncio.gather(_named(request), _search(request, request.query))
    known = {record.id for record in named}
    authors = authors_in(request.query, hits) if asked.is_asked else []
    found = await _of_a_time(request, asked, authors) if asked.orders or authors else []
    # A host's own search lists no commits by their time.
    if not found and not asked.spans:
        found = _scored([hit for hit in hits if asked.is_about(hit.record)], request.query)
    scored = [each for each in found if each[1].id not in known and not is_silent_merge(each[1])]
    scored = _without_repeats(scored)
    scored.sort(key=lambda found: -found[0])
    # The best commit cannot exceed 1, and the order of the others is kept.
    most = max(1.0, scored[0][0]) if scored else 1.0
    if not asked.is_asked:
        scored[_FEW:] = [(_BEYOND * relevance, record) for relevance, record in scored[_FEW:]]
    best = [*((most, record) for record in named), *scored][: request.limit]
    return [commit_item(record, relevance / most) for relevance, record in best]


async def _search(request: ContextRequest, query: str, filters: Filters | None = None) -> list[Hit]:
    """Search for more than is requested, so that a commit that the store ranks low can rise."""
    filters = request.filters if filters is None else filters
    return await request.records.search(query, limit=_CANDIDATES * request.limit, filters=filters)


def _scored(hits: Sequence[Hit], query: str) -> list[tuple[float, Record]]:
    words = words_of(query)
    return [(relevance_of(hit, words), hit.record) for hit in hits]


async def _of_a_time(
    request: ContextRequest, asked: HistoryQuestion, authors: Sequence[str]
) -> list[tuple[float, Record]]:
    """Return the newest commits, or those of a time or an author, about the question's subject."""
    about = without_names(asked.about, authors)
    if not about:
        return [
            (relevance * (_ROUTINE if is_routine(record) else 1.0), record)
            for relevance, record in await newest_commits(request, asked.spans, authors)
        ]
    searches = (
        _search(request, about, filters) for filters in filters_of(request, asked.spans, authors)
    )
    found = [hit for own in await asyncio.gather(*searches) for hit in own]
    scored = _scored(found, about)
    return by_time(scored) if asked.newest else scored


def _without_repeats(found: Sequence[tuple[float, Record]]) -> list[tuple[float, Record]]:
    """Drop merges that repeat the subject of a commit that was found.

    A project that merges pull requests under their titles has most changes twice. The commit stays,
    as it lists the files, and gets the better relevance of the two.
    """
    merges = [place for place, (_, record) in enumerate(found) if record.fields.get("is_merge")]
    if not merges:
        return list(found)
    subjects = [words_of(_REQUEST.sub("", record.text.partition("\n")[0])) for _, record in found]
    best = {place: relevance for place, (relevance, _) in enumerate(found)}
    commits = best.keys() - merges
    for merge in merges:
        same = [place for place in commits if _say_the_same(subjects[merge], subjects[place])]
        if same:
            relevance = best.pop(merge)
            best.update((place, max(best[place], relevance)) for place in same)
    return [(relevance, found[place][1]) for place, relevance in best.items()]


def _say_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return min(len(one), len(other)) >= _LEAST_WORDS and (one <= other or other <= one)


def shas_in(query: str) -> list[str]:
    """Return possible shas of a query, in lower case.

    A sha is seven to 64 hex digits in a row.
    """
    return list(dict.fromkeys(sha.lower() for sha in _SHA.findall(query)))[:_MOST_SHAS]


async def _named(request: ContextRequest) -> list[Record]:
    shas = shas_in(request.query)
    # Most prompts name none, and should not wait for a thread.
    return await in_thread(lambda: _with_sha(request, shas)) if shas else []


def _with_sha(request: ContextRequest, shas: list[str]) -> list[Record]:
    """Return the commits whose shas begin with these, in order."""
    filters = {**request.filters, "sha7": sorted({sha[:SHORT_SHA] for sha in shas})}
    candidates = sorted(request.records.scan(filters), key=lambda record: record.id)
    found = [record for sha in shas for record in candidates if record.id.startswith(sha)]
    return list({record.id: record for record in found}.values())


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
    is_wanted = _ASKS_FOR_ROUTINE & query_words or not is_routine(hit.record)
    return relevance if is_wanted else relevance * _ROUTINE


@lru_cache(_CACHED)
def words_of(text: str) -> frozenset[str]:
    """Return a text's stems without stop words.

    A stem is the first letters of a word.
    """
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word[:_STEM] for word in words if word not in STOP_WORDS)


def _share(subject: frozenset[str], query: frozenset[str]) -> float:
    """Return the share of a subject's words in the query.

    For one or two words it stays small.
    """
    return len(subject & query) / (len(subject) + _SHORT_SUBJECT)


def is_routine(record: Record) -> bool:
    """Return whether a commit is routine, as by a bot."""
    return _is_routine(record.text.partition("\n")[0], str(record.fields.get("author") or ""))


@lru_cache(_CACHED)
def _is_routine(subject: str, author: str) -> bool:
    """Return whether a commit is routine.

    A bot made it, it updates a dependency, or it merges commits that are indexed.
    """
    return (
        is_bot(author)
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
