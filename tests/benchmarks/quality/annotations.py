"""Questions about code and the files that answer them, as the open data has them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

__all__ = ["AnnotatedRepository", "CodeQuestion", "read_annotations"]


@frozen
class CodeQuestion:
    """A question about a repository.

    Attributes:
        text: the question.
        targets: the files that answer it, below the repository's root folder.
        kind: what sort of question it is.
    """

    text: str
    targets: Sequence[str]
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
            targets=sorted({_path(target).removeprefix(prefix) for target in _targets(row)}),
            kind=row["category"],
        )
        for row in rows
    ]
    return AnnotatedRepository(name, root, questions)


def _targets(row: dict[str, Any]) -> list[Any]:
    return [*row["relevant"], *row["secondary"]]


def _path(target: Any) -> str:
    return str(target if isinstance(target, str) else target["path"])
