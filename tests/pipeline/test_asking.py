"""What a source is asked, and what its trouble costs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from contextkit import (
    ContextItem,
    ContextRequest,
    Hit,
    Record,
    hookimpl,
)
from contextkit.errors import StoreError
from contextkit.models.items import Style
from contextkit.models.record import Search
from tests.making import KEYWORDS, OpenKit, from_records, make_plugin
from tests.pipeline.tides import SENTENCES, source_of, traced


async def test_a_source_gets_its_own_request(open_kit: OpenKit) -> None:
    """Its records and settings, the project and the workspace, for query and weight alike."""
    seen: list[ContextRequest] = []

    def contextkit_query(request: ContextRequest) -> list[ContextItem]:
        seen.append(request)
        return []

    def contextkit_weight(request: ContextRequest) -> float:
        seen.append(request)
        return 2.0

    plugin = make_plugin(contextkit_query=contextkit_query, contextkit_weight=contextkit_weight)
    kit = open_kit(
        {"tide": plugin},
        settings=KEYWORDS | {"sources.tide.harbour": "Kiel", "sources.tide.limit": 7},
    )
    await kit.assemble_context("when does the tide turn?", filters={"day": "mon"})
    assert len(seen) == 2
    for request in seen:
        assert (request.query, request.limit) == ("when does the tide turn?", 7)
        assert request.settings == {"harbour": "Kiel"}
        assert request.filters == {"day": "mon"}
        assert (request.project, request.workspace) == (kit.project, kit.workspace.root)
        assert (request.records.source, request.records.project) == ("tide", kit.project)


async def test_what_a_source_does_to_its_request_reaches_nobody_else(open_kit: OpenKit) -> None:
    """Not another source, not the host, and not the settings."""
    seen: list[ContextRequest] = []

    before: list[list[int]] = []

    def reckless(request: ContextRequest) -> list[ContextItem]:
        before.append([len(m) for m in (request.weights, request.limits, request.timeouts)])
        for mapping in (request.weights, request.limits, request.timeouts, request.settings):
            cast("dict[str, Any]", mapping)["moon"] = 1
        cast("dict[str, Any]", request.filters)["day"] = "tue"
        request.settings.get("harbours", []).append("Kiel")
        seen.append(request)
        return []

    plugins = {name: make_plugin(contextkit_query=reckless) for name in ("tide", "moon")}
    kit = open_kit(plugins, settings=KEYWORDS | {"sources.tide.harbours": ["Wedel"]})
    weights, filters = {"tide": 2.0}, {"day": "mon"}
    for _ in range(2):
        await kit.assemble_context("when does the tide turn?", weights=weights, filters=filters)
    assert before == [[1, 0, 0]] * 4
    for request in seen:
        assert request.weights == {"tide": 2.0, "moon": 1}
        assert "tide" not in request.limits
    assert (weights, filters) == ({"tide": 2.0}, {"day": "mon"})
    assert kit.config.source("tide").own == {"harbours": ["Wedel"]}
    assert kit.config.source("moon").own == {}


async def test_hooks_are_called_once_per_source_and_batch(open_kit: OpenKit) -> None:
    """However many items there are, whichever plugins wrap them."""
    calls: list[tuple[str, str, int]] = []

    @hookimpl(wrapper=True)
    def watched(items: Sequence[ContextItem], style: Style) -> Any:
        calls.append(("wrapped", items[0].source, len(items)))
        return (yield)

    def contextkit_format(items: Sequence[ContextItem], style: Style) -> list[str]:
        calls.append(("format", items[0].source, len(items)))
        return [item.content for item in items]

    def contextkit_dedup_keys(items: Sequence[ContextItem]) -> list[list[str]]:
        calls.append(("keys", items[0].source, len(items)))
        return [[] for _ in items]

    sources = {
        name: source_of(
            name,
            20,
            contextkit_format=contextkit_format,
            contextkit_dedup_keys=contextkit_dedup_keys,
        )
        for name in ("tide", "moon")
    }
    kit = open_kit({**sources, "tracer": make_plugin(contextkit_format=watched)}, settings=KEYWORDS)
    await kit.assemble_context("when does the tide turn?")
    assert sorted(calls) == [
        ("format", "moon", 20),
        ("format", "tide", 20),
        ("keys", "moon", 20),
        ("keys", "tide", 20),
        ("wrapped", "moon", 20),
        ("wrapped", "tide", 20),
    ]


async def test_the_searches_of_all_sources_travel_together(
    open_kit: OpenKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five sources that ask the store cost one round trip."""
    names = ["a", "b", "c", "d", "e"]
    kit = open_kit(
        {name: make_plugin(contextkit_query=from_records) for name in names}, settings=KEYWORDS
    )
    for number, name in enumerate(names):
        kit.records(name).put([Record(id="1", text=f"{name}: {SENTENCES[number]}")])
    batches = []
    search = kit.store.search

    def counted(_: object, searches: Sequence[Search]) -> list[list[Hit]]:
        batches.append(len(searches))
        return search(searches)

    monkeypatch.setattr(type(kit.store), "search", counted)
    context = await kit.assemble_context("the tide and the moon at the harbour tower")
    assert batches == [5]
    assert set(context.sources_used) <= set(names)
    assert context.sources_used


