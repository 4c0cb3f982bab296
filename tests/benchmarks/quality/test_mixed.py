"""The mixed set and its scorer: that they measure, and what counts as found."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import click
import pytest
from attrs import evolve

from contextkit import ContextItem
from tests.benchmarks.quality.mixed import Asking, Measurement
from tests.benchmarks.quality.mixed_corpus import opened_corpus
from tests.benchmarks.quality.mixed_scoring import Judge
from tests.benchmarks.quality.mixed_set import Gold, MixedSet, Question, read_mixed_set
from tests.benchmarks.quality.mixed_splits import FIXED, FOLLOWING
from tests.benchmarks.quality.surroundings import clone_at

_CODE = "code:budget.py::Split.shares"


@pytest.fixture(scope="module")
def mixed() -> MixedSet:
    """The set that is measured on."""
    return read_mixed_set()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository of one commit, which is about more than one file."""
    code = 'class Split:\n    def shares(self):\n        """Split the budget by weight."""\n'
    (tmp_path / "budget.py").write_text(code)
    (tmp_path / "other.py").write_text("nothing = None\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Split the budget by weight"]):
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", *identity, *command], cwd=tmp_path, check=True)
    return tmp_path


def _item(source: str, name: str, content: str, **metadata: object) -> ContextItem:
    return ContextItem(source, content, 0.5, id=name, metadata=metadata, text="one two three four")


def test_the_set_is_as_large_and_as_mixed_as_was_asked_for(mixed: MixedSet) -> None:
    """At least 60 questions, nine in ten of them with gold items; every source has some."""
    sources = [{gold.kind for gold in question.gold} for question in mixed.questions]
    assert len(mixed.questions) >= 60
    assert sum(len(kinds) > 1 for kinds in sources) >= 45
    assert set(Counter(kind for kinds in sources for kind in kinds)) == {
        *("memory", "experience", "code", "commit", "value")
    }


def test_a_gold_item_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A misspelt key cannot stay unnoticed as an item that is never found."""
    (tmp_path / "mixed_memories.jsonl").write_text("")
    (tmp_path / "mixed_experiences.jsonl").write_text("")
    question = '[[question]]\ntext = "why?"\nintent = "why"\ngold = ["memory:nobody"]\n'
    (tmp_path / "mixed_questions.toml").write_text(f'commit = "0"\n{question}')
    with pytest.raises(ValueError, match="'why\\?': there is no memory 'nobody'"):
        read_mixed_set(tmp_path)
    with pytest.raises(ValueError, match="expected one of memory, experience"):
        Gold.of("memories:budget-split")


def test_what_counts_as_found() -> None:
    """The item itself, a definition within what encloses it, any value of a theme."""
    judge = Judge({"memory:one": "mem_1"}, {"turns": frozenset({"value_1"}), "none": frozenset()})
    shown = [
        _item("memories", "mem_1", "one two, no more"),
        _item(
            "code", "u1", "class Split:\n def shares", file_path="budget.py", qualified_name="Split"
        ),
        _item("commits", "103e93a5917b", "one two three four"),
        _item("values", "value_1", "two"),
    ]
    gold = [
        *(Gold.of("memory:one"), Gold.of(_CODE), Gold.of("commit:103e93a")),
        *(Gold.of("value:turns"), Gold.of("value:none")),
    ]
    found = judge.found(gold, shown)
    assert [(one.gold.kind, one.shown, one.readable) for one in found] == [
        ("memory", True, True),
        ("code", True, False),
        ("commit", True, True),
        ("value", True, False),
    ]
    cut = evolve(shown[1], content="class Split:\n...")
    assert not judge.found([Gold.of(_CODE)], [cut])[0].shown
    assert not any(one.shown for one in judge.found(gold, []))


def test_a_small_set_is_measured_in_every_way(mixed: MixedSet, workspace: Path) -> None:
    """Records are made, questions asked with fixed weights and with such that follow them."""
    small = MixedSet(
        commit="",
        questions=[
            Question(
                text="how is the budget split by weight?",
                intent="how",
                gold=[Gold.of("memory:budget-split"), Gold.of(_CODE), Gold.of("value:turns")],
            )
        ],
        memories=mixed.memories[:2],
        experiences=mixed.experiences[:2],
    )
    with opened_corpus(small, {}, workspace) as corpus:
        measurement = Measurement(small, corpus, budgets=(400,), tokens="default")
        ways = [
            measurement.way("fixed", Asking({"weights": next(iter(FIXED.values()))})),
            measurement.way("following", Asking(follow=next(iter(FOLLOWING.values())))),
            measurement.way("knowing", Asking(knows_sources=next(iter(FIXED.values())))),
        ]
        alone = measurement.way("alone", Asking({"context_types": ["memories"]}))
    assert [way.figures() for way in ways] == [{"in 400": "1.000", "readable 400": "1.000"}] * 3
    assert alone.figures() == {"in 400": "0.500", "readable 400": "0.500"}


def test_a_commit_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    """A shallow checkout has no pinned commit: that is said, and nothing else is measured."""
    with pytest.raises(click.ClickException, match="no clone of this repository at 0000000"):
        clone_at("0" * 40, tmp_path / "clone")
