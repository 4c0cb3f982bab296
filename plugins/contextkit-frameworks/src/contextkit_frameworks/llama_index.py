"""LlamaIndex: a retriever, and a memory block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, cast

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from contextkit import ContextItem, RequestOptions
from contextkit_frameworks.contexts import Contexts, Kit, key_of


class ContextKitRetriever(BaseRetriever):
    """Retrieves the items of a context as nodes.

    Args:
        kit: what assembles; the caller opens and closes it.
        options: options of each request, such as `max_tokens` or `sources`.
    """

    def __init__(self, kit: Kit, **options: Unpack[RequestOptions]) -> None:
        super().__init__()
        self._kit = kit
        self._options = options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        context = self._kit.assemble_context_sync(query_bundle.query_str, **self._options)
        return [node(item) for item in context.items]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        context = await self._kit.assemble_context(query_bundle.query_str, **self._options)
        return [node(item) for item in context.items]


def node(item: ContextItem) -> NodeWithScore:
    """Convert an item; its text says what a model needs, so the model gets no metadata."""
    metadata = {
        **item.metadata,
        "source": item.source,
        "title": item.title or item.id,
        "location": item.location,
    }
    text = TextNode(
        id_=key_of(item),
        text=item.content,
        metadata=metadata,
        excluded_llm_metadata_keys=list(metadata),
    )
    return NodeWithScore(node=text, score=item.relevance)


class ContextKitMemoryBlock(BaseMemoryBlock[str]):
    """Gives a memory the context of the user's last message.

    It writes nothing. A memory that is too long shortens the block's text.

    Attributes:
        kit: what assembles; the caller opens and closes it.
        options: options of each request, such as `max_tokens` or `sources`.
    """

    name: str = "contextkit"
    kit: Kit
    options: dict[str, Any] = Field(default_factory=dict)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        contexts = Contexts(self.kit, cast("RequestOptions", self.options))
        context = await contexts.aget(_question(messages or ()))
        return context.markdown if context else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Ignore messages that leave the short-term memory."""

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Shorten the text, or drop it if nothing would be left."""
        room = await self.kit.count_tokens(content) - tokens_to_truncate
        return await self.kit.compress(content, room) if room > 0 else None


def _question(messages: Sequence[ChatMessage]) -> str:
    """Return the text of the user's last message."""
    said = (each.content for each in reversed(messages) if each.role == MessageRole.USER)
    return next(said, None) or ""