async def test_what_goes_wrong_in_a_hook_with_a_default_is_noted_once(open_kit: OpenKit) -> None:
    """Its items are there, in the default way; trace and log name source and hook."""

    def fails(*_: Any) -> Any:
        raise ZeroDivisionError

    plugin = make_plugin(
        [ContextItem("tide", " ".join(SENTENCES * 9), 0.9 - n / 100, id=f"{n}") for n in range(3)],
        contextkit_format=lambda items, style: fails(),
        contextkit_weight=lambda request: fails(),
        contextkit_dedup_keys=lambda items: fails(),
        contextkit_truncate=lambda item, max_tokens, count: fails(),
    )
    kit = open_kit({"tide": plugin}, settings=KEYWORDS)
    with capture_logs() as logs:
        context = await kit.assemble_context("tide?", max_tokens=300)
    assert context.items
    hooks = [
        "contextkit_dedup_keys",
        "contextkit_format",
        "contextkit_truncate",
        "contextkit_weight",
    ]
    assert sorted(context.trace.notes) == [
        f"tide: {hook} failed, its default is used: ZeroDivisionError" for hook in hooks
    ]
    failed = [entry for entry in logs if entry["log_level"] == "warning"]
    assert sorted(entry["hook"] for entry in failed) == hooks
    assert {entry["event"] for entry in failed} == {"hook_failed"}


async def test_a_source_that_fails_is_in_the_trace_and_the_others_in_the_context(
    open_kit: OpenKit,
) -> None:
    """And after some failures it is left alone."""
    kit = open_kit(
        {"bad": make_plugin(contextkit_query=3), "good": source_of("good")},
        settings=KEYWORDS | {"assemble.breaker_failures": 2},
    )
    states = []
    for _ in range(3):
        context = await kit.assemble_context("tide?")
        assert context.sources_used == {"good": 3}
        bad = traced(context, "bad")
        states.append((bad.state, bad.breaker))
    assert states == [("failed", "closed"), ("failed", "open"), ("breaker_open", "open")]


async def test_a_source_has_a_timeout_of_its_own(open_kit: OpenKit) -> None:
    """The configured one beats that of the request."""

    async def contextkit_query(request: ContextRequest) -> None:
        await asyncio.sleep(20)

    kit = open_kit(
        {
            "slow": make_plugin(contextkit_query=contextkit_query),
            "good": source_of("good"),
        },
        settings=KEYWORDS | {"sources.slow.timeout": 0.05},
    )
    context = await kit.assemble_context("tide?")
    assert context.sources_used == {"good": 3}
    slow = traced(context, "slow")
    assert (slow.state, slow.reason) == ("timed_out", "no answer within 0.05 s")


