"""A context that was assembled a short while ago is not assembled again."""

from __future__ import annotations

import asyncio
import copy
import pickle
import subprocess
import sys
from typing import Any

import pytest
from attrs import asdict, evolve

from contextkit import ContextItem, SourceInfo, hookimpl
from contextkit.errors import InvalidRequestError, StoreError
from contextkit.kit import ContextKit
from contextkit.models.context import FormattedContext
from contextkit.models.record import Range
from contextkit.models.trace import CacheTrace
from tests.cache.conftest import Notes, OpenKit, put

WRITER = """
import sys
from pathlib import Path
from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import KeywordsOnly
from contextkit.models.records import Record, Records
from contextkit.store.embedded import EmbeddedStore
store = EmbeddedStore(Path(sys.argv[1]), OneEmbedder(KeywordsOnly()))
records = Records(store, sys.argv[2], sys.argv[3])
if sys.argv[4] == "put":
    records.put([Record(id="new", text="the tide has turned")])
elif sys.argv[4] == "delete":
    records.delete("the tide rises")
elif sys.argv[4] == "delete_where":
    records.delete_where({})
store.close()
"""


def cache_of(context: FormattedContext) -> CacheTrace:
    """What the cache did."""
    assert context.trace.cache is not None
    return context.trace.cache


async def state(kit: ContextKit, query: str = "tide", **options: Any) -> str:
    """Whether a context came from the cache."""
    return cache_of(await kit.assemble_context(query, **options)).state


def written_by_another(kit: ContextKit, how: str, source: str = "notes") -> None:
    """Change the store in another process."""
    path = str(kit.store.path)  # type: ignore[attr-defined]
    subprocess.run([sys.executable, "-c", WRITER, path, source, kit.project, how], check=True)


async def test_the_second_context_is_the_first_one(open_kit: OpenKit, notes: Notes) -> None:
    """In every field, the trace included, but for what the cache says of itself."""
    kit = open_kit()
    put(kit, "the tide rises", "the tide falls")
    first, second = [await kit.assemble_context("tide") for _ in range(2)]
    assert (cache_of(first).state, cache_of(second).state) == ("kept", "hit")
    assert second.markdown
    assert second == first
    assert evolve(second.trace, cache=None) == evolve(first.trace, cache=None)
    assert [asdict(item) for item in second.items] == [asdict(item) for item in first.items]
    assert notes.asked == ["tide"]
    assert cache_of(first).age is None
    assert cache_of(second).age is not None


async def test_a_context_from_the_cache_can_be_updated(open_kit: OpenKit, notes: Notes) -> None:
    """As the one that was assembled: its sources' answers are kept, too. A write is seen."""
    kit = open_kit()
    put(kit, "the tide rises", "the tide falls")
    first, second = [await kit.assemble_context("tide") for _ in range(2)]
    assert cache_of(second).state == "hit"
    new = ContextItem("notes", "the moon is full at midnight", 0.9, id="moon")
    expected = await kit.update_context(first, new)
    assert "the moon" in expected.markdown
    for twin in (second, copy.deepcopy(second)):
        updated = await kit.update_context(twin, new)
        assert (updated.markdown, updated.trace.notes) == (expected.markdown, expected.trace.notes)
    again = ContextItem("notes", "a lamp burns in the tower", 0.8, id="lamp")
    assert "a lamp burns" in (await kit.update_context(updated, again)).markdown
    assert notes.asked == ["tide"]
    put(kit, "the tide stands still")
    assert "stands still" in (await kit.update_context(second, new)).markdown
    sent = pickle.loads(pickle.dumps(second))  # noqa: S301 - our own
    with pytest.raises(InvalidRequestError, match="cannot be updated"):
        await kit.update_context(sent, new)


async def test_a_context_belongs_to_whoever_asked(open_kit: OpenKit) -> None:
    """What one does to its lists no other sees, the cache neither."""
    kit = open_kit()
    put(kit, "the tide rises")
    together = await asyncio.gather(*(kit.assemble_context("tide") for _ in range(2)))
    for context in (*together, await kit.assemble_context("tide")):
        assert len(context.items) == 1
        context.items.clear()
        context.sources_used.clear()
        context.truncated_items.append("x")
    assert len((await kit.assemble_context("tide")).items) == 1


