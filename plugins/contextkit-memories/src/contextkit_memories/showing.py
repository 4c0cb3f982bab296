"""Memories as text, for people and agents."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit.sources import shortened_line
from contextkit_memories.memory import Memory

_LINE_WIDTH = 72
_DID = {"stored": "Remembered", "updated": "Updated", "unchanged": "Already remembered"}


def remembered_line(memory: Memory) -> str:
    """Describe the result of storing a memory, and its state."""
    return f"{_DID[memory.outcome]} {memory.id} ({scope_of(memory)})"


def secret_warning(memory: Memory, secrets: Sequence[str], forget: str) -> str:
    """Warn of an apparent secret and name the delete command.

    Args:
        memory: the stored memory.
        secrets: the apparent secrets in its text.
        forget: the command that deletes a memory, to be followed by its id.
    """
    return (
        f"{memory.id} has what looks like {', '.join(secrets)}: later contexts show it to the "
        f"model; to forget it: {forget} {memory.id}"
    )


def forgotten_lines(memories: Sequence[Memory]) -> str:
    """List the deleted memories, one per line."""
    return "\n".join(f"Forgot {memory.id}: {memory.title}" for memory in memories)


def scope_of(memory: Memory) -> str:
    """Show category, importance, tags and scope."""
    # A project is named by its configuration (`name:`) or by its folder.
    project = f"project {memory.project.removeprefix('name:')}"
    scope = "all your projects" if memory.scope == "user" else project
    tags = f", {_hashed(memory)}" if memory.tags else ""
    return f"{memory.category}, importance {memory.importance:.2f}{tags}, {scope}"


def rows_of(memories: Sequence[Memory]) -> list[str]:
    """Show memories in columns, one per line."""
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
