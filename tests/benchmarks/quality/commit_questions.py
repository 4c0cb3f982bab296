"""Commits' subjects and the functions that they changed, as `commit_localise.py` has them."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

__all__ = ["ChangedFunction", "CommitQuestion", "CommitSet", "read_commit_sets"]

_LONGEST_COMMON_NAME = 3


@frozen
class ChangedFunction:
    """A function, method or class as it was before the commit.

    Attributes:
        path: its file.
        line: that of its `def` or `class`.
        signature: up to its body, decorators left out.
        docstring: without its quotes; empty where there is none.
    """

    path: str
    line: int
    signature: str
    docstring: str


@frozen
class CommitQuestion:
    """A commit's subject.

    Attributes:
        text: the subject.
        functions: what the commit changed.
        names_one: whether the subject has the name of one, or of one's file.
    """

    text: str
    functions: Sequence[ChangedFunction]
    names_one: bool


@frozen
class CommitSet:
    """A repository's questions, and the commit before all of theirs."""

    name: str
    base: str
    questions: Sequence[CommitQuestion]


def read_commit_sets(data: Path) -> list[CommitSet]:
    """The sets of a folder, by name.

    Each is `NAME_meta.json`, `NAME_code_corpus.jsonl` and `NAME_code_queries.jsonl`. Questions
    whose commits changed no function are left out, and so is what stands in no function.
    """
    return [
        _read(data, meta.name.removesuffix("_meta.json"))
        for meta in sorted(data.glob("*_meta.json"))
    ]


def _read(data: Path, name: str) -> CommitSet:
    meta = json.loads((data / f"{name}_meta.json").read_text(encoding="utf-8"))
    known = {
        row["id"]: _function(row)
        for row in _rows(data / f"{name}_code_corpus.jsonl")
        if row["kind"] != "module"
    }
    questions = []
    for row in _rows(data / f"{name}_code_queries.jsonl"):
        ids = [each for each in row["gold_funcs"] if each in known]
        if ids:
            functions = [known[each] for each in ids]
            questions.append(CommitQuestion(row["question"], functions, _names_one(row, ids)))
    return CommitSet(name, meta["base"], questions)


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _names_one(row: dict[str, Any], ids: Sequence[str]) -> bool:
    names = {each.partition("::")[2].partition("#")[0].rpartition(".")[2] for each in ids}
    names |= {Path(file).stem for file in row["gold_files"]}
    asked = set(re.findall(r"\w+", row["question"]))
    return any(name in asked for name in names if len(name) > _LONGEST_COMMON_NAME)


def _function(row: dict[str, Any]) -> ChangedFunction:
    text = textwrap.dedent(row["text"])
    lines = text.split("\n")
    first = next(
        number
        for number, line in enumerate(lines)
        if re.match(r"\s*(?:async\s+def|def|class)\b", line)
    )
    # A class is there without its members, which leaves one without a body.
    indent = " " * (len(lines[-1]) - len(lines[-1].lstrip()) or 4)
    node: Any = None
    for attempt in (text, f"{text}\n{indent}pass", f"{text}\n    pass"):
        try:
            node = ast.parse(attempt).body[0]
        except SyntaxError:
            continue
        break
    if node is None:
        return ChangedFunction(row["path"], row["start"] + first, lines[first], "")
    body = node.body[0].lineno - 1
    signature = "\n".join(lines[first : max(body, first + 1)])
    return ChangedFunction(
        row["path"], row["start"] + first, signature, ast.get_docstring(node) or ""
    )
