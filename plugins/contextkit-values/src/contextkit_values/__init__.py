"""The `values` source: the common ground of clustered experiences.

`refresh` makes values from the experiences of a project, on demand; the hooks below find and show
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextkit import hookimpl
from contextkit.models import ContextItem, ContextRequest, Detail, Setting, SourceInfo, Style
from contextkit.sources import lazy_names

if TYPE_CHECKING:
    from contextkit_values.errors import NoDenseVectorsError, ValuesError
    from contextkit_values.refreshing import DenseEmbedder, refresh

__all__ = ["DenseEmbedder", "NoDenseVectorsError", "ValuesError", "refresh"]

__getattr__ = lazy_names(
    __name__, errors="NoDenseVectorsError ValuesError", refreshing="DenseEmbedder refresh"
)


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the source: title, priority and filterable fields."""
    return SourceInfo(
        title="Values",
        description="lessons that many experiences have in common",
        priority=60,
        scale="calibrated",
        notes=True,
        cacheable=True,
        indexed_fields=("axis", "domains", "strategies", "value_id", "ghap_ids"),
        settings={
            "max_values": Setting(5, least=1, rule="free"),
            "min_cluster_size": Setting(3, least=2, rule="free"),
            "min_similarity": Setting(0.2, least=0, most=1, rule="free"),
        },
        commands={
            "values": (
                "contextkit_values.commands:values",
                "Find what your experiences have in common.",
            )
        },
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> Sequence[ContextItem]:
    """Return the matching values.

    There are five at most unless `max_values` is set.
    """
    from contextkit_values.items import find_values

    return await find_values(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> Sequence[str]:
    """Format values in full, or as one line."""
    from contextkit_values.formatting import format_value

    return [format_value(item, style, detail) for item in items]


@hookimpl
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> Sequence[Sequence[str]]:
    """Return `ghap:ID` of the quoted experience; none in a premortem."""
    from contextkit_values.items import dedup_keys

    return [dedup_keys(item) for item in items]
