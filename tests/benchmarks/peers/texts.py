"""Real text to make a corpus of: functions and sentences, in an order that no machine changes.

Read are the sources of the running interpreter's standard library with its tests, this
repository's Python files, and the samples in `tests/data`. Files come in the order of a hash
of a seed and their names, so that a small corpus is a sample of everything and a larger one
begins with the smaller.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

__all__ = ["LIBRARY", "ROOT", "Function", "Sentence", "hashed", "texts"]

ROOT = Path(__file__).parents[3]
"""The repository."""

LIBRARY = "python"
"""Where a text of the standard library comes from."""

_FOLDERS = ("contextkit", "plugins", "tests")
_FUNCTION_LENGTHS = range(60, 3000)
_SENTENCE_LENGTHS = range(32, 360)
_LEAST_WORDS = 5
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|\n\s*\n")
_COMMENT = re.compile(r"\s*#\s?(.*)")
_WORD = re.compile(r"[A-Za-z]{2,}")


@frozen
class Function:
    """A function or a method.

    Attributes:
        origin: `LIBRARY` or the repository's folder.
        path: its file.
        name: its qualified name.
        signature: the line of its `def`.
        summary: its docstring's first sentence, or nothing.
        code: the whole of it.
    """

    origin: str
    path: str
    name: str
    signature: str
    summary: str
    code: str


@frozen
class Sentence:
    """A sentence of a docstring or a comment.

    Attributes:
        origin: `LIBRARY` or the repository's folder.
        path: its file.
        text: the sentence, on one line.
    """

    origin: str
    path: str
    text: str


def hashed(text: str) -> int:
    """A number that is the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def texts(seed: int = 0) -> Iterator[Function | Sentence]:
    """Every function and sentence, each text once."""
    seen: set[int] = set()
    for origin, name, file in _files(seed):
        found = _read(origin, name, file.read_text(encoding="utf-8", errors="replace"))
        for each in found:
            own = each.code if isinstance(each, Function) else each.text
            # Equal but for case, punctuation and white space is equal.
            number = hashed(" ".join(re.findall(r"\w+", own.lower())))
            if number not in seen:
                seen.add(number)
                yield each


def _files(seed: int) -> list[tuple[str, str, Path]]:
    library = Path(sysconfig.get_path("stdlib"))
    found = [
        (LIBRARY, str(file.relative_to(library)), file)
        for file in library.rglob("*.py")
        if "site-packages" not in file.parts
    ]
    found += [
        (folder, str(file.relative_to(ROOT)), file)
        for folder in _FOLDERS
        for pattern in ("*.py", "data/*/prose.txt")
        for file in (ROOT / folder).rglob(pattern)
        # Its own texts would be answers to its own questions.
        if Path(__file__).parent not in file.parents
    ]
    return sorted(found, key=lambda each: (hashed(f"{seed} {each[1]}"), each[1]))


def _read(origin: str, path: str, source: str) -> Iterator[Function | Sentence]:
    if not path.endswith(".py"):
        yield from _sentences(origin, path, source)
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    lines = source.splitlines()
    yield from _functions(origin, path, tree, lines, "")
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _sentences(origin, path, ast.get_docstring(node) or "")
    yield from _sentences(origin, path, _comments(lines))


def _functions(
    origin: str, path: str, parent: ast.AST, lines: list[str], within: str
) -> Iterator[Function]:
    """Functions and methods, but not what is inside of a function: each line comes once."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.ClassDef):
            yield from _functions(origin, path, node, lines, f"{within}{node.name}.")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            code = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            if len(code) in _FUNCTION_LENGTHS:
                sentences = list(_sentences(origin, path, ast.get_docstring(node) or ""))
                yield Function(
                    origin=origin,
                    path=path,
                    name=f"{within}{node.name}",
                    signature=lines[node.lineno - 1].strip(),
                    summary=sentences[0].text if sentences else "",
                    code=code,
                )
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _functions(origin, path, node, lines, within)


def _comments(lines: list[str]) -> str:
    """The comments, a blank line where code is between them."""
    found: list[str] = []
    for line in lines:
        comment = _COMMENT.fullmatch(line)
        found.append(comment[1] if comment else "")
    return "\n".join(found)


def _sentences(origin: str, path: str, text: str) -> Iterator[Sentence]:
    for part in _SENTENCE_ENDS.split(text):
        sentence = " ".join(part.split())
        if (
            len(sentence) in _SENTENCE_LENGTHS
            and sentence[0].isalpha()
            and len(_WORD.findall(sentence)) >= _LEAST_WORDS
        ):
            yield Sentence(origin, path, sentence)
