"""Skip small talk, and drop all results without strong matches.

A query that consists only of greetings, thanks, assent and the like is not searched for. Each of
its words may be rare in a project, so a search would find a full match somewhere. Sources that
answer by other means than a search, such as the latest events, still answer.

Where no result has the question's subject, matches are chance. All results are then dropped,
whether one source was queried or all of them. There are three signs of that:

- The question names something, such as Kafka, and no result has any of its names.
- The question is short, and its words that were found occur in many items.
- No item has half of the question's words. Five words of a longer question are enough.

A name of code, such as `NO_PROXY`, shows that the question has a subject. So does a very good
match. For the last sign a good match is enough. Results of sources that answer by other means than
the question's words are kept.

A `min_relevance` of 0 accepts every result, and switches both rules off.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence

from attrs import frozen

from contextkit.budget.evidence import Word, coverage_of, text_of, words_in, words_in_text, words_of
from contextkit.models.candidate import Candidate
from contextkit.models.items import ContextItem
from contextkit.models.record import Hit, Search
from contextkit.models.request import ContextRequest, Section
from contextkit.models.source import SourceInfo
from contextkit.text.dates import named_dates
from contextkit.text.languages.read import language_of
from contextkit.text.questions import is_code_name, is_talk, name_parts, stem_of

_WORD = re.compile(r"[^\W_]+(?:['’]s)?")
_OWNED = re.compile(r"['’]s$")
_WEEKDAYS = frozenset(
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
)
_IDENTIFIER = re.compile(r"\w+")
_LETTERS_A_SLIP = 5
_MOST_WRONG = 2
_JOINT = r"[\W_]{0,2}"
_MARKED = re.compile(r"[_./:>()#]")
"""What no proper name has, as `NO_PROXY` and `index.rst` have it."""

_PARTS = re.compile(r" > |[.:#/]")
"""What the parts of a title are joined by, as in `Login.check` and "Users > Login"."""

_SHORT_NAME = 5
"""A name of so few letters is found as a whole: React is not in `reaction`."""


@frozen
class Names:
    """The names in a question.

    Attributes:
        found: names that occur in a result.
        missing: names that occur in no result, not even in a similar spelling.
        is_of_code: whether one is written as nothing but code is, as `NO_PROXY`.
    """

    found: Sequence[str] = ()
    missing: Sequence[str] = ()
    is_of_code: bool = False


def names_in(request: ContextRequest, items: Sequence[ContextItem]) -> Names:
    """Find which of a question's names occur in the items.

    Args:
        request: its query, and the names in that.
        items: all that was found.
    """
    names = [name for name in request.signals.entities if not _is_date(name)]
    if not names:
        return Names()
    texts = [(text, text.lower()) for text in map(text_of, items)]
    code = [name for name in names if is_code_name(name)]
    proper = [name for name in names if name not in code and not name.islower()]
    found = [name for name in code if _has_code(texts, name)]
    found += [name for name in proper if _has_all(texts, name)]
    missing = [name for name in (*proper, *code) if name not in found]
    if missing and _is_title(request.query, proper):
        missing = []
    return Names(
        found=found,
        missing=[n for n in missing if n not in code or not _is_nearly_in(texts, n)],
        is_of_code=any(map(_MARKED.search, code)),
    )


def _is_date(name: str) -> bool:
    # "May" alone would be a verb.
    return bool(named_dates(f"in {name}")) or name.lower() in _WEEKDAYS


def _has_code(texts: Sequence[tuple[str, str]], name: str) -> bool:
    """Check for a name, however its parts are joined."""
    parts = [re.escape(part) for part in name_parts(name)]
    # iOS is not in `axios`.
    pattern = re.compile(rf"(?<![^\W\d_]){_JOINT.join(parts)}(?![^\W\d_])")
    return bool(parts) and any(pattern.search(lowered) for _, lowered in texts)


def _is_nearly_in(texts: Sequence[tuple[str, str]], name: str) -> bool:
    """Check for a similar name, which may be mistyped."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    wrong = min(_MOST_WRONG, len(name) // _LETTERS_A_SLIP)
    known = {each for _, lowered in texts for each in _IDENTIFIER.findall(lowered)}
    scored = process.extractOne(name.lower(), known, scorer=OSA.distance, score_cutoff=wrong)
    return scored is not None


