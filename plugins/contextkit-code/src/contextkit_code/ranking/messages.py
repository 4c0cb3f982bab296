"""Find the messages and the quoted phrases in a question."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence

from attrs import frozen

_QUOTED = re.compile(r"""(?<!\w)(?:'([^'\n]{4,200})'|"([^"\n]{4,200})"|`([^`\n]{4,200})`)(?!\w)""")
_LEFT_OUT = re.compile(r"\.\.\.|…")
_MESSAGE = re.compile(
    r"(?:\b(?:\w*(?:Error|Exception|Warning)|(?i:error|fatal|panic|warning))"
    r"(?> ?\[[^][\n]{1,80}+\]| \([^()\n]{1,80}+\)|)"
    r"|^[ \t]*+(?=[\w.]*[a-z][A-Z])[\w.]++): ([^\n]{8,200})",
    re.MULTILINE,
)
_LEVEL = "(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)"
_LOG_PREFIX = re.compile(
    rf"\s*+(?>(?:(?:\[[^\]\n]{{0,80}}\]|\d[\d.,:/TZ+-]{{3,40}}+|[-|]|{_LEVEL}\b(?!:\s))[:,]?\s++)*)"
)
_OF_A_LOG = re.compile(rf"\d:\d\d|{_LEVEL}")
"""A time or a level, one of which stands before a message in a log."""

_OF_A_LINE = re.compile(r"\s*+[^\s:(]++(?<=\w)(?<!\d)(?::\d|\(\d++,\d++\))")
"""A place in front of a line, as compilers write it, and not a time of day."""

_STATEMENT = re.compile(
    r"(?!(?:how|wh(?:at|en|ere|ich|o|y)|is|are|can|does|do|did|should)\b)[^\n?]{12,200}",
    re.IGNORECASE,
)
_ENDS = r"(?=[.,:;!?]*(?:\s|$))"
_PARTS = [
    re.compile(rf"(?<!\S){word}(?:[,:;]? {word})+{_ENDS}")
    for word in (r"[A-Za-z][a-zA-Z'’()-]*", r"(?:[A-Z]+|[A-Za-z][a-z'’()-]*)")
]
"""The parts of a message between its values; a name in it may be a value, too."""

_WORDS_OF_A_MESSAGE = (5, 4, 3, 2)
"""The first words of a message identify it: values follow, and what a person writes behind it."""

_FIRST_OF_A_STATEMENT = 4
"""Fewest first words that count of a line that may be a message; three stand anywhere by chance."""

_SHORTEST_MESSAGE = 12
_SHORTEST_QUOTE = 4
_MOST_PHRASES = 10
_SPACED = re.compile(r"\S+\s*")
_WORD = re.compile(r"[^\W\d_]{2,}+")
_LEAST_WORDS = 2
LEAST_SHARE = 0.5
"""Share of a line's words that a string must have, unless the line is sure to be a message."""

_LEAST_SHARE_OF_A_REPORT = 0.6
"""The same for a line among others, which may be prose that quotes a message."""


def phrases_in(query: str) -> list[str]:
    """Return a query's error messages and quoted phrases, split at ellipses.

    Plain names are left out, and so are the values in a message.
    """
    # What a message quotes is a value of the program that printed it.
    quoted = ("".join(found) for found in (*_first_words_in(query), *_QUOTED.findall(query)))
    parts = (part.strip() for text in quoted for part in _LEFT_OUT.split(text))
    phrases = [part for part in parts if len(part) >= _SHORTEST_QUOTE and not part.isidentifier()]
    return list(dict.fromkeys(phrases))[:_MOST_PHRASES]


def _errors_in(query: str) -> list[str]:
    """Return the messages behind `ValueError:` and the like.

    What a compiler says of a line is about that line, and the project does not print it.
    """
    lines = (line for line in query.splitlines() if not _OF_A_LINE.match(line))
    return _MESSAGE.findall("\n".join(lines))


def _first_words_in(query: str) -> Iterator[str]:
    """Yield the first words of the parts of messages, as in `ValueError: no such file: a.txt`.

    The longest come first. A line that asks nothing may be a message, too, such as `Received
    unregistered task of type 'add'`: only whole parts of it count, or their first few words.
    """
    messages, least, fewest = _errors_in(query), 2, 2
    if not messages and _STATEMENT.fullmatch(query.strip()):
        messages, least, fewest = [query], 2 if ": " in query else 3, _FIRST_OF_A_STATEMENT
    for message, pattern in itertools.product(messages, _PARTS):
        for part in pattern.findall(message):
            words = part.split()
            for number in _WORDS_OF_A_MESSAGE:
                first = " ".join(words[:number]).rstrip(",:;")
                enough = least if number == len(words) else fewest
                if enough <= number <= len(words) and len(first) >= _SHORTEST_MESSAGE:
                    yield first


@frozen
class Message:
    """A text that may be a message, and the fewest of its words that a program's string has."""

    text: str
    least: int

    @property
    def pairs(self) -> list[str]:
        """Return each two words beside each other."""
        words = _SPACED.findall(self.text)
        return [f"{one}{other}".strip() for one, other in itertools.pairwise(words)]

    def share_of(self, parts: Sequence[str]) -> float:
        """Return the share of its words that a string's parts have.

        Returns 0 if they are too few or too short, or do not stand in it in their order.
        """
        words = sum(len(_WORD.findall(part)) for part in parts)
        if words < self.least:
            return 0.0
        at = 0
        for part in parts:
            at = self.text.find(part, at)
            if at < 0:
                return 0.0
            at += len(part)
        share = min(1.0, words / len(self.text.split()))
        # "the" and "is" are in every long message.
        is_short = sum(map(len, parts)) < _SHORTEST_MESSAGE and share < LEAST_SHARE
        return 0.0 if is_short else share


def messages_in(query: str) -> list[Message]:
    """Return the texts in a query that a program may have printed."""
    lines = [line for line in map(str.strip, query.splitlines()) if line]
    alone = len(lines) == 1
    # What a report says in quotes is seldom what it is about.
    quoted = ("".join(found) for found in _QUOTED.findall(query) if alone)
    logged = (line[len(prefix) :] for line in lines if (prefix := _log_prefix(line)))
    phrases = (text for text in (*quoted, *logged) if text.count(" ") > 1)
    messages = [*_errors_in(query), *phrases]
    if messages:
        return [Message(text, _LEAST_WORDS) for text in _ends(messages)]
    return [
        _statement(line, alone=alone)
        for line in _ends(lines)
        if _STATEMENT.fullmatch(line) and not _OF_A_LINE.match(line)
    ]


def _ends(texts: Sequence[str]) -> list[str]:
    """Return the first and the last few: a log ends with what went wrong, a report begins so."""
    return [*dict.fromkeys((*texts[:_MOST_PHRASES], *texts[-_MOST_PHRASES:]))]


def _log_prefix(line: str) -> str:
    """Return what a log has written before a line's message, or ""."""
    found = _LOG_PREFIX.match(line)
    return found[0] if found and _OF_A_LOG.search(found[0]) else ""


def _statement(line: str, *, alone: bool) -> Message:
    share = LEAST_SHARE if alone else _LEAST_SHARE_OF_A_REPORT
    least = max(_LEAST_WORDS, math.ceil(share * len(line.split())))
    return Message(line, min(least, _FIRST_OF_A_STATEMENT) if alone else least)
