"""Analyse a query: keywords, names, topics, intent and subject."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from attrs import define, field

from contextkit.text.keywords import base_form
from contextkit.text.languages.lexicon import Term
from contextkit.text.languages.read import language_of, terms_in
from contextkit.text.signals import Intent, QuerySignals, Topic, topics_in
from contextkit.text.spellings import other_spellings, with_compounds, without_quantity
from contextkit.text.words import (
    BEFORE_A_VERB,
    DETERMINERS,
    EXPLAIN,
    EXPLAINING_PAIRS,
    FIX,
    GREETINGS,
    POLITE_PAIRS,
    QUESTION_WORDS,
    STOP_WORDS,
    TALK,
    VERBS,
)

_READ_CHARACTERS = 8192
_READ_TOKENS = 512
_MOST = 64
"""Maximum number of keywords and of names: no question needs more."""

_LONGEST_NAME = 120
_LONGEST_PHRASE = 5
_ASKING = QUESTION_WORDS | EXPLAIN | FIX

_WORD = re.compile(r"\w+")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_TOKEN = re.compile(r"""[\"“]([^\"“”\n]{2,120})[\"”]|`([^`\n]{1,120})`|(\S+)""")
_ENDS = ".,;:!?…\"'`()[]{}<>«»“”‘’*"
_SENTENCE_ENDS = (".", "!", "?", ":")
_OPENING_VERBS = VERBS | FIX | EXPLAIN
_CODE_NAME = re.compile(r"[^\W\d]\w*(?:(?:\.|::|->|#)[^\W\d]\w*)*(?:\(\))?")
_SEPARATORS = re.compile(r"\.|::|->|#")
_PATH = re.compile(r"(?:~|\.{1,2})?/?[\w.@+-]+(?:/[\w.@+-]+)*/?(?::\d+)*")
_FILE = re.compile(r"[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9}(?::\d+)*")
_FLAG = re.compile(r"--[^\W\d_][\w-]*")
_URL = re.compile(r"https?://\S+")
_AS_CODE = re.compile(r"`|\w\(\)|(?<!\w)--?\w")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")

_NAME_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\da-zA-Z_]+")
_NOT_THE_SUBJECT = STOP_WORDS | TALK | QUESTION_WORDS | VERBS | EXPLAIN
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ies", "ied", "ed", "es", "er", "s", "e", "y")
_SHORTEST_STEM = 4
_LONGEST_BEGINNING = 7
"""Letters that count of a foreign word, whose endings are not English."""

_LEAST_WORDS = 2
"""A first line with fewer words does not give the subject: "Hello, I need help"."""

_TRACEBACK = "Traceback (most recent call last)"
_READ_LINES = 100_000


def signals_of(query: str) -> QuerySignals:
    """Return the signals of a query's own words.

    Only the first 8,192 characters of a text count, as in searches. The topic of a text of
    several lines is taken from its first line.
    """
    text = query[:_READ_CHARACTERS]
    entities, prose = _names_and_prose(text)
    return QuerySignals(
        keywords=_keywords(text),
        entities=entities,
        intent=_intent(prose, asks="?" in text),
        topics=_topics(query),
    )


def is_talk(query: str) -> bool:
    """Whether a query has no subject: "thanks!", "fix it".

    Words written as code are a subject: `--help`, `fix()`. So may be a single word, unless it
    is a greeting or similar: `next`, `mean`.
    """
    text = query[:_READ_CHARACTERS]
    words = frozenset(_words(text))
    talk = GREETINGS if len(words) == 1 else TALK
    if not words or not words <= STOP_WORDS | talk or _AS_CODE.search(text):
        return False
    return all(name.replace(" ", "").isalpha() for name in _names_and_prose(text)[0])


def _keywords(text: str) -> tuple[str, ...]:
    language = language_of(text)
    if language is not None:
        terms = terms_in(text, language)
        found = dict.fromkeys(word for term in terms for word in (term.text, *term.english))
        return tuple(found)[:_MOST]
    words = dict.fromkeys(_words(text))
    wanted = [w for w in words if w not in STOP_WORDS and (len(w) > 1 or not w.isascii())]
    return tuple(wanted[:_MOST])


def _words(text: str) -> list[str]:
    """Whole words in lower case; `don't` is one word."""
    return _WORD.findall(_APOSTROPHE.sub("", text).lower())


# -- topics -----------------------------------------------------------------------------------


def _topics(query: str) -> tuple[Topic, ...]:
    topics = topics_in(first_line(query))
    return ("code", "usage") if topics == ("code",) and _is_bare_phrase(query) else topics


