"""Score file paths: subject of a file, and penalties."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from attrs import frozen

from contextkit_code.ranking.question import Question
from contextkit_code.ranking.words import closest, words_of

_SAYS_NOTHING = frozenset({"__init__", "index", "lib", "main", "mod"})
"""File names that stand for their folder."""

_FOLDERS = 3
_CACHED = 4096

_TESTS = re.compile(
    r"^t/|(?:^|/)(?:(?:\w+[-_])?[Tt]ests?|__tests__|specs?|testdata|testing|fixtures|regress"
    # Folders of .NET, Swift and Java: `Shelf.Tests`, `ShelfTests`, `androidTest`, `testFixtures`.
    r"|[^/]*[.a-z]Tests?|test[A-Z][^/]*|tests?[-_]?(?:helper|kit|support|util)s?)/"
    # Packages of Go, such as `httptest`.
    r"|(?:^|/)(?!(?:at|back|con|la|speed)test/)[a-z0-9]{2,}test/[^/]*\.go$"
    r"|(?:^|/)(?:test_[^/]*|conftest\.py|[^/]*[._-](?:test|spec)s?\.\w+|[^/]*Tests?\.[a-z]+"
    r"|[^/]*\.feature)$"
)
_HELPERS = re.compile(
    r"^(?!.*(?:^|/)(?:[Tt]ests?|__tests__|specs?)/)(?!.*[._-](?:test|spec)s?\.\w+$)"
    r".*(?:^|/)(?:testing|[Tt]est[-_]?(?:utils?|[Hh]elpers?|[Cc]lient|kit|support))(?:/|\.\w+$)"
)
_ASIDES = re.compile(
    r"(?:^|/)(?:completions|legacy|_?compat|deprecated|examples?|samples?|demos?|playgrounds?|bench(?:es|marks?)?"
    r"|mocks?|__mocks__|docs|_?vendor(?:ed)?|3rd[-_]?party|extern|single_include|amalgamation)/"
    r"|^(?:deps|hack|scripts?)/"
    r"|(?:^|/)(?:bench(?:mark)?s?|demo|examples?|samples?)[_-][^/]*\.\w+$"
    r"|(?:^|/)(?:[^/]*[._-])?(?:legacy|compat|deprecated|example|bench(?:mark)?s?)\.\w+$"
    r"|\.d\.[cm]?ts$",
    re.IGNORECASE,
)
_PROSE = re.compile(
    r"\.(?:adoc|html?|mdx?|rst|txt)$|(?:^|/)(?:README|CHANGELOG|LICEN[CS]E)[^/]*$"
    r"|(?:^|/)changelogs?/(?:[^/]*/)*[^/.]*$",
    re.IGNORECASE,
)
_DATA = re.compile(r"\.(?:cfg|csv|ini|json|pot?|properties|toml|xml|ya?ml)$", re.IGNORECASE)
# Such a file stands in many folders, and has the words of their names.
_LEFT_OUT = re.compile(r"(?:^|/)\.\w*(?:ignore|keep)$")
_TRANSLATIONS = re.compile(
    r"(?:^|/)(?:i18n|l10n|lang(?:uage)?s?|locales?|messages|translations?)/"
    r"(?:(?!en[-_.])\w+[-_.])?(?!en(?:[-_./]|$))[a-z]{2}(?:[-_]\w{2,4})?(?:/[^/]+){0,2}"
    r"\.(?:json5?|po|properties|xml|ya?ml)$"
    # Those that are code, such as `i18n/fr/pages.php`; some codes of languages are suffixes, too.
    r"|(?:^|/)(?:i18n|l10n|lang|locales?|translations?)/(?!(?:en|go|js|py|rb|ts|ui)[-_./])"
    r"[a-z]{2}(?:[-_]\w{2,4})?(?:/[^/]+)?\.(?:[jt]s|php|py|rb)$",
    re.IGNORECASE,
)
_STYLES = re.compile(r"\.(?:css|less|pcss|sass|scss|styl)$", re.IGNORECASE)
_ENTRY = re.compile(r"(?:^|/)(?:__init__|index)\.\w+$")

_TEST_PENALTY = 0.5
_ASIDE_PENALTY = 0.6
_PROSE_PENALTY = 0.6
_LEFT_OUT_PENALTY = 0.3
_STYLES_PENALTY = 0.5
_TRANSLATION_PENALTY = 0.5
_HELPERS_GAIN = 1.5
_ENTRY_PENALTY = 0.7


def is_test(path: str) -> bool:
    """Return whether a path is that of a test, or of what tests use."""
    return _TESTS.search(path) is not None


def penalty(path: str, question: Question) -> float:
    """Return the factor of a path: a penalty, in (0, 1], or over 1 for helpers of tests.

    Tests, legacy code, examples, benchmarks, copies (of dependencies, or of all code in one file),
    prose, data and style sheets use the words of their subject; so do files that only collect
    others' definitions, and a program's texts in other languages than English. There is no penalty
    where the question asks for them. "How do I test …?" asks a library for what it has for the
    tests of others, such as `click/testing.py`, not for its own.
    """
    return _penalty(path, question.asks_for)


@lru_cache(_CACHED)
def _penalty(path: str, asks_for: frozenset[str]) -> float:
    factor = 1.0
    if "test helpers" in asks_for and _HELPERS.search(path):
        factor *= _HELPERS_GAIN
    elif "tests" not in asks_for and is_test(path):
        factor *= _TEST_PENALTY
    if not asks_for & {"asides", "prose"} and _ASIDES.search(path):
        factor *= _ASIDE_PENALTY
    if "prose" not in asks_for and (_PROSE.search(path) or _DATA.search(path)):
        factor *= _PROSE_PENALTY
    if _LEFT_OUT.search(path):
        factor *= _LEFT_OUT_PENALTY
    if "looks" not in asks_for and _STYLES.search(path):
        factor *= _STYLES_PENALTY
    if _TRANSLATIONS.search(path):
        factor *= _TRANSLATION_PENALTY
    if _ENTRY.search(path):
        factor *= _ENTRY_PENALTY
    return factor


@frozen
class PathWords:
    """Match of a file's and folders' names with one question.

    Attributes:
        stem: the share of its name that the question has, 0..1.
        folders: the share of its last three folders' names, 0..1.
        is_identifier: whether its name is the identifier that makes up the question.
    """

    stem: float
    folders: float
    is_identifier: bool

    @classmethod
    def of(cls, paths: Sequence[str], question: Question) -> Mapping[str, PathWords]:
        """Compare several paths; words common to many count less."""
        parts = {path: _stem_and_folders(path) for path in paths}
        in_stems = _rarity(words_of(stem) for stem, _ in parts.values())
        in_folders = _rarity(words_of(folders) for _, folders in parts.values())
        wanted = _squeezed(question.identifier.rpartition(".")[2])
        return {
            path: cls(
                stem=_share(words_of(stem), question.words, in_stems),
                folders=_share(words_of(folders), question.words, in_folders),
                is_identifier=bool(wanted) and _squeezed(stem) == wanted,
            )
            for path, (stem, folders) in parts.items()
        }


@lru_cache(_CACHED)
def _stem_and_folders(path: str) -> tuple[str, str]:
    *folders, name = path.split("/")
    stem = name.lstrip(".").partition(".")[0] or name
    if stem.lower() in _SAYS_NOTHING and folders:
        stem = folders.pop()
    return stem, "/".join(folders[-_FOLDERS:])


def _rarity(texts: Iterable[tuple[str, ...]]) -> Callable[[str], float]:
    """Return a function that weights words by their rarity."""
    having: Counter[str] = Counter()
    number = 0
    for words in texts:
        having.update(words)
        number += 1
    rarity = {word: math.log1p(number / times) for word, times in having.items()}
    return rarity.__getitem__


def _share(words: Sequence[str], asked: tuple[str, ...], weight: Callable[[str], float]) -> float:
    """Return the weighted share of a name in a question."""
    whole = matched = 0.0
    for word in words:
        weighs = weight(word)
        whole += weighs
        matched += weighs * closest(word, asked)
    return matched / whole if whole else 0.0


def _squeezed(name: str) -> str:
    return "".join(words_of(name))
