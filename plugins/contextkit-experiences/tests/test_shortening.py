"""How shown experiences are shortened."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

import contextkit_experiences as plugin
from contextkit.models.items import STYLES, ContextItem, Detail, Style
from contextkit.text.passages import Excerpt
from contextkit.text.tokens import counter_for
from contextkit_experiences import Experience, Lesson, to_json

Make = Callable[..., Experience]
ItemOf = Callable[..., ContextItem]
Count = Callable[[str], int]
Shown = Callable[..., str]

TITLE = "Stop the nightly timeout (debugging, systematic-elimination)"
HEADING = f"**Experience**: {TITLE}"


@pytest.fixture
def shown(item_of: ItemOf) -> Shown:
    """Shows an experience, in a style, in a detail, with changed metadata."""

    def show(
        experience: Experience,
        style: Style = "markdown",
        detail: Detail = "full",
        **metadata: Any,
    ) -> str:
        item = item_of(to_json(experience), **metadata)
        return plugin.contextkit_format([item], style, detail)[0]

    return show


def words(text: str) -> int:
    """A counter of tokens that is not the length."""
    return len(text.split())


def shortened(
    text: str, max_tokens: int, count: Count = len, style: Style = "markdown", query: str = ""
) -> str | None:
    """A shown experience as the source shortens it; by default a character is a token."""
    item = ContextItem("experiences", text, 0.5, id="ghap_1")
    return plugin.contextkit_truncate(item, style, max_tokens, count, query)


NOTE = "*(truncated, full experience ID: ghap_1)*"


def test_the_essential_is_kept_before_the_rest(make: Make, shown: Shown) -> None:
    """Outcome, root cause and takeaway stay; what worked next; then the rest."""
    text = shown(make())
    whole = len(text)

    def labels(max_tokens: int) -> list[str]:
        short = shortened(text, max_tokens)
        assert short is not None
        assert len(short) <= max_tokens
        assert short.splitlines()[0] == HEADING
        assert short.splitlines()[-2:] == ["", NOTE]
        return [line.split("**")[1] for line in short.splitlines()[1:-2]]

    assert labels(265) == ["Outcome", "Root cause", "Takeaway"]
    assert labels(305) == ["Outcome", "Root cause", "What worked", "Takeaway"]
    assert labels(345) == ["Outcome", "Surprise", "Root cause", "What worked", "Takeaway"]
    assert "Tried" in labels(whole)
    assert labels(130) == []


def test_long_fields_share_the_room(make: Make, shown: Shown) -> None:
    """An endless root cause does not push out the outcome and the takeaway."""
    lesson = Lesson(what_worked="it", takeaway="lesson " * 2000)
    text = shown(make(root_cause="cause " * 2000, lesson=lesson))

    short = shortened(text, 60, words)

    assert short is not None
    assert 55 <= words(short) <= 60
    outcome, cause, takeaway = short.splitlines()[1:4]
    assert "It timed out again at 02:00" in outcome
    assert cause.endswith("cause...")
    assert takeaway.endswith("lesson...")


def test_of_a_long_field_what_matches_is_shown(make: Make, shown: Shown) -> None:
    """Not how it begins: a lesson's last sentence may be the one that was asked for."""
    lesson = "It was a long night. " * 40 + "The scheduler drops jobs at midnight."
    text = shown(make(lesson=Lesson(what_worked="it", takeaway=lesson)))
    short = shortened(text, 330, query="when does the scheduler drop jobs")
    assert short is not None
    assert "The scheduler drops jobs at midnight." in short
    assert isinstance(short, Excerpt)


def test_in_a_tight_place_the_most_essential_stays(make: Make, shown: Shown) -> None:
    """Where not all three fit, the takeaway goes first, and then the root cause."""
    text = shown(make(root_cause="cause " * 40, outcome_result="result " * 40))

    def labels(room: int) -> list[str]:
        return [line.split("**")[1] for line in str(shortened(text, room)).splitlines()[1:-2]]

    assert labels(270) == ["Outcome", "Root cause", "Takeaway"]
    assert labels(210) == ["Outcome", "Root cause"]
    assert labels(170) == ["Outcome"]


def test_no_room_for_heading_and_note_is_left_to_the_core(make: Make, shown: Shown) -> None:
    """Below the least that makes sense the default truncation decides."""
    assert shortened(shown(make()), 20) is None


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("goal", ["wort " * 900, "日本語" * 900, "&<>'" * 900, "😀" * 2000])
def test_it_never_exceeds_and_never_breaks(
    make: Make, shown: Shown, style: Style, goal: str
) -> None:
    """Whatever the room, the result fits, names the whole, and stays well-formed."""
    text = shown(make(goal=goal, surprise=goal), style)

    for room in range(100, 2000, 37):
        short = shortened(text, room, style=style)
        if short is None:
            assert room < len(text.partition("\n")[0]) + 70
            continue
        assert len(short) <= room
        assert "(truncated, full experience ID: ghap_1)" in short
        short.encode()
        if style == "xml":
            assert ET.fromstring(short).text  # noqa: S314


