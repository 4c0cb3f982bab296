"""What a request leaves out: by time, kind, entity type, id and source."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contextkit import (
    ContextAssembler,
    ContextItem,
    ContextKit,
    ContextRequest,
    FormattedContext,
    InvalidContextTypeError,
    InvalidRequestError,
    Range,
    Record,
    SourceInfo,
    hookimpl,
)
from contextkit.config.sections import AssembleSettings
from contextkit.config.settings import Config
from contextkit.pipeline.request import make_request
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.dates import parse_since
from tests.making import KEYWORDS, OpenKit, make_plugin

NOW = datetime(2026, 7, 1, tzinfo=UTC)
OLD = NOW - timedelta(days=30)


class Log:
    """A source of records, which hands the request's filters on to the store."""

    info = SourceInfo(
        kind_field="what",
        entity_type_field="type",
        dated=True,
        indexed_fields=("what", "type"),
        scale="calibrated",
    )

    def __init__(self) -> None:
        self.requests: list[ContextRequest] = []

    @hookimpl
    def contextkit_source(self) -> SourceInfo:
        return self.info

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        self.requests.append(request)
        hits = await request.records.search(
            request.query, limit=request.limit, filters=request.filters
        )
        return [
            ContextItem(
                "log",
                hit.record.text,
                hit.relevance,
                id=hit.record.id,
                kind=str(hit.record.fields.get("what", "")),
                created_at=hit.record.created_at,
                metadata=hit.record.fields,
            )
            for hit in hits
        ]


class Stranger(Log):
    """One that knows of no filters, and declares nothing."""

    info = SourceInfo(scale="calibrated")

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        self.requests.append(request)
        hits = await request.records.search(request.query, limit=request.limit)
        return [
            ContextItem("log", hit.record.text, hit.relevance, id=hit.record.id) for hit in hits
        ]


def tides(count: int, *, first: int = 0, **fields: Any) -> list[Record]:
    """Records that all match `tide`, the first ones best."""
    created_at = fields.pop("created_at", NOW)
    return [
        Record(
            id=f"t{n}",
            text=f"tide {'and other words ' * n}{n}",
            fields=fields,
            created_at=created_at,
        )
        for n in range(first, first + count)
    ]


@pytest.fixture
def log() -> Log:
    """The source."""
    return Log()


@pytest.fixture
def kit(open_kit: OpenKit, log: Log) -> ContextKit:
    """A kit with the source `log`, whose old records match best."""
    kit = open_kit({"log": log}, settings=KEYWORDS)
    kit.records("log").put(tides(5, what="run", type="file", created_at=OLD))
    kit.records("log").put(tides(2, first=5, what="error", type="table"))
    return kit


def shown(context: FormattedContext) -> set[str]:
    """The ids of what is in the text."""
    return {item.id for item in context.items}


def left_out(context: FormattedContext) -> dict[str, str]:
    """Id -> the reason, for what the request's filters left out."""
    return {row.id: row.reason for row in context.trace.items if row.verdict == "filtered"}


@pytest.mark.parametrize(
    "asked", [{"since": NOW - timedelta(days=1)}, {"kinds": ["error"]}, {"entity_types": ["table"]}]
)
async def test_what_a_source_declares_is_searched_for(kit: ContextKit, asked: Any) -> None:
    """The store finds what matches, though a limit's worth of others matches better."""
    context = await kit.assemble_context("tide", limit=2, **asked)
    assert shown(context) == {"t5", "t6"}
    assert not left_out(context)


async def test_a_filter_of_the_requests_own_stays(kit: ContextKit, log: Log) -> None:
    """It is what the source gets; what the request's other filters refuse is left out after."""
    filters = {"what": ["run", "error"], "created_at": Range(gte=OLD)}
    context = await kit.assemble_context(
        "tide", filters=filters, kinds=["error"], since=NOW - timedelta(days=1)
    )
    assert log.requests[0].filters == filters
    assert shown(context) == {"t5", "t6"}
    assert len(left_out(context)) == 5


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"kinds": ["error", "run"]}, "its kind is 'log', not 'error' or 'run'"),
        ({"exclude": ["t1"]}, "the request excludes its id"),
    ],
)
async def test_a_source_that_knows_no_filters_is_sifted(
    open_kit: OpenKit, asked: Any, reason: str
) -> None:
    """What does not meet the request goes no further, and the trace says why."""
    kit = open_kit({"log": Stranger()}, settings=KEYWORDS)
    kit.records("log").put(tides(2))
    context = await kit.assemble_context("tide", **asked)
    assert left_out(context)["t1"] == reason
    assert "t1" not in shown(context)
    row = next(row for row in context.trace.items if row.id == "t1")
    assert (row.tokens, row.scores["score"]) == (0, 0.0)
    assert context.trace.sources[0].candidates == 2


