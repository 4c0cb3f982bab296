"""Attributes of OpenTelemetry's GenAI conventions (0.1) on the span of a source.

A span's name and its other attributes stay those of contextkit. The conventions are experimental,
so this module is the only place that knows their names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from contextkit.models.items import ContextItem
from contextkit.models.source import SourceInfo

_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ON_SPANS = {"true", "span_only", "span_and_event"}


def query_attributes(source: str, info: SourceInfo, query: str, limit: int) -> dict[str, Any]:
    """Describe a query: `search_memory` for notes that people wrote, else `retrieval`."""
    attributes = {
        "gen_ai.operation.name": "search_memory" if info.notes else "retrieval",
        "gen_ai.data_source.id": source,
        "gen_ai.retrieval.top_k": limit,
    }
    if info.notes:
        attributes["gen_ai.memory.store.id"] = source
    if _captures_texts():
        kind = "memory" if info.notes else "retrieval"
        attributes[f"gen_ai.{kind}.query.text"] = query
    return attributes


def answer_attributes(info: SourceInfo, items: Sequence[ContextItem]) -> dict[str, Any]:
    """Describe an answer; texts are included only if the environment asks for them."""
    attributes: dict[str, Any] = {}
    if info.notes:
        attributes["gen_ai.memory.record.count"] = len(items)
    if _captures_texts():
        key = "gen_ai.memory.records" if info.notes else "gen_ai.retrieval.documents"
        found = [{"id": i.id, "score": i.relevance, "content": i.content} for i in items]
        attributes[key] = json.dumps(found, ensure_ascii=False)
    return attributes


def _captures_texts() -> bool:
    return os.environ.get(_CAPTURE, "").lower() in _ON_SPANS
