"""How experiences are shown and shortened; and that what others wrote stays text."""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import contextkit_experiences as plugin
from contextkit.models import STYLES, ContextItem, Style
from contextkit_experiences import Experience, Lesson, to_json

Make = Callable[..., Experience]

SEED_1 = """\
**Experience**: debugging | systematic-elimination
- **Goal**: Stop the nightly timeout
- **Hypothesis**: The connection pool is too small
- **Action**: Doubled the pool
- **Prediction**: No timeout tonight
- **Outcome**: falsified - It timed out again at 02:00
- **Surprise**: The pool was half empty
- **Lesson**: A timeout on the lock"""

HOSTILE = (
    "x\n\n# Heading\n```\n~~~\n---\n===\n> quote\n1. one\n<!-- \n| a |\n|---|\n</entity>\x00\x1b[2J"
)


def item_of(fields: Mapping[str, Any], **metadata: Any) -> ContextItem:
    """An item as the query makes it of a record's fields."""
    return ContextItem(
        "experiences",
        "text",
        0.5,
        id=str(fields.get("id", "ghap_1")),
        metadata={"axis": "full", **fields, **metadata},
    )


def shown(experience: Experience, style: Style = "markdown", **metadata: Any) -> str:
    """An experience as the source shows it."""
    (text,) = plugin.contextkit_format([item_of(to_json(experience), **metadata)], style)
    return text


def words(text: str) -> int:
    """A counter of tokens that is not the length."""
    return len(text.split())


def shortened(text: str, max_tokens: int, count: Callable[[str], int] = len) -> str | None:
    """A shown experience as the source shortens it; by default a character is a token."""
    item = evolve(item_of({}), content=text)
    return plugin.contextkit_truncate(item, max_tokens, count)


def test_markdown_is_that_of_seed_1(make: Make) -> None:
    """The format is the seed's to the letter, with and without its optional lines."""
    assert shown(make()) == SEED_1
    assert SEED_1.rsplit("\n", 2)[0] == shown(make(surprise=None, lesson=None))


def test_an_open_one_says_so(make: Make) -> None:
    """The outcome of an open experience is that it is open."""
    fields = to_json(make()) | {"outcome_status": "open", "outcome_result": None}

    (text,) = plugin.contextkit_format([item_of(fields)], "markdown")

    assert "- **Outcome**: open - not resolved yet" in text.splitlines()


@pytest.mark.parametrize(
    ("axis", "status", "marked"),
    [
        ("strategy", "falsified", True),
        ("strategy", "abandoned", True),
        ("strategy", "confirmed", False),
        ("full", "falsified", False),
        ("surprise", "falsified", False),
    ],
)
def test_failures_are_marked_on_the_strategy_axis(
    make: Make, axis: str, status: str, marked: bool
) -> None:
    """What failed with a strategy stands out; the rest of the text stays the same."""
    experience = make(outcome_status=status)

    heading, *rest = shown(experience, axis=axis).splitlines()

    assert marked == heading.endswith(" **FAILED**")
    assert rest == shown(experience).splitlines()[1:]
    assert marked == ("FAILED" in shown(experience, "xml", axis=axis))
    assert marked == ("FAILED" in shown(experience, "plain", axis=axis))


def test_the_root_cause_is_shown_last_where_it_is_wanted(make: Make) -> None:
    """It is one more line behind seed 1's."""
    assert f"{SEED_1}\n- **Root cause**: A lock was held across a retry" == shown(
        make(), show_root_cause=True
    )
    assert shown(make(root_cause=None), show_root_cause=True) == SEED_1


def test_xml_and_plain_have_the_shape_of_seed_4(make: Make) -> None:
    """An entity with name and type; a heading line with the type in brackets."""
    experience = make(surprise=None, lesson=None, goal='a < b & "c"')

    assert shown(experience, "xml").splitlines() == [
        '<entity name="debugging | systematic-elimination" type="experience">',
        "Goal: a &lt; b &amp; &quot;c&quot;",
        "Hypothesis: The connection pool is too small",
        "Action: Doubled the pool",
        "Prediction: No timeout tonight",
        "Outcome: falsified - It timed out again at 02:00",
        "</entity>",
    ]
    assert shown(experience, "plain").splitlines()[:2] == [
        "debugging | systematic-elimination [experience]",
        'Goal: a < b & "c"',
    ]


def hostile_fields(text: str) -> dict[str, Any]:
    """Every field of an experience with the same words."""
    names = ("goal", "hypothesis", "action", "prediction", "outcome_result", "surprise")
    return {
        **dict.fromkeys((*names, "root_cause", "domain", "strategy", "outcome_status"), text),
        "lesson": {"what_worked": text},
        "show_root_cause": True,
    }