async def test_a_source_that_is_named_is_asked_although_it_is_off(open_kit: OpenKit) -> None:
    """For this request alone."""
    kit = open_kit(
        {name: source_of(name, 1) for name in ("tide", "moon")},
        settings=KEYWORDS | {"sources.moon.enabled": False},
    )
    assert (await kit.assemble_context("tide?")).sources_used == {"tide": 1}
    assert (await kit.assemble_context("tide?", ["moon"])).sources_used == {"moon": 1}
    assert (await kit.assemble_context("tide?")).sources_used == {"tide": 1}
    kit.enable("moon")
    kit.disable("tide")
    assert (await kit.assemble_context("tide?")).sources_used == {"moon": 1}


async def test_a_long_query_is_fine(open_kit: OpenKit) -> None:
    """100 kB: the first part is searched for, and the trace says so."""
    kit = open_kit({"tide": make_plugin(contextkit_query=from_records)}, settings=KEYWORDS)
    kit.records("tide").put([Record(id="1", text=SENTENCES[0])])
    context = await kit.assemble_context("the harbour master " * 6000)
    assert context.sources_used == {"tide": 1}
    assert context.trace.notes == (
        "the query has 114000 characters; the first 8192 were searched for",
    )


async def test_strange_queries_find_what_they_find(open_kit: OpenKit) -> None:
    """No query breaks a source."""
    kit = open_kit({"tide": make_plugin(contextkit_query=from_records)}, settings=KEYWORDS)
    kit.records("tide").put([Record(id="1", text=SENTENCES[0])])
    for query in ("?", "\udcff", "\x00", "the", "💧" * 50, "'; --", "a" * 8193):
        context = await kit.assemble_context(query)
        assert traced(context, "tide").state in {"ok", "empty", "below_floor"}, query


async def test_a_cancelled_assembly_leaves_no_task_and_no_hold(open_kit: OpenKit) -> None:
    """Another process can have the store at once."""
    under_way = asyncio.Event()

    async def contextkit_query(request: ContextRequest) -> None:
        under_way.set()
        await asyncio.sleep(20)

    settings = KEYWORDS | {"assemble.breaker_failures": 1}
    kit = open_kit({"tide": make_plugin(contextkit_query=contextkit_query)}, settings=settings)
    assembling = asyncio.create_task(kit.assemble_context("tide?"))
    await under_way.wait()
    assembling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await assembling
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert kit.health()["tide"].state == "closed"
    other = open_kit(settings=KEYWORDS)
    assert await asyncio.to_thread(other.store.count, None, None, {}) == 0


async def test_a_query_left_behind_does_not_reopen_the_store(open_kit: OpenKit) -> None:
    """Its thread goes on after the query was cancelled and the kit closed; a later query may."""
    searching, closed = threading.Event(), threading.Event()
    outcomes = SimpleQueue[object]()

    def contextkit_query(request: ContextRequest) -> list[ContextItem]:
        if request.query == "tide?":
            searching.set()
            closed.wait(60)
        try:
            assert request.records is not None
            outcomes.put(request.records.search_sync("tide"))
        except StoreError as error:
            outcomes.put(str(error))
        return []

    kit = open_kit({"tide": make_plugin(contextkit_query=contextkit_query)}, settings=KEYWORDS)
    assembling = asyncio.create_task(kit.assemble_context("tide?"))
    await asyncio.to_thread(searching.wait, 60)
    assembling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await assembling
    kit.close()
    folder = kit.store.path  # type: ignore[attr-defined]
    folder.rename(folder.with_name("moved"))
    closed.set()
    outcome = str(await asyncio.to_thread(outcomes.get, timeout=60))
    assert outcome.endswith("was closed during this query: ask again")
    assert not folder.exists()
    assert traced(await kit.assemble_context("moon?"), "tide").state == "empty"
