"""Fitting: the budget of the rendered text holds, and nothing of it is wasted."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pytest
from attrs import evolve
from hypothesis import assume, given, settings, strategies as st

from contextkit import ContextItem
from contextkit.budget.fit import Account, Fitted, fit, fit_all
from contextkit.budget.pieces import Count, Lane, Piece, Placed, Shaper
from contextkit.budget.place import BEST_PART, ITEM_CAP, NOTES_PART, READABLE_TOKENS
from contextkit.models.items import Style
from contextkit.pipeline.render import Document, RenderedSection, heading, render
from contextkit.text.clean import visible
from contextkit.text.tokens import counter_for, estimate_tokens
from contextkit.text.truncation import truncate
from tests.making import make_candidate

thorough = settings.get_profile("thorough")
COUNT = counter_for("default")
WORDS = ["alpha", "beta", "registry", "token", "budget,", "function", "values.", "of", "数据\n"]
TEXTS = st.text(st.characters(exclude_categories=()), max_size=300)


def words(rng: random.Random, number: int) -> str:
    """So many words."""
    return " ".join(rng.choices(WORDS, k=number))


def noted(text: str, limit: int, note: str, count: Count) -> str:
    """The default way to shorten."""
    return truncate(text, limit, count, note)


def lane(
    key: str,
    texts: Sequence[tuple[float, str]],
    weight: float = 1.0,
    shorten: Callable[[str, int], str] | None = None,
    count: Count = COUNT,
) -> Lane:
    """A section of texts with their relevances."""
    pieces = []
    for number, (relevance, text) in enumerate(texts):
        item = ContextItem(key, text, relevance, id=f"{number:04}")
        note = f"*(truncated, see full at src/{key}.py:{number})*"
        candidate = make_candidate(item)
        how = partial(noted, note=note, count=count) if shorten is None else shorten
        pieces.append(Piece(candidate, text, count(f"{text}\n\n"), partial(how, text)))
    pieces.sort(key=lambda piece: piece.candidate.order)
    return Lane(key, weight, heading(key.title(), "markdown"), pieces)


def of_words(
    key: str,
    sizes: Sequence[int],
    weight: float = 1.0,
    seed: int = 0,
    best: float = 0.9,
    count: Count = COUNT,
) -> Lane:
    """A section of texts of so many words each, best first."""
    rng = random.Random(f"{key} {seed}")
    step = best / (len(sizes) + 1)
    texts = [(best - i * step, words(rng, n)) for i, n in enumerate(sizes)]
    return lane(key, texts, weight, count=count)


def renderer(
    lanes: Sequence[Lane], style: Style = "markdown"
) -> Callable[[Mapping[str, Sequence[Placed]]], str]:
    """Renders the sections as the assembler does."""

    def rendered(placed: Mapping[str, Sequence[Placed]]) -> str:
        shown = [lane.key for lane in lanes if placed.get(lane.key)]
        items = sum(len(placed[key]) for key in shown)
        sections = [
            RenderedSection(key.title(), [entry.text for entry in placed[key]]) for key in shown
        ]
        footer = f"*{items} items from {len(shown)} sources*"
        return render(Document(title="Context", sections=sections, footer=footer), style)

    return rendered


def fitted(lanes: Sequence[Lane], max_tokens: int, style: Style = "markdown") -> Fitted:
    """Fit, and check what always holds."""
    result = fit(lanes, max_tokens, renderer(lanes, style), COUNT)
    check(lanes, result)
    assert result.tokens <= max_tokens
    return result


def check(lanes: Sequence[Lane], result: Fitted) -> None:
    """Each placed piece is one of its section's, once; text and books are those of the pieces."""
    for key, entries in result.placed.items():
        known = {id(piece) for lane in lanes if lane.key == key for piece in lane.pieces}
        shown = [id(entry.piece) for entry in entries]
        assert len(shown) == len(set(shown))
        assert known.issuperset(shown)
        assert entries == sorted(entries, key=lambda entry: entry.piece.candidate.order)
        for entry in entries:
            assert entry.text in result.text
            assert entry.truncated or entry.text == entry.piece.text
            assert not entry.truncated or entry.tokens < entry.piece.tokens
    assert result.tokens == COUNT(result.text)
    assert set(result.accounts) == {lane.key for lane in lanes}
    for account in result.accounts.values():
        assert account.share - account.given + account.taken == account.used


