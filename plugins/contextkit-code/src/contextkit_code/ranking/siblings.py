"""Find what lists the siblings of something that a task adds.

"Add a new storage backend" means to write another one beside `backend/s3` and `backend/sftp`, and
to add it where all backends are listed: in a registry, a form, the settings. Such code names them,
but need not have any word of the task. "Add a new action" is done in the enumeration `Action`, and
where all of its members are handled.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations

from attrs import evolve, frozen

from contextkit import Hit
from contextkit.models import Filters
from contextkit_code.ranking.files import file_of
from contextkit_code.ranking.paths import penalty
from contextkit_code.ranking.question import Question
from contextkit_code.ranking.units import RankedUnit, has_only_imports
from contextkit_code.ranking.words import PART, likeness, words_of

_TASK = re.compile(
    r"\A\s*+(?:how\s++to\s++|let's\s++|(?:how\s++)?(?:can|could|do|should|would)\s++(?:i|we|you)\s++"
    r"|(?:i|we)\s++(?:need|want)\s++to\s++)?(?:please\s++)?"
    r"(?:add|build|create|implement|introduce|make|support|write)\s++(?:support\s++for\s++)?"
    r"(?>(?:(?:an?|another|custom|my|new|our|own)\s++)+)(?:(?:kind|sort|type)\s++of\s++)?"
    # A few words of one line: what follows may be a pasted text.
    r"(?P<kind>[\w-]{1,60}+"
    r"(?>(?:[ \t]++(?!(?:and|by|for|from|in|like|of|on|so|that|to|using|which|with)\b)"
    r"[\w-]{1,60}+){0,4}))"
    r"(?P<of_one>\s++(?:in|of|on|to)\b)?",
    re.IGNORECASE,
)
_SAYS_NO_MORE = frozenset({"class", "implementation", "kind", "support", "type"})
_MEANS = {"cmd": "command", "subcommand": "command"}
_PARTS = frozenset({"attribute", "column", "field", "member", "method", "parameter", "property"})
"""What is added to one thing, and has no siblings in other files."""

_NO_SIBLINGS = frozenset(
    {"__init__", "base", "common", "index", "lib", "main", "mod", "types", "utils"}
)
_FEW = 4
_MOST = 60
"""Fewest siblings that are looked for, and the most."""

_SHARE = 0.3
"""Share of the siblings that a unit must name to be a list of them."""

_ALIKE = 2
"""Weight of a file whose name has the kind, beside a file or folder of any name."""

_DENSE = 0.2
"""Share of a list's lines that name siblings; a long function may only use them."""

_LEAST_PENALTY = 0.7
"""Penalty of files that collect others' definitions; that of tests and examples is lower."""

_SHOWN = 3
"""Most lists."""

_NEXT = 0.99
_BEHIND = 0.95
"""Factors for each further list, and for what is no list."""

# `Paste,`, `Command(Program)`, `case paste`, `PASTE = 1`; neither a comment nor an attribute.
_MEMBER = re.compile(r"^[ \t]*+(?:case[ \t]++)?([A-Za-z]\w++)[ \t]*+(?:[,=({]|$)", re.MULTILINE)

# Names of a type, for one that is called X.
_TYPE_NAMES = ("X", "XInterface", "BaseX", "AbstractX", "IX", "XBase")
_TYPES = ("class", "enum", "interface", "protocol", "struct", "trait", "type")

_IDENTIFIER = re.compile(r"[^\W\d][\w-]{0,99}+")
_MOST_PARTS = 6
"""Most parts of an identifier that are looked at."""

_CACHED = 4096
_MIGRATION = re.compile(r"(?:^|/)migrat\w*/")


def kind_of(query: str) -> str:
    """Return the kind of thing that a task adds one of, such as `monitor type`; else ""."""
    found = _TASK.match(query)
    if not found:
        return ""
    words = found["kind"].lower().split()
    return "" if found["of_one"] and words[-1] in _PARTS else " ".join(words)