def _has_all(texts: Sequence[tuple[str, str]], name: str) -> bool:
    words = [_OWNED.sub("", word) for word in _WORD.findall(name)]
    return all(any(word.is_in(*text) for text in texts) for word in map(_word, words))


def _word(name: str) -> Word:
    lowered = name.lower()
    return Word.whole(lowered) if len(name) <= _SHORT_NAME else Word.of(stem_of(lowered))


def _is_title(query: str, proper: Sequence[str]) -> bool:
    """Check whether capitals in a query carry no meaning.

    They carry none in a text of several lines, or in one With Each Word So.
    """
    words = sum(len(name.split()) for name in proper)
    return "\n" in query.strip() or 2 * words > len(query.split())


_SHORT_QUESTION = 2
_LEAST_WORDS = 0.5
"""The part of the question's words that one item has to have."""

_ENOUGH_WORDS = 5
"""So many count as the whole of a longer question."""

_LEAST_MATCH = 0.55
_LEAST_OF_TWO = 0.5
"""What an item with one word of two has to match: that word may be all there is."""

_HARDLY_KNOWN = 0.51
"""Below this match, the one word is as good as unknown, and has to be in an item's name. A file of
odd addresses has "asdf", and is not what "asdf qwer" asks for."""

_GOOD_MATCH = 0.6
"""What matches so well may have other words for it."""

_BY_MEANING = 0.63
_NOTES = 0.56
"""Where vectors are searched too, words make less of a match, and such a part says as much;
less still of notes, which are short."""

_VERY_GOOD_MATCH = 0.9
"""What matches so well answers though it has no name that the question has."""

_SHORT = 6
_LEAST_COVERAGE = 0.2
"""The part of a short question that one item has to have, rare words counting more.

Long questions describe what they are about, and have many words that nothing else has."""

_TWO_WORDS = 2
"""Fewest words of a question that an item's name must have to be about it."""

_FEW_FOUND = 5
"""Among fewer items, a word that all of them have is not common."""

_SURE = 0.4
"""What a source of what is going on gives to items that are asked for."""

Searcher = Callable[[Search], Awaitable[list[Hit]]]


