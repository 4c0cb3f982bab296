"""Find the code that a request needs."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from attrs import evolve, frozen

from contextkit import ContextItem, ContextRequest, Hit
from contextkit.concurrency import in_thread
from contextkit.models import Records
from contextkit.text import first_line
from contextkit_code.gists import LINES, around_line, gist
from contextkit_code.queries import (
    MOST_UNITS,
    OF_FILES,
    QUOTING,
    Found,
    search,
    search_listings,
    search_outlines,
    search_tables,
    search_units,
)
from contextkit_code.ranking.files import (
    RankedFile,
    added,
    file_of,
    in_frames,
    joined,
    named_worth,
    raised,
    rank_files,
    united,
    with_named,
)
from contextkit_code.ranking.frameworks import with_tests_as_subject
from contextkit_code.ranking.mentions import Mention, matched_files, mentions_in, whole_file
from contextkit_code.ranking.messages import phrases_in
from contextkit_code.ranking.printing import (
    holding,
    printers_of,
    quoted_first,
    users_of,
    with_users,
)
from contextkit_code.ranking.question import (
    Question,
    ask,
    searched_text,
    without_test_task,
    words_beside_script,
)
from contextkit_code.ranking.raising import Traced, traced, traced_first
from contextkit_code.ranking.siblings import with_listings
from contextkit_code.ranking.subjects import is_about_no_code, with_command, with_main
from contextkit_code.ranking.tables import with_tables
from contextkit_code.ranking.traces import Trace, trace_in
from contextkit_code.ranking.units import RankedUnit, cut, from_the_top, ranked_units
from contextkit_code.ranking.words import hits_a_word, may_be_misspelled, names_in, near_names
from contextkit_code.record_kinds import OUTLINE

_QUOTED = 0.3
"""Score of a rare quote in long text; the best unit has 1."""

_NEARLY = 0.8
"""Weight of a search for a name similar to the query's."""

_UNITS_OF_A_FILE = 2
_LEADING_FILES = 10
_WHOLE_FILES = 3
_LONG_LIST = 50
"""Length above which a list also gets the best files' remaining units."""

_AROUND_A_RAISE = (10, 3)
_AROUND_A_CALL = (2, 0)
"""Lines shown around a traced statement: where it raises, in callers."""

_OF_A_LIST = (5, 5)
"""Lines shown in the middle of a list of siblings."""

_METADATA = (
    "file_path",
    "start_line",
    "end_line",
    "language",
    "qualified_name",
    "name",
    "unit_type",
    "signature",
    "docstring",
)


@frozen
class _Asked:
    """A request's query, parsed once.

    Attributes:
        query: the whole query.
        text: the searched part of it.
        first_line: its first line where it has several; in a script written without spaces, the
            words beside it; or "".
        question: the parsed text.
        leading: phrases that lead to the units that contain them.
        counting: phrases that raise the units that contain them.
        mentions: the files that it names.
        trace: the stack trace in it, or None.
    """

    query: str
    text: str
    first_line: str
    question: Question
    leading: Sequence[str]
    counting: Sequence[str]
    mentions: Sequence[Mention]
    trace: Trace | None

    @classmethod
    def of(cls, query: str) -> _Asked:
        question, trace = ask(searched_text(query)), trace_in(query)
        if trace is not None:
            question = evolve(question, names=question.names - _only_owners(trace))
        phrases = phrases_in(query)
        return cls(
            query=query,
            text=without_test_task(searched_text(query)),
            first_line=first_line(query) if question.has_lines else words_beside_script(query),
            question=question,
            leading=() if question.has_lines else phrases,
            counting=phrases if question.has_lines else (),
            mentions=mentions_in(query),
            trace=trace,
        )

    @property
    def places(self) -> list[Mention]:
        """Return the stack trace's frames, innermost first."""
        return [] if self.trace is None else [frame.place for frame in self.trace.frames]


def _only_owners(trace: Trace) -> frozenset[str]:
    """Return types named only as owners of traced methods."""
    owners = frozenset(frame.owner for frame in trace.frames)
    return owners - ask(searched_text(trace.beside)).names


