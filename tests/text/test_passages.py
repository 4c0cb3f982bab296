"""Excerpts of texts: the sentences that match a query, whole and in their order."""

from __future__ import annotations

import gc
import random

import pytest
from markdown_it import MarkdownIt

from contextkit.text import passages
from contextkit.text.passages import excerpt, keeps
from contextkit.text.tokens import estimate_tokens
from contextkit.text.units import TextUnit
from tests.growing import assert_linear

QUERY = "when is the gate closed"
MARKDOWN = """\
The moon rose. The gate is closed at ten. Nobody came.

- **One**: the pier. It was old.
- **Two**: a boat.

# A heading

```python
code = 1

more = 2
```

| a | b |
|---|---|
| 1 | 2 |

An underlined title
===================

    indented = code

The end."""


def test_sentences_stay_in_order_with_a_mark_where_some_are_left_out() -> None:
    """The one that answers the query, where there is room for one."""
    text = (
        "The moon rose. A boat with eleven passengers came in from the north. "
        "The gate is closed at ten. Nobody of them came back. It was over."
    )
    found = excerpt(text, QUERY, 13, estimate_tokens)
    assert found == "... The gate is closed at ten. ..."


@pytest.mark.parametrize("place", [0, 40, 118])
def test_what_answers_is_found_wherever_it_stands(place: int) -> None:
    """At the beginning, in the middle or at the end of 120 sentences."""
    chance = random.Random(place)
    words = ["boat", "pier", "moon", "rope", "sail", "wind", "crew", "deck", "hull", "mast"]
    sentences = [f"The {' '.join(chance.sample(words, 5))} again." for _ in range(120)]
    sentences[place] = "The gate closes at ten."
    found = excerpt(" ".join(sentences), QUERY, 60, estimate_tokens)
    assert "The gate closes at ten." in found
    assert estimate_tokens(found) <= 60


def test_without_the_querys_words_the_beginning_is_kept() -> None:
    """Whole sentences of it, as many as fit."""
    text = "The moon rose. A boat came in. It was over. The crew slept."
    assert excerpt(text, "sourdough", 12, estimate_tokens) == "The moon rose. A boat came in. ..."


