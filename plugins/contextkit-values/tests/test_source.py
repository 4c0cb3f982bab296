"""The source's hooks: which values are found, and how they are shown."""

from collections.abc import Callable
from typing import Any

import pluggy
import pytest

import contextkit_values as plugin
from contextkit.embedding.embedder import Embedder
from contextkit.errors import InvalidRequestError
from contextkit.models.items import ContextItem
from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.models.request import ContextRequest
from contextkit.plugin import spec as hookspecs
from contextkit_values import refresh

Store = Callable[..., None]

LOCKS = (
    "A lock was held across a network retry",
    "The mutex was held while waiting for the database",
    "A lock was held during slow I/O and blocked all workers",
    "The file lock was held and never released after an exception",
)
CACHES = (
    "The cache returned a stale value after the update",
    "A stale cache entry survived the deploy",
    "The cached value was stale as the cache key ignored the user",
)


def item_of(text: str, **metadata: Any) -> ContextItem:
    """An item as the query makes it."""
    fields = {
        "axis": "root_cause",
        "cluster_size": 4,
        "ghap_id": "ghap_1",
        "wanted_beside_experiences": False,
        **metadata,
    }
    return ContextItem("values", text, 0.5, id="value_1", metadata=fields)


async def found(records: Records, query: str, **changes: Any) -> list[ContextItem]:
    """What the source answers."""
    settings = {**plugin.contextkit_source().setting_defaults, **changes.pop("settings", {})}
    request = ContextRequest(query=query, records=records, settings=settings, **changes)
    return list(await plugin.contextkit_query(request))


def test_the_plugin_answers_every_hook_it_names() -> None:
    """Registered with the real hooks, none of its functions is misspelt."""
    manager = pluggy.PluginManager("contextkit")
    manager.add_hookspecs(hookspecs)

    manager.register(plugin, name="values")

    manager.check_pending()
    info = plugin.contextkit_source()
    assert info.weight == 1.0
    assert (info.title, info.priority, info.scale) == ("Values", 60, "calibrated")
    assert all(getattr(plugin, name) for name in plugin.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        plugin.nonsense  # noqa: B018


async def test_a_value_is_an_item(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """It carries seed 1's metadata, its own words, and a salience of its cluster's."""
    stored(CACHES)
    refresh(experiences, values, embedder)

    (item,) = await found(values, "stale cache after an update")

    assert (item.source, item.kind) == ("values", "value")
    assert item.own_text in CACHES
    assert item.title == item.own_text
    assert item.relevance > 0.3
    assert {"axis": "root_cause", "cluster_id": "root_cause_0", "cluster_size": 3}.items() <= (
        item.metadata.items()
    )
    assert item.metadata["id"] == item.id
    assert item.salience == pytest.approx(item.metadata["similarity_to_centroid"] * 2 / 3)


async def test_a_premortems_question_finds_principles(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """`principles for DOMAIN using STRATEGY` finds the values of both, the fitting ones first."""
    stored(LOCKS, domain="debugging", strategy="systematic-elimination")
    stored(CACHES, first=10, domain="testing", strategy="ask-user")
    refresh(experiences, values, embedder)

    first, second = await found(values, "principles for testing using ask-user", limit=5)

    assert first.metadata["domains"] == ["testing"]
    assert first.relevance > 0.5 > second.relevance


async def test_five_at_most_unless_the_settings_say_otherwise(values: Records) -> None:
    """The request's limit holds where it is smaller."""
    fields = {**item_of("").metadata, "similarity_to_centroid": 0.9}
    values.put([Record(id=f"value_{n}", text=f"cache {n}", fields=fields) for n in range(9)])

    assert len(await found(values, "cache")) == 5
    assert len(await found(values, "cache", limit=2)) == 2
    assert len(await found(values, "cache", settings={"max_values": 7})) == 7


async def test_filters_for_experiences_select_values_too(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """A value is of every domain and strategy that its experiences have."""
    stored(CACHES[:2], domain="testing", strategy="ask-user")
    stored(CACHES[2:], first=2, domain="security")
    refresh(experiences, values, embedder)

    async def count(**filters: Any) -> int:
        return len(await found(values, "cache", filters=filters))

    assert await count(domain="testing", strategy="ask-user") == 1
    assert await count(domain=["security", "feature"]) == 1
    assert await count(domain="feature") == 0
    assert await count() == await count(axis="root_cause") == 1
    assert await count(axis=["full", "surprise"]) == 0
    for axis in ("cause", ["full", "cause"]):
        with pytest.raises(InvalidRequestError, match="'cause' is not one of full, strategy"):
            await count(axis=axis)


@pytest.mark.parametrize("query", ["", "```", "\x00", "日本語", "x" * 50_000])
async def test_no_query_is_too_odd(values: Records, query: str) -> None:
    """Empty, hostile, foreign and endless queries find nothing where there is nothing."""
    assert await found(values, query) == []


async def test_a_long_title_is_cut(values: Records) -> None:
    """A title is one line of at most 80 characters."""
    fields = {**item_of("").metadata, "similarity_to_centroid": 0.9}
    values.put([Record(id="value_1", text="cache " * 100, fields=fields)])

    (item,) = await found(values, "cache")

    assert item.title is not None
    assert len(item.title) <= 80
    assert item.title.endswith("...")


def test_a_value_is_a_duplicate_of_the_experience_whose_words_it_shows() -> None:
    """Its key is that of this experience alone, not those of the other members."""
    item = item_of("x", ghap_id="ghap_2", ghap_ids=["ghap_1", "ghap_2", "ghap_3"])

    assert list(plugin.contextkit_dedup_keys([item])) == [["ghap:ghap_2"]]


async def test_in_a_premortem_a_value_is_no_duplicate(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """Its section is wanted beside the experiences: there the value has no key."""
    stored(CACHES)
    refresh(experiences, values, embedder)

    warned = await found(values, "cache", recipe="premortem")
    assembled = await found(values, "cache")

    assert list(plugin.contextkit_dedup_keys(warned)) == [[]]
    assert list(plugin.contextkit_dedup_keys(assembled)) == [
        [f"ghap:{assembled[0].metadata['ghap_id']}"]
    ]


@pytest.mark.parametrize(
    ("given_settings", "problem"),
    [
        ({}, None),
        ({"max_values": 1, "min_cluster_size": 2, "min_similarity": 0}, None),
        ({"max_values": 0}, "max_values: must be a whole number from 1, got 0"),
        ({"max_values": True}, "max_values: must be a whole number from 1, got True"),
        ({"min_cluster_size": 1}, "min_cluster_size: must be a whole number from 2, got 1"),
        ({"min_cluster_size": "3"}, "min_cluster_size: must be a whole number from 2, got '3'"),
        ({"min_similarity": 2}, "min_similarity: must be a number from 0 to 1, got 2"),
        ({"min_similarity": False}, "min_similarity: must be a number from 0 to 1, got False"),
        (
            {"cluster": 3},
            "cluster: the source values has no such setting; it has max_values, "
            "min_cluster_size, min_similarity; did you mean min_cluster_size?",
        ),
    ],
)
def test_settings_are_checked(given_settings: dict[str, Any], problem: str | None) -> None:
    """What is wrong begins with the key and says what is expected."""
    expected = [] if problem is None else [problem]

    assert list(plugin.contextkit_source().setting_problems("values", given_settings)) == expected
