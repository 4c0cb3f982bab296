"""Parse a question for ranking."""

from __future__ import annotations

import re
from functools import lru_cache

from attrs import frozen

from contextkit.text import base_form, first_line, in_english, signals_of, without_quantity
from contextkit_code.ranking.words import words_of

_NAME = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|#|->)[^\W\d][\w$]*)*|\$[\w$]+")
# A key or an option, such as `line-length`, and many an English word.
_KEY = re.compile(r"(?<![\w-])(?:--)?([A-Za-z][A-Za-z\d]*+(?:-[A-Za-z\d]++)+)(?![\w-])")
_SEPARATOR = re.compile(r"::|#|->")
_PLAIN_WORD = re.compile(r"[^\W\dA-Z_]+|[A-Z]+")
_CAPITALISED = re.compile(r"[A-Z][^\W\dA-Z_]*")

_TO_TEST = re.compile(r"\b(?:i|we|you|to)\s+(?:unit[- ]?)?test\b", re.IGNORECASE)
_ASKS_FOR = re.compile(
    r"\b(?:(?P<tests>test(?:s|ed|ing)?|specs?|fixtures?|mocks?|mocking)"
    r"|(?P<asides>legacy|deprecat(?:ed|ions?)|compat(?:ibility)?|examples?|samples?|demos?"
    r"|completions?|bench(?:es|marks?|marking)?|scripts?)"
    r"|(?P<prose>docs?|documentation|documented|readme|changelog|guides?|tutorials?|licen[cs]e))\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"\b(?:align(?:ed|ment)?|animat\w+|backgrounds?|borders?|breakpoints?|centere?d?|colou?rs?|css|dark"
    r"|fonts?|hover|icons?|layouts?|less|margins?|mixins?|paddings?|pixels?|responsive|sass|scss|shadows?"
    r"|spacing|styl\w+|tailwind|themes?|width|wrap(?:s|ped|ping)?)\b",
    re.IGNORECASE,
)

# Words that form a question; the other words are its subject.
_QUESTION_WORD = re.compile(
    r"a|after|and?|are|a[st]|be|before|but|by|can|do|does|during|each|for|from|get|ha[sv]e?|how|i"
    r"|i[fnst]|into|its|no|not|o[fnr]|please|set|so|such|that|the|their|then|there|these|they|this|to|use"
    r"|used|uses|using|via|was|what|when|where|which|who|why|will|with|works?|my|our|your"
    # Of "isn't" and the like.
    r"|(?:are|could|did|do|does|had|has|have|is|should|was|were|wo|would)n"
)
# Verbs that say what to do with the subject; a name with such a verb is seldom the subject.
_VERB = re.compile(
    r"add(?:ed|ing|s)?|chang(?:e[ds]?|ing)|decid(?:e[ds]?|ing)|defin(?:e[ds]?|ing)|determin(?:e[ds]?|ing)"
    r"|exist(?:s|ing)?|explain(?:ed|s)?"
    r"|find(?:s|ing)?|fix(?:e[ds]|ing)?|happen(?:ed|ing|s)?|implement(?:ation|ed|ing|s)?"
    r"|locat(?:ed|ion)|ma[dk]e|makes|must|need(?:ed|s)?|should|show(?:n|s)?|tell|want(?:ed|s)?|would"
)
# "The instrument macro" names a macro; units about macros in general are no answer.
_KIND = re.compile(
    r"\bthe\s+`?[\w.:]+`?\s+(class|enum|function|interface|macro|method|struct|trait)\b"
)
# "Write a unit test for the retry" asks for tests of the retry, and not what writes or is a unit.
_TEST_TASK = re.compile(
    r"\A\s*+(?:(?:can|could)\s++you\s++)?(?:please\s++)?(?:add|create|implement|write)\s++"
    r"(?:(?:an?|some|more|the|missing)\s++)*(?:(?:unit|integration|regression)[\s-]++)?"
    r"tests?\s++(?:cases?\s++)?(?:for|of|that|to|which)\s++",
    re.IGNORECASE,
)
# "Add a plugin for a new site" is about plugins and sites, and not about what is called new.
_TASK = re.compile(
    r"\A\s*+(?:(?:can|could)\s++you\s++)?(?:please\s++)?"
    r"(?:add|build|create|implement|introduce|make|support|write)\b",
    re.IGNORECASE,
)
_NEW = re.compile(r"\b(an?|for|the) new (?=\w)", re.IGNORECASE)
# "Add a subcommand" is a task, and "add item" may be the name `add_item`.
_OF_ONE = re.compile(rf"{_TASK.pattern}\s++(?:an?|another)\s", re.IGNORECASE)
# "Where does the retry live?" asks where it is, "why is it not working?" is about no worker;
# "live display" and "missing key" name something.
_LIVES = re.compile(r"(?<=\w )(?:live[ds]?|missing|working)(?=\s*[?.]?\s*\Z)")
# Both are names, though they may be plain words.
_COMPARED = re.compile(
    r"\bdifferences? between (?:the )?([\w.]++) and (?:the )?([\w.]++)"
    r"|(?<![\w.])([\w.]++) (?:vs\.?|versus|differs? from|is different from) (?:the )?([\w.]++)",
    re.IGNORECASE,
)
_SHORT_QUERY = 3
"""Most words of a query that may spell a name.

Example: `add item`.
"""

_SHORTEST_WORD = 2

_ASCII_WORD = re.compile(r"[A-Za-z_][\w.]+", re.ASCII)
_FIRST_WITHOUT_SPACES = "\u2e80"
_SEARCHED = 8_000
_READ = 100_000
_LEAST_OF_TEXT = 5_000


@frozen
class Question:
    """A parsed query.

    Attributes:
        words: its subject words, in lower case, identifiers split into parts, irregular forms as
            their base (`write` for `written`).
        names: the words that can only be names of definitions.
        identifier: the name that makes up the whole query; "" for a question of words.
        asks_for: what else it speaks of: `tests`, `asides` (legacy code, examples, benchmarks,
            scripts, completions of shells), `prose`; in a text of several lines its first line says
            this. `use` where it asks for none of these, but how to use something. `test helpers`
            beside it where it asks how to test something. `new tests` where it asks to write tests
            of what the other words say. `looks`, beside any of them, where it speaks of colors,
            layouts and the like.
        has_lines: whether it is a text of several lines.
        line: the line that says what is asked.
        keys: the words with hyphens in that line: keys of settings, options of commands, or English
            words.
    """

    words: tuple[str, ...]
    names: frozenset[str]
    identifier: str
    asks_for: frozenset[str]
    has_lines: bool = False
    line: str = ""
    keys: frozenset[str] = frozenset()


def words_beside_script(query: str) -> str:
    """Return the ASCII words beside Chinese, Japanese or similar scripts.

    "" for other queries. Such a script is cut into many words that code does not have: they would
    hide that the query's only name was found. The English words for them are among the query's own.
    """
    if query.isascii() or max(query, default="") < _FIRST_WITHOUT_SPACES:
        return ""
    return " ".join(_ASCII_WORD.findall(in_english(query[:_SEARCHED])))


def searched_text(query: str) -> str:
    """Return the searched text: the question's start and its names.

    A store searches for 8,192 characters of a query.
    """
    if len(query) <= _SEARCHED:
        return _subject(query)
    text = query[:_LEAST_OF_TEXT]
    names = dict.fromkeys(_names(query[_LEAST_OF_TEXT:_READ]))
    return f"{text} {' '.join(names)}"[:_SEARCHED]


def without_test_task(query: str) -> str:
    """Return what tests are to be written of, for a request to write tests."""
    return _TEST_TASK.sub("", query)


@lru_cache(maxsize=8)
def ask(query: str) -> Question:
    """Parse a query. One search parses it several times.

    English words are added for those of another language.
    """
    is_about_use = "usage" in signals_of(query).topics
    query = without_quantity(in_english(query))
    whole = query.strip()
    line = first_line(query)
    task = _plain_task(whole)
    tested = without_test_task(task)
    query = _LIVES.sub("", tested)
    is_identifier = _NAME.fullmatch(whole) is not None
    names = (whole,) if is_identifier else tuple(_names(query))
    asked = {kind for found in _ASKS_FOR.finditer(line) if (kind := found.lastgroup)}
    if is_about_use and asked == {"tests"} and _TO_TEST.search(line):
        asked = {"use", "test helpers"}
    if tested != task:
        asked = asked - {"tests"} | {"new tests"}
    if is_about_use and not asked:
        asked = {"use"}
    if _LOOKS.search(line):
        asked = {*asked, "looks"}
    # A report that describes how it was tested does not ask for tests.
    beside = {word for word in words_of(query) if _ASKS_FOR.fullmatch(word)} - {*words_of(line)}
    beside.update(_KIND.findall(line))
    words = [
        word
        for word in words_of(query)
        if word not in beside
        and not _QUESTION_WORD.fullmatch(word)
        and (len(word) >= _SHORTEST_WORD or not word.isascii())
    ]
    words = [*dict.fromkeys(map(base_form, words))]
    subject = [word for word in words if not _VERB.fullmatch(word)]
    return Question(
        words=tuple(subject if subject and len(query.split()) > _SHORT_QUERY else words),
        names=frozenset(_SEPARATOR.sub(".", name) for name in names),
        identifier=_SEPARATOR.sub(".", whole) if is_identifier else "",
        asks_for=frozenset(asked),
        has_lines=line != whole,
        line=line,
        keys=frozenset(_KEY.findall(line)),
    )


def _plain_task(query: str) -> str:
    """Return a task without the word "new"."""
    return _NEW.sub(r"\1 ", query) if _TASK.match(query) else query


def _subject(query: str) -> str:
    """Drop the verbs that precede a one-line question's subject."""
    if _TEST_TASK.match(query):
        return query
    query = _LIVES.sub("", _plain_task(without_quantity(query)))
    words = [word for word in query.split() if not _VERB.fullmatch(word.strip("?!.,:;").lower())]
    spells_no_name = len(query.split()) > _SHORT_QUERY or _OF_ONE.match(query)
    has_one_line = first_line(query) == query.strip()
    return " ".join(words) if words and spells_no_name and has_one_line else query


def _names(query: str) -> list[str]:
    """Return the words that can only be names.

    These are neither plain words nor acronyms, unless they are written as code or compared.
    """
    compared = [name for found in _COMPARED.findall(query) for name in found if name]
    written = [
        found[0]
        for found in _NAME.finditer(query)
        if _is_code(query, found)
        or (
            not _PLAIN_WORD.fullmatch(found[0])
            # The first word of a sentence is capitalised anyway.
            and not (found.start() == 0 and _CAPITALISED.fullmatch(found[0]))
        )
    ]
    return [*(name.strip(".") for name in compared), *written]


def _is_code(query: str, name: re.Match[str]) -> bool:
    """Return whether a name is written as code: in backticks, or with an empty call."""
    first, end = name.span()
    in_backticks = query[first - 1 : first] == "`" == query[end : end + 1]
    return in_backticks or query.startswith("()", end)
