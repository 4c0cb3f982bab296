"""The examples of the page, executed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextkit import ContextKit, Record

PAGE = Path(__file__).parents[1] / "README.md"
ANSWER = "Payments are retried once, because the bank drops every tenth call"


def example(title: str) -> str:
    """The code below a heading."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2]
    found = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def langchain_model() -> Any:
    """A model that repeats its last message."""
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    return FakeListChatModel(responses=["retried"])


def llama_index_model() -> Any:
    """A model that repeats its prompt."""
    from llama_index.core.llms import MockLLM

    return MockLLM()


def pydantic_ai_model() -> Any:
    """A model that answers the same to everything."""
    from pydantic_ai.models.test import TestModel

    return TestModel(custom_output_text="retried")


def openai_agents_model() -> Any:
    """A model that gives one answer."""
    from agents.testing import ScriptedModel, assistant_message

    return ScriptedModel([[assistant_message("retried")]])


def no_model() -> object:
    """For examples without one."""
    return None


EXAMPLES: list[tuple[str, str, str, Callable[[], object]]] = [
    ("LangChain", "langchain", "langchain", langchain_model),
    ("LlamaIndex", "llama_index.core", "llama-index", llama_index_model),
    ("pydantic-ai", "pydantic_ai", "pydantic-ai", pydantic_ai_model),
    ("OpenAI Agents SDK", "agents", "openai-agents", openai_agents_model),
    ("Claude Agent SDK", "claude_agent_sdk", "claude-agent", no_model),
    ("Haystack", "haystack", "haystack", no_model),
]


@pytest.mark.parametrize(("title", "module", "extra", "model"), EXAMPLES)
def test_an_example_works(
    title: str,
    module: str,
    extra: str,
    model: Callable[[], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each has at most ten lines, and does what it says in a project with one memory."""
    pytest.importorskip(module, reason=f"install contextkit-frameworks[{extra}] to run this test")
    monkeypatch.setenv("CONTEXTKIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    monkeypatch.chdir(tmp_path)
    with ContextKit.open(".") as kit:
        kit.records("memories").put([Record(id="retry", text=ANSWER)])
    code = example(title)
    assert len([line for line in code.splitlines() if line]) <= 10
    names: dict[str, Any] = {"model": model()}
    exec(code, names)  # noqa: S102 - our own page
    given: dict[str, Callable[[], object]] = {
        "LangChain": lambda: [message.text for message in names["answer"]["messages"]],
        "LlamaIndex": lambda: [node.text for node in names["retriever"].retrieve("payments")],
        "pydantic-ai": lambda: ANSWER,
        "OpenAI Agents SDK": lambda: [str(call.input) for call in names["model"].calls],
        "Claude Agent SDK": lambda: [ANSWER, *names["options"].hooks],
        "Haystack": lambda: names["found"]["context"]["text"],
    }
    assert ANSWER in str(given[title]())
