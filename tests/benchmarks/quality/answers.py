"""Measure how much of a reference answer stands in a context, by the names that it has."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import frozen

__all__ = ["AnswerNames", "name_recall", "texts_of"]

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CAPITAL_INSIDE = re.compile(r"[a-z][A-Z]")
_DATA = frozenset({".svg", ".lock", ".css", ".json", ".png", ".sql", ".yml", ".yaml"})
_MOST_CHARACTERS = 400_000
_SHORTEST = 4
_MOST_FILES_SHARE = 0.1


@frozen
class AnswerNames:
    """The names that a repository's Python files define, and how many files have each.

    Attributes:
        defined: functions, classes, attributes and variables.
        files_with: name -> files that have it anywhere.
        files: how many files were read.
    """

    defined: frozenset[str]
    files_with: Mapping[str, int]
    files: int

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> AnswerNames:
        """Collect the names of a repository's texts, path -> content."""
        defined: set[str] = set()
        files_with: Counter[str] = Counter()
        for path, text in texts.items():
            files_with.update(set(_WORD.findall(text)))
            if path.endswith(".py"):
                defined.update(_defined(text))
        return cls(frozenset(defined), files_with, len(texts))

    def gold(self, question: str, answer: str) -> list[str]:
        """List the names of an answer that tell whether a context holds it.

        Those are defined in the repository, look like identifiers, stand in fewer than a tenth
        of its files, and are not in the question.
        """
        asked = {word.lower() for word in _WORD.findall(question)}
        return sorted(
            word
            for word in set(_WORD.findall(answer))
            if len(word) >= _SHORTEST
            and word in self.defined
            and word.lower() not in asked
            and _looks_like_code(word)
            and self.files_with[word] < _MOST_FILES_SHARE * self.files
        )


def name_recall(gold: list[str], context: str) -> float:
    """Compute the share of the gold names that a context has, 0..1."""
    return len(set(gold) & set(_WORD.findall(context))) / len(gold)


def texts_of(folder: Path, paths: list[str]) -> dict[str, str]:
    """Read the text files among some paths, without data files and very long ones."""
    texts = {}
    for path in paths:
        file = folder / path
        if file.suffix in _DATA or not file.is_file():
            continue
        text = file.read_bytes().decode("utf-8", "replace")
        if len(text) < _MOST_CHARACTERS:
            texts[path] = text
    return texts


def _looks_like_code(word: str) -> bool:
    return (
        "_" in word.strip("_") or word.startswith("_") or _CAPITAL_INSIDE.search(word) is not None
    )


def _defined(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
