"""The premortem as a whole: real records in a real store, through `ContextKit`."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import contextkit_experiences
import contextkit_values
from contextkit.kit import ContextKit
from contextkit.models import STYLES, Detail, Style
from contextkit.models.context import FormattedContext
from contextkit.models.record import Record
from contextkit.testing import open_kit
from contextkit_experiences import Experience, ExperienceBook, Lesson

Make = Callable[..., Experience]

STRATEGY = "systematic-elimination"
SECTIONS = [
    "## Common Failures",
    "## Strategy Performance",
    "## Unexpected Outcomes",
    "## Root Causes to Watch",
    "## Relevant Principles",
]
SUBJECTS = (
    ("the login page", "a redirect without its query"),
    ("nightly billing", "a currency was rounded twice"),
    ("search ranking", "an index was built for another language"),
    ("photo upload", "the proxy cut bodies at one megabyte"),
    ("the export to CSV", "commas within quotes were split"),
    ("password mails", "the queue had a dead consumer"),
    ("the map view", "tiles were cached by a wrong key"),
    ("time zones", "midnight was taken in local time"),
)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A workspace with experiences and values and nothing else."""
    plugins = {"experiences": contextkit_experiences, "values": contextkit_values}
    with open_kit(tmp_path, plugins, settings={"project": "demo"}) as opened:
        yield opened


@pytest.fixture
def lived(make: Make) -> Callable[..., Experience]:
    """Makes an experience of its own words."""

    def made(number: int, name: str, **changes: Any) -> Experience:
        subject, cause = SUBJECTS[number % len(SUBJECTS)]
        values: dict[str, Any] = {
            "goal": f"Repair {subject} ({name})",
            "hypothesis": f"Somebody broke {subject} last week",
            "action": f"Reverted every commit that touched {subject}",
            "prediction": f"Then {subject} recovers",
            "outcome_result": f"{subject} stayed as it was",
            "surprise": f"Nobody had touched {subject} for a year",
            "root_cause": cause,
            "lesson": Lesson(what_worked=f"Looked for {cause} first"),
        }
        return make(f"ghap_{name}", **{**values, **changes})

    return made


def value(name: str, text: str, domains: list[str], strategies: list[str]) -> Record:
    """A record of the source `values`, as its README describes it."""
    return Record(
        id=f"value_{name}",
        text=text,
        keywords=" ".join(["principles", *domains, *strategies]),
        fields={
            "value_id": f"value_{name}",
            "axis": "root_cause",
            "cluster_id": "root_cause_0",
            "cluster_size": 4,
            "similarity_to_centroid": 0.8,
            "ghap_id": "ghap_elsewhere",
            "ghap_ids": ["ghap_elsewhere"],
            "member_similarities": [0.8],
            "domains": domains,
            "strategies": strategies,
        },
    )


@pytest.fixture
def furnished(kit: ContextKit, lived: Callable[..., Experience]) -> ContextKit:
    """Two experiences for each section, two of other domains, and three values."""
    confirmed: dict[str, Any] = {"outcome_status": "confirmed", "strategy": "ask-user"}
    ExperienceBook(kit.records("experiences")).add(
        [
            lived(0, "failed_1"),
            lived(1, "failed_2", strategy="ask-user"),
            lived(2, "given_up", outcome_status="abandoned", surprise=None, root_cause=None),
            lived(3, "worked", outcome_status="confirmed", surprise=None, root_cause=None),
            lived(4, "surprised", root_cause=None, **confirmed),
            lived(5, "explained", surprise=None, **confirmed),
            lived(6, "elsewhere", domain="testing"),
            lived(7, "far_away", domain="testing", strategy="ask-user"),
        ]
    )
    kit.records("values").put(
        [
            value("one", "Ask what changed before asking who", ["debugging"], ["ask-user"]),
            value(
                "two", "A cache is stale until shown fresh", ["debugging", "testing"], [STRATEGY]
            ),
            value("far", "Write the failing test first", ["testing"], [STRATEGY]),
        ]
    )
    return kit


def headings(context: FormattedContext) -> list[str]:
    """The headings of its text."""
    return [line for line in context.markdown.splitlines() if re.match("##? ", line)]


def section(context: FormattedContext, heading: str) -> str:
    """What stands under a heading."""
    return context.markdown.partition(f"{heading}\n")[2].partition("\n## ")[0]


def ids(context: FormattedContext) -> list[str]:
    """The items in the text, in its order."""
    return [item.id for item in context.items]


async def test_the_sections_stand_in_the_order_of_seed_1(furnished: ContextKit) -> None:
    """Title, sections, footer; each experience in the first section that it was found for."""
    context = await furnished.get_premortem_context("debugging", STRATEGY, max_tokens=4000)

    assert headings(context) == [f"# Premortem: debugging with {STRATEGY}", *SECTIONS]
    assert context.markdown.splitlines()[-2:] == ["---", "*Based on 7 past experiences*"]
    assert {
        "## Common Failures": {"failed_1", "failed_2"},
        "## Strategy Performance": {"given_up", "worked", "elsewhere"},
        "## Unexpected Outcomes": {"surprised"},
        "## Root Causes to Watch": {"explained"},
        "## Relevant Principles": set(),
    } == {each: set(re.findall(r"\((\w+)\) \(", section(context, each))) for each in SECTIONS}
    assert len(ids(context)) == len(set(ids(context))) == 9
    assert context.sources_used == {"experiences": 7, "values": 2}


