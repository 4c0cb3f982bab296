"""Whatever a client sends as a tool's arguments, it gets a result or an error of ours."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from contextkit import ContextKit, ContextKitError, SourceError
from contextkit.agent.tools import TOOLS_HOOK, OfferedTool, call_tool
from contextkit.testing import own_git, own_home
from contextkit_mcp.tool_handlers import _all_tools

thorough = settings.get_profile("thorough")

TEXTS = st.text(max_size=20) | st.sampled_from(
    ("", " ", "\0", "\ud800", "\u202e", "x" * 3_000, "nan", "code", "-", "7d", "../..", "\x1b[31m")
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)


class Opened:
    """A kit and its tools. No attrs class: hypothesis would print all of it with a failure."""

    def __init__(self, kit: ContextKit) -> None:
        """The tools of a kit."""
        self.kit = kit
        self.tools: Mapping[str, OfferedTool] = _all_tools(kit, None)


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
        yield Opened(kit)


FITTING: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXTS,
    "integer": st.integers(),
    "number": st.floats(),
    "boolean": st.booleans(),
    "array": st.lists(TEXTS, max_size=3),
}
SLOT = st.tuples(st.sampled_from(("fits", "odd", "absent")), st.integers(0), VALUES) | st.tuples(
    st.just("fits"), st.integers(0), st.fixed_dictionaries(FITTING)
)
"""What one parameter gets: a value of its type where there is one, any other, or nothing."""


def _argument(schema: Mapping[str, Any], which: int, value: Any) -> Any:
    if "enum" in schema:
        return schema["enum"][which % len(schema["enum"])]
    of_types = isinstance(value, dict) and value.keys() == FITTING.keys()
    return value.get(schema.get("type"), value["string"]) if of_types else value


@given(which=st.integers(0, 10_000), slots=st.lists(SLOT, max_size=8))
@thorough
def test_arguments_of_any_kind(
    opened: Opened, which: int, slots: list[tuple[str, int, Any]]
) -> None:
    """Each tool, with arguments that fit its schema or do not: no other exception comes out.

    What a tool raises else is a `SourceError` of its hook, and would be a fault of ours.
    """
    offered = opened.tools[sorted(opened.tools)[which % len(opened.tools)]]
    arguments = {
        name: _argument(parameter.shape.schema, position, value) if how == "fits" else value
        for (name, parameter), (how, position, value) in zip(
            offered.parameters.items(), slots, strict=False
        )
        if how != "absent"
    }
    with contextlib.suppress(ContextKitError):
        try:
            result = asyncio.run(call_tool(opened.kit, offered, arguments))
        except SourceError as error:
            if error.hook == TOOLS_HOOK:
                pytest.fail(f"{offered.tool.name} {arguments}: {error.reason}")
            raise
        assert isinstance(result.data, dict)
