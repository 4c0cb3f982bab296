"""Detect by its words what workspace state a query needs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Self

from attrs import frozen

from contextkit.text import signals_of

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CHANGES = re.compile(
    r"\b(?:git|status(?! codes?)|diff|staged?|unstaged|untracked|uncommitted|dirty|branch(?:es)?|"
    r"commit(?:ting)?|merge|conflicts?|rebase|stash|wip|(?:un)?committed|"
    r"(?:my|our|these|the|current|local|pending|recent) (?:changes|edits|work)|"
    r"what (?:has |have |did |was |were |is )?(?:i |we |you )?(?:just )?change[ds]?|changed files|"
    r"working on|work in progress|left off|where (?:was|were|am) (?:i|we)|pick up|resume)\b",
    re.IGNORECASE,
)
_RECENT = re.compile(
    r"\b(?:working on|recent(?:ly)?|latest|last edited|edited|open(?:ed)? files?|left off|"
    r"where (?:was|were|am) (?:i|we)|(?:my|our|these|current|pending) (?:changes|edits|work)|"
    r"pick up|resume|work in progress|wip)\b",
    re.IGNORECASE,
)
_STRUCTURE = re.compile(
    r"\b(?:structured?|layout|folders?|director(?:y|ies)|file tree|architecture|organi[sz]ed|"
    r"overview|code ?base|which (?:files?|modules?|packages?))\b",
    re.IGNORECASE,
)
_LITTLE_WORDS = """
    a an and are as at be by can do does file files for from has have how i in is it its me my
    not of on or our should that the this to was we were what when where which who why will with
    you your working currently recent recently
"""
_SAY_LITTLE = frozenset(_LITTLE_WORDS.split())


@frozen
class Question:
    """A query about the workspace's state.

    Attributes:
        words: its words in lower case, without uninformative ones.
        text: the query in lower case.
        changes: whether it asks about changes or the branch.
        recent: whether it asks about the current work.
        structure: whether it asks about the project's layout.
    """

    words: frozenset[str]
    text: str
    changes: bool
    recent: bool
    structure: bool

    def share(self, path: str) -> float:
        """Return the share of the query's words in a path.

        It is 0..1, and 1 if the query names the file.
        """
        name = _name_of(path)
        if "." in name and name in self.text and _stands_alone(name, self.text):
            return 1.0
        if not self.words:
            return 0.0
        return len(self.words & _stems(path)) / len(self.words)


@frozen
class PathIndex:
    """Paths by their words and names, to find those of which a query has a share.

    Attributes:
        by_word: word without its ending -> the paths with it.
        by_name: name in lower case -> the paths with it.
    """

    by_word: dict[str, list[str]]
    by_name: dict[str, list[str]]

    @classmethod
    def of(cls, paths: Iterable[str]) -> Self:
        """Index some paths."""
        by_word, by_name = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        for path in paths:
            by_name[_name_of(path)].append(path)
            for word in _stems(path):
                by_word[word].append(path)
        return cls(dict(by_word), dict(by_name))

    def named_by(self, question: Question) -> set[str]:
        """Return every path with a share of the query, and perhaps a few without."""
        named = {path for word in question.words for path in self.by_word.get(word, ())}
        named.update(*(own for name, own in self.by_name.items() if name in question.text))
        return named


def ask(query: str) -> Question:
    """Parse a query."""
    return Question(
        words=frozenset(map(_stem, _words(query))),
        text=query.lower(),
        changes=bool(_CHANGES.search(query)),
        recent=bool(_RECENT.search(query)),
        structure=bool(_STRUCTURE.search(query)) or "overview" in signals_of(query).topics,
    )


def _name_of(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].lower()


def _stands_alone(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def _words(text: str) -> list[str]:
    words = [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text))]
    return [word for word in words if len(word) > 1 and word not in _SAY_LITTLE]


@lru_cache(maxsize=50_000)
def _stems(path: str) -> frozenset[str]:
    folder, _, name = path.rpartition("/")
    # A file's suffix says nothing about its content.
    stem, _, end = name.rpartition(".")
    return frozenset(map(_stem, _words(f"{folder} {stem or end}")))


def _stem(word: str) -> str:
    """Strip a word's ending: `tests` and `testing` become `test`."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word.removesuffix(ending)
    return word