def _kinds(kind: str) -> list[list[str]]:
    """Return the words of a kind: for `monitor type` also `monitor`."""
    words = kind.split()
    return [words, words[:-1]] if len(words) > 1 and words[-1] in _SAYS_NO_MORE else [words]


def searched_for(kind: str) -> str:
    """Return what to search for to find files of a kind: those of a `subcommand` may say `cmd`."""
    meant = {_MEANS.get(words[-1], words[-1]) for words in _kinds(kind)}
    others = (word for pair in _MEANS.items() if pair[1] in meant for word in pair)
    return " ".join(dict.fromkeys((*kind.split(), *others)))


@frozen
class Siblings:
    """The files or folders of a kind.

    Attributes:
        folder: where they are.
        names: their names, without suffixes.
        place: where the names have the kind's word: `first`, `last`, or "" for nowhere.
    """

    folder: str
    names: Sequence[str]
    place: str = ""


def siblings_of(kind: str, paths: Iterable[str], question: Question) -> Siblings | None:
    """Return what there is of a kind, or None for less than four.

    It is what a folder with the kind's name has, or files of one folder whose names begin or end
    with it, such as `field_date.go`. Of several such groups the largest counts.

    Args:
        kind: the kind.
        paths: files that have its words.
        question: the task; what it does not ask for, such as tests, is left out.
    """
    groups: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for path in paths:
        if not _is_code(path, question):
            continue
        *folders, name = path.split("/")
        stem = name.partition(".")[0]
        for depth, folder in enumerate(folders):
            child = [*folders, stem][depth + 1]
            is_one = words_of(child) and child not in _NO_SIBLINGS and not _is(child, kind)
            if is_one and _is(folder, kind):
                groups["/".join(folders[: depth + 1]), ""][child] = None
        first, *others = words_of(stem) or ("",)
        for place, word in (("first", first), ("last", others[-1] if others else "")):
            if others and any(_are_one(word, words[-1]) for words in _kinds(kind)):
                groups["/".join(folders), place][stem] = None
    (folder, place), names = max(
        groups.items(),
        key=lambda it: len(it[1]) * (_ALIKE if it[0][1] else 1),
        default=(("", ""), {}),
    )
    if len(names) < _FEW:
        return None
    return Siblings(folder, _short([*names][:_MOST], kind), place)


def _short(names: Sequence[str], kind: str) -> list[str]:
    """Drop what half of the names have beside the kind: `keywords` of `dialect_ansi_keywords`."""
    having = Counter(word for name in names for word in words_of(name))
    common = {word for word, times in having.items() if 2 * times >= len(names)} - {*kind.split()}
    short: dict[str, None] = {}
    for name in names:
        words = [word for word in words_of(name) if word not in common]
        is_shorter = 2 <= len(words) < len(words_of(name))
        short["_".join(words) if is_shorter else name] = None
    return [*short]


def members_of(types: Iterable[Hit], question: Question) -> Siblings | None:
    """Return the members of the largest enumeration with the name of a kind, if there are four."""
    found = None
    for hit in types:
        fields, path = hit.record.fields, file_of(hit)
        is_enum = fields.get("unit_type") == "enum" or "Enum" in str(fields.get("signature"))
        names = dict.fromkeys(_MEMBER.findall(hit.record.text)) if is_enum else {}
        if len(names) >= max(_FEW, len(found.names) if found else 0) and _is_code(path, question):
            found = Siblings(path.rpartition("/")[0], [*names][:_MOST])
    return found


def _is_code(path: str, question: Question) -> bool:
    return penalty(path, question) >= _LEAST_PENALTY and not _MIGRATION.search(path)


def _is(folder: str, kind: str) -> bool:
    words = words_of(folder)
    return any(
        _are_one(words[-1], asked[-1]) or likeness("".join(words), "".join(asked)) == 1
        for asked in _kinds(kind)
        if words
    )


def _are_one(word: str, asked: str) -> bool:
    return likeness(_MEANS.get(word, word), _MEANS.get(asked, asked)) == 1


