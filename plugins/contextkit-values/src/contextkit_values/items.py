"""Find values for a request, as items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextkit.errors import InvalidRequestError
from contextkit.models import ContextItem, ContextRequest, Hit
from contextkit.text import one_line
from contextkit_values.model import AXES

_TITLE = 80
_PREMORTEM = "premortem"
# A value belongs to all domains and strategies of its experiences.
_FIELD_OF_FILTER = {"domain": "domains", "strategy": "strategies"}


async def find_values(request: ContextRequest) -> list[ContextItem]:
    """Return the matching values, best first.

    The request's limit applies, and at most `max_values` are returned. The filters `domain` and
    `strategy` select the values with an experience that has them. Raises `InvalidRequestError` for
    an unknown axis.
    """
    _check_axes(request.filters.get("axis", ()))
    filters = {_FIELD_OF_FILTER.get(name, name): it for name, it in request.filters.items()}
    limit = min(request.limit, request.settings["max_values"])
    hits = await request.records.search(request.query, limit=limit, filters=filters)
    return [_item(hit, wanted_beside=request.recipe == _PREMORTEM) for hit in hits]


def _check_axes(wanted: Any) -> None:
    for axis in wanted if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]:
        if axis not in AXES:
            raise InvalidRequestError(f"filter axis: {axis!r} is not one of {', '.join(AXES)}")


def _item(hit: Hit, *, wanted_beside: bool) -> ContextItem:
    record = hit.record
    return ContextItem(
        source="values",
        content=record.text,
        relevance=hit.relevance,
        metadata={
            **record.fields,
            "id": record.id,
            "text": record.text,
            "wanted_beside_experiences": wanted_beside,
        },
        id=record.id,
        kind="value",
        title=_shortened(one_line(record.text)),
        text=record.text,
        salience=_salience(record.fields),
    )


def _salience(fields: Mapping[str, Any]) -> float | None:
    """Return the similarity to the centroid, less for small clusters.

    The similarity is that of the value's text.

    It is s * (1 - 1/n), and None for a value of a host's own searcher that does not state it.
    """
    similarity, size = fields.get("similarity_to_centroid"), fields.get("cluster_size")
    if similarity is None or not size:
        return None
    return min(max(float(similarity), 0.0), 1.0) * (1 - 1 / int(size))


def _shortened(title: str) -> str:
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 3].rstrip()}..."


def dedup_keys(item: ContextItem) -> list[str]:
    """Return `ghap:ID` of the quoted experience, for no other member.

    Next to that experience the value would repeat it. Beside any other member it says something
    new, and no member is dropped for a value that quotes another. A premortem has a section for
    principles beside the experiences: there it has no key.
    """
    shown = item.metadata.get("ghap_id")
    if item.metadata.get("wanted_beside_experiences") or shown is None:
        return []
    return [f"ghap:{shown}"]
