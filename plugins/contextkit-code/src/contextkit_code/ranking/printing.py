"""Find the units that print a question's message, and rank them first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, frozen

from contextkit import Hit
from contextkit_code.ranking.files import file_of
from contextkit_code.ranking.messages import LEAST_SHARE, Message, messages_in
from contextkit_code.ranking.paths import is_test
from contextkit_code.ranking.units import RankedUnit

_BEHIND_A_QUOTE = 0.9
"""Factor for the units without a rare phrase of the question."""

_BESIDE_A_MESSAGE = 0.6
"""Factor where a unit prints the message: the others have its values, or some of its words."""

_MOST_QUOTING = 5
"""Most units that a useful phrase may occur in."""

_LITERAL = re.compile(
    r""""((?>(?:[^"\\\n]|\\.){8,300}))"|'((?>(?:[^'\\\n]|\\.){8,300}))'"""
    r"|`((?>(?:[^`\\\n]|\\.){8,300}))`"
)
_LONG_QUOTES = ('"""', "'''", "`")
_HEREDOC = re.compile(r"<<[~-]?[\"']?[A-Z_]{2}")
_VALUE = re.compile(r"\$?\{[^{}]*\}|#\{[^{}]*\}|\\\([^()]*\)|%[-+#0-9.]*+l*[a-zA-Z]|\$\w+|\\[nrt]")
"""What a program replaces in a message, by the rules of f-strings, `printf` and templates."""

_WORD = re.compile(r"[^\W\d_]{2,}+")
_AROUND_A_VALUE = " \t'\"`\\-+*.,:;!?"

_ASSIGNED = re.compile(r"^[ \t]*+(?>(?:[a-z]+ )*)([^\W\d]\w*+)\s?(?::[^=\n]*+)?=", re.MULTILINE)
_MEMBER = re.compile(r"(?:\.|->)(\w++)\s?=[^=;}\n]*+(?:;|\n[^\n]*+)?\Z")
_LONGEST_BEFORE = 100
"""Characters of the line above that may begin the assignment of a string."""

_RARE_NAME = re.compile(r"\w_\w|[a-z][A-Z]|^\w{9,}$")
"""A name of which each use means the same thing."""

_MOST_USERS = 2

_PRINTS = 0.9
"""Relevance of a unit that prints half of a message's words."""


@frozen
class Printer:
    """A unit with a string from which a message was made.

    Attributes:
        hit: the unit.
        length: number of the string's characters that the message has. In `fixture 'a' not found`
            these are 7 and 9 of `f"fixture '{name}' not found"`.
        share: the string's part of the message's words, 0..1.
        name: that of the function, or of the constant that holds the string; "" if it is so common
            that other code with this name may mean another thing.
    """

    hit: Hit
    length: int
    share: float
    name: str


def printers_of(query: str, hits: Sequence[Hit]) -> dict[str, Printer]:
    """Return the units from whose strings a message of the query was made, by id.

    A string of many units does not count; tests that expect a message do not make it less rare.
    """
    found: dict[str, Printer] = {}
    for message in messages_in(query):
        for own in _with_strings_of(message, hits).values():
            code = [unit for unit in own if not is_test(file_of(unit.hit))]
            for unit in code or own:
                known = found.get(unit.hit.record.id, unit)
                if len(code or own) <= _MOST_QUOTING and unit.length >= known.length:
                    found[unit.hit.record.id] = unit
    return found


def _with_strings_of(message: Message, hits: Sequence[Hit]) -> dict[tuple[str, ...], list[Printer]]:
    """Return the units by the string from which the message was made."""
    found: dict[tuple[str, ...], list[Printer]] = {}
    pairs = message.pairs
    for hit in hits:
        # Few lines have two of the words beside each other, and strings take long to find.
        text = hit.record.text
        rows = {row for pair in pairs if pair in text for row in _lines_with(pair, text)}
        strings = {parts: row for row in rows for parts in _strings_in(text, *row)}
        for parts, row in strings.items():
            share = message.share_of(parts)
            if share:
                printer = Printer(hit, sum(map(len, parts)), share, _name_at(hit, *row))
                found.setdefault(parts, []).append(printer)
    return found


def _name_at(hit: Hit, start: int, end: int) -> str:
    """Return the name of a line's member, function or constant, "" for a common one."""
    fields = hit.record.fields
    until = hit.record.text[:end]
    if member := _MEMBER.search(until, max(0, start - _LONGEST_BEFORE)):
        return member[1]
    name = str(fields.get("name"))
    if not fields.get("signature"):
        assigned = _ASSIGNED.findall(until)
        name = assigned[-1] if assigned else ""
    return name if _RARE_NAME.search(name) else ""