def test_more_room_never_shows_less(make: Make, shown: Shown) -> None:
    """The shortened text grows with its room, up to a line's end."""
    text = shown(make(root_cause="g " * 300, hypothesis="h " * 300))
    lengths = [len(shortened(text, room) or "") for room in range(100, 1400, 10)]

    assert all(later >= earlier - 30 for earlier, later in pairwise(lengths))
    assert lengths[-1] > 1300


def test_what_was_blacked_out_stays_so(make: Make, shown: Shown) -> None:
    """It shortens the text that is there, not what the item's fields say."""
    text = shown(make()).replace("nightly timeout", "[redacted]")

    short = shortened(text, 300)

    assert short is not None
    assert "[redacted]" in short
    assert "nightly" not in short


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        (
            "markdown",
            f"{HEADING}\n"
            "- **Outcome**: falsified - It timed out again at 02:00\n\n"
            "*(truncated, full experience ID: ghap_1)*",
        ),
        (
            "xml",
            f'<entity name="{TITLE}" type="experience">\n'
            "Outcome: falsified - It timed out again at 02:00\n"
            "(truncated, full experience ID: ghap_1)\n</entity>",
        ),
        (
            "plain",
            f"{TITLE} [experience]\n"
            "Outcome: falsified - It timed out again at 02:00\n\n"
            "(truncated, full experience ID: ghap_1)",
        ),
    ],
)
def test_the_shortened_text_in_each_style(
    make: Make, shown: Shown, style: Style, expected: str
) -> None:
    """Whole lines, and the note: in XML within the element."""
    text = shown(make(), style)

    assert expected == shortened(text, len(expected), style=style)


def test_a_summary_is_shortened_too(make: Make, shown: Shown) -> None:
    """Its outcome, root cause and takeaway are kept before what worked."""
    lesson = Lesson(what_worked="worked " * 99, takeaway="Look at locks first")
    text = shown(make(lesson=lesson), "markdown", "summary")

    short = str(shortened(text, 265))

    assert [line.split("**")[1] for line in short.splitlines()[1:-2]] == [
        "Outcome",
        "Root cause",
        "Takeaway",
    ]
    assert "- **What worked**: worked worked" in str(shortened(text, 310))


@pytest.mark.parametrize("count", [words, len, counter_for("default")])
@settings(deadline=None, database=None)
@given(
    text=st.text(min_size=1, max_size=300)
    | st.text(alphabet="ab &<>`~#*-\n😀\u200d\u0301", min_size=1, max_size=300),
    max_tokens=st.integers(0, 1500),
    style=st.sampled_from(STYLES),
    detail=st.sampled_from(["full", "summary"]),
)
def test_it_always_fits_and_is_always_whole(
    item_of: ItemOf,
    hostile_fields: Callable[[str], dict[str, Any]],
    count: Count,
    text: str,
    max_tokens: int,
    style: Style,
    detail: Detail,
) -> None:
    """Whatever the fields hold and the budget is: within it, one list or one element."""
    item = item_of(hostile_fields(text))
    (whole,) = plugin.contextkit_format([item], style, detail)

    short = plugin.contextkit_truncate(evolve(item, content=whole), style, max_tokens, count, text)

    if short is None:
        return
    assert count(short) <= max_tokens
    assert "(truncated, full experience ID: ghap_1)" in short
    assert short.split("\n")[0] == whole.split("\n")[0]
    if style == "xml":
        assert list(ET.fromstring(short)) == []  # noqa: S314 (our own text)
    elif style == "markdown":
        tokens = MarkdownIt("commonmark").enable("table").parse(short)
        kinds = [token.type for token in tokens if token.level == 0 and token.nesting == 1]
        assert kinds in (
            ["paragraph_open", "bullet_list_open", "paragraph_open"],
            ["paragraph_open", "paragraph_open"],
        )


def test_characters_as_people_see_them_are_not_cut_apart(make: Make, shown: Shown) -> None:
    """Nor is a mark parted from its letter."""
    result = "e\u0301" * 400
    text = shown(make(outcome_result=result, surprise=None, lesson=None, root_cause=None))

    for room in range(220, 300):
        outcome = str(shortened(text, room)).splitlines()[1].removesuffix("...")
        assert outcome.endswith("\u0301")
