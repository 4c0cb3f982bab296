"""Questions about nothing: what is not searched for, and what of the found answers none.

A query of nothing but greetings, thanks, assent and the like is not searched for: each of its
words may well be rare in a project, and would be found in full somewhere. Sources that answer by
other means than a search, such as what was done last, still do.

Where one query is asked of many sources, something that it is about is found well by one of
them at least. So where the best of all matches is a poor one, nothing goes on, though each item
by itself is above the floor: what matches one word of four is then chance. Of a few sources
alone that says nothing, as the answer may be elsewhere. Neither does it where the query has a
name such as `NO_PROXY` or MCP: that is about something, in whatever language the rest of it is.
And words of politeness and of what to do are not what a question is about: "thanks, now explain
the breaker" is about one word of three, and what has that is no chance.

A `min_relevance` of 0 asks for whatever there is, and neither holds.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence

from contextkit.models import ContextRequest, Section
from contextkit.ranking.scoring import Candidate
from contextkit.records import Hit, Search
from contextkit.signals.reading import is_talk
from contextkit.signals.words import EXPLAIN, FIX, TALK, VERBS

__all__ = ["LEAST_MATCH", "MANY_SOURCES", "refuses", "unless_talk"]

LEAST_MATCH = 0.3
"""What the best of all matches has to reach: one word of three, not one of four."""

MANY_SOURCES = 4
"""From so many sources on the best match says whether the query is about anything."""

_TECHNICAL = re.compile(r"[A-Z]\w*[A-Z]|[\d_./]|::|->")
"""What of the names in a query is no name of a person or a place."""

_LEAST_SHARE = 0.5
"""An item with so many of the words that the question is about is no chance match."""

_NOT_THE_SUBJECT = TALK | VERBS | FIX | EXPLAIN
_SHORTEST_STEM = 4

Searcher = Callable[[Search], Awaitable[list[Hit]]]


def unless_talk(searcher: Searcher, request: ContextRequest) -> Searcher:
    """The same searcher, which finds nothing for a query that names nothing.

    Args:
        searcher: answers a search.
        request: where its `min_relevance` is 0, everything is searched for.
    """
    if request.min_relevance == 0:
        return searcher

    async def searching(search: Search) -> list[Hit]:
        return [] if is_talk(search.query) else await searcher(search)

    return searching


def refuses(
    request: ContextRequest, sections: Sequence[Section], candidates: Sequence[Candidate]
) -> str | None:
    """Why nothing of what was found goes on, in words; None where it may.

    Args:
        request: its `min_relevance`, and the names in its query.
        sections: those that were asked.
        candidates: all that was found for them.
    """
    one_query = all(section.query is None for section in sections)
    if request.min_relevance == 0 or len(sections) < MANY_SOURCES or not one_query:
        return None
    if any(_TECHNICAL.search(name) for name in request.signals.entities):
        return None
    best = max((candidate.scores.match for candidate in candidates), default=1.0)
    if best >= LEAST_MATCH or _on_the_subject(request, candidates):
        return None
    return (
        f"nothing that any of {len(sections)} sources found answers the question: the best "
        f"match is {best:.3f}, under {LEAST_MATCH:g}"
    )


def _on_the_subject(request: ContextRequest, candidates: Sequence[Candidate]) -> bool:
    """Whether an item has half of the words that the query is about, in one form or another."""
    stems = [_stem(word) for word in request.signals.keywords if word not in _NOT_THE_SUBJECT]
    if not stems:
        return False
    items = (candidate.item for candidate in candidates)
    texts = (f"{item.title} {item.location} {item.own_text}".lower() for item in items)
    return any(sum(stem in text for stem in stems) >= _LEAST_SHARE * len(stems) for text in texts)


def _stem(word: str) -> str:
    """The word without a plural's ending."""
    return word[:-1] if word.endswith("s") and len(word) > _SHORTEST_STEM else word
