"""The mixed question set: its questions, and what was remembered and lived through for it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast, get_args

from attrs import frozen

__all__ = ["Experience", "Gold", "MixedSet", "Question", "read_mixed_set"]

Kind = Literal["memory", "experience", "code", "commit", "value", "document", "event"]

_FOLDER = Path(__file__).parent


@frozen
class Gold:
    """One item that answers a question: its kind, and what it is called (see the questions)."""

    kind: Kind
    name: str

    @classmethod
    def of(cls, text: str) -> Gold:
        """The gold item that `KIND:NAME` is; raises `ValueError` for another kind."""
        kind, _, name = text.partition(":")
        if kind not in get_args(Kind) or not name:
            raise ValueError(f"gold item {text!r}: expected one of {', '.join(get_args(Kind))}")
        return cls(cast("Kind", kind), name)


@frozen(kw_only=True)
class Question:
    """A question, what its asker is after, and the items that answer it."""

    text: str
    intent: str
    gold: Sequence[Gold]


@frozen(kw_only=True)
class Experience:
    """An experience of the fixture as JSON, its key, and the theme that it belongs to."""

    key: str
    theme: str
    values: Mapping[str, Any]


@frozen(kw_only=True)
class MixedSet:
    """Questions over one commit of this repository.

    Attributes:
        commit: the full sha of the commit whose tree and history are the corpus.
        questions: in the order of their file.
        memories: each with `key`, `text`, `category`, `importance`, `tags`, `created_at`.
        experiences: in the order of their file.
    """

    commit: str
    questions: Sequence[Question]
    memories: Sequence[Mapping[str, Any]]
    experiences: Sequence[Experience]

    @property
    def themes(self) -> Mapping[str, frozenset[str]]:
        """Theme -> the ids of its experiences."""
        names = {experience.theme for experience in self.experiences}
        return {
            name: frozenset(one.values["id"] for one in self.experiences if one.theme == name)
            for name in sorted(names)
        }


def read_mixed_set(folder: Path = _FOLDER) -> MixedSet:
    """The set in a folder's three files.

    Raises:
        ValueError: where a gold item is of no known kind, or names no memory, experience or
            theme of the set.
    """
    document = tomllib.loads((folder / "mixed_questions.toml").read_text(encoding="utf-8"))
    found = MixedSet(
        commit=document["commit"],
        questions=[
            Question(
                text=row["text"],
                intent=row["intent"],
                gold=[Gold.of(text) for text in row["gold"]],
            )
            for row in document["question"]
        ],
        memories=_rows(folder / "mixed_memories.jsonl"),
        experiences=[
            Experience(key=row["key"], theme=row["theme"], values=row["experience"])
            for row in _rows(folder / "mixed_experiences.jsonl")
        ],
    )
    _check_names(found)
    return found


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _check_names(found: MixedSet) -> None:
    known = {
        "memory": {row["key"] for row in found.memories},
        "experience": {experience.key for experience in found.experiences},
        "value": set(found.themes),
    }
    for question in found.questions:
        for gold in question.gold:
            if gold.kind in known and gold.name not in known[gold.kind]:
                raise ValueError(f"{question.text!r}: there is no {gold.kind} {gold.name!r}")
