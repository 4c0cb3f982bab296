"""Find the release notes that a question asks for: of the newest releases, or of those it names.

The words of "what changed in the latest release?" are in the notes of every release.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from contextkit import ContextRequest, Hit, Record
from contextkit.concurrency import in_thread
from contextkit.models import Range
from contextkit.text import changes_subject, subject_words
from contextkit_documents.releases import ABOVE_ALL, is_dotted, is_guide, releases_of, versions_in

_TOPICS = frozenset({"history", "releases"})
_NEWEST = re.compile(
    r"\b(?:last|latest|newest|current|recent|next|upcoming)\b(?: [\w.-]+){0,2}? "
    r"(?:release|version)(?P<several>s)?"
)
_ASKS_FOR_COMING = re.compile(r"\b(?:next|upcoming|unreleased)\b")
_MOVES = re.compile(r"\b(?:upgrad|migrat|updat)\w+")
_KINDS = [
    (re.compile(asked), re.compile(said, re.IGNORECASE))
    for asked, said in (
        (r"\b(?:upgrad|migrat|updat|break|incompatib)", "break|incompatib|remov|deprecat"),
        (r"\b(?:deprecat|remov)", "deprecat|remov"),
        (r"\bfix", r"\b(?:bug|fix|secur|vulnerab)"),
        (r"\b(?:add|featur|new\b)", r"\b(?:add|enhance|featur|new)"),
    )
]
"""What a question asks of a release, and how its notes say so."""

_BEFORE_A_VERSION = re.compile(r"\b(?:version|release)s? $")
_MOVES_TO = re.compile(r"\b(?:from|to) (?:[\w.-]+ )?$")
_OF_SOMETHING_ELSE = re.compile(r"\b(?:python|node(?:\.?js)?|java|jdk|go|rust|php|ruby|julia) $")
_BETWEEN = re.compile(r"\b(?:from|between|since)\b[^?!]{1,40} (?:to|and|until) ")
_SINCE = re.compile(r"\b(?:since|after) (?:[\w.-]+ )?v?\d")

_SEVERAL = 3
_OF_ONE = (1.0, 0.8, 0.65)
_OF_SEVERAL = (1.0, 0.9, 0.8)
"""Relevance of the notes of the release that is asked for, of the one before it, and so on."""

_STEP = 0.03
"""What each section of a release is less relevant than the one before it."""

_LEAST = 0.4
_OFF_THE_SUBJECT = 0.6
_GUIDE = 1.5
"""Factor for guides on upgrading where these are asked for, without a version."""

_OTHER_KIND = 0.85
"""Factor for guides where notes are asked for, and the other way round."""


@frozen
class ReleaseQuestion:
    """What a question asks of a project's releases.

    Attributes:
        ranges: the releases that it names, as `releases_of` gives them.
        newest: how many of the newest releases it asks for; 0 if it does not ask for these.
        with_coming: whether those that are not released yet come first.
        about: the words that say what it asks about; "" for all that changed.
        project: the project's name.
        moves: whether it is about moving to a release.
        of_its_first: whether the first release of a version that it names comes first.
        kind: how notes say what it asks for, such as fixes; None for anything.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    newest: int = 0
    with_coming: bool = False
    about: str = ""
    project: str = ""
    moves: bool = False
    of_its_first: bool = False
    kind: re.Pattern[str] | None = None

    @classmethod
    def of(cls, query: str, topics: Collection[str], project: str) -> ReleaseQuestion:
        """Read a question.

        Args:
            query: the question.
            topics: its topics.
            project: the project's name.
        """
        if _TOPICS.isdisjoint(topics):
            return cls()
        about = changes_subject(query, project)
        if "history" in topics and not about:
            # "What changed recently?" is also answered by what the next release will have.
            return cls(newest=1, with_coming=True, project=project)
        if "releases" not in topics:
            return cls()
        text = query.lower()
        moves = _MOVES.search(text) is not None
        ranges = tuple(_named_releases(text, moves=moves))
        of_its_first = moves
        if len(ranges) == 2 and _BETWEEN.search(text) and ranges[0] < ranges[1]:
            ranges = ((ranges[0][1], ranges[1][1]),)
        elif len(ranges) == 1 and _SINCE.search(text):
            ranges = ((ranges[0][0] + 1, ABOVE_ALL + 1),)
        else:
            of_its_first = True
        newest = None if ranges or moves else _NEWEST.search(text)
        of_all = not ranges and not moves and not about
        several = newest is None or newest["several"]
        return cls(
            ranges=ranges,
            newest=(_SEVERAL if several else 1) if newest or of_all else 0,
            with_coming=newest is None or _ASKS_FOR_COMING.search(text) is not None,
            about=about,
            project=project,
            moves=moves,
            of_its_first=of_its_first,
            kind=next((said for asks, said in _KINDS if asks.search(text)), None),
        )

    def worth(self, path: str) -> float:
        """Return the factor of a page for its path."""
        return _GUIDE if self.moves and is_guide(path) else 1.0


