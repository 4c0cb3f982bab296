"""Evidence: how much of a question an item has, by one measure for every source."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit import ContextItem, SourceInfo
from contextkit.budget.evidence import coverage_of, evidence_of, words_in, words_of
from contextkit.models.candidate import Candidate
from tests.growing import assert_linear
from tests.making import KEYWORDS, OpenKit, make_candidate, make_plugin, make_source

QUERY = "how does the harbour gate lock the winch?"


def candidates(texts: Sequence[str]) -> list[Candidate]:
    """One candidate for each text."""
    items = [ContextItem("tide", text, 0.5, id=f"{n}") for n, text in enumerate(texts)]
    return [make_candidate(item) for item in items]


def test_rare_words_count_more_than_common_ones() -> None:
    """A word that most of what was found has says little, wherever it was found."""
    texts = ["the gate", "a gate", "gates and gates", "the gate of the winch", "the lock"]
    gate, _, _, winch, lock = coverage_of(QUERY, candidates(texts))
    assert winch > lock > gate > 0
    assert coverage_of("what is it?", candidates(texts)) == [0.0] * len(texts)


def test_an_items_length_does_not_matter() -> None:
    """A short text has no bonus for being short."""
    short, long, _ = coverage_of(QUERY, candidates(["a winch", "a winch " + "at sea " * 300, "x"]))
    assert short == long


def test_words_are_found_where_a_word_or_a_part_of_a_name_begins() -> None:
    """Endings, irregular forms and spellings do not matter; the middle of another word is none."""
    words = words_of("tell me about the written cat locks")
    texts = ["black_cat", "blackCat", "CATS", "location concat", "a locked door", "write cat lock"]
    found = [words_in(words, candidate.item) for candidate in candidates(texts)]
    assert found == [1, 1, 1, 0, 1, 3]


def test_prepositions_and_adverbs_are_no_subject() -> None:
    """`among` was a fourth of "how is the right rule chosen among several?", and in no file."""
    query = "which lock is chosen among the cats, usually without or despite the keys?"
    assert [word.stems[0] for word in words_of(query)] == ["lock", "chosen", "cats", "keys"]


def test_a_sections_evidence_is_that_of_its_best_three() -> None:
    """One item alone may be chance; what is worse than the best three does not matter."""
    assert evidence_of([0.9, 0.3, 0.6, 0.0, 0.1]) == 0.6
    assert evidence_of([0.5]) == 0.5
    assert evidence_of([]) == 0.0


def test_it_is_found_in_linear_time() -> None:
    """Items are as long as their sources like."""
    assert_linear(lambda text: coverage_of(QUERY, candidates([text])), "gat Gate ".__mul__, 100_000)


async def test_a_very_good_match_answers_without_the_rarest_word(open_kit: OpenKit) -> None:
    """The value in a message is in none of the code, and in a page about another thing."""
    code = [ContextItem("code", f'raise GateError("no gate")  # {n}', 0.95) for n in range(12)]
    pages = [ContextItem("pages", "The north of the harbour.", 0.7)]
    words = SourceInfo(scale="calibrated", embedder="none", answers={"code": 1.0})
    kit = open_kit(
        {"code": make_plugin(code, contextkit_source=words), "pages": make_source(pages)},
        settings=KEYWORDS,
    )
    context = await kit.assemble_context("GateError: no gate north", max_tokens=200)
    assert context.items[0].source == "code"
