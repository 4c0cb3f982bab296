"""Memories as text, for people and agents."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit.sources import shortened_line
from contextkit_memories.memory import Memory

_LINE_WIDTH = 72
_DID = {"stored": "Remembered", "updated": "Updated", "unchanged": "Already remembered"}


def remembered_line(memory: Memory) -> str:
    """What remembering did, and what the memory is like now."""
    return f"{_DID[memory.outcome]} {memory.id} ({scope_of(memory)})"


def secret_warning(memory: Memory, secrets: Sequence[str], forget: str) -> str:
    """What it means that a memory looks like a secret, and how to be rid of it.

    Args:
        memory: what was remembered.
        secrets: what in its text looks like secrets.
        forget: what forgets a memory, before its id.
    """
    return (
        f"{memory.id} has what looks like {', '.join(secrets)}: later contexts show it to the "
        f"model; to forget it: {forget} {memory.id}"
    )


def forgotten_lines(memories: Sequence[Memory]) -> str:
    """What was forgotten, a line each."""
    return "\n".join(f"Forgot {memory.id}: {memory.title}" for memory in memories)


def scope_of(memory: Memory) -> str:
    """Category, importance, tags, and whose it is."""
    # A project is named by its configuration (`name:`) or by its folder.
    project = f"project {memory.project.removeprefix('name:')}"
    scope = "all your projects" if memory.scope == "user" else project
    tags = f", {_hashed(memory)}" if memory.tags else ""
    return f"{memory.category}, importance {memory.importance:.2f}{tags}, {scope}"


def rows_of(memories: Sequence[Memory]) -> list[str]:
    """One line for each, in columns."""
    width = max((len(memory.category) for memory in memories), default=0)
    return [_row(memory, width) for memory in memories]


def _row(memory: Memory, width: int) -> str:
    whose = "  (all projects)" if memory.scope == "user" else ""
    tags = f"  {_hashed(memory)}" if memory.tags else ""
    return (
        f"{memory.id}  {memory.created_at:%Y-%m-%d}  {memory.category:<{width}}  "
        f"{memory.importance:.2f}  {shortened_line(memory.text, _LINE_WIDTH)}{tags}{whose}"
    )


def _hashed(memory: Memory) -> str:
    return " ".join(f"#{tag}" for tag in memory.tags)
