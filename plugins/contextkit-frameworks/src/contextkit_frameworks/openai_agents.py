"""OpenAI Agents SDK: a filter that gives a model context, and the MCP server."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from agents import TResponseInputItem
from agents.mcp import MCPServerStdio
from agents.run import CallModelData, ModelInputData

from contextkit import FormattedContext, RequestOptions
from contextkit_frameworks.contexts import Contexts, Kit, key_of

_MOST_KEPT = 1_000

_SECONDS = 60
"""Time limit of an MCP request; the first one opens the workspace, and may index it."""


class ContextKitFilter:
    """Gives a model the context of each question, as `RunConfig.call_model_input_filter`.

    The context is a message of its own behind the question. The SDK does not keep what a filter
    adds, so the filter adds the contexts of earlier questions again: earlier messages do not
    change, and an item is shown once per conversation. It remembers the last 1,000 contexts.

    Args:
        kit: what assembles; the caller opens and closes it.
        options: options of each request, such as `max_tokens` or `sources`.
    """

    def __init__(self, kit: Kit, **options: Unpack[RequestOptions]) -> None:
        self._contexts = Contexts(kit, options)
        self._given: OrderedDict[tuple[str, ...], FormattedContext | None] = OrderedDict()

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the model's input with a context behind each question."""
        said = data.model_data.input
        items: list[TResponseInputItem] = []
        shown: list[str] = []
        for place, item in enumerate(said, start=1):
            items.append(item)
            question = _question(item)
            if not question:
                continue
            context = await self._context((question, *shown), is_new=place == len(said))
            if context is not None:
                items.append({"role": "user", "content": context.markdown})
                shown += [key_of(each) for each in context.items]
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    async def _context(self, key: tuple[str, ...], *, is_new: bool) -> FormattedContext | None:
        """Return the context of a question behind which items were shown."""
        if is_new:
            question, *shown = key
            self._given[key] = await self._contexts.aget(question, shown)
        elif key not in self._given:
            return None
        self._given.move_to_end(key)
        if len(self._given) > _MOST_KEPT:
            self._given.popitem(last=False)
        return self._given[key]


def mcp_server(workspace: str | Path = ".") -> MCPServerStdio:
    """Return the contextkit MCP server of a workspace, which needs contextkit-mcp."""
    return MCPServerStdio(
        {"command": "contextkit", "args": ["mcp"], "cwd": workspace},
        name="contextkit",
        client_session_timeout_seconds=_SECONDS,
    )


def _question(item: TResponseInputItem) -> str:
    """Return the text of a user's message, or nothing."""
    said: Mapping[str, Any] = {**item}
    if said.get("role") != "user":
        return ""
    content: str | Sequence[Mapping[str, Any]] = said.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "input_text")
