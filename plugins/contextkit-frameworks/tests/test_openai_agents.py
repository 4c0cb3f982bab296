"""The adapter of OpenAI's Agents SDK, in its runner, with its scripted model."""
# mypy: no-disallow-untyped-decorators

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

WHY = "install contextkit-frameworks[openai-agents] to run these tests"
pytest.importorskip("agents", reason=WHY)

from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from contextkit import ContextAssemblyError, ContextKit
from contextkit_frameworks import openai_agents
from contextkit_frameworks.openai_agents import ContextKitFilter, mcp_server

QUERY = "why are payments retried?"


@function_tool
def clock() -> str:
    """Return the time."""
    return "noon"


class Conversation:
    """An agent with the filter and a session, and what its model was given."""

    def __init__(self, kit: ContextKit, **options: Any) -> None:
        self.model = ScriptedModel()
        self.agent = Agent(name="bank", model=self.model, tools=[clock])
        self.filter = ContextKitFilter(kit, **options)
        self.session = SQLiteSession("one")

    async def say(self, said: Any, *steps: Any) -> list[Any]:
        """Say something, and return the texts of the model's last input."""
        self.model.extend([*steps, [assistant_message("yes")]])
        config = RunConfig(call_model_input_filter=self.filter, tracing_disabled=True)
        await Runner.run(self.agent, said, session=self.session, run_config=config)
        assert self.model.last_call is not None
        return [item.get("content", item.get("type")) for item in self.model.last_call.input]


async def test_the_model_gets_the_context(kit: ContextKit) -> None:
    """It is a message behind the question; a filter's messages are not in the session."""
    context = await kit.assemble_context(QUERY)
    conversation = Conversation(kit)
    assert await conversation.say(QUERY) == [QUERY, context.markdown]
    assert await conversation.session.get_items(1) != [{"content": context.markdown}]


async def test_a_tool_call_changes_nothing_before_it(kit: ContextKit) -> None:
    """The context stands behind the question again."""
    conversation = Conversation(kit)
    texts = await conversation.say(QUERY, [function_call("clock", {}, call_id="1")])
    first, second = (call.input for call in conversation.model.calls)
    assert second[: len(first)] == first
    assert texts[2:] == ["function_call", "function_call_output"]


async def test_an_item_is_shown_once_per_conversation(kit: ContextKit) -> None:
    """Contexts of earlier questions stay where they were."""
    conversation = Conversation(kit)
    for question in (QUERY, "when are refunds sent?", QUERY):
        texts = await conversation.say(question)
    inputs = [call.input for call in conversation.model.calls]
    assert inputs[1][:2] == inputs[0]
    assert inputs[2][: len(inputs[1])] == inputs[1]
    shown = str(texts)
    assert shown.count("every tenth call") == shown.count("by hand on Fridays") == 1


async def test_only_the_text_of_a_question_is_asked_for(kit: ContextKit) -> None:
    """Pictures are none; without an answer there is no further message."""
    picture = {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "low"}
    text = {"type": "input_text", "text": QUERY}
    said = [{"role": "user", "content": [text, picture]}]
    assert "every tenth call" in (await Conversation(kit).say(said))[1]
    assert len(await Conversation(kit).say([{"role": "user", "content": [picture]}])) == 1
    assert await Conversation(kit).say("zebra") == ["zebra"]


async def test_old_contexts_are_forgotten(kit: ContextKit, monkeypatch: pytest.MonkeyPatch) -> None:
    """The filter's memory has a limit."""
    monkeypatch.setattr(openai_agents, "_MOST_KEPT", 1)
    conversation = Conversation(kit)
    await conversation.say(QUERY)
    assert "every tenth call" in str(await conversation.say("when are refunds sent?"))
    texts = await conversation.say("zebra")
    assert "every tenth call" not in str(texts)


async def test_wrong_options_are_rejected(kit: ContextKit) -> None:
    """They are the caller's mistakes."""
    with pytest.raises(ContextAssemblyError, match="max_tokens must be"):
        await Conversation(kit, max_tokens=0).say(QUERY)


async def test_the_mcp_server_answers(on_path: None, tmp_path: Path) -> None:
    """The SDK starts it in the workspace, and lists its tools."""
    async with mcp_server(tmp_path) as server:
        assert "assemble_context" in {tool.name for tool in await server.list_tools()}
