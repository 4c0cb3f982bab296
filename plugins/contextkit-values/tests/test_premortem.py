"""Experiences and values together in one context, through the whole core."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import contextkit_experiences
import contextkit_values
from contextkit.embedding.built_in import load_embedder
from contextkit.kit import ContextKit
from contextkit.testing import open_kit
from contextkit_experiences import Experience, ExperienceBook, from_json

CACHES = (
    "The cache returned a stale value after the update",
    "A stale cache entry survived the deploy",
    "The cached value was stale as the cache key ignored the user",
)


def experience(number: int, **changes: object) -> Experience:
    """A falsified experience of its own words."""
    subject = ("the login page", "nightly billing", "search ranking", "photo upload")[number]
    return from_json(
        {
            "id": f"ghap_{number}",
            "goal": f"Repair {subject} for good",
            "hypothesis": f"Somebody broke {subject} last week",
            "action": f"Reverted every commit that touched {subject}",
            "prediction": f"Then {subject} recovers",
            "domain": "debugging",
            "strategy": "systematic-elimination",
            "outcome_status": "falsified",
            "outcome_result": f"{subject} stayed as it was",
            **changes,
        }
    )


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A workspace with both sources and nothing else."""
    plugins = {"experiences": contextkit_experiences, "values": contextkit_values}
    with open_kit(tmp_path, plugins, settings={"project": "demo"}) as opened:
        yield opened


def refresh(kit: ContextKit) -> None:
    """Make the values."""
    contextkit_values.refresh(kit.records("experiences"), kit.records("values"), load_embedder())


async def test_a_premortem_has_its_sections_in_order(kit: ContextKit) -> None:
    """Each experience stands in one section, principles come last, the footer counts."""
    ExperienceBook(kit.records("experiences")).add(
        [
            experience(0, surprise="It was never broken", root_cause="A wrong report"),
            experience(1, outcome_status="abandoned"),
            experience(
                2,
                outcome_status="confirmed",
                strategy="read-the-error",
                surprise="Users were happier without it",
            ),
            experience(
                3,
                outcome_status="confirmed",
                strategy="ask-user",
                root_cause="A cache between the layers",
            ),
        ]
    )

    context = await kit.get_premortem_context(
        "debugging", strategy="systematic-elimination", max_tokens=4000
    )

    lines = context.markdown.splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# Premortem: debugging with systematic-elimination",
        "## Common Failures",
        "## Strategy Performance",
        "## Unexpected Outcomes",
        "## Root Causes to Watch",
    ]
    assert any(line.endswith("(debugging, systematic-elimination) **FAILED**") for line in lines)
    assert "- **Root cause**: A cache between the layers" in lines
    assert lines[-1] == "*Based on 4 past experiences*"
    assert [item.id for item in context.items] == [f"ghap_{n}" for n in range(4)]
    assert context.sources_used == {"experiences": 4}


async def test_a_premortem_shows_principles_beside_the_experiences(kit: ContextKit) -> None:
    """Though every experience is shown, so is what they have in common, last."""
    ExperienceBook(kit.records("experiences")).add(
        [experience(n, root_cause=cause) for n, cause in enumerate(CACHES)]
    )
    refresh(kit)

    context = await kit.get_premortem_context("debugging", max_tokens=4000)

    headings = [line for line in context.markdown.splitlines() if line.startswith("##")]
    assert headings == ["## Common Failures", "## Relevant Principles"]
    assert "**Value** (root cause):" in context.markdown
    assert context.sources_used["experiences"] == 3


async def test_a_value_stands_beside_experiences_that_do_not_say_it(kit: ContextKit) -> None:
    """A principle of other experiences is shown; the members that it speaks of too."""
    ExperienceBook(kit.records("experiences")).add(
        [experience(n, root_cause=cause) for n, cause in enumerate(CACHES)]
    )
    refresh(kit)
    (value,) = kit.records("values").scan({"axis": "root_cause"})

    context = await kit.assemble_context("stale cache", max_tokens=4000)

    shown = {item.id for item in context.items}
    spoken_for = {value.fields["ghap_id"]}
    others = set(value.fields["ghap_ids"]) - spoken_for
    assert others <= shown
    assert len({value.id, *spoken_for} & shown) == 1


async def test_without_values_a_premortem_is_made_all_the_same(kit: ContextKit) -> None:
    """The section of principles is optional."""
    ExperienceBook(kit.records("experiences")).add([experience(0)])
    kit.disable("values")

    context = await kit.get_premortem_context("debugging")

    assert "Relevant Principles" not in context.markdown
    assert "## Common Failures" in context.markdown


async def test_an_experience_that_does_not_fit_says_where_the_whole_is(kit: ContextKit) -> None:
    """Shortened ones keep their goal and outcome and name their id; the budget holds."""
    long = {"action": "step " * 400, "hypothesis": "thought " * 400}
    ExperienceBook(kit.records("experiences")).add([experience(n, **long) for n in range(4)])

    context = await kit.get_premortem_context("debugging", max_tokens=700)

    assert context.token_count <= 700
    assert context.truncated_items
    for ghap_id in context.truncated_items:
        assert f"*(truncated, full experience ID: {ghap_id})*" in context.markdown
    assert context.markdown.count("- **Outcome**: falsified") == len(context.items)
