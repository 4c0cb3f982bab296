"""The default shortening keeps to its budget and breaks nothing that it cuts."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import assume, given, settings, strategies as st
from markdown_it import MarkdownIt

from contextkit.text.graphemes import is_boundary
from contextkit.text.tokens import estimate_tokens
from contextkit.text.truncation import ELLIPSIS, truncate

thorough = settings.get_profile("thorough")
MARKDOWN = MarkdownIt("commonmark").enable("table")
NOTE = "*(truncated, see a.py:3)*"

CLUSTERS = [
    "e\u0301",  # a letter and its accent
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",  # a family
    "\U0001f44d\U0001f3fd",  # a thumb with a skin tone
    "\U0001f1e9\U0001f1ea",  # a flag
    "\u1112\u1161\u11ab",  # a Hangul syllable of three letters
    "\u0915\u094d\u0937\u093f",  # an Indic conjunct with its vowel
    "\u2764\ufe0f",
    "\ud83d\ude00",  # a surrogate pair, as some hosts hand it in
    "\r\n",
    "&amp;",
    "&#x1F600;",
    "<!-- a -->",
]
UNCUTTABLE = re.compile(
    "&(?:#\\w{1,7}|[A-Za-z]\\w{1,31});|<!--.*?-->|" + "|".join(CLUSTERS[:9]), re.DOTALL
)
WORDS = st.text(
    st.sampled_from("abcdefghij xyz.,!?\n`~|#>*-&;<上面。é\u0301\U0001f600\u200d"), max_size=40
)
ANY_TEXT = st.lists(
    st.sampled_from(CLUSTERS) | WORDS | st.text(st.characters(exclude_categories=()), max_size=20),
    max_size=12,
).map("".join)
LINES = st.text(st.sampled_from("abc def. &`~|<>#-"), min_size=1, max_size=30)


@st.composite
def fences(draw: st.DrawFn) -> str:
    """A fenced block, also in a quote or a list, whose content looks like fences."""
    mark = draw(st.sampled_from(["```", "````", "~~~", "~~~~~"]))
    inner = st.lists(LINES.filter(lambda line: mark[:3] not in line), max_size=6)
    first, rest = draw(st.sampled_from([("", ""), ("> ", "> "), ("- ", "  "), ("1. ", "   ")]))
    language = draw(st.sampled_from(["", "python", "c++"]))
    other = "~~~" if mark[0] == "`" else "```"
    lines = [*draw(inner), other, *draw(inner)]
    body = "".join(f"{rest}{line}\n" for line in lines)
    return f"{first}{mark}{language}\n{body}{rest}{mark}\n"


@st.composite
def tables(draw: st.DrawFn) -> str:
    """A table of two columns."""
    cell = st.text(st.sampled_from("abc &;."), min_size=1, max_size=12)
    rows = draw(st.lists(st.tuples(cell, cell), min_size=1, max_size=6))
    return "| a | b |\n|---|:-:|\n" + "".join(f"| {left} | {right} |\n" for left, right in rows)


PARAGRAPHS = st.lists(
    st.text(st.sampled_from("abc def.! é上"), min_size=1, max_size=60), min_size=1, max_size=3
).map(lambda lines: "\n".join(f"w{line}" for line in lines) + "\n")
DOCUMENTS = st.lists(fences() | tables() | PARAGRAPHS, min_size=1, max_size=6).map("\n".join)
BUDGETS = st.integers(min_value=0, max_value=80)


def capricious(text: str) -> int:
    """A counter to which an ellipsis on a line of its own is dear."""
    return len(text) + 30 * text.endswith("\n...")


COUNTERS = st.sampled_from([estimate_tokens, len, lambda text: len(text.split()), capricious])


@given(ANY_TEXT | DOCUMENTS, BUDGETS, COUNTERS, st.sampled_from(["", NOTE, " (more)"]))
@thorough
def test_the_result_is_within_the_budget(text, budget, count, note) -> None:  # type: ignore[no-untyped-def]
    """Whatever the text, the counter and the note, the result counts no more than allowed."""
    assert count(truncate(text, budget, count, note)) <= budget


@given(ANY_TEXT | DOCUMENTS, BUDGETS, st.sampled_from(["", NOTE]))
@thorough
def test_what_is_kept_is_the_beginning_and_the_end_says_so(
    text: str, budget: int, note: str
) -> None:
    """The text itself, or nothing, or its beginning with the ellipsis and the note behind."""
    shortened = truncate(text, budget, estimate_tokens, note)

    if shortened not in {"", text}:
        match = re.search(
            rf"[\s>]*{re.escape(ELLIPSIS)}(\n[ \t>]*(`{{3,}}|~{{3,}}))?(\n\n{re.escape(note)})?\Z",
            shortened,
        )
        assert match is not None
        assert shortened.endswith(note)
        assert text.startswith(shortened[: match.start()])


@given(ANY_TEXT, st.integers(min_value=1, max_value=30))
@thorough
def test_no_character_or_entity_is_cut(text: str, budget: int) -> None:
    """The kept part ends between two characters as people see them, and in no entity."""
    shortened = truncate(text, budget, estimate_tokens)
    assume(shortened not in {"", text})

    inside = {p for f in UNCUTTABLE.finditer(text) for p in range(f.start() + 1, f.end())}
    whole = [
        place
        for place in range(len(text))
        if place not in inside
        and shortened.startswith(text[:place])
        and is_boundary(text, place)
        and shortened[place:].lstrip("\n >").startswith(ELLIPSIS)
    ]
    assert whole


@given(DOCUMENTS, st.integers(min_value=1, max_value=80))
@thorough
def test_a_parser_sees_the_note_outside_of_every_block(text: str, budget: int) -> None:
    """Fences are closed and tables whole: the note is the last paragraph, at the top level."""
    shortened = truncate(text, budget, estimate_tokens, NOTE)
    assume(shortened not in {"", text})

    *_, opened, inline, closed = MARKDOWN.parse(shortened)

    assert [opened.type, inline.type, closed.type] == [
        "paragraph_open",
        "inline",
        "paragraph_close",
    ]
    assert opened.level == 0
    assert inline.content == NOTE


@given(DOCUMENTS, st.integers(min_value=1, max_value=80))
@thorough
def test_every_row_of_a_table_is_whole_or_left_out(text: str, budget: int) -> None:
    """A table that is cut has the first of its rows, as they were."""
    shortened = truncate(text, budget, estimate_tokens, NOTE)

    rows = [line for line in shortened.splitlines() if line.startswith("| ")]
    assert set(rows) <= set(text.splitlines())


@given(ANY_TEXT | DOCUMENTS, BUDGETS)
@thorough
def test_shortening_again_changes_nothing(text: str, budget: int) -> None:
    """What fits is left as it is, so shortening is idempotent."""
    once = truncate(text, budget, estimate_tokens, NOTE)

    assert truncate(once, budget, estimate_tokens, NOTE) == once
    if estimate_tokens(text) <= budget:
        assert once == (text if budget else "")


@given(st.integers(60, 200), st.integers(0, 2**32))
@thorough
def test_most_of_the_budget_is_used(number: int, seed: int) -> None:
    """Prose without line ends fills its budget but for a word."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(1, 9))) for _ in range(number)]

    shortened = truncate(" ".join(words), 40, estimate_tokens)

    assert 33 <= estimate_tokens(shortened) <= 40


