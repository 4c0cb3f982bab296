"""Whatever a client sends as a tool's arguments, it gets a result or an error of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextkit import ContextKit, ContextKitError
from contextkit.agent_tools.calls import call_tool
from contextkit.agent_tools.offers import OfferedTool
from contextkit.testing import own_git, own_home
from contextkit_mcp.serving import _all_tools

thorough = settings.get_profile("thorough")

TEXTS = st.text(max_size=20) | st.sampled_from(
    ("", " ", "\0", "\ud800", "\u202e", "x" * 30_000, "nan", "code", "-", "7d", "../..", "\x1b[31m")
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)

Opened = tuple[ContextKit, Mapping[str, OfferedTool]]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """A kit with all that is installed, over one small file, and its tools."""
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "tide.md").write_text("# Tide\n\nHigh water at noon.\n")
    with (
        own_home(),
        own_git(folder),
        ContextKit.open(folder, settings={"embedding.model": "none"}) as kit,
    ):
        yield kit, _all_tools(kit, None)


def _fitting(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """What a parameter's schema asks for, as far as its type says."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = {
        "string": TEXTS,
        "integer": st.integers(),
        "number": st.floats(),
        "boolean": st.booleans(),
        "array": st.lists(TEXTS, max_size=3),
        "null": st.none(),
    }
    return kinds.get(schema.get("type", ""), VALUES)


@given(data=st.data())
@thorough
def test_arguments_of_any_kind(opened: Opened, data: st.DataObject) -> None:
    """Each tool, with arguments that fit its schema or do not: no other exception comes out.

    A tool's own failure would be a `SourceError` from whatever it raised, and counts as none.
    """
    kit, tools = opened
    offered = tools[data.draw(st.sampled_from(sorted(tools)))]
    arguments = {}
    for name, parameter in offered.parameters.items():
        if parameter.required or data.draw(st.booleans()):
            fitting = _fitting(parameter.shape.schema)
            arguments[name] = data.draw(fitting | VALUES)
    try:
        result = asyncio.run(call_tool(kit, offered, arguments))
    except ContextKitError as error:
        cause = error.__cause__
        assert cause is None or isinstance(cause, ContextKitError), (offered.tool.name, arguments)
    else:
        assert isinstance(result.data, dict)
