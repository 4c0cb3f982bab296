"""Merge the ranked files' units into one list with relevances."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from attrs import evolve, frozen

from contextkit import Hit
from contextkit_code.ranking.definitions import is_private, named, resembling
from contextkit_code.ranking.files import RankedFile, file_of
from contextkit_code.ranking.paths import is_test
from contextkit_code.ranking.question import Question
from contextkit_code.record_kinds import CELL

_FILE_WEIGHT = 0.5
"""Weight of a unit's file; the unit itself has 1."""

_BEHIND_THE_BEST = 0.8
_FILES_IN_ORDER = 4
"""Number of files whose best unit has the file's score."""

_NAME = 0.15
"""Weight of a name whose words the question all has, and of a text with a name that it gives."""

_SIBLING = 0.1
"""Share of the best sibling's worth that a unit gets."""

_STUB = 0.3
"""Factor for a unit that has nothing but its signature."""

_TEST_UNIT = re.compile(r"(?:^|\.)(?:test_|tests?\.|tests$)")
_TEST = 0.5
"""Factor for a test beside the code that it tests, unless the question asks for tests."""

_FURTHER_PARTS = frozenset({"extension", "impl"})
_FURTHER_PART = 0.6
"""Factor for the head of a block that adds to a type, whose own unit says what it is."""

_SETTINGS = frozenset({"output", "variable"})
_SETTING = 0.7
"""Factor for what only passes a value in or out, unless the question asks how to use something."""

_PRIVATE = 0.7
"""Factor for a private unit, if the question asks how to use something."""

_UNITS_TO_TEST = 2
_TESTS_SHOWN = 2
"""Units to write a test of, and tests of them that are shown next."""

_MOST_ALIKE = 2
_ALIKE = 0.7
"""Factor for units that say nearly the same, behind the first two."""

_MANY_OF_A_FILE = 4
_ONE_MORE = 0.97
"""Factor for each unit of a file behind its best four, beside the one before it.

The name of a class makes all its methods match, which would hide the code that calls them.
"""

_MANY_TESTS = 3
_ONE_MORE_TEST = 0.95
"""Factor for each test behind the best three, beside the one before it.

Tests repeat the words of what they test, and there may be ten of one behavior.
"""

_LONGEST_STUB = 400
_SAYS = re.compile(r"\b(?!(?:pass|return|None|null|nil|end|abstract|override|overload)\b)\w+")
_BEHIND_THE_TOP = 0.95
_WINDOW = 0.3
"""Factor for a window, which lies between definitions."""

_IMPORTS = 0.1
"""Factor for a window that has nothing but imports, unless the question asks for them."""

_IMPORT = re.compile(
    r"\s*+(?:(?:#\s*+)?(?:extern crate|from|import|include|namespace|package|pub use|require"
    r"|use|using)\b|(?:const|let|var)\b(?:[^=]*+=\s*+require\b|[^=()]*+$)"
    r"|[\w.,* ]*+\}\s*+(?:=\s*+require|from)\b)"
)
# Marks, the strings and names of a list, and a short comment.
_BESIDE_IMPORTS = re.compile(
    r"""\s*+(?:[-(){}\[\]'"`,;]*+|[\w.* ]*+(?:[,;]|["'][^"']*+["'])?[,;]?|'use strict';?"""
    r"""|(?:[/#*;%]|--)\W*+(?:\w++\W*+){0,2})$"""
)
_ASKS_FOR_IMPORTS = re.compile(r"\b(?:depend|import|includ|modules?\b|packages?\b|requir|uses?\b)")
_CACHED = 1024


@frozen
class RankedUnit:
    """A unit and its relevance.

    Attributes:
        hit: the unit.
        relevance: 0..1.
        leads: whether it is the best of its file.
    """

    hit: Hit
    relevance: float
    leads: bool