@pytest.mark.parametrize("text", ["One. The gate. Shut at ten now.", "The gate is shut. Why?"])
def test_a_line_that_does_not_fit_is_read_by_sentences_at_once(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not tried as a whole first, which changes no excerpt."""
    budgets = range(24)
    short = [excerpt(text, QUERY, most, estimate_tokens, head="- ") for most in budgets]
    assert len(set(short)) >= 3
    assert short[-1] == f"- {text}"
    monkeypatch.setattr(passages, "SHORT_BLOCK", 0)
    assert short == [excerpt(text, QUERY, most, estimate_tokens, head="- ") for most in budgets]


def test_head_and_tail_stay_and_count() -> None:
    """A label before the sentences and a note behind them are part of the budget."""
    text = "The moon rose. " * 30 + "The gate is closed at ten. " + "A boat came. " * 30
    found = excerpt(text, QUERY, 30, estimate_tokens, head="**Memory**: ", tail="\n\n(more)")
    assert found.startswith("**Memory**: ")
    assert "The gate is closed at ten." in found
    assert found.endswith("\n\n(more)")
    assert estimate_tokens(found) <= 30


def test_an_underlined_title_of_tildes_is_no_fence() -> None:
    """ReStructuredText has such titles; what follows them is not one block."""
    text = "Signing\n~~~~~~~\n\n" + "The moon rose. " * 40 + "The gate is closed at ten."
    assert "The gate is closed at ten." in excerpt(text, QUERY, 40, estimate_tokens)


def test_wrapped_prose_is_read_by_sentences() -> None:
    """A line's end is none of a sentence; a speaker's or a list's line begins anew."""
    wrapped = (
        "The moon rose over the old pier while the whole crew was at sea and all\n"
        "slept. The gate is closed at ten by the harbour master himself, who walks\n"
        "there with a lamp. Nobody else may go there. "
    ) + "The boats are painted every spring by whoever has the time for it. " * 9
    assert excerpt(wrapped, QUERY, 26, estimate_tokens) == (
        "... The gate is closed at ten by the harbour master himself, who walks\n"
        "there with a lamp. ..."
    )
    said = "Ada: The moon rose over the old pier while the whole crew was at sea\n" * 30
    said += "Bob: The gate is closed at ten.\n"
    assert excerpt(said, QUERY, 14, estimate_tokens) == "...\n\nBob: The gate is closed at ten."


def test_an_indented_block_stays_with_what_announces_it() -> None:
    """A directive of reStructuredText, or a line that ends with a colon."""
    text = "".join(
        f".. data:: OPTION_{number}\n\n    The {word} of it.\n\n    Default: ``None``\n\n"
        for number, word in enumerate(["moon", "boat", "pier", "gate", "rope", "sail", "wind"])
    )
    found = excerpt(text, QUERY, 24, estimate_tokens)
    assert ".. data:: OPTION_3\n\n    The gate of it." in found


def test_a_term_stays_with_its_definition() -> None:
    """Options of a manual are written so; the definition's further lines are indented."""
    text = "".join(
        f"**--{word}**\n\n:   Says how the {word} is handled by all of the people who work here.\n"
        f"    Never when it is dark.\n\n"
        for word in ["moon", "boat", "pier", "gate", "rope", "sail", "wind"]
    )
    found = excerpt(text, QUERY, 34, estimate_tokens)
    assert "**--gate**\n\n:   Says how the gate is" in found
    assert "Never when it is dark." in found


@pytest.mark.parametrize("max_tokens", range(5, 110, 5))
def test_structure_is_whole_or_left_out(max_tokens: int) -> None:
    """A fence, a table, a heading with its underline; within the tokens, never longer."""
    found = excerpt(MARKDOWN, QUERY, max_tokens, estimate_tokens)
    assert estimate_tokens(found) <= max_tokens
    assert found.count("```") in {0, 2}
    for whole in ("```python\ncode = 1\n\nmore = 2\n```", "| a | b |\n|---|---|\n| 1 | 2 |"):
        assert (whole in found) == (whole[:9] in found)
    assert ("An underlined title\n===" in found) == ("===" in found)
    kinds = {token.type for token in MarkdownIt().enable("table").parse(found)}
    assert ("fence" in kinds) == ("```" in found)
    assert ("table_open" in kinds) == ("| a |" in found)


FILLER = " ".join(f"The moon rose over the pier {n} times." for n in range(24))


def test_code_of_the_best_match_is_cut_where_it_is_too_long() -> None:
    """An example that answers is shown in part; that of a lesser match is left out."""
    code = "".join(f"winch.turn({turn})\n" for turn in range(40))
    text = f"{FILLER}\n\nThe gate is closed by hand:\n\n```python\n{code}```\n\n{FILLER}"
    found = excerpt(text, QUERY, 90, estimate_tokens)
    assert "closed by hand:\n\n```python\nwinch.turn(0)\n" in found
    assert found.count("```") == 2
    assert 60 <= estimate_tokens(found) <= 90
    lesser = f"The gate is closed at ten.\n\n{FILLER}\n\nThe pier:\n\n```\n{code}```"
    assert "winch" not in excerpt(lesser, f"{QUERY} at the pier", 90, estimate_tokens)


def test_related_words_match() -> None:
    """A question about configuration is answered by a sentence about a config file."""
    text = f"{FILLER}\n\nIt reads the config when it starts.\n\n{FILLER}"
    assert "the config" in excerpt(text, "configuration", 12, estimate_tokens)


def test_an_excerpt_is_a_passage_and_no_shreds() -> None:
    """The paragraph that matches and those around it; at most two such runs."""
    gates = [f"Gate {n} is closed at {n}. It is made of wood." for n in range(5)]
    text = "\n\n".join(part for gate in gates for part in (FILLER, gate))
    found = excerpt(text, QUERY, 60, estimate_tokens)
    assert found.count("Gate") == found.count("It is made of wood.") == 2
    near = "\n\n".join([FILLER, "It stands at the pier.", gates[1], "Its key is lost.", FILLER])
    assert "\n\n".join(["It stands at the pier.", gates[1], "Its key is lost."]) in excerpt(
        near, QUERY, 45, estimate_tokens
    )


@pytest.mark.parametrize("max_tokens", range(20, 140, 10))
def test_an_order_and_what_is_announced_are_whole_or_left_out(max_tokens: int) -> None:
    """Two of four steps mislead, and so does a sentence that announces nothing."""
    steps = "1. Go to the gate.\n2. It is closed at ten.\n\n   Knock.\n3. Wait.\n4. Go in."
    text = f"{FILLER}\n\n{steps}\n\n{FILLER}\n\nThe gate opens so:\n\n```\ncode\n```\n\n{FILLER}"
    found = excerpt(text, QUERY, max_tokens, estimate_tokens)
    assert ("1. Go" in found) == (steps in found)
    assert ("opens so:" in found) == ("```\ncode\n```" in found)


def test_a_heading_is_not_kept_for_itself() -> None:
    """It stays with what follows it."""
    text = "# The gate is closed\n\nThe moon rose over it.\n\n# Other\n\nA pier. " + "Boats. " * 30
    found = excerpt(text, QUERY, 30, estimate_tokens)
    assert ("# The gate" in found) == ("The moon rose" in found)


def test_text_without_spaces_is_split_at_its_own_marks() -> None:
    """The search's own words are those that match."""
    text = "月が出た。潮が満ちる。門は十時に閉まる。鐘が鳴る。船が来た。誰もいない。"
    assert "門は十時に閉まる。" in excerpt(text, "門はいつ閉まる", 16, estimate_tokens)


def test_abbreviations_and_marks_do_not_end_a_sentence() -> None:
    """What goes on in lower case goes on; emphasis and code spans stay in one."""
    text = "Closed, e.g. by hand, **at ten. At eleven** again. See `a. B` there. The end."
    for max_tokens in range(4, 30):
        found = excerpt(text, QUERY, max_tokens, estimate_tokens)
        if found:
            assert found.count("**") % 2 == 0
            assert found.count("`") % 2 == 0
            assert ("e.g." in found) == ("by hand" in found)


def test_what_has_no_sentence_that_fits_is_empty() -> None:
    """One long sentence, or nothing at all."""
    assert excerpt("word " * 100, QUERY, 20, estimate_tokens) == ""
    assert excerpt("", QUERY, 20, estimate_tokens) == ""


@pytest.mark.parametrize(
    "part",
    ["A gate. ", "(a gate. ", "`a. gate", "a\n\n---\n", "a\n---\n", "# a\n", "```\na\n```\n",
     "| a |\n|---|\n", "<!-- a -->\n", "<!--\n&amp; ", "    a\n\n", "a\n~~~~\n", "\\. ", "門。"],
)  # fmt: skip
def test_time_grows_with_the_text(part: str) -> None:
    """Whatever a stranger's text is made of."""
    assert_linear(
        lambda text: excerpt(text, QUERY, 500, estimate_tokens),
        lambda size: part * (size // len(part)),
        largest=200_000,
    )


def test_few_long_texts_stay_in_memory() -> None:
    """What is computed from one takes a hundred times its own memory."""
    sentences = 20_000

    def units() -> int:
        gc.collect()
        return sum(isinstance(each, TextUnit) for each in gc.get_objects())

    before = units()
    for number in range(5):
        excerpt(f"{number} {'門。' * sentences}", QUERY, 100, estimate_tokens)

    assert units() - before < 3 * sentences


def test_words_are_kept_whatever_their_escapes() -> None:
    """What a style escapes is the same words."""
    assert keeps(r"the \_gate\_ &amp; the  moon", "the _gate_ & the moon")
    assert not keeps("the gate", "the moon")