def shown(result: Fitted) -> dict[str, list[str]]:
    """Section -> ids of what is shown."""
    return {
        key: [entry.piece.candidate.item.id for entry in entries]
        for key, entries in result.placed.items()
        if entries
    }


def best_of(lanes: Sequence[Lane]) -> Piece:
    """The best piece of all."""
    pieces = (piece for lane in lanes for piece in lane.pieces)
    return min(pieces, key=lambda piece: piece.candidate.order)


def never(text: str, limit: int) -> str:
    """For a text that cannot be shortened."""
    return ""


ANY_LANE = st.tuples(
    st.floats(0.01, 100),
    st.lists(st.tuples(st.floats(0, 1), TEXTS), max_size=8),
    st.booleans(),
)


def as_lanes(drawn: list[tuple[float, list[tuple[float, str]], bool]]) -> list[Lane]:
    """Sections of weights, texts with relevances, and whether those can be shortened.

    What is formatted has no invisible characters any more.
    """
    return [
        lane(
            f"s{number}",
            [(relevance, visible(text)) for relevance, text in texts],
            weight,
            None if soft else never,
        )
        for number, (weight, texts, soft) in enumerate(drawn)
    ]


ANY_LANES = st.lists(ANY_LANE, max_size=5).map(as_lanes)
BUDGETS = st.integers(1, 60) | st.integers(1, 3000) | st.just(10**9)


@given(ANY_LANES, BUDGETS, st.sampled_from(["markdown", "xml", "plain"]))
@thorough
def test_the_rendered_text_holds_the_budget(
    lanes: list[Lane], max_tokens: int, style: Style
) -> None:
    """Whatever the texts, the weights and the budget; each item at most once."""
    fitted(lanes, max_tokens, style)


def wordy_lanes(seed: int) -> list[Lane]:
    """Sections of short and of long texts."""
    rng = random.Random(seed)
    return [
        of_words(
            f"s{number}",
            [rng.choice([4, 20, 60, 200]) for _ in range(rng.choice([0, 1, 3, 8]))],
            rng.choice([0.5, 1, 2, 3]),
            seed,
            best=rng.uniform(0.5, 0.9),
        )
        for number in range(rng.randint(1, 5))
    ]


@given(ANY_LANES | st.integers(0, 10**6).map(wordy_lanes), st.integers(1, 600))
@thorough
def test_a_larger_budget_never_drops_the_best(lanes: list[Lane], smallest: int) -> None:
    """Once the best item is in, it stays in, token by token."""
    assume(any(lane.pieces for lane in lanes))
    best, was_in = best_of(lanes), False
    for max_tokens in range(smallest, smallest + 5):
        placed = fitted(lanes, max_tokens).placed
        is_in = any(entry.piece is best for entries in placed.values() for entry in entries)
        assert is_in or not was_in
        was_in = is_in


def test_the_share_of_an_empty_source_is_used_by_the_others() -> None:
    """The original used 264 of 1,000 tokens where three of five sources had found nothing."""
    lanes = [
        of_words("memories", [25] * 20, 1),
        of_words("code", [], 2),
        of_words("experiences", [], 3),
        of_words("values", [15] * 20, 1),
        of_words("commits", [], 2),
    ]
    result = fitted(lanes, 1000)
    assert result.tokens >= 950
    accounts = result.accounts
    assert [accounts[key].given > 0 for key in ("code", "experiences", "commits")] == [True] * 3
    assert accounts["experiences"] == Account(
        share=accounts["experiences"].share, used=0, given=accounts["experiences"].share, taken=0
    )
    assert accounts["memories"].taken > 0
    assert accounts["values"].taken > 0


