"""The LangChain example, through LangChain's own interface."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

from contextkit import ContextAssembler, ContextAssemblyError, ContextKit
from examples.langchain_retriever import ContextKitRetriever
from examples.own_searcher import Search

pytestmark = pytest.mark.one_python

QUERY = "why are payments retried?"


def joined(documents: list[Document]) -> str:
    """Their texts."""
    return "\n".join(document.page_content for document in documents)


async def test_its_documents_are_the_contexts_items(kit: ContextKit) -> None:
    """The same texts in the same order, each with its id, and where it is from."""
    context = await kit.assemble_context(QUERY, ["memories", "code"])
    retriever = ContextKitRetriever(kit=kit, options={"context_types": ["memories", "code"]})
    documents = await retriever.ainvoke(QUERY)
    assert [d.page_content for d in documents] == [item.content for item in context.items]
    assert [d.id for d in documents] == [f"{item.source}:{item.id}" for item in context.items]
    (code,) = (d for d in documents if d.metadata["context_type"] == "code")
    assert code.metadata["source"].startswith("payments.py:1")
    assert code.metadata["language"] == "python"
    assert 0 < code.metadata["relevance"] <= 1


def test_it_works_without_an_event_loop(kit: ContextKit) -> None:
    """Alone and in a batch, which LangChain runs in threads, as often as one likes."""
    retriever = ContextKitRetriever(kit=kit)
    queries = [QUERY, "refunds", "office"]
    alone = [retriever.invoke(query) for query in queries]
    assert retriever.batch(queries) == alone
    assert asyncio.run(retriever.abatch(queries)) == alone
    assert len({joined(documents) for documents in alone}) == 3


async def test_the_options_reach_the_kit(kit: ContextKit) -> None:
    """Fewer tokens, fewer documents; a bad one is the kit's error."""
    whole = await ContextKitRetriever(kit=kit).ainvoke(QUERY)
    small = await ContextKitRetriever(kit=kit, options={"max_tokens": 60}).ainvoke(QUERY)
    assert 0 < len(small) < len(whole)
    with pytest.raises(ContextAssemblyError, match="Did you mean 'memories'"):
        await ContextKitRetriever(kit=kit, options={"context_types": ["memory"]}).ainvoke(QUERY)
    with pytest.raises(ContextAssemblyError, match="the query is empty"):
        await ContextKitRetriever(kit=kit).ainvoke(" ")


async def test_it_is_a_part_of_a_chain(kit: ContextKit) -> None:
    """What it finds stands in the prompt that a chain makes."""
    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")
    retriever = ContextKitRetriever(kit=kit)
    chain = {"context": retriever | joined, "question": RunnablePassthrough()} | prompt
    (message,) = (await chain.ainvoke(QUERY)).to_messages()
    assert "the bank drops every tenth call" in message.text
    assert message.text.endswith(f"Question: {QUERY}")


async def test_it_takes_a_host_with_a_searcher_of_its_own() -> None:
    """An assembler does as well as a kit."""
    retriever = ContextKitRetriever(
        kit=ContextAssembler(Search()), options={"source_timeout": 30, "deadline": 30}
    )
    (document,) = await retriever.ainvoke("small commits")
    assert "Ada prefers small commits" in document.page_content


def test_the_example_works(run_example: Callable[..., str]) -> None:
    """It finds what the project knows; without a question it has one."""
    for question in (["why", "are", "payments", "retried?"], []):
        assert "the bank drops every tenth call" in run_example("langchain_retriever", *question)