async def test_failures_stand_out_in_the_strategys_section(furnished: ContextKit) -> None:
    """Falsified and abandoned are marked there, and nowhere else."""
    context = await furnished.get_premortem_context("debugging", STRATEGY, max_tokens=4000)

    performance = section(context, "## Strategy Performance")
    marked = re.findall(r"\((\w+)\) \(.*\) \*\*FAILED\*\*\n", performance)

    assert set(marked) == {"given_up", "elsewhere"}
    assert context.markdown.count("FAILED") == len(marked)


async def test_principles_are_those_of_the_domain(furnished: ContextKit) -> None:
    """Those of the strategy too come first; those of other domains are left out."""
    with_strategy = await furnished.get_premortem_context("debugging", STRATEGY, max_tokens=4000)
    testing = await furnished.get_premortem_context("testing", max_tokens=4000)
    security = await furnished.get_premortem_context("security", max_tokens=4000)

    assert ids(with_strategy)[-2:] == ["value_two", "value_one"]
    assert set(ids(testing)[-2:]) == {"value_two", "value_far"}
    assert security.markdown == ""


async def test_without_a_strategy(furnished: ContextKit) -> None:
    """Its section and its words are left out."""
    context = await furnished.get_premortem_context("debugging", max_tokens=4000)

    assert headings(context) == ["# Premortem: debugging", SECTIONS[0], *SECTIONS[2:]]
    assert "FAILED" not in context.markdown
    assert "elsewhere" not in context.markdown


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("detail", ["full", "summary", "compact"])
async def test_the_budget_holds(
    kit: ContextKit, lived: Callable[..., Experience], style: Style, detail: Detail
) -> None:
    """For budgets from 100 to 3,000: never over it, nothing twice, sections in order."""
    ExperienceBook(kit.records("experiences")).add(
        [lived(n, f"n{n}", outcome_status=("falsified", "confirmed")[n % 2]) for n in range(24)]
    )
    kit.records("values").put(
        [value(str(n), f"Principle {n}: {SUBJECTS[n][1]}", ["debugging"], []) for n in range(5)]
    )

    used = []
    for max_tokens in (100, 150, 250, 400, 700, 1500, 3000):
        context = await kit.get_premortem_context(
            "debugging", STRATEGY, max_tokens=max_tokens, style=style, detail=detail
        )
        assert 0 < context.token_count <= max_tokens
        assert not context.budget_exceeded
        assert len(ids(context)) == len(set(ids(context)))
        assert context.items
        if style == "markdown":
            shown = headings(context)
            assert shown[1:] == [each for each in SECTIONS if each in shown]
        if style == "xml":
            ET.fromstring(context.markdown)  # noqa: S314 (our own text)
        used.append(len(context.items))
    assert used == sorted(used)
    assert used[-1] > used[0]


async def test_less_detail_shows_more_experiences(furnished: ContextKit) -> None:
    """In 450 tokens a compact premortem has more of them than a full one."""
    counts = []
    for detail in ("full", "summary", "compact"):
        context = await furnished.get_premortem_context(
            "debugging", STRATEGY, max_tokens=450, detail=detail
        )
        whole = set(ids(context)) - set(context.truncated_items)
        counts.append(len(whole))

    assert counts[0] < counts[1] < counts[2]


async def test_compact_is_one_line_an_item(furnished: ContextKit) -> None:
    """Headings and list lines, failures marked; in the order of the sections."""
    context = await furnished.get_premortem_context(
        "debugging", STRATEGY, max_tokens=4000, detail="compact"
    )

    assert headings(context) == [f"# Premortem: debugging with {STRATEGY}", *SECTIONS]
    lines = [line for line in context.markdown.splitlines() if line.startswith("- ")]
    assert len(lines) == len(context.items) == 9
    assert sum("**FAILED**" in line for line in lines) == 2


async def test_a_summary_has_outcome_root_cause_and_lesson(furnished: ContextKit) -> None:
    """And no more."""
    context = await furnished.get_premortem_context(
        "debugging", STRATEGY, max_tokens=4000, detail="summary"
    )

    assert set(re.findall(r"- \*\*([\w ]+)\*\*:", context.markdown)) == {
        "Outcome",
        "Root cause",
        "What worked",
    }


async def test_nothing_known_is_an_empty_text(kit: ContextKit) -> None:
    """Neither an error nor a heading over nothing."""
    context = await kit.get_premortem_context("debugging", STRATEGY)

    assert (context.markdown, context.items, context.token_count) == ("", [], 0)
    assert context.sources_used == {}


async def test_a_limit_holds_for_each_section(kit: ContextKit, lived: Callable[..., Any]) -> None:
    """Of ten failures two are shown."""
    ExperienceBook(kit.records("experiences")).add(
        [lived(n, f"n{n}", surprise=None, root_cause=None) for n in range(8)]
    )

    context = await kit.get_premortem_context("debugging", limit=2, max_tokens=3000)

    assert len(context.items) == 2


async def test_one_experience_is_counted_as_one(kit: ContextKit, lived: Callable[..., Any]) -> None:
    """The footer is in the singular."""
    ExperienceBook(kit.records("experiences")).add([lived(1, "n1")])

    context = await kit.get_premortem_context("debugging", max_tokens=3000)

    assert context.markdown.endswith("*Based on 1 past experience*")
