"""Code that a host's own searcher finds: its fields are the host's, and some are missing."""

from __future__ import annotations

from typing import Any

import pytest

import contextkit_code
from contextkit import ContextAssembler
from contextkit.config.settings import Config
from contextkit.models import Detail, Style
from contextkit.plugin.manager import SourceRegistry

CODE = "def retry(call):\n    return call()"


def shown(style: Style = "markdown", detail: Detail = "full", **fields: Any) -> str:
    """The context of one result with these fields."""

    class Host:
        async def search_code(self, query: str, limit: int) -> list[dict[str, Any]]:
            named = {"file_path": "src/calls.py", "qualified_name": "retry", "code": CODE}
            return [{**named, "score": 0.9, **fields}]

    registry = SourceRegistry(Config(), entry_points=False)
    registry.register(contextkit_code, "code")
    return (
        ContextAssembler(Host(), registry=registry)
        .assemble_context_sync("retry", style=style, detail=detail, source_timeout=20, deadline=20)
        .markdown
    )


@pytest.mark.parametrize("detail", ["full", "summary", "compact"])
@pytest.mark.parametrize("style", ["markdown", "xml", "plain"])
def test_a_result_without_a_line_has_none(style: Style, detail: Detail) -> None:
    """Its path alone is named: line 1 would be somebody else's."""
    text = shown(style, detail)
    assert "src/calls.py" in text
    assert "src/calls.py:" not in text
    assert " line=" not in text


def test_a_line_may_be_called_line_start() -> None:
    """CALM calls it so; `start_line` is the specification's name and goes before it."""
    assert "`src/calls.py:7`" in shown(line_start=7)
    assert "`src/calls.py:5`" in shown(line_start=7, start_line=5)
    assert 'line="7"' in shown("xml", line_start=7)


@pytest.mark.parametrize("style", ["markdown", "xml", "plain"])
def test_a_docstring_beside_the_code_is_shown(style: Style) -> None:
    """Once: not again where the code has it."""
    apart = shown(style, docstring="Call until it works.")
    assert apart.count("Call until it works.") == 1
    code = 'def retry(call):\n    """Call until it works."""\n    return call()'
    within = shown(style, docstring="Call until it works.", code=code)
    assert within.count("Call until it works.") == 1