def _is_bare_phrase(query: str) -> bool:
    """Whether a query is a bare phrase: "digest auth"."""
    if len(query) > _LONGEST_NAME or "?" in query or language_of(query) is not None:
        return False
    words = _words(query)
    if not 0 < len(words) <= _LONGEST_PHRASE or words[0] in VERBS | BEFORE_A_VERB:
        return False
    if is_talk(query) or not _ASKING.isdisjoint(words):
        return False
    return not any(map(_code_name, query.split())) and not _AS_CODE.search(query)


# -- intent -----------------------------------------------------------------------------------


def _intent(prose: str, *, asks: bool) -> Intent:
    """The intent, by whole words.

    Parts of words or of names do not count.
    """
    words = _words(prose)
    if not FIX.isdisjoint(words):
        return "fix"
    pairs = list(pairwise(words))
    if not EXPLAIN.isdisjoint(words) or not EXPLAINING_PAIRS.isdisjoint(pairs):
        return "explain"
    begins_politely = bool(pairs) and pairs[0] in POLITE_PAIRS
    if not begins_politely and (asks or (words and words[0] in QUESTION_WORDS)):
        return "question"
    if _is_told(words):
        return "action"
    return "question" if asks else "other"


def _is_told(words: Sequence[str]) -> bool:
    """Whether the first meaningful word requests an action."""
    for word, following in pairwise((*words, "")):
        if word in VERBS:
            return True
        if word not in BEFORE_A_VERB:
            # A word before "the" that is not a stop word is a verb.
            return word not in STOP_WORDS and following in DETERMINERS
    return False


# -- names ------------------------------------------------------------------------------------


def _names_and_prose(text: str) -> tuple[tuple[str, ...], str]:
    """The names in a text, and the text without code."""
    names: dict[str, None] = {}
    prose: list[str] = []
    language = language_of(text)
    german = language is not None and language.name == "german"
    phrase = _Capitalised(off=text.isupper(), acronyms=german)
    for match in islice(_TOKEN.finditer(text), _READ_TOKENS):
        quoted, ticked, token = match.groups()
        name = quoted or ticked or _code_name(token)
        for each in (*phrase.next("" if name else token), name.strip()):
            if 0 < len(each) <= _LONGEST_NAME:
                names[each] = None
        if quoted is not None or not name:
            prose.append(match.group())
    names.update(dict.fromkeys(phrase.ended()))
    return tuple(names)[:_MOST], " ".join(prose)


def _code_name(token: str) -> str:
    """Read a code name, file or address from a token."""
    if _URL.match(token):
        return token.rstrip(_ENDS)
    call = token.rstrip(".,;:!?").endswith("()")
    bare = token.strip(_ENDS)
    if token.startswith(("./", "../", ".")) and not bare.startswith("."):
        bare = token.rstrip(_ENDS).lstrip("\"'`([{<")
    if not bare or len(bare) > _LONGEST_NAME:
        return ""
    if call and _CODE_NAME.fullmatch(bare):
        return bare
    return bare if _is_code(bare) else ""


def is_code_name(name: str) -> bool:
    """Whether a name is one of code, file or address."""
    return bool(_code_name(name))


def _is_code(bare: str) -> bool:
    if _FLAG.fullmatch(bare):
        return True
    if "/" in bare:
        return _is_path(bare)
    if _FILE.fullmatch(bare) and not _is_abbreviation(bare):
        return True
    if not _CODE_NAME.fullmatch(bare) or _is_abbreviation(bare):
        return False
    return (
        "_" in bare.strip("_")
        or bare.startswith("_")
        or _SEPARATORS.search(bare) is not None
        or _CAMEL.search(bare) is not None
    )


def _is_path(bare: str) -> bool:
    """Whether it is a path, unlike `and/or`."""
    if not _PATH.fullmatch(bare):
        return False
    last = bare.rpartition("/")[2]
    return bare.startswith(("/", "~", ".")) or bare.count("/") > 1 or not last or "." in last


def _is_abbreviation(bare: str) -> bool:
    """Whether it is an abbreviation like `e.g`."""
    return all(len(part) < 2 for part in bare.split("."))


