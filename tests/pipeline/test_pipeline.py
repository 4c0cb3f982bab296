"""From a request to a context: what got in, what did not, and what the trace says of it."""

from __future__ import annotations

import asyncio
import copy
import json
import random
import re
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from types import ModuleType
from typing import Any, cast

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings, strategies as st
from structlog.testing import capture_logs

from contextkit import (
    ContextItem,
    ContextKit,
    ContextRequest,
    FormattedContext,
    Hit,
    InvalidContextTypeError,
    Record,
    SourceInfo,
    hookimpl,
)
from contextkit.models.items import STYLES, Style
from contextkit.models.record import Search
from contextkit.models.records import Records
from contextkit.models.trace import ItemTrace, SourceTrace
from contextkit.pipeline.pipeline import Pipeline
from contextkit.text.tokens import counter_for
from tests.making import KEYWORDS, OpenKit, make_plugin

counted = counter_for("default")


SENTENCES = [
    "The harbour master closes the gate two hours before low water.",
    "Spring tides come with the new moon and with the full moon.",
    "A neap tide leaves the inner basin almost dry at the eastern wall.",
    "Storm surges are announced by a red lamp on the signal tower.",
    "The tide table of the lighthouse counts from the winter solstice.",
]


WORDS = sorted({word.strip(".").lower() for sentence in SENTENCES for word in sentence.split()})


def text(source: str, number: int) -> str:
    """A text that is like no other."""
    chosen = random.Random(f"{source} {number}").sample(WORDS, 12)
    return f"{' '.join(chosen).capitalize()}."


def items(source: str, number: int = 3, relevance: float = 0.9) -> list[ContextItem]:
    """Different items of a source, best first."""
    return [
        ContextItem(source, text(source, n), relevance - n / 100, id=f"{n}") for n in range(number)
    ]


def source_of(name: str, number: int = 3, **hooks: Any) -> ModuleType:
    """A source that finds so many items."""
    return make_plugin(items(name, number), **hooks)


def traced(context: FormattedContext, section: str) -> SourceTrace:
    """What the trace says of a section."""
    return next(source for source in context.trace.sources if source.section == section)


def verdicts(context: FormattedContext) -> dict[tuple[str, str], ItemTrace]:
    """What the trace says of each item."""
    return {(item.source, item.id): item for item in context.trace.items}


# -- what comes out -------------------------------------------------------------------------


async def test_a_context_is_laid_out_as_in_the_seed(open_kit: OpenKit) -> None:
    """Sections by priority, items best first, the counts in the last line."""
    kit = open_kit(
        {
            "moon": source_of("moon", 1),
            "tide": source_of("tide", 2, contextkit_source=SourceInfo(priority=90)),
            "silent": make_plugin([]),
        },
        settings=KEYWORDS,
    )
    context = await kit.assemble_context("when does the tide turn?")
    assert context.markdown == (
        "# Context\n"
        "\n"
        "## Tide\n"
        "\n"
        f"{text('tide', 0)}\n"
        "\n"
        f"{text('tide', 1)}\n"
        "\n"
        "## Moon\n"
        "\n"
        f"{text('moon', 0)}"
    )
    assert context.sources_used == {"tide": 2, "moon": 1}
    assert [(item.source, item.id) for item in context.items] == [
        ("tide", "0"),
        ("tide", "1"),
        ("moon", "0"),
    ]
    assert [item.content in context.markdown for item in context.items] == [True] * 3
    assert (context.budget_exceeded, context.truncated_items) == (False, [])
    assert context.token_count == counted(context.markdown)


async def test_a_context_can_be_copied_and_sent_elsewhere(open_kit: OpenKit) -> None:
    """Its trace says there what it says here, whether it was read before or not."""
    kit = open_kit({"tide": source_of("tide", 3)}, settings=KEYWORDS)
    context = await kit.assemble_context("when does the tide turn?")
    sent = copy.deepcopy(context)

    assert sent.as_dict() == context.as_dict()
    assert sent.trace.items == context.trace.items
    assert context.trace.items == sent.trace.items
    assert context.trace.items[:2] == tuple(sent.trace.items)[:2]
    assert repr(context.trace.items) == repr(sent.trace.items)


