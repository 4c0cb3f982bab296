"""No pattern that meets the text of strangers takes more than its length."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest

from tests.adversarial import Attack, attacks_on
from tests.growing import uncounted

PACKAGES = (
    "contextkit",
    *(f"contextkit_{name}" for name in ("agents", "code", "commits", "documents")),
    *(f"contextkit_{name}" for name in ("embedders", "entities", "events", "experiences")),
    *(f"contextkit_{name}" for name in ("mcp", "memories", "patterns", "tasks", "tokenizers")),
    *(f"contextkit_{name}" for name in ("ui", "values", "workspace")),
)
# They read the project's own docstrings.
OWN_TEXT = "contextkit.testing."
# Patterns that only meet short text, and the characters that it has at most where they do.
CAPPED = {
    "contextkit.dedup.guard._CALL": 200,
    "contextkit.sources.versions._VERSIONED": 64,
    "contextkit_documents.headings._RST_QUOTED": 500,
    # A file's name has no more.
    "contextkit_documents.file_kinds._REQUIREMENTS": 255,
    "contextkit_documents.file_kinds._LICENCE": 255,
    "contextkit_documents.file_kinds._LOCK": 255,
}
# They are told from others by an engine, or a care, of their own.
ELSEWHERE = ("contextkit.text.secrets.", "contextkit_events.guarding.")

Run = Callable[[re.Pattern[Any], Any], object]
"""How a pattern is used on a text."""

USES: Mapping[str, Run] = {
    "search": lambda pattern, text: pattern.search(text),
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    # Of a long text with a match at each letter, a loop takes most of the time.
    "finditer": lambda pattern, text: deque(pattern.finditer(text), maxlen=0),
}
Found = tuple[str, re.Pattern[Any], set[str]]
pytestmark = pytest.mark.one_python

_POSSESSIVE_GROUP = re.compile(r"(?<!\()\)(?:[*+?]|\{[\d,]+\})\+")
_OF_WHOLE_VALUES = {"matches_re", "text"}
"""What checks a setting by a pattern, its last argument."""
_ALIKE = dict.fromkeys(["findall", "finditer", "sub", "subn", "split"], "finditer")

SIZES = (16, 96, 384, 1_536, 6_144, 24_576, 98_304)
SCREENED = 1_536
SUSPECT_SECONDS = 0.0006
SLOW_SECONDS = 0.02
MOST_GROWTH = 1.4
"""The power of the size that time may grow by: the square is 2, and large texts cost memory."""

SMALL_SECONDS = 0.001
SECONDS_A_CHARACTER = 0.00001


@pytest.mark.parametrize("package", PACKAGES)
def test_every_pattern_takes_linear_time(package: str) -> None:
    """Each pattern of a module is run on what it could take long for, up to 98,304 characters."""
    found = _patterns(package)
    with uncounted():
        slow = [
            f"{where}.{use} of {attack.text(40)!r}…: {pattern.pattern!r:.120}"
            for where, pattern, uses in found
            for use in sorted(uses)
            for attack in [_slow_attack(USES[use], pattern, CAPPED.get(where, SIZES[-1]))]
            if attack is not None
        ]

    assert slow == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_group_is_repeated_possessively(package: str) -> None:
    """`(?:…)*+` matches too little in Python 3.11.2, where `(?>(?:…)*)` matches the same text."""
    found = [
        f"{module.__name__}:{node.lineno}"
        for module in _modules(package)
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.Constant) and _POSSESSIVE_GROUP.search(str(node.value))
    ]

    assert found == []


def test_the_table_names_patterns_that_are_there() -> None:
    """A pattern that is gone needs no exemption."""
    packages = {name.partition(".")[0] for name in CAPPED}
    there = {where for package in packages for where, _, _ in _patterns(package)}

    assert CAPPED.keys() <= there


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"(a|a)*b", "search"),
        (r"\s*\n\s*x", "search"),
        (r"^\s*x", "search"),
        (r"a.*b.*c", "fullmatch"),
        (r"/\*.*?\*/", "finditer"),
        (r"[ \t]+$", "finditer"),
        (r"\[\s*([^\]]+?)\s*\]", "match"),
    ],
)
def test_a_pattern_that_is_not_linear_is_found_out(pattern: str, use: str) -> None:
    """The test itself sees what it looks for."""
    compiled = re.compile(pattern, re.MULTILINE | re.DOTALL)

    assert _slow_attack(USES[use], compiled, SIZES[-1]) is not None


# -- which patterns there are -------------------------------------------------------------------


@cache
def _patterns(package: str) -> list[Found]:
    """Each pattern of a package's modules: its place, itself, and what is done with it."""
    return list(_search(package))


