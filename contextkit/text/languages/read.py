"""Which language a question is in, and its words with the English ones for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from contextkit.text.languages.lexicon import Lexicon, Term, lexicon
from contextkit.text.spellings import with_spellings
from contextkit.text.words import ENGLISH_ALONE, QUESTION_WORDS, STOP_WORDS, TALK, VERBS

_READ_CHARACTERS = 8192
_FIRST_UNSPACED = "\u2e80"
_WORD = re.compile(r"\w+")
_KANA = re.compile(r"[\u3041-\u30ff]")
_UNSPACED = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_PLAIN = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EDGES = ".,;:!?…\"'`()[]{}<>«»“”‘’*¿¡„"

_SPACED = ("german", "french", "spanish", "italian", "portuguese", "dutch")
_SURELY = 2
"""A question with so many of those is in English, and no list needs to be read."""

_LEAST_SCORE = 2.0
_OF_TERM = 2.0
"""What a word of programming says of its language beside a word such as `und`."""

_OF_ENGLISH_TERM = 0.5
"""What `request` says of a question's language: little, as every developer uses it."""

_ENGLISH_END = ("sion", "tion")


@lru_cache(maxsize=512)
def language_of(text: str) -> Lexicon | None:
    """Tell the language of a question; None for English, and for one that has no list."""
    text = text[:_READ_CHARACTERS]
    words = frozenset(_WORD.findall(text.lower()))
    if text.isascii() and len(words & ENGLISH_ALONE) >= _SURELY:
        return None
    english = len(words & _english())
    if not text.isascii() and max(text) >= _FIRST_UNSPACED:
        unspaced = "".join(_UNSPACED.findall(text))
        if len(unspaced) > english:
            return lexicon("japanese" if _KANA.search(unspaced) else "chinese")
    scores = {name: _score(words, name) for name in _SPACED}
    best = max(_SPACED, key=lambda name: scores[name])
    score = scores[best]
    if not score or score <= english:
        return None
    own = lexicon(best)
    if score < _LEAST_SCORE and any(own.english_for(word) for word in words - _english_terms()):
        score += _OF_TERM
    tech = _OF_ENGLISH_TERM * len((words & _english_terms()) - _english())
    return own if score >= max(_LEAST_SCORE, english + tech + 1) else None


def _score(words: frozenset[str], name: str) -> float:
    stop, terms = _telling(name)
    return len(words & stop) + _OF_TERM * len(words & terms)


@cache
def _telling(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """A language's words that are no English ones: those of questions, those of programming."""
    own = lexicon(name)
    known = _english() | _english_terms() | lexicon("english").stop
    return (
        frozenset(word for word in own.stop - known if len(word) > 1),
        frozenset(word for word in own.terms if not word.endswith(_ENGLISH_END)) - known,
    )


@cache
def _english() -> frozenset[str]:
    return STOP_WORDS | TALK | QUESTION_WORDS | VERBS


@cache
def _english_terms() -> frozenset[str]:
    names = (*_SPACED, "chinese", "japanese")
    return frozenset(e for name in names for words in lexicon(name).terms.values() for e in words)


def is_unspaced(word: str) -> bool:
    """Whether a word is of a script that is written without spaces."""
    return _UNSPACED.match(word) is not None


def terms_in(text: str, language: Lexicon) -> tuple[Term, ...]:
    """List the words of a text in another language, each once, with the English ones.

    Those that say nothing are left out. Of a script without spaces, what the list does not
    know is cut into pairs of characters.
    """
    unspaced = language.name in ("chinese", "japanese")
    found = _unspaced_terms(text, language) if unspaced else _spaced_terms(text, language)
    return tuple(dict.fromkeys(found))


def _spaced_terms(text: str, language: Lexicon) -> Iterator[Term]:
    known = _english_terms()
    for term in language.terms_in(_plain_words(text[:_READ_CHARACTERS])):
        # French has a `file` of its own, and its developers speak of the English one.
        yield Term(term.text) if term.text in known else term


def _unspaced_terms(text: str, language: Lexicon) -> Iterator[Term]:
    for part in re.split(f"({_UNSPACED.pattern})", text[:_READ_CHARACTERS]):
        if _UNSPACED.match(part):
            yield from _cut(part, language)
        else:
            yield from map(Term, _plain_words(part))


def _plain_words(text: str) -> list[str]:
    """The words of a text in lower case, names by their parts."""
    return [word.lower() for word in _PLAIN.findall(_CAMEL.sub(" ", text))]


def _cut(run: str, language: Lexicon) -> Iterator[Term]:
    """Cut a run at the longest words that are known."""
    unknown = ""
    place = 0
    while place < len(run):
        sizes = range(min(language.longest, len(run) - place), 0, -1)
        pieces = (run[place : place + size] for size in sizes)
        word = next((p for p in pieces if p in language.terms or p in language.stop), "")
        if word:
            yield from _pairs(unknown)
            unknown = ""
            if word not in language.stop:
                yield Term(word, language.terms[word])
        else:
            unknown += run[place]
        place += len(word) or 1
    yield from _pairs(unknown)


def _pairs(run: str) -> Iterator[Term]:
    """Cut what is not known into pairs; one character by itself is in every text."""
    return (Term(first + second) for first, second in pairwise(run))


@lru_cache(maxsize=512)
def in_english(query: str) -> str:
    """Add the English words to a query in another language, as it is searched for.

    Words that its questions are made with are left out: `die` would find what dies. A query
    in English, or in a language that has no list, only gets spellings: `timeout` for "time out".
    """
    language = language_of(query)
    if language is None:
        return with_spellings(query)
    known = set(_WORD.findall(query.lower()))
    lines = [_line_in_english(line, language, known) for line in query.splitlines()]
    return "\n".join(lines)


def _line_in_english(line: str, language: Lexicon, known: set[str]) -> str:
    wanted = [e for term in terms_in(line, language) for e in term.english if e not in known]
    english = list(dict.fromkeys(wanted))
    known.update(english)
    kept = [token for token in line.split() if token.strip(_EDGES).lower() not in language.stop]
    return " ".join((*(kept or [line]), *english))
