"""The source's hooks: what is found, and what the core is told of it."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pluggy
import pytest

import contextkit_experiences as plugin
from contextkit.errors import InvalidRequestError
from contextkit.models.items import ContextItem
from contextkit.models.record import Range, Record
from contextkit.models.records import Records
from contextkit.models.request import ContextRequest
from contextkit.plugin import spec as hookspecs
from contextkit.testing import open_records
from contextkit_experiences import Experience, ExperienceBook

Make = Callable[..., Experience]
BEGIN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def request_of(records: Records, query: str, **changes: Any) -> ContextRequest:
    """A request as it reaches the source."""
    return ContextRequest(query=query, records=records, **changes)


async def found(request: ContextRequest) -> list[ContextItem]:
    """What the source answers."""
    return list(await plugin.contextkit_query(request))


def test_the_plugin_answers_every_hook_it_names() -> None:
    """Registered with the real hooks, none of its functions is misspelt."""
    manager = pluggy.PluginManager("contextkit")
    manager.add_hookspecs(hookspecs)

    manager.register(plugin, name="experiences")

    manager.check_pending()
    assert {
        "contextkit_format",
        "contextkit_query",
        "contextkit_recipes",
        "contextkit_source",
        "contextkit_truncate",
    } == {caller.name for caller in manager.get_hookcallers(plugin) or []}
    assert plugin.contextkit_source().weight == 3.0


def test_its_info() -> None:
    """Title, priority, what counts as one, and the fields that filters use."""
    info = plugin.contextkit_source()

    assert (info.title, info.priority, info.count_filters) == ("Experiences", 70, {"axis": "full"})
    assert info.scale == "calibrated"
    assert info.indexed_fields == ("axis", "domain", "strategy", "outcome_status", "ghap_id")


def test_settings_are_refused() -> None:
    """It has no settings, so each is a mistake and is named."""
    assert list(plugin.contextkit_source().setting_problems("experiences", {"axis": "full"})) == [
        "axis: the source experiences has no such setting"
    ]


def test_a_name_it_does_not_have_is_an_attribute_error() -> None:
    """The lazily imported names are those of `__all__` and no others."""
    assert all(getattr(plugin, name) for name in plugin.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        plugin.nonsense  # noqa: B018


async def test_an_experience_is_an_item(records: Records, make: Make) -> None:
    """The item carries seed 1's metadata, its own id, its tier's salience and its time."""
    ExperienceBook(records).add([make()])

    (item,) = await found(request_of(records, "nightly timeout"))

    assert (
        item.source,
        item.kind,
        item.id,
        item.salience,
        item.created_at,
    ) == ("experiences", "experience", "ghap_1", 1.0, BEGIN)
    assert (item.title, item.location) == ("Stop the nightly timeout", "ghap_1")
    assert item.relevance > 0.3
    assert {
        "id": "ghap_1",
        "domain": "debugging",
        "strategy": "systematic-elimination",
        "outcome_status": "falsified",
        "confidence_tier": "gold",
        "iteration_count": 1,
        "axis": "full",
    }.items() <= item.metadata.items()
    assert plugin.contextkit_source().dedup_keys(item.id, item.metadata) == ("ghap:ghap_1",)


@pytest.mark.parametrize(
    ("changes", "salience"),
    [
        ({"confidence_tier": "gold"}, 1.0),
        ({"confidence_tier": "silver"}, 0.75),
        ({"confidence_tier": "bronze"}, 0.5),
        ({"outcome_status": "abandoned"}, 0.25),
    ],
)
async def test_the_tier_is_the_salience(
    records: Records, make: Make, changes: dict[str, Any], salience: float
) -> None:
    """Gold weighs more than silver, silver more than bronze, bronze more than abandoned."""
    ExperienceBook(records).add([make(**changes)])

    (item,) = await found(request_of(records, "nightly timeout"))

    assert salience == item.salience


async def test_an_open_one_counts_and_is_neutral(book: ExperienceBook, records: Records) -> None:
    """What is not resolved yet is found too, without a salience."""
    book.start(
        "Speed up imports", "h", "a", "p", domain="performance", strategy="check-assumptions"
    )

    (item,) = await found(request_of(records, "speed up imports"))

    assert (item.salience, item.metadata["outcome_status"]) == (None, "open")


async def test_the_axis_full_is_asked_unless_another_is(records: Records, make: Make) -> None:
    """By default an experience is found by its whole text, on an axis by that text alone."""
    ExperienceBook(records).add([make(), make("ghap_2", surprise=None, root_cause=None)])

    full = await found(request_of(records, "lock"))
    surprise = await found(request_of(records, "lock", filters={"axis": "surprise"}))
    both = await found(request_of(records, "lock", filters={"axis": ["full", "root_cause"]}))

    assert {"ghap_1", "ghap_2"} == {item.id for item in full}
    assert [(i.id, i.metadata["axis"]) for i in surprise] == [("ghap_1", "surprise")]
    assert {"ghap_1", "ghap_2"} == {item.id for item in both}
    assert len(both) == 2


async def test_the_requests_filters_and_limit_hold(records: Records, make: Make) -> None:
    """Domain, strategy, outcome and time select within the search."""
    ExperienceBook(records).add(
        [
            make("ghap_a"),
            make("ghap_b", domain="testing"),
            make("ghap_c", outcome_status="confirmed"),
            make("ghap_d", started_at=datetime(2020, 1, 1, tzinfo=UTC)),
        ]
    )

    async def ids(limit: int = 20, **filters: Any) -> set[str]:
        request = request_of(records, "timeout", limit=limit, filters=filters)
        return {item.id for item in await found(request)}

    assert {"ghap_b"} == await ids(domain="testing")
    assert {"ghap_c"} == await ids(outcome_status="confirmed")
    assert {"ghap_d"} == await ids(created_at=Range(lt=datetime(2021, 1, 1, tzinfo=UTC)))
    assert {"ghap_a", "ghap_d"} == await ids(domain="debugging", outcome_status="falsified")
    assert len(await ids(limit=2)) == 2


async def test_an_unknown_axis_is_an_error(records: Records) -> None:
    """A misspelt axis is named, instead of finding nothing."""
    with pytest.raises(InvalidRequestError, match="'root-cause' is not one of full, strategy"):
        await found(request_of(records, "x", filters={"axis": "root-cause"}))
    with pytest.raises(InvalidRequestError, match="3 is not one of full, strategy"):
        await found(request_of(records, "x", filters={"axis": 3}))


async def test_a_spoiled_record_does_not_hide_the_others(records: Records, make: Make) -> None:
    """What something else wrote in its place is shown as far as it goes."""
    ExperienceBook(records).add([make()])
    spoiled = {"axis": "full", "lesson": "none", "notes": None, "goal": 7}
    records.put([Record(id="spoiled", text="nightly timeout", fields=spoiled)])

    items = await found(request_of(records, "nightly timeout"))

    assert {item.id for item in items} == {"ghap_1", "spoiled"}
    assert len(list(plugin.contextkit_format(items, "markdown", "full"))) == 2


async def test_nothing_stored_is_nothing_found(records: Records) -> None:
    """An empty store is no error."""
    assert await found(request_of(records, "x")) == []


@pytest.mark.parametrize("query", ["", "   ", "```", "\x00", "日本語のテスト", "x" * 100_000])
async def test_no_query_is_too_odd(records: Records, make: Make, query: str) -> None:
    """Empty, hostile, foreign and endless queries find something or nothing."""
    ExperienceBook(records).add([make()])

    assert len(await found(request_of(records, query))) <= 1


async def test_without_a_model_keywords_find_them(tmp_path: Path, make: Make) -> None:
    """A store with no dense vectors still finds experiences by their words."""
    with open_records(tmp_path / "store", "experiences", model="none") as records:
        ExperienceBook(records).add([make()])

        assert [item.id for item in await found(request_of(records, "timeout"))] == ["ghap_1"]


async def test_a_long_title_is_cut_and_a_broken_one_folded(records: Records, make: Make) -> None:
    """A title is one line of at most 80 characters."""
    ExperienceBook(records).add([make(goal="timeout\n# " + "word " * 50)])

    (item,) = await found(request_of(records, "timeout"))

    assert item.title is not None
    assert item.title.startswith("timeout # word")
    assert item.title.endswith("...")
    assert len(item.title) <= 80