@define
class _Capitalised:
    """Joins neighbouring capitalised words into names.

    Attributes:
        off: collect nothing, for a text in capitals.
        acronyms: collect only acronyms, for a language in which all nouns have capitals.
    """

    off: bool
    acronyms: bool
    _words: list[str] = field(factory=list, init=False)
    _begins_sentence: bool = field(default=True, init=False)
    _first_is_doubtful: bool = field(default=False, init=False)

    def next(self, token: str) -> Iterator[str]:
        """Process the next token, "" for a non-word.

        Yield the names that end here.
        """
        bare = token.strip(_ENDS)
        is_name = not self.off and bare[:1].isupper() and bare.lower() not in STOP_WORDS
        is_name = is_name and (not self.acronyms or bare[1:2].isupper())
        if not is_name or token[0] in _ENDS:
            yield from self.ended()
        if is_name:
            if not self._words:
                # Every sentence starts with a capital, but "LLM" has several.
                self._first_is_doubtful = self._begins_sentence and not bare[1:2].isupper()
            self._words.append(bare)
            if token[-1] in _ENDS:
                yield from self.ended()
        self._begins_sentence = token[-1:] in _SENTENCE_ENDS

    def ended(self) -> Iterator[str]:
        """Yield the collected name, if any."""
        words, self._words = self._words, []
        if self._first_is_doubtful and (len(words) < 2 or words[0].lower() in _OPENING_VERBS):
            words = words[1:]
        self._first_is_doubtful = False
        if words:
            yield " ".join(words)


# -- the subject ------------------------------------------------------------------------------


def first_line(query: str) -> str:
    """Return the line with the subject of a question.

    A report starts with its title; a traceback alone ends with its message.
    """
    lines = [line for line in map(str.strip, query[:_READ_LINES].splitlines()) if line]
    if not lines:
        return ""
    return lines[-1] if is_traceback(query) else lines[0]


def is_traceback(query: str) -> bool:
    """Whether a question starts with a traceback."""
    return query.lstrip().startswith(_TRACEBACK)


@lru_cache(8)
def subject_words(query: str) -> tuple[tuple[str, ...], ...]:
    """List a query's subject words with their stems.

    They are in lower case, without duplicates and endings. Names are split (`session_cookie`,
    `SessionCookie`). Words of asking and telling are left out. The subject of a text of several
    lines is taken from its first line. Irregular forms also have the stem of their base (`write`
    for `written`), and words in other languages those of their English translations.
    """
    words = _words_about(first_line(query))
    return words if len(words) >= _LEAST_WORDS else _words_about(query)


def _words_about(text: str) -> tuple[tuple[str, ...], ...]:
    language = language_of(text)
    if language is None:
        subject = _subject(with_compounds(without_quantity(text)))
        others = other_spellings(text)
        forms = ((word, base_form(word), *others.get(word, ())) for word in subject)
        about: Iterable[tuple[str, ...]] = (tuple(dict.fromkeys(map(stem_of, f))) for f in forms)
    else:
        about = filter(None, map(_beginnings, terms_in(text, language)))
    return tuple(dict.fromkeys(about))[:_MOST]


def _beginnings(term: Term) -> tuple[str, ...]:
    """The stems of a word and its translations.

    None for words of asking and telling.
    """
    subject = [word for word in term.english if word not in _NOT_THE_SUBJECT]
    if not subject and (term.english or term.text in _NOT_THE_SUBJECT):
        return ()
    own = stem_of(term.text) if not term.english else term.text[:_LONGEST_BEGINNING]
    return tuple(dict.fromkeys((own, *map(stem_of, subject))))


def name_parts(text: str) -> list[str]:
    """Split names such as `SessionCookie` and `session_cookie` into lower-case words."""
    return [part.lower() for part in _NAME_PART.findall(text)]


def subject_stems(text: str) -> tuple[str, ...]:
    """List the stems of an English text's words, without those of asking and telling.

    They are in lower case, without duplicates and endings. Names are split.
    """
    return tuple(dict.fromkeys(map(stem_of, _subject(text))))[:_MOST]


def _subject(text: str) -> list[str]:
    parts = name_parts(text[:_READ_CHARACTERS])
    return [p for p in parts if p not in _NOT_THE_SUBJECT and (len(p) > 1 or not p.isascii())]


@lru_cache(maxsize=16)
def names_one_thing(query: str) -> bool:
    """Whether a question consists of a single name of code."""
    names = [name for name in _names_and_prose(query[:_READ_CHARACTERS])[0] if _code_name(name)]
    named = set(subject_stems(names[0])) if len(names) == 1 else set()
    return bool(named) and named.issuperset(subject_stems(query))


def stem_of(word: str) -> str:
    """Remove the ending of a lower-case word."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word
