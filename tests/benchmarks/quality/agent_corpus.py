"""The corpus of an agent's questions: repositories with every source on, and their records."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import frozen

from contextkit import ContextKit
from contextkit_events import EventLog
from contextkit_experiences import ExperienceBook, from_json
from contextkit_memories import MemoryBook
from contextkit_patterns import PatternBook
from contextkit_tasks import TaskStack
from contextkit_values import refresh
from tests.benchmarks.quality.agent_set import AgentSet
from tests.benchmarks.quality.mixed_set import read_mixed_set
from tests.benchmarks.quality.surroundings import clone_at, home_in
from tests.benchmarks.texts import ROOT

__all__ = ["OWN", "AgentCorpus", "opened_agent_corpus"]

OWN = "contextkit"
"""The workspace that is this repository, with the memories and experiences of the mixed set."""

_PATIENCE_SECONDS = 60.0


@frozen(eq=False)
class AgentCorpus:
    """A kit over one workspace.

    Attributes:
        kit: with every source that is installed, indexed.
        ids: `memory:KEY`, `experience:KEY` and `event:KEY` -> the record's id.
    """

    kit: ContextKit
    ids: Mapping[str, str]


@contextlib.contextmanager
def opened_agent_corpus(
    given: AgentSet, workspace: str, repository: Path | None, folder: Path
) -> Iterator[AgentCorpus]:
    """A workspace's corpus.

    Args:
        given: the set.
        workspace: which of its workspaces.
        repository: the git repository to clone; default: this one.
        folder: where clone and store go; what is there from an earlier time is done anew.
    """
    shutil.rmtree(folder, ignore_errors=True)
    tree = clone_at(given.commits[workspace], folder / workspace, repository or ROOT)
    settings = {
        "project": workspace,
        "store.path": folder / "store",
        "assemble.source_timeout": _PATIENCE_SECONDS,
        "assemble.deadline": _PATIENCE_SECONDS,
    }
    with home_in(folder / "home"), ContextKit.open(tree, settings=settings, environment={}) as kit:
        kit.index()
        yield AgentCorpus(kit, _furnish(kit, given, workspace))


def _furnish(kit: ContextKit, given: AgentSet, workspace: str) -> dict[str, str]:
    now = datetime.now(UTC)
    memories = [{"tags": (), **row} for row in given.rows("memory", workspace)]
    ids = {}
    if workspace == OWN:
        mixed = read_mixed_set()
        memories += map(dict, mixed.memories)
        experiences = kit.records("experiences")
        ExperienceBook(experiences).add([from_json(one.values) for one in mixed.experiences])
        ids.update({f"experience:{one.key}": one.values["id"] for one in mixed.experiences})
        refresh(experiences, kit.records("values"), kit.embedder("values"), now=now)
    book = MemoryBook(kit.records("memories"))
    for row in memories:
        memory = book.remember(
            row["text"], category=row["category"], importance=row["importance"], tags=row["tags"]
        )
        ids[f"memory:{row['key']}"] = memory.id
    events = [_event(row, now) for row in given.rows("event", workspace)]
    EventLog(kit.records("events")).add_all(events)
    ids.update({f"event:{event['id']}": event["id"] for event in events})
    for row in given.rows("task", workspace):
        TaskStack.of(kit).push(row["goal"])
    for row in given.rows("pattern", workspace):
        PatternBook.of(kit).add(row["name"], row["steps"], keywords=row["keywords"])
    return ids


def _event(row: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    parts = {name: value for name, value in row.items() if name not in {"key", "minutes"}}
    return {**parts, "id": row["key"], "created_at": now - timedelta(minutes=row["minutes"])}