async def test_the_trace_tells_what_happened(open_kit: OpenKit) -> None:
    """Stages, sources and items, with numbers that add up."""
    kit = open_kit({"tide": source_of("tide", 40), "silent": make_plugin([])}, settings=KEYWORDS)
    context = await kit.assemble_context("when does the tide turn?", limit=40, max_tokens=200)
    trace = context.trace
    stages = ["queue", "signals", "prepare", "gather", "filter", "rank", "dedup", "format", "fit"]
    assert list(trace.stages) == stages
    assert (trace.recipe, trace.counter, trace.max_tokens) == ("context", "estimate", 200)
    tide, silent = traced(context, "tide"), traced(context, "silent")
    assert (tide.state, tide.candidates, tide.breaker, tide.reason) == ("ok", 40, "closed", None)
    assert tide.used == tide.share - tide.given + tide.taken > 0
    assert (silent.state, silent.used, silent.given) == ("empty", 0, silent.share)
    assert silent.reason == "none found"
    assert len(trace.items) == 40
    shown = {("tide", item.id) for item in context.items}
    for key, item in verdicts(context).items():
        assert (item.verdict in {"kept", "truncated"}) == (key in shown) == (item.tokens > 0)
        boosts = {"salience", "recency", "priority"}
        assert set(item.scores) == {"relevance", "match", "score"} | boosts
        assert item.whole_tokens >= item.tokens
    left_out = [item for item in trace.items if item.verdict == "over_budget"]
    for item in left_out:
        assert (
            item.reason == f"its {item.whole_tokens} tokens did not fit into the remaining budget"
        )
    assert left_out
    assert context.truncated
    assert context.truncated_items == []
    assert context.strategy == trace.strategy
    scores = [item.scores["score"] for item in trace.items]
    assert scores == sorted(scores, reverse=True)
    assert json.loads(json.dumps(context.as_dict()))["token_count"] == context.token_count


async def test_truncated_items_are_named(open_kit: OpenKit) -> None:
    """By their ids; the trace tells from how much to how much."""
    long = ContextItem("tide", " ".join(SENTENCES * 20), 0.9, id="long", location="tide.txt:1")
    kit = open_kit({"tide": make_plugin([long, *items("tide", 2, 0.5)])}, settings=KEYWORDS)
    context = await kit.assemble_context("when does the tide turn?", max_tokens=300)
    assert context.truncated_items == ["long"]
    assert context.truncated
    assert "*(truncated, see full at `tide.txt:1`)*" in context.markdown
    entry = verdicts(context)["tide", "long"]
    assert entry.verdict == "excerpt"
    whole = entry.reason.split()[-2]
    assert entry.reason == f"the parts that match, {entry.tokens} of {whole} tokens"
    assert context.items[0].content.endswith("*(truncated, see full at `tide.txt:1`)*")
    assert context.items[0].id == "long"


async def test_nothing_anywhere_is_an_empty_context(open_kit: OpenKit) -> None:
    """Not an error, not a heading."""
    kit = open_kit({"tide": make_plugin([]), "moon": make_plugin([])}, settings=KEYWORDS)
    context = await kit.assemble_context("when does the tide turn?")
    assert context == FormattedContext("", [], 0, {})
    assert [source.state for source in context.trace.sources] == ["empty", "empty"]
    assert context.trace.notes == ()


async def test_nobody_to_ask(open_kit: OpenKit) -> None:
    """No source on, or none named: an empty context, and a note that says so."""
    note = "no source was queried: none is on, or none was named"
    empty = await open_kit(settings=KEYWORDS).assemble_context("when does the tide turn?")
    assert (empty.markdown, empty.trace.notes) == ("", (note,))
    kit = open_kit({"tide": source_of("tide")}, settings=KEYWORDS)
    assert (await kit.assemble_context("tide?", [])).trace.notes == (note,)


async def test_below_the_floor_is_told_from_none_found(open_kit: OpenKit) -> None:
    """A source whose items are all too far off found something, and nothing relevant."""
    kit = open_kit(
        {
            "far": make_plugin([ContextItem("far", "x", 0.05, id="1")]),
            "near": make_plugin([*items("near", 1), ContextItem("near", "x", 0.05, id="far")]),
            "none": make_plugin([]),
        },
        settings=KEYWORDS,
    )
    context = await kit.assemble_context("when does the tide turn?")
    assert [(source.section, source.state, source.reason) for source in context.trace.sources] == [
        ("far", "below_floor", "no result was relevant enough"),
        ("near", "ok", None),
        ("none", "empty", "none found"),
    ]
    assert verdicts(context)["near", "far"].verdict == "below_floor"
    assert context.sources_used == {"near": 1}
    lower = await kit.assemble_context("when does the tide turn?", min_relevance=0)
    assert traced(lower, "far").state == "ok"


