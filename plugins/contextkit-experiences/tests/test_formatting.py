"""How experiences are shown; and that what others wrote stays text."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

import contextkit_experiences as plugin
from contextkit.models.items import STYLES, ContextItem, Detail, Style
from contextkit_experiences import Experience, Lesson, to_json

Make = Callable[..., Experience]
ItemOf = Callable[..., ContextItem]
HostileFields = Callable[[str], dict[str, Any]]

WHOLE = """\
**Experience**: Stop the nightly timeout (debugging, systematic-elimination)
- **Hypothesis**: The connection pool is too small
- **Tried**: Doubled the pool
- **Outcome**: falsified - It timed out again at 02:00
- **Surprise**: The pool was half empty
- **Root cause**: A lock was held across a retry
- **What worked**: A timeout on the lock
- **Takeaway**: Look at locks first"""

COMPACT = (
    "debugging/systematic-elimination: Stop the nightly timeout; falsified; "
    "takeaway: Look at locks first (2026-03-01)"
)

HOSTILE = (
    "x\n\n# Heading\n```\n~~~\n---\n===\n> quote\n1. one\n<!-- \n| a |\n|---|\n</entity>\x00\x1b[2J"
)


def text_of(item: ContextItem, style: Style = "markdown", detail: Detail = "full") -> str:
    """An item as the source shows it."""
    (text,) = plugin.contextkit_format([item], style, detail)
    return text


@pytest.fixture
def shown(item_of: ItemOf) -> Callable[..., str]:
    """Shows an experience, in a style, in a detail, with changed metadata."""

    def show(
        experience: Experience,
        style: Style = "markdown",
        detail: Detail = "full",
        **metadata: Any,
    ) -> str:
        return text_of(item_of(to_json(experience), **metadata), style, detail)

    return show


Shown = Callable[..., str]


def test_an_experience_says_what_it_teaches(make: Make, shown: Shown) -> None:
    """Root cause and takeaway are the answer, though seed 1 shows what worked alone."""
    assert shown(make()) == WHOLE
    assert shown(make(surprise=None, lesson=None, root_cause=None)) == "\n".join(
        WHOLE.splitlines()[:4]
    )


def test_an_open_one_says_what_is_expected(make: Make, item_of: ItemOf) -> None:
    """Where there is an outcome, the prediction tells little beside it."""
    item = item_of(to_json(make()) | {"outcome_status": "open", "outcome_result": None})

    lines = text_of(item).splitlines()

    assert "- **Prediction**: No timeout tonight" in lines
    assert "- **Outcome**: open - not resolved yet" in lines


def test_a_goal_that_is_too_long_for_a_heading_has_its_line(make: Make, shown: Shown) -> None:
    """The heading has its first 120 characters."""
    heading, goal, *_ = shown(make(goal="stop the timeout " * 20)).splitlines()

    assert heading.endswith("the... (debugging, systematic-elimination)")
    assert goal.count("timeout") == 20


@pytest.mark.parametrize("detail", ["full", "summary"])
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
    make: Make, shown: Shown, axis: str, status: str, marked: bool, detail: Detail
) -> None:
    """What failed with a strategy stands out; the rest of the text stays the same."""
    experience = make(outcome_status=status)

    heading, *rest = shown(experience, "markdown", detail, axis=axis).splitlines()

    assert marked == heading.endswith(" **FAILED**")
    assert rest == shown(experience, "markdown", detail).splitlines()[1:]
    assert marked == ('outcome="FAILED"' in shown(experience, "xml", detail, axis=axis))
    assert marked == ("FAILED [experience]" in shown(experience, "plain", detail, axis=axis))


def test_xml_and_plain_have_the_shape_of_seed_4(make: Make, shown: Shown) -> None:
    """An entity with name and type; a heading line with the type in brackets."""
    experience = make(surprise=None, lesson=None, root_cause=None, goal='a < b & "c"')

    assert shown(experience, "xml").splitlines() == [
        '<entity name="a &lt; b &amp; &quot;c&quot; (debugging, systematic-elimination)" '
        'type="experience">',
        "Hypothesis: The connection pool is too small",
        "Tried: Doubled the pool",
        "Outcome: falsified - It timed out again at 02:00",
        "</entity>",
    ]
    assert shown(experience, "plain").splitlines()[:2] == [
        'a < b & "c" (debugging, systematic-elimination) [experience]',
        "Hypothesis: The connection pool is too small",
    ]


class TestSummary:
    """Goal, outcome, root cause and lesson."""

    def test_markdown(self, make: Make, shown: Shown) -> None:
        """Without what can be looked up."""
        assert shown(make(), "markdown", "summary") == (
            "**Experience**: Stop the nightly timeout (debugging, systematic-elimination)\n"
            "- **Outcome**: falsified - It timed out again at 02:00\n"
            "- **Root cause**: A lock was held across a retry\n"
            "- **What worked**: A timeout on the lock\n"
            "- **Takeaway**: Look at locks first"
        )

    def test_xml_and_plain(self, make: Make, shown: Shown) -> None:
        """The same lines; without those that it has no text for."""
        experience = make(lesson=None, root_cause=None)

        assert shown(experience, "xml", "summary") == (
            '<entity name="Stop the nightly timeout (debugging, systematic-elimination)" '
            'type="experience">\n'
            "Outcome: falsified - It timed out again at 02:00\n"
            "</entity>"
        )
        assert shown(experience, "plain", "summary") == (
            "Stop the nightly timeout (debugging, systematic-elimination) [experience]\n"
            "Outcome: falsified - It timed out again at 02:00"
        )


class TestCompact:
    """One line."""

    def test_the_styles(self, make: Make, shown: Shown) -> None:
        """Domain, strategy, goal, outcome, lesson, day of the last change."""
        opening = '<entity name="debugging/systematic-elimination" type="experience">'

        assert [shown(make(), style, "compact") for style in STYLES] == [
            f"- {COMPACT}",
            f"{opening}{COMPACT.partition(': ')[2]}</entity>",
            COMPACT,
        ]

    def test_failures_are_marked_on_the_strategy_axis(self, make: Make, shown: Shown) -> None:
        """As in the longer texts."""
        texts = [shown(make(), style, "compact", axis="strategy") for style in STYLES]

        assert texts[0].startswith("- debugging/systematic-elimination **FAILED**: Stop")
        assert 'type="experience" outcome="FAILED">Stop' in texts[1]
        assert texts[2].startswith("debugging/systematic-elimination FAILED: Stop")

    @pytest.mark.parametrize(
        ("axis", "without", "said"),
        [
            ("full", {}, "; takeaway: Look at locks first ("),
            (
                "full",
                {"lesson": Lesson(what_worked="A timeout on the lock")},
                "; lesson: A timeout on ",
            ),
            ("full", {"lesson": None}, "; root cause: A lock was held across a retry ("),
            ("full", {"lesson": None, "root_cause": None}, "; falsified ("),
            ("root_cause", {}, "; root cause: A lock was held across a retry ("),
            ("root_cause", {"root_cause": None}, "; takeaway: Look at locks first ("),
            ("surprise", {}, "; surprise: The pool was half empty ("),
        ],
    )
    def test_what_it_teaches(
        self, make: Make, shown: Shown, axis: str, without: dict[str, Any], said: str
    ) -> None:
        """The text of the axis it was found on, else the takeaway, else what stands for it."""
        assert said in shown(make(**without), "plain", "compact", axis=axis)

    @pytest.mark.parametrize("moment", [None, datetime(1970, 1, 1, tzinfo=UTC)])
    def test_without_a_time_there_is_no_day(
        self, make: Make, item_of: ItemOf, moment: datetime | None
    ) -> None:
        """As for what a host's own searcher finds."""
        item = evolve(item_of(to_json(make())), created_at=moment)

        assert text_of(item, "plain", "compact").endswith("takeaway: Look at locks first")

    def test_markup_and_titles_stay_words(self, make: Make, item_of: ItemOf) -> None:
        """Of the fields in Markdown, at the start of the line in plain text."""
        fields = to_json(make(goal="A <b>**bold**</b> `word`")) | {"domain": "=== Goal"}

        markdown = text_of(item_of(fields), "markdown", "compact")

        assert r": A \<b>\*\*bold\*\*\</b> `word`; falsified" in markdown
        assert text_of(item_of(fields), "plain", "compact").startswith(r"\=== Goal/systematic")

    def test_long_fields_are_cut(self, make: Make, shown: Shown) -> None:
        """Goal and lesson to 120 characters each, at a word."""
        experience = make(goal="goal " * 99, lesson=Lesson(what_worked="lesson " * 99))

        goal, _, lesson = shown(experience, "plain", "compact").partition(": ")[2].split("; ")

        assert goal.endswith("goal...")
        assert 110 < len(goal) <= 120
        assert lesson.endswith("lesson... (2026-03-01)")
        assert 120 < len(lesson) <= 120 + len("lesson: ") + len(" (2026-03-01)")


