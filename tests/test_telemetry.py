"""Spans: what a program that traces with OpenTelemetry sees of an assembly."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from contextkit import (
    ContextItem,
    ContextKit,
    ContextRequest,
    InvalidRequestError,
    SourceInfo,
    hookimpl,
)


class _Notes:
    name = "notes"

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        """One item, found within a span of the source's own."""
        with trace.get_tracer("notes").start_as_current_span("notes.search"):
            return [ContextItem(self.name, "freeze the clock of the upload test", 0.9)]


class _Diary(_Notes):
    name = "diary"

    @hookimpl
    def contextkit_source(self) -> SourceInfo:
        """Notes that a person wrote."""
        return SourceInfo(notes=True)


class _Broken:
    @hookimpl
    def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        """Fail."""
        raise RuntimeError("no such shelf")


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What is exported; the process's own provider stays as it was."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


@pytest.fixture
def kit(open_kit: Callable[..., ContextKit]) -> ContextKit:
    """A workspace with a source that answers and one that does not."""
    return open_kit({"notes": _Notes(), "broken": _Broken()})


def _named(exporter: InMemorySpanExporter) -> dict[str, list[ReadableSpan]]:
    found: dict[str, list[ReadableSpan]] = {}
    for span in exporter.get_finished_spans():
        found.setdefault(span.name, []).append(span)
    return found


def _attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def test_an_assembly_is_a_span_with_its_stages(
    kit: ContextKit, spans: InMemorySpanExporter
) -> None:
    """Each stage is a child of it, and the numbers of the result are on it."""
    context = await kit.assemble_context("why does the upload fail?", ["notes"], max_tokens=300)
    named = _named(spans)
    (whole,) = named["contextkit.assemble"]
    assert _attributes(whole) == {
        "recipe": "context",
        "max_tokens": 300,
        "tokens": context.token_count,
        "items": 1,
    }
    assert {f"contextkit.{stage}" for stage in context.trace.stages} <= set(named)
    for stage in context.trace.stages:
        for span in named[f"contextkit.{stage}"]:
            assert span.parent is not None
            assert whole.context is not None
            assert span.parent.span_id == whole.context.span_id


async def test_each_source_is_a_span_of_the_gathering(
    kit: ContextKit, spans: InMemorySpanExporter
) -> None:
    """One that fails is marked as an error; what a source traces itself is below its span."""
    await kit.assemble_context("why does the upload fail?", ["notes", "broken"])
    named = _named(spans)
    (gathering,) = named["contextkit.gather"]
    asked = {_attributes(span)["source"]: span for span in named["contextkit.source"]}
    assert {_attributes(span)["state"] for span in asked.values()} == {"ok", "failed"}
    assert asked["broken"].status.status_code is StatusCode.ERROR
    assert asked["notes"].status.status_code is StatusCode.UNSET
    assert gathering.context is not None
    assert {span.parent and span.parent.span_id for span in asked.values()} == {
        gathering.context.span_id
    }
    (inner,) = named["notes.search"]
    assert asked["notes"].context is not None
    assert inner.parent is not None
    assert inner.parent.span_id == asked["notes"].context.span_id


async def test_sources_follow_the_genai_conventions(
    open_kit: Callable[..., ContextKit], spans: InMemorySpanExporter
) -> None:
    """A source is a retrieval, one of notes a search of memory, and a failure has its type."""
    kit = open_kit({"notes": _Notes(), "diary": _Diary(), "broken": _Broken()})
    await kit.assemble_context("why does the upload fail?", limits={"notes": 7})
    asked = {_attributes(span)["source"]: span for span in _named(spans)["contextkit.source"]}
    genai = {
        source: {
            name: value
            for name, value in _attributes(span).items()
            if name.startswith(("gen_ai.", "error."))
        }
        for source, span in asked.items()
    }
    assert genai["notes"] == {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "notes",
        "gen_ai.retrieval.top_k": 7,
    }
    assert genai["diary"]["gen_ai.operation.name"] == "search_memory"
    assert genai["diary"]["gen_ai.memory.store.id"] == "diary"
    assert genai["diary"]["gen_ai.memory.record.count"] == 1
    assert genai["broken"]["error.type"] == "failed"


@pytest.mark.parametrize("asked_for", ["span_only", "true"])
async def test_texts_are_on_spans_if_asked_for(
    open_kit: Callable[..., ContextKit],
    spans: InMemorySpanExporter,
    monkeypatch: pytest.MonkeyPatch,
    asked_for: str,
) -> None:
    """The variable of OpenTelemetry's GenAI instrumentations adds the query and the items."""
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", asked_for)
    kit = open_kit({"notes": _Notes(), "diary": _Diary()})
    await kit.assemble_context("why does the upload fail? password=hunter2hunter2")
    asked = {_attributes(span)["source"]: span for span in _named(spans)["contextkit.source"]}
    notes, diary = _attributes(asked["notes"]), _attributes(asked["diary"])
    assert notes["gen_ai.retrieval.query.text"].startswith("why does the upload fail?")
    (document,) = json.loads(notes["gen_ai.retrieval.documents"])
    assert document["content"] == "freeze the clock of the upload test"
    assert diary["gen_ai.memory.query.text"] == notes["gen_ai.retrieval.query.text"]
    (record,) = json.loads(diary["gen_ai.memory.records"])
    assert record["content"] == document["content"]
    assert "hunter2" not in str(notes)


async def test_spans_hold_no_words(kit: ContextKit, spans: InMemorySpanExporter) -> None:
    """Neither the query nor what was found leaves the process with a trace."""
    await kit.assemble_context("why does the upload fail?", ["notes", "broken"])
    told = " ".join(span.to_json() for span in spans.get_finished_spans())
    assert "upload" not in told
    assert "shelf" not in told


async def test_what_fails_whole_is_recorded(kit: ContextKit, spans: InMemorySpanExporter) -> None:
    """An exception that ends the assembly is on its span."""
    with pytest.raises(InvalidRequestError, match="there is no tokenizer"):
        await kit.assemble_context("why?", ["notes"], tokens="nobody's")
    (whole,) = _named(spans)["contextkit.assemble"]
    assert whole.status.status_code is StatusCode.ERROR
    assert whole.events[0].name == "exception"


def test_opentelemetry_is_not_imported_by_contextkit() -> None:
    """A program that does not trace pays nothing for it."""
    code = (
        "import sys, contextkit, contextkit.pipeline.pipeline;"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
