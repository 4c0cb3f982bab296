"""The pydantic-ai adapter, in a pydantic-ai agent."""
# mypy: no-disallow-untyped-decorators

from __future__ import annotations

import pytest

WHY = "install contextkit-frameworks[pydantic-ai] to run these tests"
pytest.importorskip("pydantic_ai", reason=WHY)

from pydantic_ai import Agent, ImageUrl, ModelMessage, ModelRequest, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from contextkit import ContextAssemblyError, ContextKit
from contextkit_frameworks.pydantic_ai import ContextKitCapability

QUERY = "why are payments retried?"


def prompts(messages: list[ModelMessage]) -> list[object]:
    """The user's parts of all messages."""
    return [
        part.content
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if part.part_kind == "user-prompt"
    ]


async def test_the_model_gets_the_context(kit: ContextKit) -> None:
    """It is a part behind the question, and in the run's history."""
    received: list[list[object]] = []

    def model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        received.append(prompts(messages))
        return ModelResponse(parts=[TextPart("retried once")])

    agent = Agent(FunctionModel(model), capabilities=[ContextKitCapability(kit)])
    result = await agent.run(QUERY)
    context = await kit.assemble_context(QUERY)
    assert received == [[QUERY, context.markdown]]
    assert prompts(result.all_messages()) == received[0]


async def test_a_run_with_tools_gets_it_once(kit: ContextKit) -> None:
    """A model that calls a tool is called again with the same messages before."""
    agent = Agent(TestModel(), capabilities=[ContextKitCapability(kit)])

    @agent.tool_plain
    def clock() -> str:
        """Return the time."""
        return "noon"

    messages = (await agent.run(QUERY)).all_messages()
    assert len(messages) == 4
    assert len(prompts(messages)) == 2


async def test_an_item_is_shown_once_per_conversation(kit: ContextKit) -> None:
    """Earlier messages stay as they were."""
    agent = Agent(TestModel(), capabilities=[ContextKitCapability(kit, max_items=1)])
    first = await agent.run("why are payments retried?")
    second = await agent.run("when are refunds sent?", message_history=first.all_messages())
    assert second.all_messages()[:2] == first.all_messages()
    text = "\n".join(map(str, prompts(second.all_messages())))
    assert text.count("every tenth call") == text.count("by hand on Fridays") == 1


async def test_only_the_text_of_a_question_is_asked_for(kit: ContextKit) -> None:
    """Pictures are none; without an answer there is no further part."""
    agent = Agent(TestModel(), capabilities=[ContextKitCapability(kit)])
    picture = ImageUrl("https://example.org/bank.png")
    with_text = prompts((await agent.run([QUERY, picture])).all_messages())
    assert "every tenth call" in str(with_text[1])
    assert len(prompts((await agent.run([picture])).all_messages())) == 1
    assert len(prompts((await agent.run("zebra")).all_messages())) == 1


async def test_wrong_options_are_rejected(kit: ContextKit) -> None:
    """They are the caller's mistakes."""
    agent = Agent(TestModel(), capabilities=[ContextKitCapability(kit, max_tokens=0)])
    with pytest.raises(ContextAssemblyError, match="max_tokens must be"):
        await agent.run(QUERY)
