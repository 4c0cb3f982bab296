"""Memories as text, for people and agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contextkit.sources import shortened_line
from contextkit_memories.memory import Memory
from contextkit_memories.near import Near

_LINE_WIDTH = 72
_DID = {"stored": "Remembered", "updated": "Updated", "unchanged": "Already remembered"}


def remembered_lines(memory: Memory, near: Sequence[Near], replacing: str = "replaces=ID") -> str:
    """Describe the result of storing a memory, its state, and the nearest ones.

    Args:
        memory: the memory.
        near: the nearest ones.
        replacing: how the caller says which one it replaces.
    """
    lines = [f"{_DID[memory.outcome]} {memory.id} ({scope_of(memory)})"]
    if memory.replaces:
        lines.append(f"It replaces {', '.join(memory.replaces)}.")
    if near:
        how = f"to replace an outdated one, store this again with {replacing}"
        lines.append(f"Similar memories ({how}):")
    lines += [
        f"  {each.memory.id}  {each.memory.created_at:%Y-%m-%d}  "
        f"{shortened_line(each.memory.text, _LINE_WIDTH)}  [{each.differs}]"
        for each in near
    ]
    return "\n".join(lines)


def outcome_of(memory: Memory, secrets: Sequence[str], near: Sequence[Near]) -> dict[str, Any]:
    """Return the result of storing a memory as JSON."""
    return {
        **memory.as_dict(),
        "outcome": memory.outcome,
        "looks_secret": list(secrets),
        "near": [each.as_dict() for each in near],
    }


def page_of(memory: Memory) -> str:
    """Show a memory in full, with the time in which it was true."""
    lines = [f"{memory.id} ({scope_of(memory)}), {memory.created_at:%Y-%m-%d %H:%M} UTC"]
    if memory.valid_from is not None:
        lines.append(f"true since {memory.valid_from:%Y-%m-%d}")
    if memory.valid_until is not None:
        by = f", replaced by {memory.replaced_by}" if memory.replaced_by else ""
        lines.append(f"true until {memory.valid_until:%Y-%m-%d %H:%M} UTC{by}")
    if memory.replaces:
        lines.append(f"replaces {', '.join(memory.replaces)}")
    return "\n".join([*lines, "", memory.text])


def secret_warning(memory: Memory, secrets: Sequence[str], forget: str) -> str:
    """Warn of an apparent secret and name the delete command.

    Args:
        memory: the stored memory.
        secrets: the apparent secrets in its text.
        forget: the command that deletes a memory, to be followed by its id.
    """
    return (
        f"{memory.id} seems to contain {', '.join(secrets)}: later contexts show it to the "
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
    whose += f"  (until {memory.valid_until:%Y-%m-%d})" if memory.valid_until else ""
    tags = f"  {_hashed(memory)}" if memory.tags else ""
    return (
        f"{memory.id}  {memory.created_at:%Y-%m-%d}  {memory.category:<{width}}  "
        f"{memory.importance:.2f}  {shortened_line(memory.text, _LINE_WIDTH)}{tags}{whose}"
    )


def _hashed(memory: Memory) -> str:
    return " ".join(f"#{tag}" for tag in memory.tags)