def ranked_units(question: Question, files: Sequence[RankedFile], level: float) -> list[RankedUnit]:
    """Rank the units of the files, best first.

    The best unit of each of the first few files has the file's relevance, so these files come in
    their order. All other units combine their own worth and their file's, and never exceed the
    best: the units of the best files come before a single hit in another.

    Args:
        question: what was asked.
        files: best first.
        level: how much of the question the best hit answers, 0..1.
    """
    most = max((hit.relevance for file in files for hit in file.units), default=0.0) or 1.0
    found = [
        RankedUnit(hit, level * worth, leads)
        for place, file in enumerate(files)
        for hit, worth, leads in _worths(file, question, most, in_order=place < _FILES_IN_ORDER)
    ]
    # Sorting is stable: among equals the better file's unit comes first.
    of_each = _with_few(_best_first(found), _file_of, _MANY_OF_A_FILE, _ONE_MORE)
    ranked = _best_first(_with_few_alike(_best_first(of_each)))
    if "new tests" in question.asks_for:
        return _with_tests(ranked)
    if "tests" in question.asks_for:
        return ranked
    return _best_first(_with_few(ranked, _test_of, _MANY_TESTS, _ONE_MORE_TEST))


def _with_tests(best_first: Sequence[RankedUnit]) -> list[RankedUnit]:
    """Put two tests behind the two best units, as examples for who writes a test of these."""
    tests = [unit for unit in best_first if is_test(file_of(unit.hit))][:_TESTS_SHOWN]
    others = [unit for unit in best_first if unit not in tests]
    level = min((unit.relevance for unit in others[:_UNITS_TO_TEST]), default=1.0)
    lifted = (evolve(unit, relevance=max(unit.relevance, level), leads=True) for unit in tests)
    return [*others[:_UNITS_TO_TEST], *lifted, *others[_UNITS_TO_TEST:]]


def _best_first(units: Iterable[RankedUnit]) -> list[RankedUnit]:
    return sorted(units, key=lambda unit: -unit.relevance)


def _with_few(
    best_first: Iterable[RankedUnit],
    group_of: Callable[[RankedUnit], str],
    many: int,
    one_more: float,
) -> Iterator[RankedUnit]:
    """Lower the units of a group behind its best few, each by more than the one before.

    Units of the group "" keep their relevance.
    """
    of_group: Counter[str] = Counter()
    for unit in best_first:
        group = group_of(unit)
        of_group[group] += bool(group)
        further = max(0, of_group[group] - many)
        yield evolve(unit, relevance=one_more**further * unit.relevance) if further else unit


def _file_of(unit: RankedUnit) -> str:
    return file_of(unit.hit)


def _test_of(unit: RankedUnit) -> str:
    return "tests" if is_test(file_of(unit.hit)) or is_test_unit(unit.hit) else ""


def _with_few_alike(best_first: Sequence[RankedUnit]) -> Iterator[RankedUnit]:
    """Lower units behind the first two that say nearly the same.

    These are a function's overloads, and members of a class that match as well as each other, such
    as `GET`, `POST` and `PUT` of a router.
    """
    overloads: dict[tuple[str, str], set[str]] = {}
    members: dict[tuple[str, str, float], set[str]] = {}
    for unit in best_first:
        fields = unit.hit.record.fields
        signature, file = str(fields.get("signature") or ""), file_of(unit.hit)
        name, class_name = str(fields.get("qualified_name")), _class_of(unit.hit)
        # The parts of a long function have one signature, and one name.
        own = overloads.setdefault((file, name), set())
        own.add(signature)
        alike = members.setdefault((file, class_name, unit.hit.relevance), set())
        alike.update([name] if class_name else ())
        lowered = bool(signature) and max(len(own), len(alike)) > _MOST_ALIKE
        yield evolve(unit, relevance=_ALIKE * unit.relevance) if lowered else unit


def _worths(
    file: RankedFile, question: Question, most: float, *, in_order: bool
) -> list[tuple[Hit, float, bool]]:
    """Score a file's units; those the question names come first."""
    weighed = [(hit, _weight(hit, question), named(hit, question)) for hit in file.units]
    # Sorting is stable: among equals the better hit comes first.
    weighed.sort(key=lambda it: (-it[2], -it[1] * it[0].relevance))
    worths = []
    for place, (hit, weight, has_name) in enumerate(weighed):
        own = file.weight * hit.relevance / most
        shared = (own + _FILE_WEIGHT * file.score) / (1 + _FILE_WEIGHT)
        alike = 1.0 if has_name else resembling(hit.record.fields, question)
        name = file.weight * alike
        first = place == 0
        share = 1.0 if first else _BEHIND_THE_BEST
        worth = min(file.score, share * weight * shared + _NAME * name)
        leads = first and in_order and weight > _IMPORTS and not _is_beside_its_code(hit, question)
        worths.append((hit, file.score if leads else worth, first))
    return _with_siblings(file, worths)