async def find_code(request: ContextRequest) -> list[ContextItem]:
    """Return the code units for a request, best first.

    See `_find`. There are none for a question about the project as a whole, or about all that
    changed. If the project contains no word of the question, the names nearest to its words are
    searched for.
    """
    if is_about_no_code(request):
        return []
    query = with_command(with_main(request.query), request.project_name)
    request = evolve(request, query=query)
    items = await _find(request)
    question = ask(searched_text(request.query))
    if question.has_lines or not may_be_misspelled(question.words):
        return items
    if not OF_FILES.issuperset(request.filters):
        return items
    if hits_a_word(question.words, (f"{item.location} {item.content}" for item in items)):
        return items
    names = near_names(question.words, await in_thread(lambda: _all_names(request.records)))
    if not names:
        return items
    found = await _find(evolve(request, query=" ".join(names)))
    return [evolve(item, relevance=_NEARLY * item.relevance) for item in found]


def _all_names(records: Records) -> set[str]:
    return names_in(record.text for record in records.scan({"kind": OUTLINE}))


async def _find(request: ContextRequest) -> list[ContextItem]:
    """Search and rank units for a request, best first.

    Units and outlines of files are searched in one batch. Files are ranked by both and by their
    names and paths, and units by keywords and by their file. If the text has several lines, its
    first line is searched separately as well. Relevance says how much of the query the best hit
    answers, and how the others compare with it.
    """
    asked = _Asked.of(request.query)
    request = evolve(request, query=asked.text)
    whole, of_line, quoting, named, tables, listings = await asyncio.gather(
        search(request, asked.text),
        search(request, asked.first_line),
        search_units(request, " ".join((*asked.leading, *asked.counting)), QUOTING),
        search_outlines(request, " ".join(mention.text for mention in asked.mentions)),
        search_tables(request, asked.question),
        search_listings(request, asked.query, asked.question),
    )
    tables = [evolve(hit, relevance=_most(whole)) for hit in tables]
    whole = evolve(whole, units=joined(tables, whole.units))
    question = with_tests_as_subject(with_tables(asked.question, tables), whole.units)
    asked = evolve(asked, question=question)
    level = _most(whole)
    if asked.first_line and not asked.question.has_lines:
        # The text that is not in a script without spaces is all that code has: it is the measure.
        level = max(level, _most(of_line))
    files, units = _ranked(asked, whole, of_line, quoting)
    outlines = (*whole.outlines, *of_line.outlines, *named)
    files = await _with_mentioned(request, asked, files, (*units, *outlines))
    files = await _with_units(request, files[: request.limit])
    ranked = ranked_units(asked.question, files, level)
    of_trace = await _traced(request, asked, (*units, *outlines))
    if asked.trace is not None and of_trace:
        ranked = traced_first(asked.trace, of_trace, ranked)
    else:
        hits = joined((*units, *quoting), [unit.hit for unit in ranked])
        ranked = await _printing_first(request, asked, hits, ranked, level)
    if about := whole_file(asked.mentions, asked.question.words):
        for path in matched_files([about], map(file_of, (u.hit for u in ranked))).get(about, ()):
            ranked = from_the_top(ranked, path)
    ranked = with_listings(listings, ranked)
    found = [_item(unit.hit, unit.relevance) for unit in cut(ranked, request.limit)]
    around = {
        each.hit.record.id: (each.line, *_OF_A_LIST) for each in listings if each.line is not None
    }
    around |= {
        each.hit.record.id: (each.line, *(_AROUND_A_RAISE if each.raises else _AROUND_A_CALL))
        for each in of_trace
        if each.line is not None
    }
    # Few of the others are shown.
    best = request.limit // 2 + 1
    shortened = [_with_gist(item, asked, around.get(item.id)) for item in found[:best]]
    return [*shortened, *found[best:]]


async def _printing_first(
    request: ContextRequest,
    asked: _Asked,
    hits: Sequence[Hit],
    ranked: Sequence[RankedUnit],
    level: float,
) -> list[RankedUnit]:
    """Put the units that print the question's message first, then what uses them."""
    printers = printers_of(asked.query, hits)
    first = quoted_first(printers, asked.leading, hits, ranked, level)
    names = " ".join(dict.fromkeys(printer.name for printer in printers.values()))
    users = users_of(printers, await search_units(request, names.strip(), QUOTING))
    return with_users(users, printers, first)


def _with_gist(
    item: ContextItem, asked: _Asked, around: tuple[int, int, int] | None
) -> ContextItem:
    lines = around_line(item, *around) if around else gist(item, asked.question, asked.query)
    return item if lines is None else evolve(item, metadata={**item.metadata, LINES: lines})


def _most(found: Found) -> float:
    return max((hit.relevance for hit in (*found.units, *found.outlines)), default=0.0)


