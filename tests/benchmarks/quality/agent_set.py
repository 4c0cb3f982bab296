"""The questions of a coding agent: what is asked in which workspace, and what is recorded there."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from tests.benchmarks.quality.mixed_set import Gold

__all__ = ["ABOUT", "KINDS", "NOTHING", "RECENT", "AgentQuestion", "AgentSet", "read_agent_set"]

ABOUT, RECENT, NOTHING = "about", "recent", "nothing"
KINDS = (ABOUT, RECENT, NOTHING)

_FOLDER = Path(__file__).parent
_RECORDS = ("memory", "event", "task", "pattern")


@frozen(kw_only=True)
class AgentQuestion:
    """A question: where it is asked (None: everywhere), its kind, and the items that answer it."""

    text: str
    kind: str
    gold: Sequence[Gold]
    workspace: str | None


@frozen(kw_only=True)
class AgentSet:
    """Questions over several repositories.

    Attributes:
        commits: workspace -> the full sha of its commit.
        questions: in the order of their file.
        records: `memory`, `event`, `task` and `pattern` -> rows, each with its `workspace`.
    """

    commits: Mapping[str, str]
    questions: Sequence[AgentQuestion]
    records: Mapping[str, Sequence[Mapping[str, Any]]]

    def asked_in(self, workspace: str) -> list[int]:
        """The places of a workspace's questions."""
        return [
            place
            for place, question in enumerate(self.questions)
            if question.workspace in {workspace, None}
        ]

    def rows(self, kind: str, workspace: str) -> list[dict[str, Any]]:
        """A workspace's records of a kind, without its name."""
        own = [row for row in self.records[kind] if row["workspace"] == workspace]
        return [{name: value for name, value in row.items() if name != "workspace"} for row in own]


def read_agent_set(folder: Path = _FOLDER) -> AgentSet:
    """The set in a folder's two files.

    Raises `ValueError` for a kind or a workspace that there is none of.
    """
    asked = tomllib.loads((folder / "agent_questions.toml").read_text(encoding="utf-8"))
    records = tomllib.loads((folder / "agent_records.toml").read_text(encoding="utf-8"))
    found = AgentSet(
        commits={row["name"]: row["commit"] for row in asked["workspace"]},
        questions=[
            AgentQuestion(
                text=row["text"],
                kind=row["kind"],
                gold=[Gold.of(text) for text in row.get("gold", ())],
                workspace=row.get("workspace"),
            )
            for row in asked["question"]
        ],
        records={kind: records.get(kind, []) for kind in _RECORDS},
    )
    for question in found.questions:
        if question.kind not in KINDS or question.workspace not in {None, *found.commits}:
            raise ValueError(f"{question.text!r}: there is no such kind, or no such workspace")
    return found
