"""The tools `remember`, `forget` and `list_memories`, for agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, cast

from contextkit import InvalidRequestError, Tool, ToolResult
from contextkit_memories.book import MemoryBook
from contextkit_memories.memory import Memory
from contextkit_memories.showing import (
    forgotten_lines,
    remembered_line,
    rows_of,
    secret_warning,
)

if TYPE_CHECKING:
    from contextkit import ContextKit

__all__ = ["TOOLS"]


class _Memory(TypedDict):
    id: str
    text: str
    category: str
    importance: float
    tags: list[str]
    scope: Annotated[Literal["project", "user"], "whose it is: the project's, or the user's"]
    project: str | None
    created_at: str
    sequence: str | None
    position: int | None


class _Remembered(_Memory):
    outcome: Annotated[
        Literal["stored", "updated", "unchanged"],
        "whether it is new, or was there and changed, or was there as it is",
    ]
    looks_secret: Annotated[list[str], "what in its text looks like a secret, and where"]


class _Listed(TypedDict):
    memories: Annotated[list[_Memory], "newest first"]
    total: Annotated[int, "how many there are of that kind, listed or not"]


class _Forgotten(TypedDict):
    forgotten: list[_Memory]


def _data(memories: Sequence[Memory]) -> list[_Memory]:
    return [cast("_Memory", memory.as_dict()) for memory in memories]


def _remember(
    kit: ContextKit,
    text: Annotated[
        str, "what to remember, whole sentences that stand alone, to 20,000 characters"
    ],
    category: Annotated[
        str | None, "facts (default), preferences, decisions, errors, or any other word"
    ] = None,
    importance: Annotated[
        float | None, "how much it matters whatever the question, 0 to 1; default 0.5"
    ] = None,
    tags: Annotated[list[str] | None, "words to find it by"] = None,
    for_all_projects: Annotated[
        bool, "true for what is the user's everywhere, not only in this project"
    ] = False,
    sequence: Annotated[str | None, "what it is the next part of, such as a session"] = None,
    keep_secret: Annotated[
        bool,
        "true only if the user wants a key, a password or a token remembered as it is; what looks "
        "like one is refused otherwise",
    ] = False,
) -> ToolResult[_Remembered]:
    book = MemoryBook.of(kit)
    memory = book.remember(
        text,
        category=category,
        importance=importance,
        tags=tags,
        shared=for_all_projects,
        sequence=sequence,
        keep_secret=keep_secret,
    )
    secrets = book.secrets_in(memory.text)
    data = {**memory.as_dict(), "outcome": memory.outcome, "looks_secret": secrets}
    lines = [remembered_line(memory)]
    if secrets:
        lines.append(secret_warning(memory, secrets, "the tool forget, with"))
    return ToolResult(cast("_Remembered", data), "\n".join(lines))


def _forget(
    kit: ContextKit,
    ids: Annotated[list[str], "ids of memories, or beginnings of ids that no other memory has"],
) -> ToolResult[_Forgotten]:
    if not ids:
        raise InvalidRequestError("ids is empty: name at least one memory to forget")
    forgotten = MemoryBook.of(kit).forget(*ids)
    return ToolResult({"forgotten": _data(forgotten)}, forgotten_lines(forgotten))


def _list_memories(
    kit: ContextKit,
    category: Annotated[str | None, "only this category"] = None,
    tag: Annotated[str | None, "only with this tag"] = None,
    limit: Annotated[int, "how many at most"] = 20,
) -> ToolResult[_Listed]:
    book = MemoryBook.of(kit)
    found = book.list(category=category, tag=tag, limit=limit)
    total = book.count(category=category, tag=tag)
    lines = rows_of(found) or ["No memories."]
    if total > len(found):
        lines.append(f"{len(found)} of {total} memories")
    return ToolResult({"memories": _data(found), "total": total}, "\n".join(lines))


TOOLS = (
    Tool(
        name="remember",
        description=(
            "Store something worth knowing in a later session: a fact about the project, a "
            "preference of the user, a decision and its reason, an error and its cure. The same "
            "text again updates what is given and stores nothing twice. Do not remember secrets: "
            "say where one is kept."
        ),
        run=_remember,
    ),
    Tool(
        name="forget",
        description=(
            "Delete memories for good, such as those that turned out wrong. When one id is wrong, "
            "none is deleted."
        ),
        run=_forget,
        destructive=True,
    ),
    Tool(
        name="list_memories",
        description=(
            "List what was remembered, newest first, with the ids. To find what answers a "
            "question, ask assemble_context instead."
        ),
        run=_list_memories,
        read_only=True,
    ),
)
"""What agents can do with memories."""
