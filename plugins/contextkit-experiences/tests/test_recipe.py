"""The premortem asks seed 1's questions, in its order, with its filters."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve

import contextkit_experiences as plugin
from contextkit.errors import InvalidRequestError
from contextkit.models.items import ContextItem
from contextkit.models.records import Records
from contextkit.models.request import ContextRequest, Recipe
from contextkit_experiences import Experience, ExperienceBook

Make = Callable[..., Experience]

(TEMPLATE,) = plugin.contextkit_recipes()


def rows(recipe: Recipe) -> list[tuple[Any, ...]]:
    """What a recipe asks, section by section."""
    return [(s.title, s.source, s.query, dict(s.filters), s.limit) for s in recipe.sections]


def test_the_template_has_seed_1s_defaults() -> None:
    """1,500 tokens and ten items per section, unless the request says otherwise."""
    assert (TEMPLATE.name, TEMPLATE.max_tokens, TEMPLATE.limit) == ("premortem", 1500, 10)


def test_with_a_strategy_there_are_five_questions() -> None:
    """Titles, queries, filters and order are the seed's."""
    recipe = TEMPLATE.build(domain="debugging", strategy="systematic-elimination")

    assert recipe.name == "premortem"
    assert recipe.title == "Premortem: debugging with systematic-elimination"
    assert recipe.footer == "*Based on {counts[experiences]} past experience{s[experiences]}*"
    assert rows(recipe) == [
        (
            "Common Failures",
            "experiences",
            "failures and issues in debugging",
            {"axis": "full", "domain": "debugging", "outcome_status": "falsified"},
            None,
        ),
        (
            "Strategy Performance",
            "experiences",
            "outcomes using systematic-elimination strategy",
            {"axis": "strategy", "strategy": "systematic-elimination"},
            None,
        ),
        (
            "Unexpected Outcomes",
            "experiences",
            "unexpected outcomes in debugging",
            {"axis": "surprise", "domain": "debugging"},
            None,
        ),
        (
            "Root Causes to Watch",
            "experiences",
            "why hypotheses fail in debugging",
            {"axis": "root_cause", "domain": "debugging"},
            None,
        ),
        (
            "Relevant Principles",
            "values",
            "principles for debugging using systematic-elimination",
            {"domain": "debugging"},
            5,
        ),
    ]
    assert len({section.key for section in recipe.sections}) == 5
    assert [section.optional for section in recipe.sections] == [False] * 4 + [True]


@pytest.mark.parametrize("strategy", [None, ""])
def test_without_a_strategy_its_section_is_left_out(strategy: str | None) -> None:
    """Four questions remain, and the title names the domain alone."""
    recipe = TEMPLATE.build("feature", strategy)

    assert recipe.title == "Premortem: feature"
    assert [section.title for section in recipe.sections] == [
        "Common Failures",
        "Unexpected Outcomes",
        "Root Causes to Watch",
        "Relevant Principles",
    ]
    assert recipe.sections[-1].query == "principles for feature"


def test_a_limit_holds_for_experiences_and_not_for_principles() -> None:
    """Values stay at five."""
    recipe = TEMPLATE.build(domain="feature", limit=3)

    assert [section.limit for section in recipe.sections] == [3, 3, 3, 5]


def test_words_are_taken_in_any_spelling() -> None:
    """A domain is looked for as it is stored."""
    assert TEMPLATE.build(" Debugging ").title == "Premortem: debugging"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"domain": ""}, "domain: found the text ''"),
        ({"domain": None}, "domain: found nothing"),
        ({"domain": "x\n# y"}, "domain: found the text"),
        ({"domain": "x", "strategy": "two words"}, "strategy: found the text 'two words'"),
        ({"domain": "x", "strategy": 5}, "strategy: found the number 5"),
        ({"domain": "x", "limit": 0}, "limit: expected a whole number from 1, got 0"),
        ({"domain": "x", "limit": "3"}, "limit: expected a whole number from 1, got '3'"),
        ({"domain": "x", "limit": True}, "limit: expected"),
    ],
)
def test_arguments_that_make_no_sense_are_named(arguments: dict[str, Any], message: str) -> None:
    """What cannot be a domain, a strategy or a limit is the request's error."""
    with pytest.raises(InvalidRequestError) as caught:
        TEMPLATE.build(**arguments)

    assert message in str(caught.value)


