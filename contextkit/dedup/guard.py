"""Tell copies from texts that differ in meaning.

The texts are aligned word by word, and the differing words decide.

| difference | contradicts |
|---|---|
| a number, version, date, path, identifier or negation | on either side |
| a name, a word in capitals, a single letter, an operator | if each side has its own |
| a word of one kind, such as days, units, on and off | if each side has another one |
| any other word | in code only |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import islice

from attrs import field, frozen
from rapidfuzz.distance import Indel

from contextkit.dedup.normal import composed
from contextkit.dedup.vocabulary import (
    FUNCTION_WORDS,
    NEGATIONS,
    NUMBER_WORDS,
    contrasts_of,
    opposes,
)

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CHUNK = re.compile(rf"ません|ない|なかっ|なく|[{_CJK}]|[^\s{_CJK}]+")
_HAS_CJK = re.compile(f"[{_CJK}]")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# A number keeps its sign, currency, percent sign and inner separators, which distinguish 1.2, 12
# and -12; other punctuation around and in it is dropped.
_BEFORE_NUMBER = re.compile(r"(?:(?![-+]?[.$€£¥]?\w)\W)*")
_IN_NUMBER = re.compile(r"[^\w.:/\\%$€£¥+-]+")
_IDENTIFIER = re.compile(
    r"\w[/\\]\w|^[\"'(`]*[.~]{0,2}[/\\]\w"  # a path
    r"|\w\.\w|\w::\w"  # a dotted name, a file name
    r"|[^\W_]_+[^\W_]|\b__\w"  # snake_case
    r"|[a-z][A-Z]"  # camelCase
    r"|\w\(|`"  # a call, a code span
    r"|^[\"'(]*(?:--?[A-Za-z]|[$@#]\w)"  # a flag, a variable, a handle, a tag
)
_EDGES = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~‘’“”«»…–—"
_OPERATOR = re.compile(r"[=!<>+*/%|^&~-]{2,}|[<>]|(?<![\w!?.,])!(?=\w)")
# Horizontal rules, bullets, emphasis and so on.
_NO_OPERATOR = re.compile(r"-+|\*+|/+|[!*/-]+|=+[^=]?")
_CODE_START = re.compile(
    r"[)\]}]|(?:def|class|import|from|return|if|for|while|else|elif|try|except|func|fn|let|const"
    r"|var|public|private|static|package|struct|impl|use|#include|@\w+)\b"
)
_CODE_ENDS = ("{", "}", ";")
_CALL = re.compile(r"\w\(.*\)\s*:?$")
_ASSIGNMENT = re.compile(r"[\w\])]\s*(?:[-+*/|&]?=|:=|=>|->)\s*\S")
# The first lines are enough to recognise code.
_LINES_READ = 12
_LONGEST_CODE_LINE = 200
# On a line of its own, or after code if it cannot contain the end of a string. `//` after code
# may be a division.
_COMMENT = re.compile(r"^\s*(?:#|//)\s.*|\s\s#\s[^\"'`]*$")
_CODE_TOKEN = re.compile(r"\w+|[^\w\s(){}\[\],;:\"'`]+")


@frozen
class Word:
    """A word of a text, with the effect of differences."""

    key: str
    literal: bool = False
    negation: bool = False
    contrasts: frozenset[int] = frozenset()
    name: bool = False
    number: bool = False


@frozen(slots=False, eq=False)
class Guarded:
    """A text with the parts that are compared.

    Each part is computed on first use.
    """

    text: str = field(converter=composed)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words that carry meaning, in order."""
        has_cjk = not self.text.isascii() and _HAS_CJK.search(self.text)
        chunks = _CHUNK.findall(self.text) if has_cjk else self.text.split()
        return tuple([word for word in map(read_word, chunks) if word.key])

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The comparable forms of the words."""
        return tuple([word.key for word in self.words])

    @cached_property
    def key_set(self) -> frozenset[str]:
        """The comparable forms of the words, without duplicates."""
        return frozenset(self.keys)

    @cached_property
    def joined(self) -> str:
        """The comparable forms of the words, joined without separators."""
        return "".join(self.keys)

    @cached_property
    def literals(self) -> frozenset[str]:
        """Words that must not differ."""
        return frozenset(word.key for word in self.words if word.literal)

    @cached_property
    def names(self) -> frozenset[str]:
        """Words that only the same name may replace."""
        return frozenset(word.key for word in self.words if word.name)

    @cached_property
    def operators(self) -> list[str]:
        """Comparisons, assignments and so on."""
        return [
            found
            for found in _OPERATOR.findall(self.text)
            if found in {"!", "=="} or not _NO_OPERATOR.fullmatch(found)
        ]

    @cached_property
    def is_code(self) -> bool:
        """Whether most lines look like code."""
        lines = [line for line in self.text.splitlines() if line.strip()][:_LINES_READ]
        most = max(2, (len(lines) + 1) // 2)
        return len(list(islice(filter(_is_code_line, lines), most))) == most

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    @cached_property
    def lines(self) -> list[str]:
        """The lines in lower case."""
        return self.lower.split("\n")

    def looks_like(self, other: Guarded) -> bool:
        """Whether texts differ only in case and white space."""
        return self.lower.split() == other.lower.split()

    def contradicts(self, other: Guarded) -> bool:
        """Whether two similar texts differ in meaning."""
        if self.text == other.text:
            return False
        if self.is_code and other.is_code:
            return _code_differs(self, other)
        if (
            _lacks_literal(self, other)
            or _lacks_literal(other, self)
            or (not self.names <= other.key_set and not other.names <= self.key_set)
            or _operators_differ(self.operators, other.operators)
        ):
            return True
        runs = runs_of_difference(self.words, other.words)
        mine = [word for _, run, _ in runs for word in run]
        theirs = [word for _, _, run in runs for word in run]
        return (
            any(word.literal for word in mine + theirs)
            or any(_negations(here) != _negations(there) for _, here, there in runs)
            or (any(word.name for word in mine) and any(word.name for word in theirs))
            or any(contrast(here, there) for here in mine for there in theirs)
        )

    def reorders(self, other: Guarded) -> bool:
        """Whether two texts differ in more than clause order."""
        if self.looks_like(other):
            return False
        if self.is_code and other.is_code:
            return _code_differs(self, other)
        return (
            _operators_differ(self.operators, other.operators)
            or _lacks_literal(self, other)
            or _lacks_literal(other, self)
            or _numbers(self) != _numbers(other)
        )


def _is_code_line(line: str) -> bool:
    stripped = line.strip()
    return len(line) <= _LONGEST_CODE_LINE and bool(
        stripped.endswith(_CODE_ENDS)
        or _CODE_START.match(stripped)
        # The cheap tests for single characters come first.
        or (")" in stripped and _CALL.search(stripped))
        or (("=" in stripped or "->" in stripped) and _ASSIGNMENT.search(stripped))
    )


def _code_differs(one: Guarded, other: Guarded) -> bool:
    """Whether two texts differ in code tokens.

    A comment in only one of them is ignored.
    """
    mine, theirs = one.lines, other.lines
    # Tokens do not span lines, and copies have most lines in common.
    first = 0
    while first < min(len(mine), len(theirs)) and mine[first] == theirs[first]:
        first += 1
    mine, theirs = mine[first:], theirs[first:]
    while mine and theirs and mine[-1] == theirs[-1]:
        mine, theirs = mine[:-1], theirs[:-1]
    said, answered = _comments(mine), _comments(theirs)
    if bool(said) != bool(answered):
        mine, theirs = _without_comments(mine), _without_comments(theirs)
    return _code_tokens(mine) != _code_tokens(theirs)


def _code_tokens(lines: Sequence[str]) -> list[str]:
    return _CODE_TOKEN.findall("\n".join(lines))


def _comments(lines: Sequence[str]) -> list[str]:
    return [found.group() for line in lines if (found := _COMMENT.search(line))]


def _without_comments(lines: Sequence[str]) -> list[str]:
    return [_COMMENT.sub("", line) for line in lines]


# Cached because compared texts are similar and words repeat.
@lru_cache(maxsize=8192)
def read_word(chunk: str) -> Word:
    """Read a word, with punctuation around it."""
    if not chunk.isalpha() and any(map(str.isdigit, chunk)):
        return Word(_number_key(chunk), literal=True, number=True)
    key = _NOT_ALPHANUMERIC.sub("", chunk).lower()
    if not key:
        # A symbol such as an emoji is a word; ASCII punctuation is not.
        symbol = "".join(character for character in chunk if not character.isascii())
        return Word(symbol, name=bool(symbol))
    if key in NEGATIONS or "않" in key:
        return Word(key, negation=True)
    if key in NUMBER_WORDS:
        return Word(key, literal=True)
    if _IDENTIFIER.search(chunk):
        return Word(key, literal=True)
    return Word(key, contrasts=contrasts_of(key), name=_is_name(chunk.strip(_EDGES), key))


def _number_key(chunk: str) -> str:
    number = _THOUSANDS.sub("", chunk.lower())
    start = _BEFORE_NUMBER.match(number)
    end = len(number)
    while not (number[end - 1].isalnum() or number[end - 1] == "%"):
        end -= 1
    return _IN_NUMBER.sub("", number[start.end() if start else 0 : end]).lstrip("_")


def _is_name(word: str, key: str) -> bool:
    if len(key) == 1:
        return key.isascii() and (key not in "aios" or (word.isupper() and key != "i"))
    return (word[:1].isupper() or "-" in word) and key not in FUNCTION_WORDS


def runs_of_difference(
    one: Sequence[Word], other: Sequence[Word]
) -> list[tuple[int, Sequence[Word], Sequence[Word]]]:
    """Align two texts and return the runs of differing words.

    Each has its place in the first text.
    """
    runs: list[tuple[int, Sequence[Word], Sequence[Word]]] = []
    mine, theirs = ([word.key for word in text] for text in (one, other))
    here_from = there_from = 0
    blocks = [
        (op.src_start, op.src_end, op.dest_start, op.dest_end)
        for op in Indel.opcodes(mine, theirs)
        if op.tag == "equal"
    ]
    for here_to, here_end, there_to, there_end in [*blocks, (len(one), 0, len(other), 0)]:
        here, there = one[here_from:here_to], other[there_from:there_to]
        # `foo bar` and `foo-bar` only differ in white space and punctuation.
        if "".join(word.key for word in here) != "".join(word.key for word in there):
            runs.append((here_from, here, there))
        here_from, there_from = here_end, there_end
    return runs


def contrast(one: Word, other: Word) -> bool:
    """Whether replacing one word by the other changes the meaning."""
    return one.key != other.key and (
        not one.contrasts.isdisjoint(other.contrasts)
        or opposes(one.key, other.key)
        or (len(one.key) == len(other.key) == 1 and (one.key + other.key).isascii())
    )


def _lacks_literal(one: Guarded, other: Guarded) -> bool:
    """Whether `one` lacks a literal of `other`."""
    return not other.literals <= one.key_set and any(
        literal not in one.joined for literal in other.literals - one.key_set
    )


def _numbers(text: Guarded) -> Counter[str]:
    return Counter(word.key for word in text.words if word.number)


def _negations(words: Sequence[Word]) -> int:
    return sum(word.negation for word in words)


def _operators_differ(here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether two texts have contradicting operators."""
    if here == there:
        return False
    mine, theirs = Counter(here), Counter(there)
    return bool((mine - theirs and theirs - mine) or mine["!"] != theirs["!"])