async def test_a_source_whose_items_are_all_duplicates_is_not_below_the_floor(
    open_kit: OpenKit,
) -> None:
    """What it found was relevant; another had it too."""
    same = "High water comes at noon on Monday, two hours after the moon."
    kit = open_kit(
        {
            "a": make_plugin([ContextItem("a", same, 0.9, id="1")]),
            "b": make_plugin(
                [
                    ContextItem("b", same, 0.8, id="1", location="tides.md"),
                    ContextItem("b", "x", 0.01, id="2"),
                ]
            ),
        },
        settings=KEYWORDS,
    )
    context = await kit.assemble_context("when does the tide turn?")
    assert traced(context, "b").state == "ok"
    assert verdicts(context)["b", "1"].verdict == "duplicate"
    assert "*Also in: `tides.md`*" in context.markdown


# -- budgets --------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES)
async def test_every_budget_holds_in_every_style(open_kit: OpenKit, style: Style) -> None:
    """From one token to more than there is, and to more than any float."""
    kit = open_kit({name: source_of(name, 10) for name in ("tide", "moon")}, settings=KEYWORDS)
    for max_tokens in (1, 2, 10, 40, 100, 500, 10**9, 10**400):
        context = await kit.assemble_context("tide?", max_tokens=max_tokens, style=style)
        assert context.token_count <= max_tokens
        assert context.token_count == counted(context.markdown)
        assert not context.budget_exceeded
        if max_tokens >= 10**9:
            assert context.sources_used == {"tide": 10, "moon": 10}
        if max_tokens < 3:
            assert context.markdown == ""
            assert context.trace.notes == (f"no item fits into {max_tokens} tokens",)


async def test_the_soft_limit_exceeds_and_says_so(open_kit: OpenKit) -> None:
    """Seed 1: exceed rather than cut, with a warning in the log and the flag."""
    long = [ContextItem("tide", " ".join(SENTENCES * 9), 0.9, id="long")]
    kit = open_kit({"tide": make_plugin(long)}, settings=KEYWORDS)
    with capture_logs() as logs:
        context = await kit.assemble_context("tide?", max_tokens=100, overflow="soft")
    assert context.budget_exceeded
    assert context.token_count > 100
    assert context.truncated_items == []
    assert long[0].content in context.markdown
    assert [entry for entry in logs if entry["log_level"] == "warning"] == [
        {
            "event": "token_budget_exceeded",
            "log_level": "warning",
            "budget": 100,
            "actual": context.token_count,
        }
    ]
    within = await kit.assemble_context("tide?", max_tokens=5000, overflow="soft")
    assert not within.budget_exceeded


async def test_weights_share_the_budget(open_kit: OpenKit) -> None:
    """The request's before the configured before the source's."""
    heavy = source_of("tide", 60, contextkit_weight=lambda request: 3.0)
    kit = open_kit({"tide": heavy, "moon": source_of("moon", 60)}, settings=KEYWORDS)

    async def share(**options: Any) -> float:
        context = await kit.assemble_context("tide?", limit=60, max_tokens=1000, **options)
        shares = {source.source: source.share for source in context.trace.sources}
        return shares["tide"] / shares["moon"]

    assert await share() == pytest.approx(3.0, rel=0.02)
    assert await share(weights={"tide": 1.0}) == pytest.approx(1.0, rel=0.02)
    assert await share(weights={"moon": 6}) == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("style", STYLES)
async def test_half_a_surrogate_pair_is_nowhere_in_the_text(
    open_kit: OpenKit, style: Style
) -> None:
    """Not in a heading, and not in the list of sources: a host could not write it anywhere."""
    item = ContextItem(
        "tide", "high water", 0.9, id="\ud800", kind="a\ud800", location="b\ud800", title="c\ud800"
    )
    plugin = make_plugin([item], contextkit_source=SourceInfo(title="Tide \ud800"))
    kit = open_kit({"tide": plugin}, settings=KEYWORDS)
    context = await kit.assemble_context("tide", include_sources=True, style=style)
    assert context.markdown.encode("utf-8")
    assert "Tide ?" in context.markdown
    assert {"c?", "b?"} <= set(re.findall(r"[bc]\?", context.markdown))


