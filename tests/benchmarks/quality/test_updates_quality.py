"""The measurement of memories that replace older ones: its data, its scores, and its goal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.benchmarks.quality.evidence import mean
from tests.benchmarks.quality.updates import marked, read_pairs, report


def test_there_are_as_many_pairs_of_each_sort() -> None:
    """A hundred updates and a hundred compatible pairs, in six kinds, half of them in each half."""
    pairs = read_pairs()
    assert Counter((pair.is_update, pair.half) for pair in pairs) == {
        (True, 0): 50,
        (True, 1): 50,
        (False, 0): 50,
        (False, 1): 50,
    }
    assert min(Counter((pair.kind, pair.is_update) for pair in pairs).values()) >= 15


@pytest.mark.parametrize("half", [0, 1])
def test_updates_are_marked_and_compatible_memories_are_not(half: int, tmp_path: Path) -> None:
    """At least .80 of the updates, and at most .02 of the others."""
    pairs = [pair for pair in read_pairs() if pair.half == half]
    found = marked(pairs, tmp_path)
    of_updates = [m for pair, m in zip(pairs, found, strict=True) if pair.is_update]
    others = [m for pair, m in zip(pairs, found, strict=True) if not pair.is_update]
    assert mean(of_updates) >= 0.80
    assert mean(others) <= 0.02
    row = report(pairs, found).rows[0]
    assert row["updates"] == f"{mean(of_updates):.2f} of 50"