async def test_entities_of_other_types_are_sifted(open_kit: OpenKit) -> None:
    """Of a source that says where its items have their type, and filters nothing itself."""
    items = [
        ContextItem("tide", "High water", 0.9, id="a", metadata={"type": "table"}),
        ContextItem("tide", "Low tide", 0.8, id="b", metadata={"type": "file"}),
        ContextItem("tide", "No water", 0.7, id="c"),
    ]
    info = SourceInfo(entity_type_field="type")
    kit = open_kit({"tide": make_plugin(items, contextkit_source=info)}, settings=KEYWORDS)
    context = await kit.assemble_context("tide", entity_types=["table", "view"])
    assert shown(context) == {"a"}
    assert left_out(context) == {
        "b": "its entity type is 'file', not 'table' or 'view'",
        "c": "its entity type is none, not 'table' or 'view'",
    }


async def test_an_excluded_item_beyond_the_limit_is_explained(kit: ContextKit) -> None:
    """It was not found within the limit, and would be left out."""
    options: Any = {"limit": 1, "exclude": ["log:t4"], "min_relevance": 0.0}
    (answer,) = await kit.explain_item("t4", "tide", **options)
    assert answer.outcome == "dropped"
    assert answer.words.startswith("'log' finds it in place 5 with relevance ")
    assert answer.words.endswith(
        "the limit is 1 items, and the request leaves it out: the request excludes its id."
    )


async def test_nothing_that_is_let_through_is_an_empty_answer(open_kit: OpenKit) -> None:
    """The source's line says that it found something."""
    kit = open_kit({"log": Stranger()}, settings=KEYWORDS)
    kit.records("log").put(tides(2))
    context = await kit.assemble_context("tide", kinds=["error"])
    (source,) = context.trace.sources
    assert (source.state, source.candidates) == ("empty", 2)
    assert source.reason == "all results were removed by the request's filters"
    assert context.markdown == ""


async def test_items_without_a_time_a_kind_or_a_type(open_kit: OpenKit) -> None:
    """Time means nothing to one without; its source names the kind; no entity, no type."""
    items = [ContextItem("tide", "High water", 0.9, id="a")]
    kit = open_kit({"tide": make_plugin(items)}, settings=KEYWORDS)
    for asked in ({"since": NOW}, {"kinds": ["tide"]}, {"entity_types": ["table"]}):
        assert shown(await kit.assemble_context("tide", **asked)) == {"a"}


async def test_since_includes_its_own_moment(open_kit: OpenKit) -> None:
    """And the reason names both times."""
    earlier = NOW - timedelta(seconds=60)
    items = [
        ContextItem("tide", "High water", 0.9, id="a", created_at=NOW),
        ContextItem("tide", "Low tide", 0.8, id="b", created_at=earlier),
    ]
    kit = open_kit({"tide": make_plugin(items)}, settings=KEYWORDS)
    context = await kit.assemble_context("tide", since=NOW)
    assert shown(context) == {"a"}
    reason = "its date is 2026-06-30 23:59 UTC, before 2026-07-01 00:00 UTC"
    assert left_out(context) == {"b": reason}


async def test_the_excluded_cost_no_places(kit: ContextKit, log: Log) -> None:
    """As many more are asked for as may be the source's own."""
    context = await kit.assemble_context(
        "tide", limit=3, exclude=["t0", "log:t1", "other:t2", "t99"], min_relevance=0.0
    )
    # "other" is no source, so that the whole may be an id.
    assert log.requests[0].limit == 7
    assert shown(context) == {"t2", "t3", "t4"}
    assert set(left_out(context)) == {"t0", "t1"}


async def test_an_id_with_its_source_is_that_sources(open_kit: OpenKit) -> None:
    """Of two sources' items with one id it leaves out the one."""
    kit = open_kit(
        {
            name: make_plugin([ContextItem(name, f"{name} water", 0.9, id="a:1")])
            for name in ("moon", "tide")
        },
        settings=KEYWORDS,
    )
    context = await kit.assemble_context("water", exclude=["tide:a:1"])
    assert [item.source for item in context.items] == ["moon"]
    assert not (await kit.assemble_context("water", exclude=["a:1"])).items