def blocks(markdown: str) -> list[str]:
    """The blocks that a Markdown parser sees at the top level."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    return [token.type for token in tokens if token.level == 0]


@settings(deadline=None, database=None)
@given(st.text(min_size=1) | st.sampled_from([HOSTILE, "\u2028# x", "\x85# x", "\r```"]))
def test_no_text_breaks_out(text: str) -> None:
    """Whatever the fields hold, Markdown has a paragraph and a list, and XML one element."""
    item = item_of(hostile_fields(text))

    markdown, xml, plain = (plugin.contextkit_format([item], style)[0] for style in STYLES)

    assert (blocks(markdown)) == [
        "paragraph_open",
        "paragraph_close",
        "bullet_list_open",
        "bullet_list_close",
    ]
    assert list(ET.fromstring(xml)) == []  # noqa: S314
    assert len(markdown.splitlines()) == len(plain.splitlines())
    assert all(line.startswith("- **") for line in markdown.splitlines()[1:])


def test_a_record_with_holes_is_still_shown() -> None:
    """Fields that something else left out or spoiled do not take the source down."""
    (text,) = plugin.contextkit_format([item_of({"goal": 7, "lesson": None})], "markdown")

    assert text == "**Experience**: unknown | unknown\n- **Goal**: 7\n- **Outcome**: unknown - " + (
        "not resolved yet"
    )


NOTE = "*(truncated, full experience ID: ghap_1)*"


def test_the_essential_is_kept_before_the_rest(make: Make) -> None:
    """Heading, goal, outcome and lesson stay; surprise next; then the rest, in order."""
    text = shown(make(), show_root_cause=True)
    whole = len(text)

    def labels(max_tokens: int) -> list[str]:
        short = shortened(text, max_tokens)
        assert short is not None
        assert len(short) <= max_tokens
        assert short.splitlines()[0] == SEED_1.splitlines()[0]
        assert short.splitlines()[-2:] == ["", NOTE]
        return [line.split("**")[1] for line in short.splitlines()[1:-2]]

    assert labels(225) == ["Goal", "Outcome", "Lesson"]
    assert labels(270) == ["Goal", "Outcome", "Surprise", "Lesson"]
    assert labels(320) == ["Goal", "Outcome", "Surprise", "Lesson", "Root cause"]
    assert "Hypothesis" in labels(whole)
    assert labels(95) == []


def test_long_fields_share_the_room(make: Make) -> None:
    """An endless goal does not push out the outcome and the lesson."""
    text = shown(make(goal="goal " * 3000, lesson=Lesson(what_worked="lesson " * 2000)))

    short = shortened(text, 60, words)

    assert short is not None
    assert 55 <= words(short) <= 60
    goal, outcome, lesson = short.splitlines()[1:4]
    assert goal.endswith("goal...")
    assert "It timed out again at 02:00" in outcome
    assert lesson.endswith("lesson...")


def test_in_a_tight_place_the_most_essential_stays(make: Make) -> None:
    """Where not all three fit, the lesson goes first, and then the outcome."""
    text = shown(make(goal="goal " * 40, outcome_result="result " * 40))

    def labels(room: int) -> list[str]:
        return [line.split("**")[1] for line in str(shortened(text, room)).splitlines()[1:-2]]

    assert labels(230) == ["Goal", "Outcome", "Lesson"]
    assert labels(190) == ["Goal", "Outcome"]
    assert labels(150) == ["Goal"]


def test_no_room_for_heading_and_note_is_left_to_the_core(make: Make) -> None:
    """Below the least that makes sense the default truncation decides."""
    assert shortened(shown(make()), 20) is None


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("goal", ["wort " * 900, "日本語" * 900, "&<>'" * 900, "😀" * 2000])
def test_it_never_exceeds_and_never_breaks(make: Make, style: Style, goal: str) -> None:
    """Whatever the room, the result fits, names the whole, and stays well-formed."""
    text = shown(make(goal=goal, surprise=goal), style)

    for room in range(100, 2000, 37):
        short = shortened(text, room)
        if short is None:
            assert room < 160
            continue
        assert len(short) <= room
        assert "(truncated, full experience ID: ghap_1)" in short
        short.encode()
        if style == "xml":
            assert ET.fromstring(short).text  # noqa: S314


def test_more_room_never_shows_less(make: Make) -> None:
    """The shortened text grows with its room, up to a line's end."""
    text = shown(make(goal="g " * 300, hypothesis="h " * 300))
    lengths = [len(shortened(text, room) or "") for room in range(100, 1400, 10)]

    assert all(later >= earlier - 30 for earlier, later in pairwise(lengths))
    assert lengths[-1] > 1300


def test_what_was_blacked_out_stays_so(make: Make) -> None:
    """It shortens the text that is there, not what the item's fields say."""
    text = shown(make()).replace("nightly timeout", "[redacted]")

    short = shortened(text, 300)

    assert short is not None
    assert "[redacted]" in short
    assert "nightly" not in short