def unless_talk(searcher: Searcher, request: ContextRequest) -> Searcher:
    """Wrap a searcher to return nothing for small talk.

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
    request: ContextRequest,
    sections: Sequence[Section],
    candidates: Sequence[Candidate],
    infos: Sequence[SourceInfo],
) -> str | None:
    """Return the reason to drop all keyword matches.

    Returns None where they are kept.

    Args:
        request: its `min_relevance`, its query, and the names in that.
        sections: those that were asked.
        candidates: all that was found for them.
        infos: the description of each section's source.
    """
    if not candidates or _is_let_through(request, sections, infos):
        return None
    scale = {section.key: _scale(info) for section, info in zip(sections, infos, strict=True)}
    best = max(candidate.item.relevance / scale[candidate.section] for candidate in candidates)
    if best >= _VERY_GOOD_MATCH:
        return None
    names = names_in(request, [candidate.item for candidate in candidates])
    if names.is_of_code:
        return None
    if names.missing and not names.found:
        return f"no result mentions what the question names: {', '.join(names.missing)}"
    words = words_of(request.query)
    if language_of(request.query) is not None:
        words = _known(words, request.query, candidates)
    elif len(candidates) >= _FEW_FOUND and 0 < len(words) <= _SHORT and not names.found:
        coverage = max(coverage_of(request.query, candidates))
        # A result without any of the words was found by meaning.
        if 0 < coverage < _LEAST_COVERAGE and not (
            _is_named_by_most(words, candidates) or _is_a_name(words[0], candidates)
        ):
            return (
                "no result answers the question: the best item has only "
                f"{coverage:.0%} of the key terms"
            )
    return _too_few(words, candidates, best)


def _known(words: Sequence[Word], query: str, candidates: Sequence[Candidate]) -> list[Word]:
    """Leave out foreign words without a match, except German nouns.

    Beside words that are known in English, foreign words may stand for the results.
    """
    if all(len(word.stems) == 1 for word in words):
        return list(words)
    texts = [text_of(candidate.item) for candidate in candidates]
    return [
        word
        for word in words
        if len(word.stems) > 1
        or word.stems[0] not in query
        or any(word.is_in(text, text.lower()) for text in texts)
    ]


def _too_few(words: Sequence[Word], candidates: Sequence[Candidate], best: float) -> str | None:
    """Return a reason if no item has half the words."""
    if best >= _GOOD_MATCH:
        return None
    if not words:
        return "the question has no topic to search for"
    most = max(words_in(words, candidate.item) for candidate in candidates)
    part = most / min(len(words), _ENOUGH_WORDS)
    least = _LEAST_MATCH
    if len(words) <= _SHORT_QUESTION:
        least = _LEAST_OF_TWO if _names_one(words, candidates) else _HARDLY_KNOWN
    if part > _LEAST_WORDS or (part == _LEAST_WORDS and best >= least):
        return None
    return f"no result answers the question: the best item has {most} of {len(words)} key terms"


def _names_one(words: Sequence[Word], candidates: Sequence[Candidate]) -> bool:
    """Check for an item whose title or location has one of the words."""
    return _most_in_a_name(words, candidates) > 0


def _is_named_by_most(words: Sequence[Word], candidates: Sequence[Candidate]) -> bool:
    """Check for an item whose title or location has most of the words, and two at least.

    If all results are of `status_drafts.py`, "status" and "drafts" are in each, yet say it all.
    """
    most = _most_in_a_name(words, candidates)
    return most >= _TWO_WORDS and 2 * most > len(words)


def _most_in_a_name(words: Sequence[Word], candidates: Sequence[Candidate]) -> int:
    names = (f"{each.item.title or ''} {each.item.location or ''}" for each in candidates)
    return max((words_in_text(words, name) for name in names), default=0)


def _is_a_name(word: Word, candidates: Sequence[Candidate]) -> bool:
    """Check for an item that is called by the word alone, or that is in a file that is.

    "Why does login hang?" is about `login.py`, though all that was found has "login", and nothing
    has "hang".
    """
    names = (
        name
        for each in candidates
        for name in (*_PARTS.split(each.item.title or ""), _stem(each.item.location or ""))
    )
    return any(name.isalpha() and stem_of(name.lower()) in word.stems for name in {*names})


def _stem(location: str) -> str:
    return location.rpartition("/")[2].partition(".")[0]


def by_other_means(info: SourceInfo, candidate: Candidate) -> bool:
    """Check whether a candidate was found without the question's words.

    A source whose scores give only an order is trusted. So is a confident source of current state:
    the state of the work tree has no word of "my changes".
    """
    if info.scale == "ranked":
        return True
    return info.answers.get("activity") == 1 and candidate.item.relevance >= _SURE


def _scale(info: SourceInfo) -> float:
    if info.embedder == "none":
        return 1.0
    return _NOTES if info.notes else _BY_MEANING


def _is_let_through(
    request: ContextRequest, sections: Sequence[Section], infos: Sequence[SourceInfo]
) -> bool:
    """Check whether words cannot show what answers a request."""
    return (
        request.min_relevance == 0
        or any(section.query is not None for section in sections)
        # The latest actions are found by their time.
        or (
            "activity" in request.signals.topics
            and any(i.answers.get("activity") == 1 for i in infos)
        )
    )
