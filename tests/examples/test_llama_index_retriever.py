"""The LlamaIndex example, through LlamaIndex' own interface."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import MetadataMode

from contextkit import ContextAssemblyError, ContextKit
from examples.llama_index_retriever import ContextKitRetriever

pytestmark = pytest.mark.one_python

QUERY = "why are payments retried?"


async def test_its_nodes_are_the_contexts_items(kit: ContextKit) -> None:
    """The same texts in the same order, each with its id, its score and where it is from."""
    context = await kit.assemble_context(QUERY, ["memories", "code"])
    nodes = await ContextKitRetriever(kit, context_types=["memories", "code"]).aretrieve(QUERY)
    assert [found.text for found in nodes] == [item.content for item in context.items]
    assert [found.score for found in nodes] == [item.relevance for item in context.items]
    assert [found.node_id for found in nodes] == [f"{i.source}:{i.id}" for i in context.items]
    (code,) = (found for found in nodes if found.metadata["source"] == "code")
    assert code.metadata["location"].startswith("payments.py:1")
    assert code.metadata["language"] == "python"


async def test_a_model_sees_the_text_alone(kit: ContextKit) -> None:
    """The source's format says what matters; the metadata would say it twice."""
    nodes = await ContextKitRetriever(kit).aretrieve(QUERY)
    assert [n.node.get_content(MetadataMode.LLM) for n in nodes] == [n.text for n in nodes]


def test_it_works_without_an_event_loop(kit: ContextKit) -> None:
    """With the same results as in one."""
    retriever = ContextKitRetriever(kit)
    for query in (QUERY, "refunds", "office"):
        assert retriever.retrieve(query) == asyncio.run(retriever.aretrieve(query)) != []


async def test_the_options_reach_the_kit(kit: ContextKit) -> None:
    """Fewer tokens, fewer nodes; a bad one is the kit's error."""
    whole = await ContextKitRetriever(kit).aretrieve(QUERY)
    small = await ContextKitRetriever(kit, max_tokens=60).aretrieve(QUERY)
    assert 0 < len(small) < len(whole)
    with pytest.raises(ContextAssemblyError, match="Did you mean 'memories'"):
        await ContextKitRetriever(kit, context_types=["memory"]).aretrieve(QUERY)
    with pytest.raises(ContextAssemblyError, match="the query is empty"):
        await ContextKitRetriever(kit).aretrieve(" ")


def test_it_is_a_part_of_a_query_engine(kit: ContextKit) -> None:
    """What it finds is in the prompt of the engine's model, which here says its prompt."""
    synthesizer = get_response_synthesizer(llm=MockLLM())
    engine = RetrieverQueryEngine(ContextKitRetriever(kit), synthesizer)
    answer = engine.query(QUERY)
    assert "the bank drops every tenth call" in str(answer)
    assert [node.metadata["source"] for node in answer.source_nodes]


def test_the_example_works(run_example: Callable[..., str]) -> None:
    """It finds what the project knows; without a question it has one."""
    for question in (["why", "are", "payments", "retried?"], []):
        assert "the bank drops every tenth call" in run_example("llama_index_retriever", *question)