# -- what a context depends on ---------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens": 100},
        {"limit": 3},
        {"style": "xml"},
        {"session": "s"},
        {"weights": {"notes": 2.0}},
        {"filters": {"kind": "a"}},
        {"filters": {"size": Range(gte=1)}},
        {"tokens": "openai"},
        {"min_relevance": 0.5},
        {"diversity": 0.5},
        {"context_types": ["notes"]},
        {"deadline": 19.0},
    ],
)
async def test_another_request_is_another_context(open_kit: OpenKit, options: Any) -> None:
    """Whatever field differs; the same one again is a hit."""
    kit = open_kit()
    put(kit, "the tide rises")
    assert await state(kit) == "kept"
    assert await state(kit, **options) == "kept"
    assert await state(kit, **options) == "hit"


@pytest.mark.parametrize(
    "settings",
    [
        {"ranking.recency": 0.9},
        {"sources.notes.weight": 2.0},
        {"sources.notes.own": "x"},
        {"project": "another"},
        {"embedding.model": "none"},
    ],
)
async def test_other_settings_make_other_keys(open_kit: OpenKit, settings: Any) -> None:
    """Those of ranking, sources, models, and the project."""
    put(open_kit(), "the tide rises")
    keys = []
    nothing: dict[str, Any] = {}
    for given in (nothing, nothing, settings):
        kit = open_kit(**given)
        request, recipe = kit._asked("tide", None, {})
        assert kit.caches is not None
        assert kit.caches.contexts is not None
        keys.append(kit.caches.contexts.keys.of_context(request, recipe, ["notes"]))
    assert keys[0] == keys[1] != keys[2]


async def test_other_plugins_make_other_contexts(open_kit: OpenKit) -> None:
    """One more that is on, one less, and another of the same name."""
    kit = open_kit()
    put(kit, "the tide rises")
    assert await state(kit) == "kept"
    kit.register(Notes(), "more")
    assert await state(kit, context_types=["notes"]) == "kept"
    kit.disable("more")
    assert await state(kit) == "hit"


async def test_a_write_is_seen_at_once(open_kit: OpenKit) -> None:
    """The next context has what was stored, and lacks what was deleted."""
    kit = open_kit()
    put(kit, "the tide rises")
    await kit.assemble_context("tide")
    put(kit, "the tide falls")
    context = await kit.assemble_context("tide")
    assert cache_of(context).state == "kept"
    assert len(context.items) == 2
    kit.records("notes").delete("the tide falls")
    assert len((await kit.assemble_context("tide")).items) == 1


@pytest.mark.parametrize(("how", "items"), [("put", 2), ("delete", 0), ("delete_where", 0)])
async def test_another_process_write_is_seen_at_once(
    open_kit: OpenKit, how: str, items: int
) -> None:
    """Whatever it does to the source's records."""
    kit = open_kit()
    put(kit, "the tide rises")
    assert [await state(kit), await state(kit)] == ["kept", "hit"]
    written_by_another(kit, how)
    context = await kit.assemble_context("tide")
    assert cache_of(context).state == "kept"
    assert len(context.items) == items


async def test_a_write_to_what_a_source_reads_is_seen_at_once(open_kit: OpenKit) -> None:
    """As relations do, that are kept with the entities."""
    kit = open_kit()
    put(kit, "the tide rises")
    kit.register(Notes(SourceInfo(cacheable=True, embedder="none", reads=("notes",))), "echo")
    assert [await state(kit, context_types=["echo"]) for _ in range(2)] == ["kept", "hit"]
    put(kit, "the tide falls")
    assert await state(kit, context_types=["echo"]) == "kept"


async def test_another_sources_write_changes_nothing(open_kit: OpenKit) -> None:
    """An agent's events come all the time; contexts without them stay."""
    kit = open_kit()
    put(kit, "the tide rises")
    assert await state(kit) == "kept"
    written_by_another(kit, "put", source="events")
    assert await state(kit) == "hit"


# -- at once --------------------------------------------------------------------------------


async def test_equal_requests_of_one_moment_are_one(open_kit: OpenKit, notes: Notes) -> None:
    """A hundred of them ask the source once."""
    kit = open_kit()
    put(kit, "the tide rises")
    found = await asyncio.gather(*(kit.assemble_context("tide") for _ in range(100)))
    assert notes.asked == ["tide"]
    assert {context.markdown for context in found} == {found[0].markdown}