async def test_excluded_sources_are_not_asked(open_kit: OpenKit) -> None:
    """By the request, or by the configuration where the request names no sources."""
    plugins = {
        name: make_plugin([ContextItem(name, f"{name} water", 0.9)]) for name in ("moon", "tide")
    }
    kit = open_kit(plugins, settings={**KEYWORDS, "assemble.exclude_sources": ["moon"]})

    async def asked(*args: Any, **options: Any) -> list[str]:
        context = await kit.assemble_context("water", *args, **options)
        return [source.source for source in context.trace.sources]

    assert await asked() == ["tide"]
    assert await asked(["moon"]) == ["moon"]
    assert await asked(["moon", "tide"], exclude_sources=["tide"]) == ["moon"]
    assert await asked(exclude_sources=["tide"]) == ["moon"]
    assert await asked(exclude_sources=[]) == ["moon", "tide"]
    with pytest.raises(InvalidContextTypeError, match="tied"):
        await asked(exclude_sources=["tied"])


async def test_a_filtered_item_is_explained(kit: ContextKit) -> None:
    """Found and left out, or left out by the store's search."""
    asked: dict[str, Any] = {"exclude": ["t0"], "kinds": ["error"]}
    (found,) = await kit.explain_item("t0", "tide", exclude=["t0"])
    assert (found.outcome, found.words) == (
        "dropped",
        "It was found, and left out: the request excludes its id.",
    )
    (stored,) = await kit.explain_item("t1", "tide", **asked)
    assert stored.outcome == "dropped"
    assert stored.words == (
        "It is a record of 'log', and the request leaves it out: its kind is 'run', not 'error'."
    )
    (inside,) = await kit.explain_item("t5", "tide", **asked)
    assert inside.outcome == "in"


class Host:
    """A host's searcher, whose notes have a time or none."""

    def search_log(self, query: str, limit: int) -> Sequence[object]:
        notes = {"old": "2020-01-01T00:00:00Z", "new": "2026-07-01T00:00:00Z", "none": None}
        return [
            {"id": name, "content": f"tide {name}", "score": 0.9, "created_at": made}
            for name, made in notes.items()
        ]


async def test_a_hosts_results_without_a_time_pass_since() -> None:
    """As items without one do."""
    registry = SourceRegistry(Config(), entry_points=False)
    registry.register(Log(), "log")
    context = await ContextAssembler(Host(), registry=registry).assemble_context(
        "tide", since=datetime(2026, 1, 1, tzinfo=UTC), source_timeout=30.0, deadline=30.0
    )
    assert shown(context) == {"new", "none"}


# -- the request's values -----------------------------------------------------------------------


def test_values_are_stored_as_they_are_meant() -> None:
    """Each name once; a set in an order of its own; half a character replaced."""
    config = Config(assemble=AssembleSettings(exclude_sources=("moon",)))
    request = make_request(
        config,
        "x",
        project="",
        workspace=None,
        kinds=["b", "a", "b"],
        exclude={"y", "x"},
        since=NOW,
        additional_context="\ud800",
    )
    assert (request.kinds, request.exclude) == (("b", "a"), ("x", "y"))
    assert (request.since, request.additional_context) == (NOW, "?")
    assert request.exclude_sources == ("moon",)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("7d", NOW - timedelta(days=7)),
        ("12h", NOW - timedelta(hours=12)),
        (" 30 M ", NOW - timedelta(minutes=30)),
        ("2w", NOW - timedelta(weeks=2)),
        ("2026-05-01T12:00:00Z", datetime(2026, 5, 1, 12, tzinfo=UTC)),
        ("2026-05-01T12:00+02:00", datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ("2026-05-01", datetime(2026, 5, 1).astimezone()),
    ],
)
def test_times_as_people_write_them(text: str, moment: datetime) -> None:
    """How long ago, or ISO 8601, of this machine's time zone where it names none."""
    found = parse_since(text, NOW)
    assert found == moment
    assert found.utcoffset() is not None


@pytest.mark.parametrize(
    "text", ["", "yesterday", "7", "-7d", "999999999w", "2026-13-01", "0001-01-01T00:00+14:00 "]
)
def test_other_times_are_refused(text: str) -> None:
    """With examples of what would be right."""
    with pytest.raises(InvalidRequestError, match="since must be a date as in 2026-05-01, or how"):
        parse_since(text, NOW)
