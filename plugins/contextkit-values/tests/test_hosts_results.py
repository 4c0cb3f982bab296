"""Values that a host's own searcher finds, and items that a host makes by hand."""

from __future__ import annotations

from typing import Any

import pytest

import contextkit_values
from contextkit import ContextAssembler, ContextItem
from contextkit.config.settings import Config
from contextkit.models import Detail, Style
from contextkit.plugin.manager import SourceRegistry


class Host:
    """A host whose values have a text and no more."""

    async def search_values(self, query: str, limit: int) -> list[dict[str, Any]]:
        """One value."""
        return [{"id": "v1", "text": "Measure before you optimise", "score": 0.9}]


def assembler() -> ContextAssembler:
    """An assembler over it."""
    registry = SourceRegistry(Config(), entry_points=False)
    registry.register(contextkit_values, "values")
    return ContextAssembler(Host(), registry=registry)


@pytest.mark.parametrize("style", ["markdown", "xml", "plain"])
@pytest.mark.parametrize("detail", ["full", "compact"])
def test_a_value_without_an_axis_says_nothing_of_one(style: Style, detail: Detail) -> None:
    """`None` is no axis."""
    context = assembler().assemble_context_sync(
        "optimise", style=style, detail=detail, source_timeout=20, deadline=20
    )
    assert "Measure before you optimise" in context.markdown
    assert "None" not in context.markdown


def test_a_value_that_is_made_by_hand_joins_a_context() -> None:
    """It has none of the fields that the source gives its own."""
    kit = assembler()
    context = kit.assemble_context_sync("optimise", source_timeout=20, deadline=20)
    updated = kit.update_context_sync(context, ContextItem("values", "Ship small changes", 1.0))
    assert "Ship small changes" in updated.markdown
    assert updated.trace.notes[0].startswith("updated with values ")