def test_what_is_left_goes_by_weight() -> None:
    """Of what an empty source leaves, the heavier one gets more."""
    lanes = [of_words("a", [20] * 60, 1), of_words("b", [20] * 60, 3), of_words("empty", [], 4)]
    accounts = fitted(lanes, 2000).accounts
    assert accounts["b"].used == pytest.approx(3 * accounts["a"].used, rel=0.1)


def test_one_item_takes_no_more_than_a_quarter_where_others_wait() -> None:
    """Its note included."""
    lanes = [of_words("a", [400] * 12, 1), of_words("b", [400] * 12, 3)]
    result = fitted(lanes, 3000)
    for key, entries in result.placed.items():
        cap = float(result.accounts[key].share * ITEM_CAP)
        lengths = [entry.tokens for entry in entries[1:]]
        # A few tokens that nobody else could use let the best ones grow a little.
        assert max(lengths) <= cap * 1.1
        assert statistics.median(lengths) <= cap * 1.05
        assert all("*(truncated, see full at src/" in entry.text for entry in entries[1:])
        assert len(entries) >= 3


def test_the_best_item_of_a_section_may_take_half_of_its_room() -> None:
    """An answer is shown so that it can be understood; what is weaker has a quarter at most."""
    lanes = [of_words(key, [600] * 5, best=0.9 - n / 100) for n, key in enumerate("ab")]
    result = fitted(lanes, 2000)
    for key, entries in result.placed.items():
        share = result.accounts[key].share
        assert 0.4 * share < entries[0].tokens <= share * BEST_PART * 1.1
        cap = max(float(share * ITEM_CAP), float(READABLE_TOKENS))
        assert max(entry.tokens for entry in entries[1:]) <= cap * 1.1


def test_a_small_share_is_room_for_one_item_that_can_be_read() -> None:
    """A quarter of a small share is little more than the note."""
    lanes = [of_words(f"s{number}", [60] * 5) for number in range(5)]
    placed = fitted(lanes, 400).placed.values()
    assert all(len(entries) == 1 for entries in placed)
    assert max(entry.tokens for entries in placed for entry in entries) > 60


def test_notes_that_match_are_shown_whole_before_the_budget_is_split() -> None:
    """Up to two fifths of it; a note is what is never cut."""
    notes = evolve(of_words("notes", [30] * 4, 0.01, best=0.4), first=2)
    result = fitted([of_words("code", [400] * 9, 2.0), notes], 600)
    whole = [entry for entry in result.placed["notes"] if not entry.truncated]
    assert [entry.piece for entry in whole] == list(notes.pieces[:2])
    many = evolve(of_words("notes", [30] * 40, 0.01, best=0.4), first=40)
    result = fitted([of_words("code", [400] * 9, 2.0), many], 1000)
    assert sum(entry.tokens for entry in result.placed["notes"]) <= 1000 * NOTES_PART


def test_a_bounded_section_takes_nothing_of_what_others_leave() -> None:
    """What is weak does not fill the room that is left."""
    weak = evolve(of_words("weak", [50] * 20), bounded=True)
    result = fitted([of_words("good", [50] * 2), weak], 1000)
    account = result.accounts["weak"]
    assert account.used <= account.share
    assert result.tokens < 800


@pytest.mark.parametrize("max_tokens", [100, 120, 160, 240])
def test_a_small_budget_shows_two_sources(max_tokens: int) -> None:
    """Where two have something to show, whatever the weights."""
    for seed in range(20):
        rng = random.Random(seed)
        lanes = [
            of_words(
                f"s{number}",
                [rng.choice([8, 40, 300]) for _ in range(3)],
                rng.choice([0.2, 1, 5]),
                seed,
                best=rng.uniform(0.3, 0.9),
            )
            for number in range(rng.randint(2, 5))
        ]
        assert len(shown(fitted(lanes, max_tokens))) >= 2


def test_the_first_source_leaves_room_for_a_second() -> None:
    """Where both have long items, and the budget is hardly enough for two notes."""
    for seed in range(6):
        lanes = [of_words(key, [300] * 3, seed=seed) for key in "ab"]
        assert set(shown(fitted(lanes, 60))) == {"a", "b"}


