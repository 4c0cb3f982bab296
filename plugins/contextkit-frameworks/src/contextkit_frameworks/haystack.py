"""Haystack: a retriever for pipelines, and a hook for agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, cast

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.components.agents import State
from haystack.dataclasses import ChatMessage, ChatRole

from contextkit import ContextItem, ContextKit, FormattedContext, RequestOptions
from contextkit_frameworks.contexts import Contexts, Kit, key_of

_NAME = "contextkit"


class _OverAWorkspace:
    """What the retriever and the hook share: a kit, or a workspace that is opened.

    Args:
        workspace: a folder in the workspace, which `warm_up` opens, unless there is a kit.
        options: options of each request, such as `max_tokens` or `sources`.
        kit: what assembles; the caller opens and closes it.
    """

    def __init__(
        self,
        workspace: str = ".",
        options: Mapping[str, Any] | None = None,
        kit: Kit | None = None,
    ) -> None:
        self.workspace = workspace
        self.options = dict(options or {})
        self._kit = kit
        self._opened: ContextKit | None = None

    def warm_up(self) -> None:
        """Open the workspace if the caller gave no kit."""
        self._ready()

    def close(self) -> None:
        """Close the workspace if this object opened it."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def to_dict(self) -> dict[str, Any]:
        """Describe the object by its workspace; a kit's own settings are not kept."""
        workspace = self.workspace
        if isinstance(self._kit, ContextKit):
            workspace = str(self._kit.workspace.root)
        described: dict[str, Any] = default_to_dict(self, workspace=workspace, options=self.options)
        return described

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Create the object that `to_dict` described."""
        created: Self = default_from_dict(cls, data)
        return created

    def _ready(self) -> Kit:
        if self._kit is not None:
            return self._kit
        if self._opened is None:
            self._opened = ContextKit.open(self.workspace)
        return self._opened


@component
class ContextKitRetriever(_OverAWorkspace):
    """Retrieves the items of a context as documents, and the context's text."""

    @component.output_types(documents=list[Document], text=str)
    def run(self, query: str) -> dict[str, Any]:
        """Retrieve the context of a query."""
        return _output(self._ready().assemble_context_sync(query, **self.options))

    @component.output_types(documents=list[Document], text=str)
    async def run_async(self, query: str) -> dict[str, Any]:
        """Retrieve the context of a query, in an event loop."""
        return _output(await self._ready().assemble_context(query, **self.options))


def _output(context: FormattedContext) -> dict[str, Any]:
    return {"documents": [document(item) for item in context.items], "text": context.markdown}


def document(item: ContextItem) -> Document:
    """Convert an item."""
    meta = {
        **item.metadata,
        "source": item.source,
        "title": item.title or item.id,
        "location": item.location,
    }
    return Document(id=key_of(item), content=item.content, meta=meta, score=item.relevance)


class ContextKitHook(_OverAWorkspace):
    """Gives an agent the context of each question, before a run.

    The context is a message of its own behind the question. Keep it in the history that you give
    to the next run: an item is shown once per conversation.
    """

    allowed_hook_points = ("before_run",)

    def run(self, state: State) -> None:
        """Add the context of the question, if there is one."""
        messages = state.data["messages"]
        _add(messages, self._contexts().get(_question(messages), _shown(messages)))

    async def run_async(self, state: State) -> None:
        """Add the context of the question, as `run` does."""
        messages = state.data["messages"]
        _add(messages, await self._contexts().aget(_question(messages), _shown(messages)))

    def _contexts(self) -> Contexts:
        return Contexts(self._ready(), cast("RequestOptions", self.options))


def _question(messages: Sequence[ChatMessage]) -> str:
    """Return the text of the last message if a user wrote it."""
    last = messages[-1] if messages else None
    if last is None or last.role != ChatRole.USER or _NAME in last.meta:
        return ""
    return "\n".join(last.texts)


def _shown(messages: Sequence[ChatMessage]) -> list[str]:
    """Return the keys of the items that the messages have."""
    return [key for message in messages for key in message.meta.get(_NAME, ())]


def _add(messages: list[ChatMessage], context: FormattedContext | None) -> None:
    if context is not None:
        shown = [key_of(item) for item in context.items]
        messages.append(ChatMessage.from_user(context.markdown, meta={_NAME: shown}))
