"""The LlamaIndex adapter, in LlamaIndex' own query engine and memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

WHY = "install contextkit-frameworks[llama-index] to run these tests"
pytest.importorskip("llama_index.core", reason=WHY)

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import MetadataMode
from sqlalchemy.ext.asyncio import create_async_engine

from contextkit import ContextAssemblyError, ContextKit
from contextkit_frameworks.llama_index import ContextKitMemoryBlock, ContextKitRetriever

QUERY = "why are payments retried?"


async def test_nodes_are_the_contexts_items(kit: ContextKit) -> None:
    """The same texts in the same order, each with its id, its score and its source."""
    context = await kit.assemble_context(QUERY)
    nodes = await ContextKitRetriever(kit).aretrieve(QUERY)
    assert [found.text for found in nodes] == [item.content for item in context.items]
    assert [found.score for found in nodes] == [item.relevance for item in context.items]
    assert [found.node_id for found in nodes] == [f"notes:{item.id}" for item in context.items]
    assert nodes[0].metadata["title"] == "A note"


async def test_a_model_gets_the_text_alone(kit: ContextKit) -> None:
    """The source's format says what matters; the metadata would repeat it."""
    nodes = await ContextKitRetriever(kit).aretrieve(QUERY)
    assert [n.node.get_content(MetadataMode.LLM) for n in nodes] == [n.text for n in nodes]


def test_the_retriever_works_without_an_event_loop(kit: ContextKit) -> None:
    """With the same results as in one."""
    retriever = ContextKitRetriever(kit)
    assert retriever.retrieve(QUERY) == asyncio.run(retriever.aretrieve(QUERY)) != []


async def test_the_retriever_passes_on_options(kit: ContextKit) -> None:
    """A bad one is the kit's error."""
    assert len(await ContextKitRetriever(kit, max_items=1).aretrieve("payments and refunds")) == 1
    with pytest.raises(ContextAssemblyError, match="Did you mean 'notes'"):
        await ContextKitRetriever(kit, sources=["note"]).aretrieve(QUERY)


def test_the_retriever_is_a_part_of_a_query_engine(kit: ContextKit) -> None:
    """What it finds is in the prompt of the engine's model, which repeats its prompt."""
    synthesizer = get_response_synthesizer(llm=MockLLM())
    answer = RetrieverQueryEngine(ContextKitRetriever(kit), synthesizer).query(QUERY)
    assert "the bank drops every tenth call" in str(answer)
    assert {node.metadata["source"] for node in answer.source_nodes} == {"notes"}


class Chats:
    """Memories with the block, which they may shorten, in a database of their own."""

    def __init__(self, kit: ContextKit) -> None:
        self.block = ContextKitMemoryBlock(kit=kit, priority=1)
        self.engine = create_async_engine("sqlite+aiosqlite:///:memory:")

    async def ask(self, question: str, token_limit: int = 30_000) -> list[str | None]:
        """Return what a model gets for a question, in a memory with this limit."""
        memory = Memory.from_defaults(
            session_id=f"{token_limit}",
            memory_blocks=[self.block],
            token_limit=token_limit,
            async_engine=self.engine,
        )
        await memory.aput(ChatMessage(role="user", content=question))
        return [message.content for message in await memory.aget()]


@pytest.fixture
async def chats(kit: ContextKit) -> AsyncIterator[Chats]:
    """Memories that are closed at the end."""
    opened = Chats(kit)
    yield opened
    await opened.engine.dispose()


async def test_the_block_gives_the_context_of_the_last_message(
    kit: ContextKit, chats: Chats
) -> None:
    """A memory adds it to what the model gets; without an answer it adds nothing."""
    context = await kit.assemble_context(QUERY)
    assert await chats.ask("zebra") == ["zebra"]
    system, *said = await chats.ask(QUERY)
    assert context.markdown in str(system)
    assert said == ["zebra", QUERY]


async def test_a_full_memory_shortens_the_block(kit: ContextKit, chats: Chats) -> None:
    """What does not fit into the memory's limit goes; then the whole block does."""
    question = "payments and refunds"
    whole = (await kit.assemble_context(question)).markdown
    assert "Payments" in whole
    assert "Refunds" in whole
    system, _ = await chats.ask(question, token_limit=25)
    assert ("Payments" in str(system)) != ("Refunds" in str(system))
    assert await chats.ask(question, token_limit=3) == [question]
