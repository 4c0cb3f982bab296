"""Agent tools `remember`, `forget` and `list_memories`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast

from contextkit import InvalidRequestError, Tool, ToolResult
from contextkit.sources import OUTCOME, gives, takes_parts
from contextkit_memories.book import MemoryBook
from contextkit_memories.memory import Memory
from contextkit_memories.showing import (
    forgotten_lines,
    outcome_of,
    remembered_lines,
    rows_of,
    secret_warning,
)

if TYPE_CHECKING:
    from contextkit import ContextKit


class _Listed(TypedDict):
    memories: Annotated[list[Memory], "newest first"]
    total: Annotated[int, "how many there are of that kind, listed or not"]


class _Near(TypedDict):
    id: str
    created_at: str
    text: str
    differs: Annotated[str, "how the new text differs from it"]


class _Forgotten(TypedDict):
    forgotten: list[Memory]


@gives(
    {
        **Memory.json_types(),
        "outcome": OUTCOME,
        "looks_secret": Annotated[list[str], "what in its text looks like a secret, and where"],
        "near": Annotated[list[_Near], "the memories nearest to it, at most three"],
    }
)
@takes_parts(Memory, "text", "category", "importance", "tags", "sequence", "replaces")
def _remember(
    kit: ContextKit,
    for_all_projects: Annotated[bool, "true for what is the user's in every project"] = False,
    keep_secret: Annotated[
        bool, "true only if the user wants a key or a password stored as it is"
    ] = False,
    **given: Any,
) -> Any:
    book = MemoryBook.of(kit)
    memory = book.remember(**given, shared=for_all_projects, keep_secret=keep_secret)
    secrets, near = book.secrets_in(memory.text), book.near(memory)
    lines = [remembered_lines(memory, near)]
    if secrets:
        lines.append(secret_warning(memory, secrets, "the tool forget, with"))
    return ToolResult(outcome_of(memory, secrets, near), "\n".join(lines))


def _forget(
    kit: ContextKit,
    ids: Annotated[list[str], "ids, or beginnings that no other id has"],
) -> ToolResult[_Forgotten]:
    if not ids:
        raise InvalidRequestError("ids is empty: name at least one memory to forget")
    forgotten = MemoryBook.of(kit).forget(*ids)
    return ToolResult(
        cast("_Forgotten", {"forgotten": [memory.as_dict() for memory in forgotten]}),
        forgotten_lines(forgotten),
    )


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
    data = {"memories": [memory.as_dict() for memory in found], "total": total}
    return ToolResult(cast("_Listed", data), "\n".join(lines))


TOOLS = (
    Tool(
        name="remember",
        description=(
            "Store something worth knowing in a later session: a fact about the project, a "
            "preference of the user, a decision and its reason, an error and its cure. The answer "
            "lists the nearest memories; `replaces` ends one that is no longer true. Say where "
            "a secret is kept, not what it is."
        ),
        run=_remember,
    ),
    Tool(
        name="forget",
        description=("Delete memories for good. When one id is wrong, none is deleted."),
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
"""Agent tools for memories."""