@frozen
class Listing:
    """A unit that lists siblings, or the type that they all are.

    Attributes:
        hit: the unit.
        line: a line of its file amid those that name them; None for a type.
    """

    hit: Hit
    line: int | None


def filters_of_type(kind: str) -> Filters:
    """Return the filters for a type with the name of a kind, such as `MonitorType`."""
    named = ([word.title() for word in words] for words in _kinds(kind))
    names = dict.fromkeys(name for words in named for name in ("".join(words), words[-1]))
    affixed = (affix.replace("X", name) for name in names for affix in _TYPE_NAMES)
    return {"name": [*affixed], "unit_type": [*_TYPES]}


def type_of(siblings: Siblings, types: Iterable[Hit], question: Question) -> list[Listing]:
    """Return the type that the siblings are, if it is in their folder or the one above it."""
    above = siblings.folder.rpartition("/")[0]
    near = (f"{siblings.folder}/", f"{above}/" if above else "")
    own = [hit for hit in types if _is_code(file_of(hit), question)]
    for folder in near:
        for hit in own:
            if file_of(hit).startswith(folder) and "/" not in file_of(hit).removeprefix(folder):
                return [Listing(hit, None)]
    return []


def listings(siblings: Siblings, hits: Iterable[Hit], question: Question) -> list[Listing]:
    """Return up to three units that list siblings, those first that name most of them.

    Migrations of a database are none, nor is what only imports them from elsewhere.
    """
    forms = _forms(siblings)
    worths = []
    for hit in hits:
        fields, path, text = hit.record.fields, file_of(hit), hit.record.text
        if fields.get("language") == "text" or not _is_code(path, question):
            continue
        rows = text.split("\n")
        named = {row: found for row, line in enumerate(rows) if (found := _named(forms, line))}
        names = {name for found in named.values() for name in found}
        is_list = len(named) >= _DENSE * len(rows) and not has_only_imports(text)
        if not is_list or len(names) < max(_FEW, _SHARE * len(siblings.names)):
            continue
        is_theirs = path.startswith(f"{siblings.folder}/")
        if is_theirs or not all(has_only_imports(rows[row]) for row in named):
            # The first one may be in the signature, or in the comment above it.
            middle = int(fields.get("start_line", 1)) + [*named][len(named) // 2]
            worths.append((len(names), Listing(hit, middle)))
    worths.sort(key=lambda it: -it[0])
    return [listing for _, listing in worths[:_SHOWN]]


def _forms(siblings: Siblings) -> dict[str, str]:
    """Map the ways to write the siblings' names, as one word each, to the siblings."""
    forms = {}
    for name in siblings.names:
        words = _parts(name)
        forms["".join(words)] = name
        if siblings.place:
            noun, *rest = words if siblings.place == "first" else (words[-1], *words[:-1])
            for word in {noun, _MEANS.get(noun, noun)}:
                forms["".join([word, *rest])] = forms["".join([*rest, word])] = name
    return forms


def _named(forms: Mapping[str, str], line: str) -> set[str]:
    """Return the siblings that a line names, also as a part of an identifier."""
    found = set()
    for identifier in _IDENTIFIER.findall(line):
        parts = _parts(identifier)
        for first, last in combinations(range(len(parts) + 1), 2):
            name = forms.get("".join(parts[first:last]))
            if name is not None:
                found.add(name)
    return found


@lru_cache(_CACHED)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in PART.findall(name)[:_MOST_PARTS])


def with_listings(found: Sequence[Listing], ranked: Sequence[RankedUnit]) -> list[RankedUnit]:
    """Put the units that list siblings first."""
    if not found:
        return list(ranked)
    level = max((unit.relevance for unit in ranked), default=1.0)
    ids = {listing.hit.record.id for listing in found}
    first = [
        RankedUnit(listing.hit, _NEXT**place * level, leads=True)
        for place, listing in enumerate(found)
    ]
    others = (unit for unit in ranked if unit.hit.record.id not in ids)
    return [*first, *(evolve(unit, relevance=_BEHIND * unit.relevance) for unit in others)]
