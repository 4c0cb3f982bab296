"""Find the newest commits, and those of a time or an author, as a question asks.

The words of "what changed recently?" are in few commits, and not in the newest ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from attrs import frozen

from contextkit.concurrency import in_thread
from contextkit.models import ContextRequest, Filters, Hit, Range, Record
from contextkit.text import changes_subject, named_periods

_TOPICS = frozenset({"activity", "history", "releases"})
_OF_THE_PROJECT = frozenset({"history", "releases"})
_NEWEST = re.compile(r"\b(?:recent(?:ly)?|lately|latest|newest|last)\b", re.IGNORECASE)
_CHANGED = re.compile(
    r"\b(?:commit(?:s|ted)?|chang\w+|merg\w+|pull requests?|prs?|happened|new|added|fixed|removed"
    r"|done|did|releas\w+|versions?|work(?:ed)?)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:in|during|of) ((?:19|20)\d\d)\b")
_SINCE = re.compile(r"\b(?:since|after)\b", re.IGNORECASE)
_VERSION = re.compile(r"(?<![\w.])v?(\d+\.\d[\w.]*\b)")
_BY = re.compile(r"\b(?:by|from|did|has) (?P<name>[A-Z][\w.-]*)")
_WORD = re.compile(r"\w{2,}")
_STEP = 0.02
"""What each commit of a list is less relevant than the one before it."""

_LEAST = 0.4
_OLDEST = 0.5
"""Factor for the oldest of the commits that match, if the newest are asked for."""

_OTHER_TIME = 0.5
"""Factor for the newest commits if there are none of the time that is asked for."""

_LATELY = timedelta(days=60)
"""How long ago such a time may be. Before that, the question may be about anything else."""


@frozen
class HistoryQuestion:
    """What a question asks of a project's history.

    Attributes:
        is_asked: whether it is about the history at all.
        newest: whether it asks for the newest commits.
        spans: the times that it names, as filters.
        about: the words that say what changed; "" for all that changed.
        versions: the versions that it asks about as a whole: their notes say what changed, and
            only the commits that name one of them are wanted.
    """

    is_asked: bool = False
    newest: bool = False
    spans: Sequence[Range] = ()
    about: str = ""
    versions: Sequence[str] = ()

    @classmethod
    def of(
        cls, query: str, topics: Collection[str], project: str, now: datetime | None = None
    ) -> HistoryQuestion:
        """Read a question.

        Args:
            query: the question.
            topics: its topics.
            project: the project's name.
            now: the time that it counts from; default: now.
        """
        if _TOPICS.isdisjoint(topics) or not _CHANGED.search(query):
            return cls()
        spans = [Range(gte=each.start, lt=each.end) for each in named_periods(query, now)]
        spans = spans or [_of_year(int(year)) for year in _YEAR.findall(query)]
        about = changes_subject(query, project)
        of_all = not about and not _OF_THE_PROJECT.isdisjoint(topics)
        versions = _VERSION.findall(query) if of_all and not _SINCE.search(query) else []
        is_newest = (of_all and not versions) or _NEWEST.search(query) is not None
        newest = is_newest and not spans
        return cls(is_asked=True, newest=newest, spans=spans, about=about, versions=versions)

    @property
    def orders(self) -> bool:
        """Whether commits are wanted by their time, and not by their words alone."""
        return self.newest or bool(self.spans)

    def is_about(self, record: Record) -> bool:
        """Whether a commit names one of the versions, if the question is about some."""
        return not self.versions or any(
            re.search(rf"(?<![\w.])v?{re.escape(version)}(?!\d)", record.text)
            for version in self.versions
        )


def _of_year(year: int) -> Range:
    return Range(gte=datetime(year, 1, 1, tzinfo=UTC), lt=datetime(year + 1, 1, 1, tzinfo=UTC))


def authors_in(query: str, hits: Iterable[Hit]) -> list[str]:
    """Return the authors of commits that a question names: in full, or as `by Ada`."""
    words = _words(query)
    called = {found["name"].lower() for found in _BY.finditer(query)}
    authors = {str(hit.record.fields.get("author") or "") for hit in hits}
    return sorted(
        author
        for author in authors
        if (own := _words(author)) and (own <= words or not own.isdisjoint(called))
    )


def without_names(text: str, authors: Iterable[str]) -> str:
    """Drop the words of the authors' names, and of such a name in part."""
    names = {name for author in authors for name in _words(author)}
    return " ".join(word for word in text.split() if not names.issuperset(_words(word)))


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


async def newest_commits(
    request: ContextRequest, spans: Sequence[Range], authors: Sequence[str]
) -> list[tuple[float, Record]]:
    """Return the newest commits of some times and authors, with their relevance, 0..1."""
    found = await in_thread(lambda: _newest(request, spans, authors))
    factor = 1.0
    if not found and any(map(_is_lately, spans)):
        found, factor = await in_thread(lambda: _newest(request, (), authors)), _OTHER_TIME
    return [
        (factor * max(_LEAST, 1.0 - _STEP * place), record) for place, record in enumerate(found)
    ]


def _is_lately(span: Range) -> bool:
    return isinstance(span.lt, datetime) and span.lt > datetime.now(UTC) - _LATELY


def _newest(
    request: ContextRequest, spans: Sequence[Range], authors: Sequence[str]
) -> list[Record]:
    found = [
        record
        for filters in filters_of(request, spans, authors)
        for record in request.records.newest(request.limit, filters)
    ]
    return sorted(found, key=lambda record: record.created_at, reverse=True)


def filters_of(
    request: ContextRequest, spans: Sequence[Range], authors: Sequence[str]
) -> list[Filters]:
    """Return a filter for each time, or one for all."""
    own: Filters = {**request.filters, **({"author": list(authors)} if authors else {})}
    return [{**own, "created_at": span} for span in spans] or [own]


def by_time(found: Sequence[tuple[float, Record]]) -> list[tuple[float, Record]]:
    """Lower the relevance of older commits."""
    newest_first = sorted(found, key=lambda each: each[1].created_at, reverse=True)
    number = max(1, len(newest_first) - 1)
    return [
        (relevance * (1 - (1 - _OLDEST) * place / number), record)
        for place, (relevance, record) in enumerate(newest_first)
    ]