def _with_siblings(
    file: RankedFile, worths: Sequence[tuple[Hit, float, bool]]
) -> list[tuple[Hit, float, bool]]:
    """Raise each unit by part of its best sibling's worth.

    Siblings are units of one class.
    """
    of_class: dict[str, list[float]] = {}
    for hit, worth, _ in worths:
        of_class.setdefault(_class_of(hit), []).append(worth)
    best_two = {name: sorted(own, reverse=True)[:2] for name, own in of_class.items() if name}
    found = []
    for hit, worth, leads in worths:
        best, *second = best_two.get(_class_of(hit), [0.0])
        other = best if worth < best else sum(second)
        lifted = min(file.score, worth + _SIBLING * other * (1 - worth))
        found.append((hit, worth if leads else lifted, leads))
    return found


def _class_of(hit: Hit) -> str:
    """Return the enclosing qualified name.

    "" for a window or a top-level unit.
    """
    fields = hit.record.fields
    return str(fields["qualified_name"]).rpartition(".")[0] if fields.get("signature") else ""


def _weight(hit: Hit, question: Question) -> float:
    fields = hit.record.fields
    signature = str(fields.get("signature") or "")
    if not signature:
        return _window_weight(hit, question)
    if is_stub(hit.record.text, signature):
        return _STUB
    if fields["unit_type"] in _FURTHER_PARTS:
        return _FURTHER_PART
    if fields["unit_type"] in _SETTINGS and "use" not in question.asks_for:
        return _SETTING
    private = _PRIVATE if "use" in question.asks_for and is_private(fields) else 1.0
    return _TEST * private if _is_beside_its_code(hit, question) else private


def _is_beside_its_code(hit: Hit, question: Question) -> bool:
    """Return whether a unit is a test in the file that it tests, and no test is asked for."""
    asks_for_it = "tests" in question.asks_for or is_test(file_of(hit))
    return not asks_for_it and is_test_unit(hit)


def is_test_unit(hit: Hit) -> bool:
    """Return whether a unit is a test by its name, which may stand beside the code it tests."""
    return _TEST_UNIT.search(str(hit.record.fields.get("qualified_name"))) is not None


def _window_weight(hit: Hit, question: Question) -> float:
    if hit.record.fields.get("unit_type") == CELL:
        return 1.0
    if _ASKS_FOR_IMPORTS.search(question.line.lower()):
        return _WINDOW
    return _IMPORTS if has_only_imports(hit.record.text) else _WINDOW


def from_the_top(ranked: Sequence[RankedUnit], path: str) -> list[RankedUnit]:
    """Put the first unit of a file in front, for a question about the file as a whole.

    A context shows the others of a file in their order.
    """
    own = [unit for unit in ranked if file_of(unit.hit) == path]
    if not own:
        return list(ranked)
    first = min(own, key=lambda unit: unit.hit.record.fields.get("start_line", 0))
    best = evolve(first, relevance=max(unit.relevance for unit in ranked))
    others = [unit for unit in ranked if unit is not first]
    return [best, *(evolve(unit, relevance=_BEHIND_THE_TOP * unit.relevance) for unit in others)]


@lru_cache(_CACHED)
def has_only_imports(text: str) -> bool:
    """Return whether a text has imports, and says nothing beside them."""
    found = False
    for line in text.split("\n"):
        if _IMPORT.match(line):
            found = True
        elif not _BESIDE_IMPORTS.match(line):
            return False
    return found


def is_stub(text: str, signature: str) -> bool:
    """Return whether a unit has nothing but its signature."""
    if len(text) - len(signature) > _LONGEST_STUB:
        return False
    rest = text.replace(signature, "", 1)
    return len(rest) <= _LONGEST_STUB and not _SAYS.search(rest)


def cut(units: Sequence[RankedUnit], limit: int) -> list[RankedUnit]:
    """Keep the best `limit` units in order.

    Half of the places are reserved for different files.
    """
    places = list(range(len(units)))
    leading = [place for place in places if units[place].leads][: limit // 2]
    taken = set(leading)
    others = [place for place in places if place not in taken][: limit - len(leading)]
    return [units[place] for place in sorted([*leading, *others])]
