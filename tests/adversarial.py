"""Texts that a regular expression could take long for, made from what it consists of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from re import (  # type: ignore[attr-defined]
    _constants as op,
    _parser,
)
from typing import Any

from attrs import define, field, frozen

__all__ = ["Attack", "attacks_on"]

_OF_CATEGORY = {
    op.CATEGORY_DIGIT: ("0", r"\d"),
    op.CATEGORY_NOT_DIGIT: ("a", r"\D"),
    op.CATEGORY_SPACE: (" \n\t", r"\s"),
    op.CATEGORY_NOT_SPACE: ("a", r"\S"),
    op.CATEGORY_WORD: ("a0A_", r"\w"),
    op.CATEGORY_NOT_WORD: ("-", r"\W"),
}
_ANYTHING = "a0 -\nA.é" + "".join(map(chr, range(33, 127))) + "\t\x00中"
_TAILS = ("", "\x00", "\n!")
_MOST_LETTERS = 40
_MOST_PARTS = 30


@frozen
class Attack:
    """A text of any size: something, much of something else, and an end.

    Attributes:
        head: what it begins with.
        pump: what is repeated.
        tail: what it ends with.
    """

    head: str
    pump: str
    tail: str

    def text(self, size: int) -> str:
        """The text with about so many characters."""
        return self.head + self.pump * max(1, size // len(self.pump)) + self.tail


def attacks_on(pattern: re.Pattern[Any]) -> list[Attack]:
    """Texts made of the pattern's characters, of what it repeats, and of what stands before it."""
    shape = _Shape()
    shape.whole(_parser.parse(pattern.pattern, pattern.flags))
    letters = dict.fromkeys([*sorted(shape.letters)[:_MOST_LETTERS], "\n", " ", "\t", "a", "0"])
    parts = list(shape.parts)
    heads = ["", *(head for head, _ in parts[:_MOST_PARTS] if head)]
    found = [Attack("", letter, "") for letter in letters]
    found += [Attack(head, letter, "\x00") for head in heads for letter in letters]
    for head, body in parts:
        for tail in _TAILS:
            found += [Attack("", body, tail), Attack(head, body, tail), Attack("", head, tail)]
            found += [Attack("", head + body + end, tail) for end in ("", "\n", " ")]
    return list(dict.fromkeys(attack for attack in found if attack.pump))


@define
class _Shape:
    """What a parsed pattern consists of.

    Attributes:
        letters: characters that it names, and one of each kind that it takes.
        parts: what it repeats or chooses, each with the shortest match of what is before it.
    """

    letters: set[str] = field(factory=set)
    parts: dict[tuple[str, str], None] = field(factory=dict)
    _groups: dict[int, str] = field(factory=dict)

    def whole(self, tree: Iterable[Any]) -> None:
        """Take a whole pattern apart."""
        self.parts["", self._sequence(tree, "")] = None

    def _sequence(self, tree: Iterable[Any], before: str) -> str:
        """A match of a sequence, with its parts noted."""
        match = ""
        for kind, of in tree:
            match += self._node(kind, of, before + match)
        return match

    def _node(self, kind: Any, of: Any, before: str) -> str:
        """The shortest match of a part of the pattern, with its own parts noted."""
        match = ""
        if kind is op.BRANCH:
            ways = [self._sequence(way, before) for way in of[1]]
            self.parts.update(dict.fromkeys((before, way) for way in ways))
            match = ways[0]
        elif kind is op.SUBPATTERN:
            match = self._groups[of[0]] = self._sequence(of[3], before)
        elif kind in {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}:
            match = self._repeated(of[0], of[2], before)
        elif kind is op.ATOMIC_GROUP:
            match = self._sequence(of, before)
        elif kind in {op.ASSERT, op.ASSERT_NOT}:
            self.parts[before, self._sequence(of[1], before)] = None
        elif kind is op.GROUPREF:
            match = self._groups.get(of, "")
        elif kind is op.ANY:
            match = "a"
        elif kind is not op.AT:
            alone = [(op.NEGATE, None), (op.LITERAL, of)] if kind is op.NOT_LITERAL else None
            match = self._one_of(alone or (of if kind is op.IN else [(kind, of)]))[0]
        return match

    def _repeated(self, least: int, tree: Any, before: str) -> str:
        body = self._sequence(tree, before)
        if len(tree) == 1 and tree[0][0] is op.IN:
            some = self._one_of(tree[0][1])[:6]
            self.parts.update(dict.fromkeys((before, letter) for letter in some))
        self.parts[before, body] = None
        return body * max(least, 1)

    def _one_of(self, kinds: Iterable[Any]) -> list[str]:
        """Characters of a set."""
        kinds = list(kinds)
        if kinds[0][0] is op.NEGATE:
            named = [letter for letter in _ANYTHING if not any(_fits(letter, *k) for k in kinds)]
            some = named[:2] or ["\u2603"]
        else:
            some = [letter for kind in kinds for letter in _of_kind(*kind)]
        self.letters.update(some)
        return some


def _of_kind(kind: Any, of: Any) -> Iterator[str]:
    if kind is op.CATEGORY:
        yield from _OF_CATEGORY[of][0]
    else:
        yield from map(chr, [of] if kind is op.LITERAL else of)


def _fits(letter: str, kind: Any, of: Any) -> bool:
    if kind is op.CATEGORY:
        return re.match(_OF_CATEGORY[of][1], letter) is not None
    if kind is op.RANGE:
        return bool(of[0] <= ord(letter) <= of[1])
    return bool(kind is op.LITERAL and ord(letter) == of)