def _named_releases(text: str, *, moves: bool) -> Iterator[tuple[int, int]]:
    for version in versions_in(text):
        before = text[: version.start()]
        is_version = is_dotted(version) or version["v"] or _BEFORE_A_VERSION.search(before)
        is_target = moves and _MOVES_TO.search(before)
        if (is_version or is_target) and not _OF_SOMETHING_ELSE.search(before):
            yield releases_of(version)


async def wanted_notes(
    request: ContextRequest, asked: ReleaseQuestion, hits: Iterable[Hit]
) -> dict[str, tuple[Record, float]]:
    """Return the sections about the releases that the question asks for.

    Returns:
        Each with its relevance, 0..1, by its id. Empty if the question asks for no particular
        releases, or for the last ones in which something changed.
    """
    if not asked.ranges and (asked.about or not asked.newest):
        return {}
    matches = {hit.record.id: hit.relevance for hit in hits}
    subject = subject_words(asked.about)
    found: dict[str, tuple[Record, float]] = {}
    for release, level in await _releases(request, asked):
        about = {record.id for record in release if _is_about(record, subject)}
        best_first = sorted(
            release,
            key=lambda it: (
                _distance(it, asked.kind),
                # Of version 3, the first release changed most.
                it.fields["release"] if asked.of_its_first else 0,
                -matches.get(it.id, 0.0),
                _path(it),
                _position(it),
            ),
        )
        for place, record in enumerate(best_first):
            worth = max(_LEAST, level - _STEP * place)
            worth *= 1.0 if record.id in about else _OFF_THE_SUBJECT
            is_other = is_guide(_path(record)) != asked.moves
            found[record.id] = record, worth * (_OTHER_KIND if is_other else 1.0)
    return found


def _is_about(record: Record, subject: Sequence[tuple[str, ...]]) -> bool:
    text = f"{record.fields.get('headings')} {record.text}".lower()
    return all(any(stem in text for stem in stems) for stems in subject)


def _distance(record: Record, kind: re.Pattern[str] | None) -> int:
    """Return 0 for a section of a kind of changes, 1 for one that has some, 2 for others."""
    headings = record.fields.get("headings") or [""]
    texts = (str(headings[-1]), record.text)
    return 0 if kind is None else next((n for n in (0, 1) if kind.search(texts[n])), 2)


async def _releases(
    request: ContextRequest, asked: ReleaseQuestion
) -> list[tuple[list[Record], float]]:
    """Return the sections of each release that is asked for, with the release's relevance."""
    ranges = asked.ranges or ((0, ABOVE_ALL + 1),)
    records = await in_thread(lambda: list(_in_ranges(request, ranges)))
    notes = [record for record in records if not is_guide(_path(record))]
    notes = _at_the_top(notes, asked.project)
    if asked.ranges:
        return [([*notes, *(record for record in records if is_guide(_path(record)))], 1.0)]
    of_release: dict[int, list[Record]] = {}
    for record in notes:
        of_release.setdefault(record.fields["release"], []).append(record)
    newest = [of_release[number] for number in sorted(of_release, reverse=True)]
    if not asked.with_coming:
        released = next((each for each in newest if not each[0].fields.get("coming")), None)
        newest.sort(key=lambda each: each is not released)
    return list(zip(newest, _OF_ONE if asked.newest == 1 else _OF_SEVERAL, strict=False))


def _at_the_top(notes: Sequence[Record], project: str) -> list[Record]:
    """Return a repository's own notes, or those of the package that has its name, if it has any."""
    own = [record for record in notes if project in _path(record).split("/")] or notes
    least = min((_path(record).count("/") for record in own), default=0)
    above = [record for record in notes if _path(record).count("/") < least]
    return above or [record for record in own if _path(record).count("/") == least]


def _in_ranges(request: ContextRequest, ranges: Sequence[tuple[int, int]]) -> Iterator[Record]:
    for first, behind in ranges:
        among: Mapping[str, Any] = {"release": Range(gte=first, lt=behind)}
        yield from request.records.scan({**request.filters, **among})


def _path(record: Record) -> str:
    return str(record.fields.get("file_path") or "")


def _position(record: Record) -> int:
    return int(record.fields.get("position") or 0)
