"""Find a request's chunks."""

from __future__ import annotations

import asyncio
import heapq
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, islice

from attrs import frozen

from contextkit import ContextItem, ContextRequest, Hit, Record
from contextkit.sources import older_versions
from contextkit.text import language_of, subject_stems, subject_words
from contextkit_documents.overview import asks_for_overview, overview_sections
from contextkit_documents.release_notes import ReleaseQuestion, wanted_notes
from contextkit_documents.releases import lists_changes
from contextkit_documents.setup_files import SETUP_KINDS, SetupQuestion
from contextkit_documents.stored import StoredChunk, titled
from contextkit_documents.translations import TRANSLATED, translations_of_others

_PAST = frozenset({"history", "releases"})
_PRESENT = frozenset({"setup", "usage"})
_CHANGES_GAIN = 1.3
"""Factor for changelog entries in questions about one of these topics."""

_CHANGES_LOSS = 0.3
"""Their factor in other questions about use, setup or code alone, where another document matches.
A long list of changes has every word of "how do I serve static files?", and says what was fixed."""

_FIXES = 0.6
"""Their factor in questions about what goes wrong."""

_STUB = 0.5
"""Factor for the relevance of a section with hardly any text."""

_CANDIDATES = 2
"""Hits that are ranked for each item that is returned."""

_BEHIND_TRANSLATIONS = 20
"""The same where translations were found: a page may have two dozen."""

_OF_OWN = 5
"""Hits in the project's own files."""

_HEADED = 1.3
"""Factor for a section whose own heading has no other words than the question, as "Line length" for
"how do I set the line length?"; in part for one that has some of them."""

_STANDARD = frozenset(
    {"authors", "bugs", "commands", "description", "environment", "examples", "exit status"}
    | {"files", "name", "notes", "options", "see also", "synopsis"}
)
"""Headings of manual pages that do not tell what a section is about."""

_OFF_THE_SUBJECT = 0.6
"""Factor for a section without any word of the question's subject: "Write tests" has a word of "how
do I write a middleware?"."""

_ASIDE = 0.6
"""Factor for what is beside the project's documentation, unless the question is about it. A long
job of continuous integration has most words of "how do I build and run the tests?"."""

_JOINTS = re.compile(r"[-_.]+")
_ASIDES = [
    (re.compile(path, re.IGNORECASE), re.compile(rf"\b(?:{asks})\b", re.IGNORECASE))
    for path, asks in (
        # Jobs and settings of tools, and templates for issues.
        (
            r"(?:^|/)\.[^/].*(?:template|\.(?:ya?ml|json|toml)$)",
            r"ci|workflows?|pipelines?|actions?|jobs?|git(?:hub|lab)|pre-?commit|hooks?|"
            r"releas\w+|deploy\w*|issues?|pull requests?|templates?|contribut\w+",
        ),
        (
            r"^(?:\.github/|docs/)?security[^/]*$",
            r"secur\w+|vulnerab\w+|cves?|report\w*|support\w*|disclos\w+",
        ),
        (r"code[-_ ]of[-_ ]conduct", r"conduct|behaviou?r|enforce\w*|report\w*"),
        (
            r"(?:^|/)(?:[\w-]*(?<!la)tests?(?:[-_]?data)?|fixtures?|regress)/",
            r"tests?|testing|fixtures?",
        ),
        # Posts of a blog tell what was new when they were written.
        (
            r"(?:^|/)\d{4}-\d\d-\d\d-[^/]*$",
            r"blog\w*|posts?|news?|announc\w+|releas\w+|versions?|when|since|chang\w+",
        ),
        (r"(?:^|/)bench(?:marks?)?/", r"bench\w*|fast|slow|performance"),
        # What differs from another library, or from an older version, and what was proposed.
        (
            r"(?:^|/)[^/]*(?:compatib|migrat|upgrad)[^/]*$",
            r"compat\w*|migrat\w+|upgrad\w+|port(?:ed|ing)?|switch\w*|chang\w+|differ\w*|"
            r"instead|old\w*|new\w*|versions?|from",
        ),
        (
            r"(?:^|/)(?:adrs?|decisions?|enhancements?|proposals?|rfcs?|seps?)/",
            r"adrs?|decisions?|decid\w+|enhanc\w+|propos\w+|rfcs?|seps?|design\w*|why",
        ),
        # Copies of dependencies.
        (
            r"^deps/|(?:^|/)(?:_?vendor(?:ed)?|3rd[-_]?party|extern)/",
            r"vendor\w*|third[- ]party|dependenc\w+|deps",
        ),
    )
]
"""Pairs of patterns: of its path, and of a question about it."""

