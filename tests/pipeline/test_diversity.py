"""Diversity: an item that repeats a better one waits behind one that says something new."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from contextkit import ContextItem
from contextkit.models.candidate import Candidate, Scores
from contextkit.pipeline.rank import diversify

TIDE = "High water comes at noon and again after midnight"


def candidates(texts: Sequence[tuple[str, float]]) -> list[Candidate]:
    """Candidates of these texts and scores, best first."""
    found = [
        Candidate(
            item=ContextItem("tide", text, relevance, id=str(number)),
            section="tide",
            scores=Scores(
                relevance=relevance, match=relevance, salience=0.5, recency=0.5, priority=0.5
            ),
        )
        for number, (text, relevance) in enumerate(texts)
    ]
    return sorted(found, key=lambda candidate: candidate.order)


ALIKE = [(TIDE, 0.9), (f"{TIDE} today", 0.8), ("The harbour office opens at eight", 0.6)]


def ids(found: Sequence[Candidate]) -> list[str]:
    """The items' ids."""
    return [candidate.item.id for candidate in found]


def test_without_diversity_nothing_changes() -> None:
    """The scores alone decide."""
    given = candidates(ALIKE)
    assert diversify(given, 0.0) == given
    assert diversify([], 0.7) == []


def test_what_repeats_a_better_item_waits() -> None:
    """And the score of what says something new stays what it was."""
    found = diversify(candidates(ALIKE), 0.5)
    assert ids(found) == ["0", "2", "1"]
    best, new, repeated = (candidate.scores for candidate in found)
    assert best.redundancy == 0.0
    assert new.redundancy < 0.2
    assert 0.9 < repeated.redundancy <= 1.0
    assert new.rank_by == pytest.approx(0.5 * new.score - 0.5 * new.redundancy)
    assert new.as_dict()["redundancy"] == pytest.approx(new.redundancy, abs=1e-6)


def test_equal_texts_are_wholly_redundant() -> None:
    """Whatever their case; a text without a word repeats nothing."""
    found = diversify(candidates([(TIDE, 0.9), (TIDE.upper(), 0.8), ("...", 0.7)]), 1.0)
    by_id = {candidate.item.id: candidate.scores.redundancy for candidate in found}
    assert by_id["1"] == pytest.approx(1.0)
    assert by_id["2"] == 0.0


@given(
    st.lists(st.tuples(st.text(max_size=30), st.floats(0, 1)), max_size=15),
    st.floats(0, 1),
    st.randoms(),
)
def test_the_order_is_that_of_rank_by_and_loses_nobody(
    drawn: list[tuple[str, float]], diversity: float, rng: random.Random
) -> None:
    """So that later stages, which sort, see the same order; and shuffling changes nothing."""
    given = candidates(drawn)
    found = diversify(given, diversity)
    assert sorted(ids(found)) == sorted(ids(given))
    assert found == sorted(found, key=lambda candidate: -candidate.scores.rank_by)
