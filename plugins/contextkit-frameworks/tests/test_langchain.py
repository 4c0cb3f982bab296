"""The LangChain adapter, in LangChain's own agent and chains."""
# mypy: no-disallow-subclassing-any

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest

WHY = "install contextkit-frameworks[langchain] to run these tests"
pytest.importorskip("langchain", reason=WHY)

from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langgraph.checkpoint.memory import InMemorySaver

from contextkit import ContextAssemblyError, ContextKit
from contextkit_frameworks.langchain import ContextKitMiddleware, ContextKitRetriever

QUERY = "why are payments retried?"


class Prompts(BaseCallbackHandler):
    """Keeps what the model was given, call by call."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **_: Any
    ) -> None:
        """Keep the texts of one call."""
        self.calls += [[message.text for message in each] for each in messages]


class Conversation:
    """A thread of an agent with the middleware, and what its model was given."""

    def __init__(self, kit: ContextKit, **options: Any) -> None:
        self.prompts = Prompts()
        model = GenericFakeChatModel(messages=(AIMessage(f"answer {n}") for n in count(1)))
        self.agent: Any = create_agent(
            model,
            middleware=[ContextKitMiddleware(kit, **options)],
            checkpointer=InMemorySaver(),
        )
        self.config = {"configurable": {"thread_id": "one"}, "callbacks": [self.prompts]}

    async def say(self, text: str) -> list[str]:
        """Say something, and return what the model was given."""
        await self.agent.ainvoke({"messages": [HumanMessage(text)]}, self.config)
        return self.prompts.calls[-1]


def joined(documents: list[Document]) -> str:
    """Their texts."""
    return "\n".join(document.page_content for document in documents)


async def test_documents_are_the_contexts_items(kit: ContextKit) -> None:
    """The same texts in the same order, each with its id and its place."""
    context = await kit.assemble_context(QUERY)
    documents = await ContextKitRetriever(kit=kit).ainvoke(QUERY)
    assert [d.page_content for d in documents] == [item.content for item in context.items]
    assert documents[0].id == documents[0].metadata["source"] == "notes:retry"
    assert documents[0].metadata["title"] == "A note"
    assert 0 < documents[0].metadata["relevance"] <= 1


def test_the_retriever_works_without_an_event_loop(kit: ContextKit) -> None:
    """Alone, and in a batch, which LangChain runs in threads."""
    retriever = ContextKitRetriever(kit=kit)
    queries = [QUERY, "refunds", "office"]
    alone = [retriever.invoke(query) for query in queries]
    assert retriever.batch(queries) == asyncio.run(retriever.abatch(queries)) == alone
    assert len({joined(documents) for documents in alone}) == 3


async def test_the_retriever_passes_on_options(kit: ContextKit) -> None:
    """A bad one is the kit's error."""
    one = await ContextKitRetriever(kit=kit, options={"max_items": 1}).ainvoke(
        "payments and refunds"
    )
    assert len(one) == 1
    with pytest.raises(ContextAssemblyError, match="Did you mean 'notes'"):
        await ContextKitRetriever(kit=kit, options={"context_types": ["note"]}).ainvoke(QUERY)


async def test_the_retriever_is_a_part_of_a_chain(kit: ContextKit) -> None:
    """What it finds stands in the prompt that a chain makes."""
    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")
    retriever = ContextKitRetriever(kit=kit)
    chain = {"context": retriever | joined, "question": RunnablePassthrough()} | prompt
    (message,) = (await chain.ainvoke(QUERY)).to_messages()
    assert "the bank drops every tenth call" in message.text
    assert message.text.endswith(f"Question: {QUERY}")


async def test_the_middleware_gives_the_model_the_context(kit: ContextKit) -> None:
    """It is a message behind the question, within the budget."""
    context = await kit.assemble_context(QUERY, max_tokens=300)
    assert await Conversation(kit, max_tokens=300).say(QUERY) == [QUERY, context.markdown]


def test_the_middleware_works_without_an_event_loop(kit: ContextKit) -> None:
    """`invoke` gives the model the same messages as `ainvoke`."""
    conversation = Conversation(kit)
    conversation.agent.invoke({"messages": [HumanMessage(QUERY)]}, conversation.config)
    assert conversation.prompts.calls == [asyncio.run(Conversation(kit).say(QUERY))]


async def test_an_item_is_shown_once_per_conversation(kit: ContextKit) -> None:
    """A later context has only new items, and earlier messages stay as they were."""
    conversation = Conversation(kit, max_items=1)
    first = await conversation.say("why are payments retried?")
    second = await conversation.say("when are refunds sent?")
    third = await conversation.say("why are payments retried?")
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    shown = "\n".join(third)
    assert shown.count("every tenth call") == shown.count("by hand on Fridays") == 1


async def test_an_item_is_shown_again_after_its_message_is_gone(kit: ContextKit) -> None:
    """A summary of the history may drop the context."""
    conversation = Conversation(kit)
    await conversation.say(QUERY)
    state = await conversation.agent.aget_state(conversation.config)
    gone = [RemoveMessage(m.id) for m in state.values["messages"] if m.name == "contextkit"]
    await conversation.agent.aupdate_state(conversation.config, {"messages": gone})
    assert "every tenth call" in (await conversation.say(QUERY))[-1]


@pytest.mark.parametrize("query", ["zebra", " "])
async def test_nothing_found_adds_nothing(kit: ContextKit, query: str) -> None:
    """Neither does a message without text."""
    assert await Conversation(kit).say(query) == [query]


async def test_the_middleware_rejects_wrong_options(kit: ContextKit) -> None:
    """They are the caller's mistakes."""
    with pytest.raises(ContextAssemblyError, match="max_tokens must be"):
        await Conversation(kit, max_tokens=0).say(QUERY)