def _ranked(
    asked: _Asked, whole: Found, of_line: Found, quoting: Sequence[Hit]
) -> tuple[list[RankedFile], list[Hit]]:
    """Rank the files; return them with the units used."""
    if not asked.first_line:
        return rank_files(asked.question, whole.units, whole.outlines), list(whole.units)
    candidates = (*of_line.units, *quoting)
    quotes = holding(asked.counting, (*whole.units, *candidates))
    beside = [evolve(hit, relevance=0.0) for hit in candidates if hit.record.id in quotes]
    of_text = raised(joined(whole.units, beside), quotes, _QUOTED)
    units = added(of_text, of_line.units)
    files = united(
        rank_files(asked.question, of_text, whole.outlines),
        rank_files(ask(asked.first_line), of_line.units, of_line.outlines),
        units,
    )
    return files, units


async def _with_mentioned(
    request: ContextRequest, asked: _Asked, files: Sequence[RankedFile], hits: Sequence[Hit]
) -> list[RankedFile]:
    """Raise files that the query names; add their frames' units."""
    found = matched_files(asked.mentions, {file_of(hit): None for hit in hits})
    if not found:
        return list(files)
    worth = named_worth(found, asked.query)
    named = with_named(files, worth, asked.question)
    # A trace that is the question brings its own units, and no more of them than are needed.
    is_trace = asked.trace is not None and asked.trace.is_the_question
    known = {(place.parts[-1], place.line) for place in asked.places if is_trace}
    frames = {
        mention: paths
        for mention, paths in found.items()
        if mention.line and (mention.parts[-1], mention.line) not in known
    }
    paths = sorted({path for own in frames.values() for path in own})
    units = await search_units(request, " ".join(paths), MOST_UNITS, paths)
    led_to = in_frames(frames, units)
    level = max((hit.relevance for file in named for hit in file.units), default=0.0)
    return [evolve(file, units=_with_frames(file, units, led_to, level)) for file in named]


async def _traced(request: ContextRequest, asked: _Asked, hits: Sequence[Hit]) -> list[Traced]:
    """Return the units of the question's stack trace, innermost first."""
    if asked.trace is None:
        return []
    outlines = await search_outlines(request, " ".join(place.text for place in asked.places))
    files = matched_files(asked.places, {file_of(hit): None for hit in (*hits, *outlines)})
    paths = sorted({path for own in files.values() for path in own})
    names = dict.fromkeys(place.function for place in files)
    units = await search_units(request, " ".join((*names, *paths)), MOST_UNITS, paths)
    return traced(asked.trace, files, units)


def _with_frames(
    file: RankedFile, units: Sequence[Hit], led_to: Collection[str], level: float
) -> list[Hit]:
    """Add a file's traced units, scored like the best unit."""
    framed = [
        evolve(hit, relevance=level)
        for hit in units
        if hit.record.id in led_to and file_of(hit) == file.path
    ]
    return sorted(joined(framed, file.units), key=lambda hit: -hit.relevance)


async def _with_units(request: ContextRequest, files: Sequence[RankedFile]) -> list[RankedFile]:
    """Add units to the files found only by their outlines.

    These are the best units of each. In a long list the best files get all of their units.
    """
    leading = files[: max(_LEADING_FILES, request.limit // 2)]
    bare = [file.path for file in leading if not file.units]
    whole = [file.path for file in files[:_WHOLE_FILES] if request.limit > _LONG_LIST]
    found, rest = await asyncio.gather(
        search_units(request, request.query, _UNITS_OF_A_FILE * len(bare), bare),
        # Every unit has its path among its keywords.
        search_units(request, " ".join(whole), request.limit, whole),
    )
    more: dict[str, list[Hit]] = {}
    for hit in (*found, *(evolve(hit, relevance=0.0) for hit in rest)):
        more.setdefault(file_of(hit), []).append(hit)
    return [
        evolve(file, units=joined(file.units, more[file.path])) if file.path in more else file
        for file in files
    ]


def _item(hit: Hit, relevance: float) -> ContextItem:
    record = hit.record
    fields = record.fields
    path, line = fields.get("file_path", ""), fields.get("start_line")
    return ContextItem(
        source="code",
        content=record.text,
        relevance=min(1.0, max(0.0, relevance)),
        metadata={key: fields[key] for key in _METADATA if key in fields},
        id=record.id,
        kind=fields.get("unit_type", "lines"),
        title=fields.get("qualified_name", record.id),
        text=record.text,
        location=(path if line is None else f"{path}:{line}") if path else None,
    )