def _search(package: str) -> Iterator[Found]:
    modules = [module for module in _modules(package) if not module.__name__.startswith(OWN_TEXT)]
    uses = _uses(modules)
    seen = set()
    for module in modules:
        for name, value in vars(module).items():
            where = f"{module.__name__}.{name}"
            for pattern in _within(value):
                # A pattern that is imported is known where it is from.
                if id(pattern) not in seen and not where.startswith(ELSEWHERE):
                    seen.add(id(pattern))
                    yield where, pattern, uses[where] or {"finditer"}
        yield from _inline(module)


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


@cache
def _modules(package: str) -> list[ModuleType]:
    top = importlib.import_module(package)
    names = (found.name for found in pkgutil.walk_packages(top.__path__, f"{package}."))
    return [top, *(importlib.import_module(name) for name in names if "__main__" not in name)]


def _within(value: object, levels: int = 4) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif levels and isinstance(value, (tuple, list, set, frozenset)):
        for part in value:
            yield from _within(part, levels - 1)
    elif levels and isinstance(value, Mapping):
        for part in value.values():
            yield from _within(part, levels - 1)


def _uses(modules: list[ModuleType]) -> Mapping[str, set[str]]:
    """Place -> the methods that are called of the pattern there, in any of the modules."""
    uses: defaultdict[str, set[str]] = defaultdict(set)
    for module in modules:
        tree = _tree(module)
        places = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                name, use = node.value.id, _ALIKE.get(node.attr, node.attr)
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in _OF_WHOLE_VALUES:
                name, use = getattr(node.args[-1], "id", ""), "fullmatch"
            else:
                continue
            if use in USES:
                uses[places.get(name, f"{module.__name__}.{name}")].add(use)
    return uses


def _inline(module: ModuleType) -> Iterator[Found]:
    """The patterns that a module hands to `re` where it uses them."""
    for node in ast.walk(_tree(module)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and getattr(node.func.value, "id", "") == "re"
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and (use := _ALIKE.get(node.func.attr, node.func.attr)) in USES
        ):
            flags = re.MULTILINE if "MULTILINE" in ast.unparse(node) else 0
            yield f"{module.__name__}:{node.lineno}", re.compile(node.args[0].value, flags), {use}


# -- what they take -----------------------------------------------------------------------------


def _slow_attack(run: Run, pattern: re.Pattern[Any], largest: int) -> Attack | None:
    """A text for which a pattern takes more than in proportion, or None.

    All texts are tried in small, those that take longest in larger and larger sizes: what
    takes the square or has no end is found out before it takes seconds.
    """
    worst: tuple[float, Attack] | None = None
    small = sorted({min(size, largest) for size in SIZES[:4]})
    for attack in attacks_on(pattern):
        took = 0.0
        for size in small:
            took = _seconds(run, pattern, attack, size)
            most = SMALL_SECONDS + size * SECONDS_A_CHARACTER
            if took > most and _least_seconds(run, pattern, attack, size) > most:
                return attack
        if took > SUSPECT_SECONDS and _grows(run, pattern, attack, min(24_576, largest)):
            return attack
        if worst is None or took > worst[0]:
            worst = took, attack
    return worst[1] if worst and _grows(run, pattern, worst[1], largest) else None


def _grows(
    run: Run,
    pattern: re.Pattern[Any],
    attack: Attack,
    largest: int,
) -> bool:
    """Whether more text takes much longer than in proportion."""
    before = _seconds(run, pattern, attack, SCREENED)
    for smaller, size in pairwise(size for size in SIZES[3:] if size <= largest):
        took = _seconds(run, pattern, attack, size)
        most = (size / smaller) ** MOST_GROWTH
        if took > SLOW_SECONDS and took > most * before:
            before = _least_seconds(run, pattern, attack, smaller)
            if _least_seconds(run, pattern, attack, size) > most * before:
                return True
        before = took
    return False


def _least_seconds(
    run: Run,
    pattern: re.Pattern[Any],
    attack: Attack,
    size: int,
) -> float:
    """The least of three, as the machine may have had something else to do."""
    return min(_seconds(run, pattern, attack, size) for _ in range(3))


def _seconds(
    run: Run,
    pattern: re.Pattern[Any],
    attack: Attack,
    size: int,
) -> float:
    text = attack.text(size)
    given = text.encode() if isinstance(pattern.pattern, bytes) else text
    start = time.thread_time()
    run(pattern, given)
    return time.thread_time() - start