@pytest.mark.parametrize("cluster", CLUSTERS[:9])
def test_a_cluster_has_no_boundary_inside(cluster: str) -> None:
    """Marks, emoji sequences, flags, syllables, surrogate pairs and CR LF stay whole."""
    text = f"a{cluster}b"

    places = [place for place in range(1, len(text)) if is_boundary(text, place)]

    assert places == [1, len(text) - 1]


def test_two_flags_may_be_parted() -> None:
    """In a run of regional indicators every second place is a boundary."""
    text = "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"

    assert [is_boundary(text, place) for place in range(5)] == [True, False, True, False, True]


@pytest.mark.parametrize(
    ("text", "budget", "expected"),
    [
        ("One two. Three four five six seven.", 24, "One two. Three four..."),
        ("A first sentence here. Bc de", 26, "A first sentence here. ..."),
        ("First line of it here\nthe second", 27, "First line of it here\n..."),
        ("First paragraph here.\n\nNow", 25, "First paragraph here.\n..."),
        ("Supercalifragilistic", 10, "Superca..."),
        ("漢字を切る場所です。次の文", 11, "漢字を切る場所で..."),
        ("漢字を切る場所です。次の文字も", 14, "漢字を切る場所です。..."),
        ("one &amp; two", 8, "one..."),
        ("```py\nab\ncd\nef\ngh\nij\n```", 20, "```py\nab\ncd\n...\n```"),
        ("> ```\n> ab\n> cd\n> ef\n> gh\n> ```", 27, "> ```\n> ab\n> cd\n> ...\n> ```"),
        ("- ```\n  ab\n  cd\n  ef\n  gh\n  ```", 27, "- ```\n  ab\n  cd\n  ...\n  ```"),
        ("x\n```py\nabc\n```\nlonger text here", 7, "x\n..."),
        ("a|b\n-|-\n1|2\n3|4\n5|6\n7|8\n", 22, "a|b\n-|-\n1|2\n3|4\n\n..."),
        ("a|b\n-|-\n1|2\n3|4\n5|6\n7|8\n", 9, ""),
        ("~~~\nab\ncd\nef\ngh\nij", 16, "~~~\nab\n...\n~~~"),
        ("<!-- a long comment --> text", 12, ""),
        ("text <!-- a long comment --> text", 14, "text..."),
        ("word", 3, ""),
        ("word", 0, ""),
        ("word", -1, ""),
    ],
)
def test_where_the_cut_falls(text: str, budget: int, expected: str) -> None:
    """A line's end before a sentence's, a sentence's before a word's, nothing broken."""
    assert truncate(text, budget, len) == expected


def test_the_note_stands_alone_or_as_it_says() -> None:
    """A note gets a paragraph of its own, but one that begins with white space does not."""
    text = "one two three four five six seven"

    assert truncate(text, 30, len, "(more)") == "one two three four...\n\n(more)"
    assert truncate(text, 30, len, " (more)") == "one two three four... (more)"
    assert truncate(text, 9, len, "\n\n(more)") == ""


def test_a_long_text_takes_a_logarithmic_number_of_counts() -> None:
    """A text of a million characters is counted whole once, and its beginning a few times."""
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return estimate_tokens(text)

    shortened = truncate("many words on a line, \n" * 50_000, 200, count)

    assert 190 <= estimate_tokens(shortened) <= 200
    assert sum(size > 10_000 for size in counted) == 1
    assert len(counted) <= 30


def test_tokens_of_many_characters() -> None:
    """Where a token is a long word, what fits is far more than a few characters a token."""
    text = " ".join(letter * 200 for letter in "abcdefgh")

    shortened = truncate(text, 6, lambda text: len(text.split()))

    assert shortened == " ".join(letter * 200 for letter in "abcdef") + "..."
