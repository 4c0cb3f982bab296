"""The agent's questions and what is looked at in their contexts."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import contextkit_memories
from contextkit import ContextItem, ContextKit
from contextkit.models.context import FormattedContext
from contextkit.testing import open_kit
from contextkit_memories import MemoryBook
from tests.benchmarks.quality.agent import asked, figures, reports
from tests.benchmarks.quality.agent_set import AgentQuestion, AgentSet, read_agent_set
from tests.benchmarks.quality.mixed_scoring import Judge
from tests.benchmarks.quality.mixed_set import Gold, read_mixed_set


@pytest.fixture(scope="module")
def given() -> AgentSet:
    """The set that is measured on."""
    return read_agent_set()


def test_the_set_is_as_large_and_as_mixed_as_was_asked_for(given: AgentSet) -> None:
    """Sixty questions, of them 15 about nothing and 10 of what was done last."""
    kinds = Counter(question.kind for question in given.questions)
    assert kinds == {"about": 35, "recent": 10, "nothing": 15}
    assert all(bool(each.gold) == (each.kind != "nothing") for each in given.questions)


def test_every_gold_item_is_recorded(given: AgentSet) -> None:
    """A misspelt key cannot stay unnoticed as an item that is never found."""
    mixed = read_mixed_set()
    known = {f"event:{row['key']}" for row in given.records["event"]}
    known |= {f"memory:{row['key']}" for row in (*given.records["memory"], *mixed.memories)}
    known |= {f"experience:{one.key}" for one in mixed.experiences}
    named = {f"{gold.kind}:{gold.name}" for question in given.questions for gold in question.gold}
    assert {name for name in named if name.startswith(("event", "memory", "exp"))} <= known


def test_a_kind_that_there_is_none_of_is_refused(tmp_path: Path) -> None:
    """And so is a workspace."""
    (tmp_path / "agent_records.toml").write_text("")
    workspace = '[[workspace]]\nname = "here"\ncommit = "0"\n'
    for wrong in ('kind = "odd"', 'kind = "about"\nworkspace = "there"'):
        question = f'{workspace}[[question]]\ntext = "why?"\n{wrong}\n'
        (tmp_path / "agent_questions.toml").write_text(question)
        with pytest.raises(ValueError, match="'why\\?'"):
            read_agent_set(tmp_path)


def test_what_is_looked_at_in_a_context() -> None:
    """Gold items, what stands before the first of them, and whose tokens are whose."""
    question = AgentQuestion(
        text="why?", kind="about", gold=[Gold.of("memory:one")], workspace=None
    )
    items = [
        ContextItem("events", "pytest failed", 0.9, id="e"),
        ContextItem("code", "def shares", 0.8, id="c"),
        ContextItem("memories", "Split by weight", 0.7, id="m"),
        ContextItem("tasks", "Release", 0.3, id="t"),
    ]
    context = FormattedContext(markdown="", items=items, token_count=9, sources_used={})
    found = figures(question, context, Judge({"memory:one": "m"}, {}))
    assert (found["in"], found["readable"], found["first"], found["items"]) == (1, 1, 1, 2)
    assert 0 < found["events"] < found["before"] < found["events"] + found["tokens"]
    empty = FormattedContext(markdown="", items=[], token_count=0, sources_used={})
    assert set(figures(question, empty, Judge({"memory:one": "m"}, {})).values()) == {0}


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A workspace with one memory."""
    settings = {"embedding.model": "none"}
    with open_kit(tmp_path, {"memories": contextkit_memories}, settings=settings) as kit:
        MemoryBook(kit.records("memories")).remember("The budget is split by weight")
        yield kit


def test_a_measurement_has_a_table_for_each_budget(kit: ContextKit) -> None:
    """Rows are kinds of questions, by halves and in both."""
    memory = next(iter(kit.records("memories").scan()))
    questions = [
        AgentQuestion(text=text, kind=kind, gold=gold, workspace=None)
        for text, kind, gold in (
            ("budget", "about", [Gold.of("memory:one")]),
            ("thanks!", "nothing", []),
        )
    ]
    given = AgentSet(commits={"here": "0"}, questions=questions, records={})
    ids = {"memory:one": memory.id}
    read = asyncio.run(asked(kit, ids, given, given.asked_in("here"), [500]))
    (table,) = reports(read, [500])
    rows = {row["questions"]: row for row in table.rows}
    assert rows["about, both"]["in"] == "1.000"
    assert rows["nothing, checking"]["items"] == "0.0"
    assert "nothing, choosing" not in rows
