"""LangChain: a retriever, and a middleware that gives an agent context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.retrievers import BaseRetriever
from langgraph.runtime import Runtime
from pydantic import Field

from contextkit import ContextItem, FormattedContext, RequestOptions
from contextkit_frameworks.contexts import Contexts, Kit, key_of

_NAME = "contextkit"


class ContextKitRetriever(BaseRetriever):
    """Retrieves the items of a context as documents.

    Attributes:
        kit: what assembles; the caller opens and closes it.
        options: options of the request, such as `max_tokens` or `sources`.
    """

    kit: Kit
    options: Mapping[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - its signature
    ) -> list[Document]:
        context = self.kit.assemble_context_sync(query, **self.options)
        return [document(item) for item in context.items]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - its signature
    ) -> list[Document]:
        context = await self.kit.assemble_context(query, **self.options)
        return [document(item) for item in context.items]


def document(item: ContextItem) -> Document:
    """Convert an item; `source` says where to find it, as LangChain's loaders do."""
    return Document(
        id=key_of(item),
        page_content=item.content,
        metadata={
            **item.metadata,
            "source": item.location or key_of(item),
            "title": item.title or item.id,
            "context_type": item.source,
            "relevance": item.relevance,
        },
    )


class ContextKitMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Gives an agent the context of each question, before the model is called.

    The context is a message of its own behind the question, and stays in the history: earlier
    messages never change, so a provider's prompt cache stays valid. An item is shown once per
    conversation, and again if its message has left the history.

    Args:
        kit: what assembles; the caller opens and closes it.
        options: options of each request, such as `max_tokens` or `sources`.
    """

    def __init__(self, kit: Kit, **options: Unpack[RequestOptions]) -> None:
        super().__init__()
        self._contexts = Contexts(kit, options)

    def before_agent(
        self,
        state: AgentState[Any],
        runtime: Runtime[Any],  # noqa: ARG002 - its signature
    ) -> dict[str, Any] | None:
        """Add the context of the question, if there is one."""
        messages = state["messages"]
        return _added(self._contexts.get(_question(messages), _shown(messages)))

    async def abefore_agent(
        self,
        state: AgentState[Any],
        runtime: Runtime[Any],  # noqa: ARG002 - its signature
    ) -> dict[str, Any] | None:
        """Add the context of the question, as `before_agent` does."""
        messages = state["messages"]
        return _added(await self._contexts.aget(_question(messages), _shown(messages)))


def _question(messages: Sequence[AnyMessage]) -> str:
    """Return the text of the last message if a user wrote it."""
    last = messages[-1] if messages else None
    return last.text if isinstance(last, HumanMessage) and last.name != _NAME else ""


def _shown(messages: Sequence[AnyMessage]) -> list[str]:
    """Return the keys of the items that the messages have."""
    return [
        key
        for message in messages
        if isinstance(message, HumanMessage)
        for key in message.additional_kwargs.get(_NAME, ())
    ]


def _added(context: FormattedContext | None) -> dict[str, Any] | None:
    if context is None:
        return None
    shown = {_NAME: [key_of(item) for item in context.items]}
    message = HumanMessage(context.markdown, name=_NAME, additional_kwargs=shown)
    return {"messages": [message]}