async def test_what_a_source_asks_waits_for_nobody_who_waits_for_it(open_kit: OpenKit) -> None:
    """There is one turn, which the source's own assembly has; the same is asked outside, too."""
    kit = open_kit(**{"assemble.concurrency": 1})
    put(kit, "the tide rises")
    begun, go_on = asyncio.Event(), asyncio.Event()

    class Asking:
        @hookimpl
        async def contextkit_query(self) -> list[ContextItem]:
            begun.set()
            await go_on.wait()
            inner = await kit.assemble_context("tide", ["notes"])
            return [ContextItem("asking", inner.items[0].content, 1.0)]

    kit.register(Asking(), "asking")
    outer = asyncio.create_task(kit.assemble_context("what of it?", ["asking"]))
    await begun.wait()
    outside = asyncio.create_task(kit.assemble_context("tide", ["notes"]))
    assert kit.caches is not None
    assert kit.caches.contexts is not None
    while not kit.caches.contexts._flights._flying:  # noqa: ASYNC110 - nobody tells of it
        await asyncio.sleep(0)
    go_on.set()
    for context in await asyncio.gather(outer, outside):
        assert [item.content for item in context.items] == ["the tide rises"]


async def test_an_error_goes_to_all(open_kit: OpenKit) -> None:
    """Everybody who waited gets it, and the next one tries anew."""
    kit = open_kit(**{"assemble.tokens": "default"})
    put(kit, "the tide rises")
    tries = [kit.assemble_context("tide", tokens="nobody's") for _ in range(3)]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [InvalidRequestError] * 3


# -- how often ------------------------------------------------------------------------------


async def test_repeated_queries_are_hits(open_kit: OpenKit) -> None:
    """Five questions that an agent asks ten times each: well over the 60% of seed 5."""
    kit = open_kit()
    put(kit, "the tide rises", "the moon pulls", "boats wait", "gulls cry", "the sand is wet")
    queries = ["tide", "moon", "boats", "gulls", "sand"]
    for _ in range(10):
        for query in queries:
            last = await kit.assemble_context(query)
    stats = kit.cache_stats()["contexts"]
    assert (stats.hits, stats.misses) == (45, 5)
    assert stats.hit_ratio == cache_of(last).hit_ratio == 0.9


async def test_the_oldest_makes_room(open_kit: OpenKit) -> None:
    """There are as many contexts in memory as the setting says."""
    kit = open_kit(**{"cache.contexts_size": 2})
    put(kit, "the tide rises")
    for query in ("one", "two", "three"):
        await state(kit, query)
    assert [await state(kit, query) for query in ("two", "three", "one")] == ["hit", "hit", "kept"]


async def test_warming_fills_the_cache(open_kit: OpenKit) -> None:
    """With the options that will be asked with."""
    kit = open_kit()
    put(kit, "the tide rises")
    warmed = await kit.warm(["tide", "moon"], max_tokens=500)
    assert [cache_of(context).state for context in warmed] == ["kept", "kept"]
    assert await state(kit, "moon", max_tokens=500) == "hit"
    assert await state(kit, "moon") == "kept"


def test_the_synchronous_twin_has_the_same_cache(open_kit: OpenKit, notes: Notes) -> None:
    """Each of its calls is an event loop of its own."""
    kit = open_kit()
    put(kit, "the tide rises")
    kit.warm_sync(["tide"])
    states = [cache_of(kit.assemble_context_sync("tide")).state for _ in range(2)]
    assert states == ["hit", "hit"]
    assert notes.asked == ["tide"]


async def test_a_closed_kit_goes_on(open_kit: OpenKit) -> None:
    """With an empty cache: what was in memory is gone."""
    kit = open_kit()
    put(kit, "the tide rises")
    assert await state(kit) == "kept"
    kit.close()
    assert [await state(kit), await state(kit)] == ["kept", "hit"]


async def test_a_revision_that_cannot_be_written_stops_the_write(open_kit: OpenKit) -> None:
    """What others would not notice is not stored."""
    kit = open_kit()
    put(kit, "the tide rises")
    folder = kit.store.path / "revisions"  # type: ignore[attr-defined]
    for file in folder.iterdir():
        file.unlink()
        file.mkdir()
    with pytest.raises(StoreError, match=r"writing to the store at .*: Is a directory"):
        put(kit, "the tide falls")
    assert kit.records("notes").count() == 1
