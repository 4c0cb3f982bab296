"""The values that flow through the stages: names, fields and defaults of the seeds."""

from __future__ import annotations

import inspect
import json
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import pytest

from contextkit import (
    ContextItem,
    ContextRequest,
    FormattedContext,
    Provenance,
    Recipe,
    Section,
    SourceInfo,
)
from contextkit.models.trace import ItemTrace, SourceTrace, Trace

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


class NoOffset(tzinfo):
    """A time zone that does not say how far it is off."""

    def utcoffset(self, _: datetime | None) -> None:
        return None

    def dst(self, _: datetime | None) -> None:
        return None

    def tzname(self, _: datetime | None) -> None:
        return None


# -- items ----------------------------------------------------------------------------------


def test_an_item_has_the_seeds_fields() -> None:
    """Source, content, relevance and metadata, by position or by name."""
    item = ContextItem("memories", "tabs, never spaces", 0.8, {"category": "preference"})
    assert item == ContextItem(
        source="memories",
        content="tabs, never spaces",
        relevance=0.8,
        metadata={"category": "preference"},
    )
    assert (item.source, item.content, item.relevance) == ("memories", "tabs, never spaces", 0.8)
    assert item.metadata == {"category": "preference"}
    assert ContextItem("memories", "x", 1).metadata == {}


def test_items_are_equal_by_source_and_content() -> None:
    """As in seed 2: so they can be kept in sets."""
    first = ContextItem("a", "x", 0.1, {"k": 1}, id="1", title="t", created_at=NOW)
    same, other = ContextItem("a", "x", 0.9, id="2"), ContextItem("b", "x", 0.1, {"k": 1}, id="1")
    assert first == same
    assert hash(first) == hash(same)
    assert first != other
    assert first != ContextItem("a", "y", 0.1, id="1")
    assert len({first, same, other}) == 2


def test_an_id_is_made_from_the_content() -> None:
    """Stable, and different for different content; lone surrogates included."""
    assert ContextItem("a", "x", 0.5).id == ContextItem("b", "x", 0.9).id
    assert ContextItem("a", "x", 0.5).id != ContextItem("a", "y", 0.5).id
    assert len(ContextItem("a", "\ud800", 0.5).id) == 16


def test_content_is_a_text() -> None:
    """The error names the field and the value."""
    with pytest.raises(ValueError, match="content must be a text, got None"):
        ContextItem("chat", None, 0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_relevance_and_salience_are_within_bounds(value: float) -> None:
    """The error names the field and the value."""
    with pytest.raises(ValueError, match=r"relevance must be within 0\.\.1, got"):
        ContextItem("a", "x", value)
    with pytest.raises(ValueError, match=r"salience must be within 0\.\.1, got"):
        ContextItem("a", "x", 0.5, salience=value)


@pytest.mark.parametrize("zone", [None, NoOffset()])
def test_a_date_carries_a_time_zone(zone: tzinfo | None) -> None:
    """Ages cannot be counted without one."""
    with pytest.raises(ValueError, match="created_at must carry a time zone, got 2026-07-01"):
        ContextItem("a", "x", 0.5, created_at=NOW.replace(tzinfo=zone))


# -- requests, sections, recipes ------------------------------------------------------------


def test_a_request_has_the_seeds_defaults() -> None:
    """Twenty items a source, two thousand tokens."""
    request = ContextRequest(query="x")
    assert (request.limit, request.max_tokens, request.sources) == (20, 2000, None)
    assert (request.source_timeout, request.deadline) == (0.3, 0.5)
    assert (request.style, request.overflow, request.recipe) == ("markdown", "hard", "context")


@pytest.mark.parametrize("field", ["weight", "limit"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_sections_numbers_are_over_zero(field: str, value: float) -> None:
    """A recipe that makes no sense is found where it is made."""
    with pytest.raises(ValueError, match=f"{field} must be over 0, got"):
        Section(source="a", **{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("priority", [0, 101, -5])
def test_a_priority_is_within_bounds(priority: int) -> None:
    """1 to 100, as in seed 5."""
    with pytest.raises(ValueError, match=r"priority must be within 1\.\.100, got"):
        SourceInfo(priority=priority)


# -- contexts -------------------------------------------------------------------------------


def trace(**fields: Any) -> Trace:
    """A trace of nothing much."""
    values: dict[str, Any] = {
        "recipe": "context",
        "counter": "estimate",
        "max_tokens": 2000,
        "stages": {"gather": 1.5},
        "sources": (SourceTrace(section="a", source="a", state="ok", milliseconds=1.0),),
        "items": (),
    }
    return Trace(**values | fields)


def test_a_context_has_the_seeds_fields_and_defaults() -> None:
    """By position or by name, without a trace."""
    context = FormattedContext("# Context", [], 3, {"memories": 1})
    assert context == FormattedContext(
        markdown="# Context", items=[], token_count=3, sources_used={"memories": 1}
    )
    assert (context.budget_exceeded, context.truncated_items) == (False, [])
    assert context.truncated_items is not FormattedContext("", [], 0, {}).truncated_items


def test_a_context_says_whether_it_was_truncated() -> None:
    """The field of seeds 3 to 5; what was left out for the budget counts, too."""
    assert not FormattedContext("", [], 0, {}).truncated
    assert not FormattedContext("", [], 0, {}, trace=trace()).truncated
    assert FormattedContext("", [], 0, {}, truncated_items=["1"]).truncated


def test_a_trace_makes_no_difference() -> None:
    """Two contexts of the same text are equal however long they took."""
    first = FormattedContext("x", [], 1, {}, trace=trace())
    assert first == FormattedContext("x", [], 1, {}, trace=trace(stages={"gather": 9.0}))
    assert "trace" not in repr(first)


def test_a_context_is_json() -> None:
    """Every part of it, whatever a source keeps in its metadata."""
    item = ContextItem(
        "a",
        "x",
        0.5,
        MappingProxyType(
            {"path": Path("a.py"), "when": NOW, "tags": {"t"}, "deep": {1: [1j, float("nan")]}}
        ),
        created_at=NOW.astimezone(timezone(timedelta(hours=2))),
        also_in=(Provenance("b", "1"),),
    )
    entry = ItemTrace(
        id="1",
        source="a",
        section="a",
        title="t",
        scores=MappingProxyType({"score": 0.5}),
        verdict="kept",
        reason="in full",
    )
    context = FormattedContext("x", [item], 1, {"a": 1}, trace=trace(items=(entry,)))
    data = json.loads(json.dumps(context.as_dict()))
    assert data["items"][0]["metadata"] == {
        "path": "a.py",
        "when": "2026-07-01T12:00:00+00:00",
        "tags": ["t"],
        "deep": {"1": ["1j", "nan"]},
    }
    assert data["items"][0]["created_at"] == "2026-07-01T14:00:00+02:00"
    assert data["items"][0]["also_in"] == [{"source": "b", "id": "1", "location": None}]
    assert data["trace"]["sources"][0]["state"] == "ok"
    assert data["trace"]["items"][0]["scores"] == {"score": 0.5}
    assert data["trace"]["stages"] == {"gather": 1.5}
    assert FormattedContext("x", [], 1, {}).as_dict()["trace"] is None


@pytest.mark.parametrize("model", [ContextItem, ContextRequest, FormattedContext, Recipe, Section])
def test_every_field_is_documented(model: Any) -> None:
    """Each has its help, or a line in the class's docstring."""
    for field in attrs.fields(model):
        documented = f"    {field.name}: " in (inspect.getdoc(model) or "")
        assert documented or field.metadata["help"]
