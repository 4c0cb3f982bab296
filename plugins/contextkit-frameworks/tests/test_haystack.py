"""The Haystack adapter, in Haystack's pipelines and agent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

WHY = "install contextkit-frameworks[haystack] to run these tests"
pytest.importorskip("haystack", reason=WHY)

from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.builders import PromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage

from contextkit import ContextKit
from contextkit_frameworks.haystack import ContextKitHook, ContextKitRetriever

QUERY = "why are payments retried?"


def test_documents_are_the_contexts_items(kit: ContextKit) -> None:
    """The same texts in the same order, with their scores, and the text; async does the same."""
    context = kit.assemble_context_sync(QUERY)
    retriever = ContextKitRetriever(kit=kit)
    found: dict[str, Any] = retriever.run(query=QUERY)
    documents = found["documents"]
    assert [each.content for each in documents] == [item.content for item in context.items]
    assert [each.score for each in documents] == [item.relevance for item in context.items]
    assert documents[0].id == "notes:retry"
    assert documents[0].meta["title"] == "A note"
    assert found["text"] == context.markdown
    assert asyncio.run(retriever.run_async(query=QUERY)) == found


def test_the_retriever_is_a_part_of_a_pipeline(kit: ContextKit) -> None:
    """Its text and its documents are inputs of the next component."""
    pipeline = Pipeline()
    pipeline.add_component("context", ContextKitRetriever(kit=kit, options={"max_items": 1}))
    template = "{{ text }}\n\n{{ documents | length }} document for: {{ question }}"
    pipeline.add_component("prompt", PromptBuilder(template, required_variables="*"))
    pipeline.connect("context.text", "prompt.text")
    pipeline.connect("context.documents", "prompt.documents")
    found = pipeline.run({"context": {"query": QUERY}, "prompt": {"question": QUERY}})
    prompt = found["prompt"]["prompt"]
    assert "every tenth call" in prompt
    assert prompt.endswith(f"1 document for: {QUERY}")


def test_a_pipeline_is_written_and_read(
    kit: ContextKit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The component remembers its workspace and options, and opens and closes the workspace."""
    monkeypatch.setenv("CONTEXTKIT_HOME", str(tmp_path / "home"))
    pipeline = Pipeline()
    pipeline.add_component("context", ContextKitRetriever(kit=kit, options={"max_items": 1}))
    read = Pipeline.loads(pipeline.dumps(), allowed_modules=["contextkit_frameworks.haystack"])
    component: Any = read.get_component("context")
    assert component.workspace == str(kit.workspace.root)
    assert component.options == {"max_items": 1}
    assert read.run({"context": {"query": "zebra"}})["context"]["documents"] == []
    read.close()


def test_the_hook_gives_an_agent_the_context(kit: ContextKit) -> None:
    """It is a message behind the question; an item is shown once per conversation."""
    hook = ContextKitHook(kit=kit, options={"max_items": 1})
    agent = Agent(chat_generator=MockChatGenerator("yes"), hooks={"before_run": [hook]})
    first_question = ChatMessage.from_user("why are payments retried?")
    first = asyncio.run(agent.run_async([first_question]))
    question = ChatMessage.from_user("when are refunds sent?")
    second = agent.run([*first["messages"], question])["messages"]
    assert [message.role.value for message in second] == ["user", "user", "assistant"] * 2
    assert second[:3] == first["messages"]
    text = "\n".join(message.text for message in second)
    assert text.count("every tenth call") == text.count("by hand on Fridays") == 1
    alone = agent.run([ChatMessage.from_user("zebra")])["messages"]
    assert [message.text for message in alone] == ["zebra", "yes"]