def test_a_second_source_is_shown_although_its_item_is_larger_than_its_share() -> None:
    """Two sources say more than one."""
    rng = random.Random(1)
    stiff = lane("b", [(0.5, words(rng, 250))], shorten=never)
    assert stiff.pieces[0].tokens > 300
    assert set(shown(fitted([of_words("a", [20] * 60), stiff], 600))) == {"a", "b"}


def test_a_tiny_budget_shows_one_item_or_nothing() -> None:
    """Less than a heading and some words is no text at all."""
    lanes = [of_words("a", [40]), of_words("b", [40])]
    assert [fitted(lanes, max_tokens).text for max_tokens in (1, 5, 15)] == ["", "", ""]
    assert len(shown(fitted(lanes, 36))) == 1


def test_an_item_that_cannot_be_shortened_gives_way() -> None:
    """The next one of its section is shown in its place."""
    rng = random.Random(1)
    texts = [(0.9, words(rng, 400)), (0.8, words(rng, 20)), (0.7, words(rng, 20))]
    stiff = lane("a", texts, shorten=never)
    assert shown(fitted([stiff, of_words("b", [20] * 3)], 200))["a"] == ["0001", "0002"]


def test_many_items_that_cannot_be_shortened_are_soon_given_up() -> None:
    """A shortener that always fails is not called for each of a thousand items."""
    calls = []

    def counted(text: str, limit: int) -> str:
        calls.append(limit)
        return ""

    rng = random.Random(1)
    texts = [(0.8 - number / 10_000, words(rng, 600)) for number in range(1000)]
    for first in ([], [(0.9, words(rng, 10))]):
        result = fitted(
            [lane("a", [*first, *texts], shorten=counted), of_words("b", [20] * 3)], 500
        )
        assert set(shown(result)) == ({"a", "b"} if first else {"b"})
    assert len(calls) < 200


def test_the_best_item_is_shown_alone_rather_than_not_at_all() -> None:
    """A counter whose parts do not add up costs others their place, never the best item."""

    def count(text: str) -> int:
        return estimate_tokens(text) + len(text) ** 2 // 1000

    lanes = [of_words(key, [30] * 5, count=count) for key in "ab"]
    for max_tokens in range(60, 400, 20):
        result = fit(lanes, max_tokens, renderer(lanes), count)
        assert result.tokens <= max_tokens
        assert best_of(lanes) in [entry.piece for entry in result.placed.get("a", ())]


@given(ANY_LANES, BUDGETS)
@settings(max_examples=50)
def test_the_soft_limit_cuts_nothing(lanes: list[Lane], max_tokens: int) -> None:
    """Every item that is in is in whole."""
    result = fit_all(lanes, max_tokens, renderer(lanes), COUNT)
    check(lanes, result)
    assert not any(entry.truncated for entries in result.placed.values() for entry in entries)


def test_the_soft_limit_exceeds_by_the_last_item_of_a_section() -> None:
    """Each section takes items until its part is used up, an empty section's part included."""
    lanes = [of_words("a", [300] * 5), of_words("b", [20] * 50), of_words("empty", [])]
    result = fit_all(lanes, 1000, renderer(lanes), COUNT)
    assert result.tokens > 1000
    used = {key: account.used for key, account in result.accounts.items()}
    longest = lanes[0].pieces[0].tokens
    assert 500 <= used["a"] <= 500 + longest + 10
    assert 500 <= used["b"] <= 550


def test_a_shortener_that_knows_no_limit_is_not_used() -> None:
    """Where it gives so much too much that no smaller limit is left, it is given up."""
    asked = []

    def boundless(text: str, limit: int) -> str:
        asked.append(limit)
        return text

    (piece,) = lane("a", [(0.9, "word " * 300)], shorten=boundless).pieces
    shape = Shaper(COUNT)
    assert [shape(piece, 50), shape(piece, 50), shape(piece, 5)] == [None, None, None]
    assert asked == [50]
    assert shape(piece, 200) is None
    assert asked[1:] == sorted(asked[1:], reverse=True)
    assert len(asked) < 6
