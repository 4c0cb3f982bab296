"""Questions about code and the files that answer them, as the open data has them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

__all__ = ["AnnotatedRepository", "CodeQuestion", "Target", "read_annotations"]


@frozen
class Target:
    """What answers a question: a file, or some lines of it.

    Attributes:
        path: the file, below the repository's root folder.
        start: the first line, from 1; 0 for the whole file.
        end: the last line.
    """

    path: str
    start: int = 0
    end: int = 0

    def covered_by(self, path: str, start: int, end: int) -> bool:
        """Whether a result of those lines shows a part of it."""
        return path == self.path and (not self.start or (start <= self.end and self.start <= end))


@frozen
class CodeQuestion:
    """A question about a repository.

    Attributes:
        text: the question.
        targets: what answers it.
        kind: what sort of question it is.
    """

    text: str
    targets: Sequence[Target]
    kind: str


@frozen
class AnnotatedRepository:
    """A repository with its questions.

    Attributes:
        name: what it is called.
        root: the folder in it that is searched; empty for all of it.
        questions: about that folder.
    """

    name: str
    root: str
    questions: Sequence[CodeQuestion]


def read_annotations(data: Path) -> list[AnnotatedRepository]:
    """The repositories that a folder's `repos.json` names, with their `annotations/`.

    Both may be in its folder `code-search`. Raises `FileNotFoundError` where they are not there.
    """
    folder = data if (data / "repos.json").is_file() else data / "code-search"
    repositories = json.loads((folder / "repos.json").read_text(encoding="utf-8"))
    return [_read(folder, entry) for entry in repositories]


def _read(folder: Path, entry: dict[str, Any]) -> AnnotatedRepository:
    name, root = entry["name"], entry["root"]
    rows = json.loads((folder / "annotations" / f"{name}.json").read_text(encoding="utf-8"))
    prefix = f"{root}/" if root else ""
    questions = [
        CodeQuestion(
            text=row["query"],
            targets=list(dict.fromkeys(_target(target, prefix) for target in _targets(row))),
            kind=row["category"],
        )
        for row in rows
    ]
    return AnnotatedRepository(name, root, questions)


def _targets(row: dict[str, Any]) -> list[Any]:
    return [*row["relevant"], *row["secondary"]]


def _target(target: Any, prefix: str) -> Target:
    if isinstance(target, str):
        return Target(target.removeprefix(prefix))
    lines = target.get("start_line") or 0
    return Target(target["path"].removeprefix(prefix), lines, target.get("end_line") or lines)