def blocks(markdown: str) -> list[str]:
    """The blocks that a Markdown parser sees at the top level."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    return [token.type for token in tokens if token.level == 0]


LISTED = ["bullet_list_open", "bullet_list_close"]
HEADED = ["paragraph_open", "paragraph_close", *LISTED]


@settings(deadline=None, database=None)
@given(
    text=st.text(min_size=1) | st.sampled_from([HOSTILE, "\u2028# x", "\x85# x", "\r```"]),
    detail=st.sampled_from(["full", "summary", "compact"]),
)
def test_no_text_breaks_out(
    item_of: ItemOf, hostile_fields: HostileFields, text: str, detail: Detail
) -> None:
    """Whatever the fields hold, Markdown has a paragraph and a list, and XML one element."""
    item = item_of(hostile_fields(text))

    markdown, xml, plain = (text_of(item, style, detail) for style in STYLES)

    assert list(ET.fromstring(xml)) == []  # noqa: S314 (our own text)
    assert len(markdown.splitlines()) == len(plain.splitlines())
    if detail == "compact":
        assert blocks(markdown) == LISTED
        assert len(markdown.splitlines()) == len(xml.splitlines()) == 1
        kinds = [token.type for token in MarkdownIt("commonmark").parse(markdown)]
        assert "heading_open" not in kinds
        assert kinds.count("bullet_list_open") == 1
    else:
        assert blocks(markdown) == HEADED
        assert all(line.startswith("- **") for line in markdown.splitlines()[1:])


def test_a_record_with_holes_is_still_shown(item_of: ItemOf) -> None:
    """Fields that something else left out or spoiled do not take the source down."""
    item = item_of({"goal": 7, "lesson": None})

    assert text_of(item) == (
        "**Experience**: 7 (unknown, unknown)\n- **Outcome**: unknown - not resolved yet"
    )
    assert text_of(item, "plain", "compact") == "unknown/unknown: 7; unknown (2026-03-01)"
    assert text_of(item_of({}), "plain", "compact") == "unknown/unknown: unknown (2026-03-01)"