_DEPRECATED = re.compile(r"deprecat|obsolete", re.IGNORECASE)
"""What a heading has that is above what should no longer be used."""

_ASKS_FOR_OLD = re.compile(
    r"\b(?:deprecat\w*|obsolete|legacy|old\w*|remov\w+|replac\w+|migrat\w+|upgrad\w+|chang\w+|since"
    r"|still|versions?|instead)\b",
    re.IGNORECASE,
)

_OLDER = 0.6
"""Factor for a page of a version that a newer one replaces."""

_BEGINNING = 4
"""Letters that a question's word has at least to stand for a longer one: "config"."""

_LEAST_WORDS = 4
_LONG = 2_000
_PLAIN_WORD = re.compile(r"\w+")
# Words, but none in tags, comments, and links within the page, such as those of a table of
# contents.
_WORD = re.compile(r"<[^<>]*+>|\[[^\[\]\n]*+\]\(#[^()\n]*+\)|([^\W\d_]{2,})")


@frozen
class _Asked:
    """A question.

    Attributes:
        words: its words, in lower case.
        subject: the stems of its subject.
        is_about_old: whether it may be about what should no longer be used.
    """

    words: frozenset[str]
    subject: tuple[str, ...]
    is_about_old: bool

    @classmethod
    def by(cls, query: str) -> _Asked:
        return cls(
            words=frozenset(_PLAIN_WORD.findall(query.lower())),
            subject=tuple(chain.from_iterable(subject_words(query))),
            is_about_old=_ASKS_FOR_OLD.search(query) is not None,
        )

    def _mentions(self, word: str) -> bool:
        """Return whether the question has a word, or a shorter form such as "config"."""
        return word in self.words or any(
            word == stem or (len(stem) >= _BEGINNING and word.startswith(stem))
            for stem in self.subject
        )

    def worth(self, record: Record) -> float:
        """Return the factor of a section for its headings, and for the question's subject."""
        headings = record.fields.get("headings") or ()
        worth = 1.0
        kind, named = record.fields.get("kind"), ""
        if kind in SETUP_KINDS:
            named = _file_name(record)
        elif headings and kind == "documentation" and not _is_standard(record):
            named = str(headings[-1])
        if named:
            words = _heading_words(named)
            asked_for = sum(map(self._mentions, words))
            worth = 1 + (_HEADED - 1) * asked_for / len(words)
        text = f"{_path(record)} {headings} {record.text}".lower()
        if self.subject and not any(stem in text for stem in self.subject):
            worth *= _OFF_THE_SUBJECT
        if not self.is_about_old and _DEPRECATED.search(str(headings)):
            worth *= _ASIDE
        return worth


def _file_name(record: Record) -> str:
    """Return a file's name without its suffix, as words."""
    name = _path(record).rpartition("/")[2].lstrip(".")
    return _JOINTS.sub(" ", name.rpartition(".")[0] or name)


def _is_standard(record: Record) -> bool:
    """Return whether a section's heading is one that every manual page has."""
    fields = record.fields
    return fields.get("language") == "man" and str(fields["headings"][-1]).lower() in _STANDARD


@lru_cache(1024)
def _heading_words(heading: str) -> tuple[str, ...]:
    """Return the stems of a heading, or a name such as `S3` whole."""
    return subject_stems(heading) or (heading.lower(),)