async def answers(
    records: Records, recipe: Recipe, limit: int = 10
) -> dict[str, list[ContextItem]]:
    """What the source answers to each of the recipe's questions to it."""
    request = ContextRequest(query="", records=records, recipe=recipe.name, limit=limit)
    return {
        section.title or "": list(
            await plugin.contextkit_query(
                evolve(request, query=section.query or "", filters=section.filters)
            )
        )
        for section in recipe.sections
        if section.source == "experiences"
    }


async def test_each_question_finds_what_it_is_for(records: Records, make: Make) -> None:
    """Among mixed experiences each section gets its own, all of which matches in full."""
    ExperienceBook(records).add(
        [
            make("ghap_failed", surprise=None, root_cause=None),
            make("ghap_gave_up", outcome_status="abandoned", surprise=None, root_cause=None),
            make("ghap_worked", outcome_status="confirmed", root_cause=None, strategy="ask-user"),
            make("ghap_cause", outcome_status="confirmed", surprise=None, strategy="ask-user"),
            make("ghap_other", domain="documentation", strategy="ask-user"),
        ]
    )

    found = await answers(records, TEMPLATE.build("debugging", "systematic-elimination"))

    assert {
        "Common Failures": {"ghap_failed"},
        "Strategy Performance": {"ghap_failed", "ghap_gave_up"},
        "Unexpected Outcomes": {"ghap_worked"},
        "Root Causes to Watch": {"ghap_cause"},
    } == {title: {item.id for item in items} for title, items in found.items()}
    assert {item.relevance for items in found.values() for item in items} == {1.0}


async def test_what_is_open_warns_of_nothing(records: Records, make: Make) -> None:
    """An experience that is still going on has no outcome, and is left out."""
    book = ExperienceBook(records)
    book.start("g", "h", "a", "p", domain="debugging", strategy="systematic-elimination")
    book.add([make("ghap_worked", outcome_status="confirmed")])

    found = await answers(records, TEMPLATE.build("debugging", "systematic-elimination"))

    assert [item.id for item in found["Strategy Performance"]] == ["ghap_worked"]


async def test_one_experience_has_one_id_on_every_axis(records: Records, make: Make) -> None:
    """So that the core shows it once; and its root cause wherever that is."""
    ExperienceBook(records).add([make()])

    found = await answers(records, TEMPLATE.build("debugging", "systematic-elimination"))

    assert len(found) == 4
    assert [[item.id for item in items] for items in found.values()] == [["ghap_1"]] * 4
    for items in found.values():
        assert "- **Root cause**: A lock" in plugin.contextkit_format(items, "markdown", "full")[0]


async def test_the_most_trustworthy_and_then_the_latest_come_first(
    records: Records, make: Make
) -> None:
    """Of more experiences than a section takes, tier and time decide, not their words."""
    recent = datetime(2026, 5, 1, tzinfo=UTC)
    ExperienceBook(records).add(
        [make(f"ghap_{n}", confidence_tier="bronze", goal=f"short {n}") for n in range(9)]
        + [make("ghap_silver", confidence_tier="silver", goal="a long one " * 20)]
        + [make("ghap_gold", confidence_tier="gold", goal="a long one " * 30)]
        + [make("ghap_recent", confidence_tier="gold", goal="long " * 30, started_at=recent)]
    )
    recipe = TEMPLATE.build("debugging", limit=3)

    found = await answers(records, recipe, limit=3)

    for items in found.values():
        assert [item.id for item in items] == ["ghap_recent", "ghap_gold", "ghap_silver"]
