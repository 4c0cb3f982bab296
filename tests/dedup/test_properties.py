"""What holds of any texts: no copy is missed, and the order does not matter."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings, strategies as st
from rapidfuzz import fuzz

from contextkit.dedup import near
from contextkit.dedup.deduplicate import deduplicate
from contextkit.dedup.guard import Guarded
from contextkit.dedup.near import NearTexts, Sketch
from contextkit.dedup.normal import normal_text
from contextkit.models.items import Provenance
from tests.dedup.test_deduplicate import item, run

thorough = settings.get_profile("thorough")


WORDS = st.sampled_from(
    ["alpha", "beta", "gamma", "not", "3", "4", "tea", "Bob", "delta", "epsilon", "zeta", "eta"]
)


SENTENCES = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)


RANDOM = st.integers(0, 2**32).map(random.Random)


UNICODE = st.text(st.characters(exclude_categories=()), max_size=30)


@st.composite
def similar_texts(draw: st.DrawFn) -> list[str]:
    """Texts of any script, some of them edits of others."""
    texts = draw(st.lists(SENTENCES | UNICODE, min_size=1, max_size=6))
    for _ in range(draw(st.integers(0, 8))):
        text = draw(st.sampled_from(texts))
        first, last = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        insert = draw(st.text("ab 3上\U0001f600", max_size=3))
        texts.append(text[:first] + insert + text[min(last, first + 3) :])
    return texts


@given(similar_texts(), st.sampled_from([0.5, 0.8, 0.9, 0.99]))
@thorough
def test_no_pair_is_missed_that_the_exact_ratio_finds(texts: list[str], threshold: float) -> None:
    """Before the guard, every pair over the threshold with the same digits is a candidate."""
    different = list(dict.fromkeys(texts))
    found = {
        frozenset(pair)
        for pair in zip(*map(list, Sketch(different).similar_pairs(threshold)), strict=True)
    }

    for first, text in enumerate(different):
        for second, other in enumerate(different[:first]):
            digits = [sorted(filter(str.isascii, filter(str.isdigit, t))) for t in (text, other)]
            if digits[0] == digits[1] and fuzz.ratio(text, other) >= 100 * threshold:
                assert frozenset((first, second)) in found


@given(similar_texts(), st.sampled_from([0.5, 0.9]))
def test_comparing_all_pairs_at_once_finds_what_one_by_one_does(
    texts: list[str], threshold: float
) -> None:
    """Where it is little work all ratios are computed at once; where it is much, when asked for."""

    def found() -> list[list[tuple[int, float]]]:
        kept = NearTexts(texts, threshold)
        for position in range(len(texts)):
            kept.keep(position)
        return [list(kept.find(position)) for position in range(len(texts))]

    at_once = found()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near, "_LITTLE_WORK", -1)
        assert at_once == found()


@given(similar_texts())
@thorough
def test_what_is_kept_together_is_apart_or_contradicts(texts: list[str]) -> None:
    """Of two items that are kept, either the ratio is below 90% or they contradict each other."""
    items = [item("a", text, id=str(number)) for number, text in enumerate(texts)]

    kept = run(*items).items

    for number, one in enumerate(kept):
        for other in kept[:number]:
            alike = fuzz.ratio(normal_text(one.content), normal_text(other.content)) >= 90
            empty = not normal_text(one.content)
            contradict = Guarded(one.content).contradicts(Guarded(other.content))
            assert not alike or empty or contradict


@given(similar_texts(), RANDOM)
@thorough
def test_the_order_of_the_items_does_not_matter(texts: list[str], rng: random.Random) -> None:
    """Shuffled items lose to the same winners for the same reasons."""
    items = [item("ab"[number % 2], text, id=str(number)) for number, text in enumerate(texts)]
    scores = [round(rng.random(), 1) for _ in items]
    order = list(range(len(items)))
    rng.shuffle(order)

    straight = deduplicate(items, scores, [()] * len(items))
    shuffled = deduplicate(
        [items[number] for number in order], [scores[number] for number in order], [()] * len(items)
    )

    assert {(loser, winner, why) for loser, (winner, why) in straight.duplicate_of.items()} == {
        (order[loser], order[winner], why) for loser, (winner, why) in shuffled.duplicate_of.items()
    }


@given(similar_texts(), RANDOM)
@thorough
def test_the_best_stays_and_names_all_the_others(texts: list[str], rng: random.Random) -> None:
    """Whatever the scores, ids and keys: no place that an item was found in is lost."""
    items = [
        item(
            rng.choice("abc"),
            text,
            id=rng.choice("123456789"),
            also_in=rng.choice([(), (Provenance("x", rng.choice("12")),)]),
        )
        for text in texts
    ]
    scores = [round(rng.random(), 1) for _ in items]
    keys = [rng.sample(["file:a", "sha:b", "ghap:c"], rng.choice([0, 0, 1, 2])) for _ in items]

    result = deduplicate(items, scores, keys)

    assert sorted([*result.kept, *result.duplicate_of]) == list(range(len(items)))
    for loser, (winner, _) in result.duplicate_of.items():
        assert winner in result.kept
        assert scores[winner] >= scores[loser]
    kept = {(each.source, each.id) for each in result.items}
    for position, each in zip(result.kept, result.items, strict=True):
        losers = [loser for loser, (winner, _) in result.duplicate_of.items() if winner == position]
        places = {(items[loser].source, items[loser].id) for loser in losers}
        for source in (position, *losers):
            places |= {(place.source, place.id) for place in items[source].also_in}
        named = [(place.source, place.id) for place in each.also_in]
        assert set(named) == places - {(each.source, each.id)}
        assert len(named) == len(set(named))
    assert len(kept) == len(result.items)


@given(UNICODE, UNICODE)
@thorough
def test_the_guard_does_not_depend_on_the_side(text: str, other: str) -> None:
    """Two texts contradict each other or not, whichever is asked; a text never itself."""
    assert Guarded(text).contradicts(Guarded(other)) == Guarded(other).contradicts(Guarded(text))
    assert not Guarded(text).contradicts(Guarded(text))