async def find_documents(request: ContextRequest) -> list[ContextItem]:
    """Return the best-matching chunks.

    The chunks beside one that matches get no support: in a long page, those of other subjects
    came before a section that matches by itself.
    """
    changes, topics = 1.0, request.signals.topics
    setup = SetupQuestion.of(request.query, topics)
    releases = ReleaseQuestion.of(request.query, topics, request.project_name)
    hits = await _hits(request, setup, releases)
    wanted = await wanted_notes(request, releases, hits)
    if wanted:
        # The notes of other releases have the same words, and so have pages on how to release.
        hits = [hit for hit in hits if releases.about and not lists_changes(hit.record)]
    elif asks_for_overview(request.query, topics, request.project_name):
        wanted = await overview_sections(request)
        hits = [] if wanted else hits
    if not _PAST.isdisjoint(topics):
        changes = _CHANGES_GAIN
    elif not _PRESENT.isdisjoint(topics) or {*topics} <= {"code"}:
        changes = _CHANGES_LOSS
        others = [hit for hit in hits if not lists_changes(hit.record)]
        if any(hit.relevance >= request.min_relevance for hit in others):
            hits = others
    elif "failures" in topics:
        # What goes wrong now was rarely fixed in an earlier version.
        changes = _FIXES
    asides = [path for path, asks in _ASIDES if not asks.search(request.query)]
    if _is_english(request.query):
        # It shares only a translation's code.
        asides.append(TRANSLATED)
    asked = _Asked.by(request.query)
    older = older_versions({_path(hit.record) for hit in hits}, request.query)
    worths = [
        _worth(hit.record, changes, setup, asides, asked)
        * releases.worth(_path(hit.record))
        * (_OLDER if _path(hit.record) in older else 1.0)
        for hit in hits
    ]
    items = [
        _item(hit.record, min(1.0, hit.relevance * worth))
        for hit, worth in zip(hits, worths, strict=True)
        if hit.record.id not in wanted
    ]
    # These are in their order already.
    items += [_item(*section) for section in wanted.values()]
    return heapq.nlargest(request.limit, items, key=lambda item: item.relevance)


async def _hits(
    request: ContextRequest, setup: SetupQuestion, releases: ReleaseQuestion
) -> list[Hit]:
    """Search for the question; one in English gets no page twice, in another language."""
    hits = await _searched(request, setup, releases, _CANDIDATES)
    if not _is_english(request.query) or not any(
        TRANSLATED.search(_path(it.record)) for it in hits
    ):
        return hits
    hits = await _searched(request, setup, releases, _BEHIND_TRANSLATIONS)
    translated = translations_of_others(_path(hit.record) for hit in hits)
    others = (hit for hit in hits if _path(hit.record) not in translated)
    return [*islice(others, _CANDIDATES * request.limit)]


async def _searched(
    request: ContextRequest, setup: SetupQuestion, releases: ReleaseQuestion, candidates: int
) -> list[Hit]:
    """Search all chunks, and those of the project's own files that the question asks for.

    In a repository of many packages, the others' files have as many of its words.
    """
    searching = [
        request.records.search(
            request.query if releases.moves else releases.about or request.query,
            limit=candidates * request.limit,
            filters=request.filters,
            host_limit=request.limit,
        )
    ]
    if setup.own_files and "file_path" not in request.filters:
        filters = {**request.filters, "file_path": setup.own_files}
        searching.insert(0, request.records.search(request.query, limit=_OF_OWN, filters=filters))
    found = {hit.record.id: hit for hits in await asyncio.gather(*searching) for hit in hits}
    return list(found.values())


def _is_english(query: str) -> bool:
    return query.isascii() and language_of(query) is None


def _worth(
    record: Record,
    changes: float,
    setup: SetupQuestion,
    asides: Sequence[re.Pattern[str]],
    asked: _Asked,
) -> float:
    """Return the factor of a match.

    Args:
        record: the record that matches.
        changes: the factor of a list of changes.
        setup: what the question asks of the project's setup.
        asides: patterns of paths beside the documentation.
        asked: the question.
    """
    text, kind = record.text, record.fields.get("kind")
    worth = (changes if lists_changes(record) else 1.0) * asked.worth(record)
    if any(path.search(_path(record)) for path in asides):
        worth *= _ASIDE
    else:
        worth *= setup.worth(_path(record), kind)
    # The words of a long text are not counted.
    return worth if len(text) > _LONG or _has_words(text) else worth * _STUB


def _path(record: Record) -> str:
    return str(record.fields.get("file_path") or "")


def _has_words(text: str) -> bool:
    words = (found for found in _WORD.finditer(text) if found[1])
    return next(islice(words, _LEAST_WORDS - 1, None), None) is not None


def _item(record: Record, relevance: float) -> ContextItem:
    chunk = StoredChunk.of(record)
    return ContextItem(
        source="documents",
        content=record.text,
        relevance=relevance,
        id=record.id,
        kind=chunk.kind,
        title=titled(chunk.kind, chunk.headings) or chunk.path or record.id,
        location=f"{chunk.path}:{chunk.start_line}" if chunk.path else None,
        metadata={
            "file_path": chunk.path,
            "kind": chunk.kind,
            "language": chunk.language,
            "headings": list(chunk.headings),
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
        },
    )