# -- what a source gets ---------------------------------------------------------------------


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

    def reckless(request: ContextRequest) -> list[ContextItem]:
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

    async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
        hits = await request.records.search(request.query, limit=request.limit)
        return [
            ContextItem(request.records.source, hit.record.text, hit.relevance, id=hit.record.id)
            for hit in hits
        ]

    names = ["a", "b", "c", "d", "e"]
    kit = open_kit(
        {name: make_plugin(contextkit_query=contextkit_query) for name in names}, settings=KEYWORDS
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


async def test_a_source_may_say_that_it_has_no_dense_vectors(open_kit: OpenKit) -> None:
    """Its records are searched by keywords alone."""
    kit = open_kit(
        {
            "code": make_plugin([], contextkit_source=SourceInfo(embedder="none")),
            "tide": make_plugin([]),
        },
        settings={**KEYWORDS, "embedding.model": "wordllama"},
    )
    assert (kit.embedder("code").name, kit.embedder("tide").name) == ("none", "wordllama-256")


# -- trouble --------------------------------------------------------------------------------


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


async def test_an_unknown_source_names_the_valid_ones(open_kit: OpenKit) -> None:
    """Seed 1's error, with the nearest name."""
    kit = open_kit({name: make_plugin([]) for name in ("tide", "moon")}, settings=KEYWORDS)
    with pytest.raises(InvalidContextTypeError) as caught:
        await kit.assemble_context("tide?", ["moon", "tied"])
    assert str(caught.value) == (
        "Invalid context type 'tied'. Valid types: moon, tide. Did you mean 'tide'?"
    )


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

    async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
        hits = await request.records.search(request.query)
        return [ContextItem("tide", hit.record.text, hit.relevance) for hit in hits]

    kit = open_kit({"tide": make_plugin(contextkit_query=contextkit_query)}, settings=KEYWORDS)
    kit.records("tide").put([Record(id="1", text=SENTENCES[0])])
    context = await kit.assemble_context("the harbour master " * 6000)
    assert context.sources_used == {"tide": 1}
    assert context.trace.notes == (
        "the query has 114000 characters; the first 8192 were searched for",
    )


async def test_strange_queries_find_what_they_find(open_kit: OpenKit) -> None:
    """No query breaks a source."""

    async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
        hits = await request.records.search(request.query)
        return [ContextItem("tide", hit.record.text, hit.relevance) for hit in hits]

    kit = open_kit({"tide": make_plugin(contextkit_query=contextkit_query)}, settings=KEYWORDS)
    kit.records("tide").put([Record(id="1", text=SENTENCES[0])])
    for query in ("?", "\udcff", "\x00", "the", "💧" * 50, "'; --", "a" * 8193):
        context = await kit.assemble_context(query)
        assert traced(context, "tide").state in {"ok", "empty", "below_floor"}, query


async def test_a_degraded_search_is_noted(open_kit: OpenKit) -> None:
    """Where the model fails, search goes on with keywords, and the trace says so."""

    def contextkit_embedder(model: str) -> None:
        raise OSError(f"{model} is at sea")

    kit = open_kit(
        {
            "tide": source_of("tide"),
            "boats": make_plugin(contextkit_embedder=contextkit_embedder),
        },
        settings={**KEYWORDS, "embedding.model": "boats:one"},
    )
    context = await kit.assemble_context("tide?")
    [note] = context.trace.notes
    assert "the embedding model 'boats:one' fails" in note
    assert "OSError: boats:one is at sea" in note
    assert context.items


async def test_a_cancelled_assembly_leaves_no_task_and_no_hold(open_kit: OpenKit) -> None:
    """Another process can have the store at once."""
    under_way = asyncio.Event()

    async def contextkit_query(request: ContextRequest) -> None:
        under_way.set()
        await asyncio.sleep(20)

    kit = open_kit({"tide": make_plugin(contextkit_query=contextkit_query)}, settings=KEYWORDS)
    assembling = asyncio.create_task(kit.assemble_context("tide?"))
    await under_way.wait()
    assembling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await assembling
    assert asyncio.all_tasks() == {asyncio.current_task()}
    other = open_kit(settings=KEYWORDS)
    assert await asyncio.to_thread(other.store.count, None, None, {}) == 0


# -- the same every time --------------------------------------------------------------------


@pytest.mark.uncounted
async def test_a_hundred_at_once_give_the_same_as_one_by_one(open_kit: OpenKit) -> None:
    """Nothing of one request is in another's text."""

    async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
        hits = await request.records.search(request.query, limit=request.limit)
        return [
            ContextItem(request.records.source, hit.record.text, hit.relevance, id=hit.record.id)
            for hit in hits
        ]

    def plain(request: ContextRequest) -> list[ContextItem]:
        return [ContextItem("plain", f"You asked: {request.query}", 0.9, id="1")]

    kit = open_kit(
        {
            "tide": make_plugin(contextkit_query=contextkit_query),
            "moon": make_plugin(contextkit_query=contextkit_query),
            "plain": make_plugin(contextkit_query=plain),
        },
        settings=KEYWORDS,
    )
    for name in ("tide", "moon"):
        kit.records(name).put(
            [
                Record(
                    id=f"{n}", text=f"{name} {n}: {SENTENCES[n % 5]}", created_at=datetime.now(UTC)
                )
                for n in range(30)
            ]
        )
    words = [word for sentence in SENTENCES for word in sentence.split()]
    queries = [f"{words[n % len(words)]} {words[n * 7 % len(words)]} {n}" for n in range(100)]
    together = await asyncio.gather(*(kit.assemble_context(query) for query in queries))
    apart = [await kit.assemble_context(query) for query in queries]
    assert [context.markdown for context in together] == [context.markdown for context in apart]
    assert len({context.markdown for context in apart}) == 100


async def test_the_order_of_the_answers_makes_no_difference(open_kit: OpenKit) -> None:
    """Whichever source is first, the text is the same."""
    texts = set()
    for order in (("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")):
        turns = {name: asyncio.Event() for name in order}

        def query(name: str, order: Sequence[str] = order, turns: Any = turns) -> Any:
            async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
                before = order.index(name) - 1
                if before >= 0:
                    await turns[order[before]].wait()
                turns[name].set()
                return items(name, 20)

            return contextkit_query

        kit = open_kit(
            {name: make_plugin(contextkit_query=query(name)) for name in order}, settings=KEYWORDS
        )
        texts.add((await kit.assemble_context("tide?", max_tokens=300)).markdown)
    assert len(texts) == 1


async def test_the_text_does_not_depend_on_when(open_kit: OpenKit) -> None:
    """A second later it is the same, byte for byte, so that prompt caches hold."""
    now = datetime(2026, 7, 1, tzinfo=UTC)
    dated = [
        evolve(item, created_at=now - timedelta(days=n)) for n, item in enumerate(items("tide", 9))
    ]
    kit = open_kit({"tide": make_plugin(dated)}, settings=KEYWORDS)
    texts = set()
    for seconds in (0, 1, 3600):
        clock = partial(datetime.__add__, now, timedelta(seconds=seconds))
        kit.pipeline = Pipeline(kit.registry, kit.store, clock=clock)
        texts.add((await kit.assemble_context("tide?", max_tokens=200)).markdown)
    assert len(texts) == 1


HOSTILE = st.text(st.characters(exclude_categories=()), max_size=200)


Hostile = tuple[ContextKit, list[str]]


@pytest.fixture
def hostile(open_kit: OpenKit) -> Hostile:
    """A kit with a source that finds what stands in a list."""
    contents: list[str] = []

    def contextkit_query(request: ContextRequest) -> list[ContextItem]:
        return [ContextItem("tide", content, 0.9) for content in contents]

    return open_kit(
        {"tide": make_plugin(contextkit_query=contextkit_query)}, settings=KEYWORDS
    ), contents


@given(st.lists(HOSTILE, max_size=5), st.integers(1, 300), st.sampled_from(STYLES))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_source_finds_the_budget_holds(
    hostile: Hostile, contents: list[str], max_tokens: int, style: Style
) -> None:
    """From end to end: any text, any budget, any style; and it can be written anywhere."""
    kit, found = hostile
    found[:] = contents
    context = kit.assemble_context_sync("tide?", max_tokens=max_tokens, style=style)
    assert context.token_count <= max_tokens
    assert context.markdown.encode("utf-8").decode("utf-8") == context.markdown
    json.dumps(context.as_dict()).encode("utf-8")


async def test_records_of_an_assembler_are_bound_to_source_and_project(open_kit: OpenKit) -> None:
    """As a source sees them."""
    kit = open_kit({"tide": make_plugin([])}, settings=KEYWORDS)
    assert kit.pipeline.records("tide", "p") == Records(kit.store, "tide", "p")


def test_a_thread_may_assemble_while_another_does(open_kit: OpenKit) -> None:
    """A kit is safe to share between event loops in threads."""
    kit = open_kit({"tide": source_of("tide")}, settings=KEYWORDS)
    texts: list[str] = []

    def work() -> None:
        texts.extend(kit.assemble_context_sync("tide?").markdown for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 15
    assert len(set(texts)) == 1
