"""From a request to a context: what got in, what did not, and what the trace says of it."""

from __future__ import annotations

import asyncio
import copy
import json
import re
import threading
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from attrs import evolve
from structlog.testing import capture_logs

from contextkit import (
    ContextItem,
    ContextRequest,
    FormattedContext,
    Record,
    SourceInfo,
)
from contextkit.models.items import STYLES, Style
from contextkit.pipeline.pipeline import Pipeline
from contextkit.text.tokens import counter_for
from tests.making import KEYWORDS, OpenKit, from_records, make_plugin
from tests.pipeline.tides import SENTENCES, items, source_of, text, traced, verdicts

counted = counter_for("default")


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


# -- the same every time --------------------------------------------------------------------


@pytest.mark.uncounted
async def test_a_hundred_at_once_give_the_same_as_one_by_one(open_kit: OpenKit) -> None:
    """Nothing of one request is in another's text."""

    def plain(request: ContextRequest) -> list[ContextItem]:
        return [ContextItem("plain", f"You asked: {request.query}", 0.9, id="1")]

    kit = open_kit(
        {
            "tide": make_plugin(contextkit_query=from_records),
            "moon": make_plugin(contextkit_query=from_records),
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