def users_of(printers: Mapping[str, Printer], hits: Sequence[Hit]) -> list[Hit]:
    """Return the first units that use a printing function or constant, without tests."""
    # The parts of a long function all have its name.
    own = {_title(printer.hit) for printer in printers.values()}
    names = [re.escape(printer.name) for printer in printers.values() if printer.name]
    uses = re.compile(rf"\b(?:{'|'.join(names)})\b")
    return [
        hit
        for hit in hits
        if names
        and _title(hit) not in own
        and not is_test(file_of(hit))
        and uses.search(hit.record.text)
    ][:_MOST_USERS]


def _title(hit: Hit) -> tuple[str, object]:
    return file_of(hit), hit.record.fields.get("qualified_name")


def with_users(
    users: Sequence[Hit], printers: Mapping[str, Printer], units: Sequence[RankedUnit]
) -> list[RankedUnit]:
    """Put the users of what prints a message behind it.

    Args:
        users: they, best first.
        printers: the units that print a message, by id.
        units: the ranked ones, best first.
    """
    moved = {hit.record.id for hit in users}
    others = [unit for unit in units if unit.hit.record.id not in moved]
    printing = [place for place, unit in enumerate(others) if unit.hit.record.id in printers]
    if not printing:
        return list(units)
    behind = printing[-1] + 1
    level = _BEHIND_A_QUOTE * others[printing[-1]].relevance
    lifted = (RankedUnit(hit, level, leads=True) for hit in users)
    return [*others[:behind], *lifted, *others[behind:]]


def _lines_with(words: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last offset of each line that has the words."""
    at = text.find(words)
    while at >= 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield text.rfind("\n", 0, at) + 1, end
        at = text.find(words, end)


def _strings_in(text: str, start: int, end: int) -> Iterator[tuple[str, ...]]:
    """Yield the parts between the values of each string of a line.

    A line within a string of several lines is one itself.
    """
    line, before = text[start:end], text[:start]
    inside = _HEREDOC.search(before) or any(before.count(quote) % 2 for quote in _LONG_QUOTES)
    for string in (*([line] if inside else ()), *map("".join, _LITERAL.findall(line))):
        written = string.replace("\\'", "'").replace('\\"', '"')
        parts = (part.strip(_AROUND_A_VALUE) for part in _VALUE.split(written))
        yield tuple(part for part in parts if _WORD.search(part))


def holding(phrases: Sequence[str], hits: Sequence[Hit]) -> dict[str, Hit]:
    """Return units that contain a rare phrase, by id.

    The beginning of a phrase counts only where the whole phrase is nowhere. Tests that expect a
    message do not make it less rare.
    """
    found: dict[str, Hit] = {}
    held: list[str] = []
    for phrase in phrases:
        if any(longer.startswith(phrase) for longer in held):
            continue
        own = {hit.record.id: hit for hit in hits if phrase in hit.record.text}
        if own:
            held.append(phrase)
        if len(own) > _MOST_QUOTING:
            own = {id_: hit for id_, hit in own.items() if not is_test(file_of(hit))}
        if len(own) <= _MOST_QUOTING:
            found |= own
    return found


def quoted_first(
    printers: Mapping[str, Printer],
    phrases: Sequence[str],
    hits: Sequence[Hit],
    units: Sequence[RankedUnit],
    level: float,
) -> list[RankedUnit]:
    """Put the units that print a message first, then those with a rare quoted phrase.

    Those with the longest string of a message, or with most of the phrases, come first. Tests are
    put first where no other unit has a string or phrase.

    Args:
        printers: the units that print a message of the question, by id.
        phrases: the phrases quoted in it.
        hits: the units that were found for it, ranked or not.
        units: the ranked ones, best first.
        level: the relevance of the best, 0..1.
    """
    printing = {id_: unit.hit for id_, unit in printers.items()}
    is_sure = any(
        printer.share >= LEAST_SHARE and not is_test(file_of(printer.hit))
        for printer in printers.values()
    )
    # The phrases in a message are the values that a program put in.
    holders = printing if is_sure else printing | holding(phrases, hits)
    own = {id_: hit for id_, hit in holders.items() if not is_test(file_of(hit))}
    quoting = own or holders
    if not quoting:
        return list(units)
    level, share = (max(level, _PRINTS), _BESIDE_A_MESSAGE) if is_sure else (level, _BEHIND_A_QUOTE)
    ranked = {unit.hit.record.id: place for place, unit in enumerate(units)}

    def order(hit: Hit) -> tuple[int, int, int, int]:
        printer = printers.get(hit.record.id)
        length = 0 if printer is None else printer.length
        held = [place for place, phrase in enumerate(phrases) if phrase in hit.record.text]
        place = ranked.get(hit.record.id, len(units))
        return -length, -len(held), min(held, default=0), place

    first = [
        RankedUnit(hit, level * _BEHIND_A_QUOTE ** (place / len(quoting)), leads=True)
        for place, hit in enumerate(sorted(quoting.values(), key=order))
    ]
    others = (unit for unit in units if unit.hit.record.id not in quoting)
    return [*first, *(evolve(unit, relevance=share * unit.relevance) for unit in others)]
