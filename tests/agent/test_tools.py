"""Tools: what a plugin offers, what their types say, and how they are called."""

from __future__ import annotations

import inspect
import re
import textwrap
import threading
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from attrs import frozen
from structlog.testing import capture_logs

from contextkit import (
    ContextKit,
    ContextKitError,
    InvalidRequestError,
    Record,
    SourceError,
    Tool,
    ToolResult,
)
from contextkit.agent.tool_schemas import shape_of
from contextkit.agent.tools import OfferedTool, call_tool, offer_tool, offered_tools
from contextkit.errors import PluginError
from contextkit.models.indexer import Progress
from tests.agent.test_shapes import Half, Water
from tests.making import OpenKit, make_plugin, make_registry


def measure(
    kit: Any,
    station: Annotated[str, "where"],
    metres: Annotated[float | None, "how high"] = None,
    rising: bool = False,
    more: Any = None,
) -> Water:
    """A tool's function."""
    return {"metres": metres or 0.0, "rising": rising}


def tool(run: Callable[..., Any] = measure, name: str = "measure", **more: Any) -> Tool:
    """A tool with everything that it needs."""
    return Tool(name=name, description="Measure the water.", run=run, **more)


# -- offering -------------------------------------------------------------------------------


def test_tools_of_every_plugin_that_is_on() -> None:
    """Sorted by name; a hook may say that there is none."""
    registry = make_registry(
        {
            "a": make_plugin(contextkit_tools=[tool(name="x"), tool(name="b")]),
            "b": make_plugin(contextkit_tools=(tool(name="a"),)),
            "c": make_plugin(contextkit_tools=None),
            "d": make_plugin(contextkit_tools=[tool(name="d")]),
        }
    )
    registry.disable("d")
    offered = offered_tools(registry)
    assert [(name, offer.plugin) for name, offer in offered.items()] == [
        ("a", "b"),
        ("b", "a"),
        ("x", "a"),
    ]


def test_two_plugins_with_one_tool() -> None:
    """Neither is picked in silence; both are named, with what provides them."""
    registry = make_registry(
        {name: make_plugin(contextkit_tools=[tool()]) for name in ("tide", "moon")}
    )
    message = (
        "the tool 'measure' is offered by 'moon' of the host process and by 'tide' of the host "
        "process: turn one of them off"
    )
    with pytest.raises(PluginError, match=message):
        offered_tools(registry)
    registry.disable("moon")
    assert offered_tools(registry)["measure"].plugin == "tide"


def no_kit() -> Water:
    """Takes nothing."""
    return {"metres": 0, "rising": True}


def any_number(kit: Any, *stations: str) -> Water:
    """Takes as many as there are."""
    return no_kit()


def untyped(kit: Any, station) -> Water:  # type: ignore[no-untyped-def]
    """Has a parameter without a type."""
    return no_kit()


def of_bytes(kit: Any, station: bytes) -> Water:
    """Has a parameter that JSON does not have."""
    return no_kit()


def of_nothing(kit: Any, station: NoSuchType) -> Water:  # type: ignore[name-defined] # noqa: F821
    """Has a parameter of a type that is not there."""
    return no_kit()


def gives_a_list(kit: Any) -> list[Water]:
    """Gives what is no object."""
    return []


def gives(kit: Any):  # type: ignore[no-untyped-def]
    """Does not say what it gives."""


@pytest.mark.parametrize(
    ("offered", "reason"),
    [
        ("measure", "expected a sequence of Tool, got a str"),
        ([measure], "entry 0 is a function, expected Tool"),
        ([tool(name=5)], "Tool 5: name is an int"),  # type: ignore[arg-type]
        ([tool(read_only="no")], "Tool 'measure': read_only is a str"),
        ([tool(run="measure")], "Tool 'measure': run is a str"),  # type: ignore[arg-type]
        ([tool(name="Measure it")], "a letter, got 'Measure it'"),
        ([tool(name="a" * 65)], "expected a name of up to 64 lower-case letters"),
        ([Tool(name="a", description=" ", run=measure)], "tool 'a' has no description"),
        ([tool(), tool()], "two tools have the name 'measure'"),
        ([tool(no_kit)], "tool 'measure': its function must take the ContextKit first"),
        ([tool(dict)], "tool 'measure': its function has no signature"),
        ([tool(any_number)], "its parameter 'stations' must be a keyword parameter"),
        ([tool(untyped)], "its parameter 'station' has no type"),
        ([tool(of_bytes)], "its parameter 'station': no JSON schema describes bytes"),
        ([tool(of_nothing)], "its parameter 'station' has a type that cannot be found: name 'NoS"),
        ([tool(gives)], "its result has no type"),
        ([tool(gives_a_list)], "its result must be an object, such as a TypedDict"),
    ],
)
def test_what_is_no_tool_costs_its_plugin_alone(offered: Any, reason: str) -> None:
    """The reason names the tool and what is wrong with it; others keep theirs."""
    registry = make_registry(
        {
            "tide": make_plugin(contextkit_tools=lambda: offered),
            "moon": make_plugin(contextkit_tools=[tool(name="phase")]),
        }
    )
    with capture_logs() as logs:
        assert list(offered_tools(registry)) == ["phase"]
    (log,) = logs
    assert (log["event"], log["source"], log["hook"]) == ("hook_failed", "tide", "contextkit_tools")
    assert reason in log["reason"]


def test_schemas_come_from_the_function() -> None:
    """Types, descriptions, defaults; what may be left out need not be null."""
    offered = offer_tool("tide", tool())
    assert offered.input_schema == {
        "type": "object",
        "properties": {
            "station": {"type": "string", "description": "where"},
            "metres": {"type": "number", "description": "how high"},
            "rising": {"type": "boolean", "default": False},
            "more": {},
        },
        "required": ["station"],
        "additionalProperties": False,
    }
    assert offered.output_schema == shape_of(Water).schema


def test_the_example_of_a_tool_works(kit: ContextKit) -> None:
    """As it stands in the docstring, but for its imports."""
    example = re.search(r"```python\n(.*?)```", inspect.getdoc(Tool) or "", re.DOTALL)
    assert example
    known = {"Annotated": Annotated, "TypedDict": TypedDict, "__name__": __name__}
    names: dict[str, Any] = {**known, "ContextKit": ContextKit, "Record": Record, "Tool": Tool}
    exec(textwrap.dedent(example[1]).replace("\nTool(", "\noffered = Tool("), names)  # noqa: S102
    offered = offer_tool("tide", names["offered"])
    assert offered.input_schema["required"] == ["station"]
    assert list(offered.output_schema["properties"]) == ["station", "metres"]


@frozen
class Buoy:
    """What has `as_dict`."""

    metres: float

    def as_dict(self) -> dict[str, Any]:
        return {"metres": self.metres}


def find_buoy(kit: Any, place: int | None = None) -> Buoy:
    """Gives an object of the plugin's own."""
    return Buoy(place or 1)


# -- calling --------------------------------------------------------------------------------


@pytest.fixture
def kit(open_kit: OpenKit) -> ContextKit:
    """A kit without a plugin."""
    return open_kit()


async def called(kit: ContextKit, run: Callable[..., Any], **arguments: Any) -> ToolResult[Any]:
    """Call a function as a tool of the plugin 'tide'."""
    return await call_tool(kit, offer_tool("tide", tool(run)), arguments)


async def test_a_result_is_data_and_its_text(kit: ContextKit) -> None:
    """The text is the data as JSON, unless the tool says it in words."""
    assert await called(kit, measure, station="Elbe", metres=2) == ToolResult(
        {"metres": 2, "rising": False}, '{\n  "metres": 2,\n  "rising": false\n}'
    )
    assert (await called(kit, measure, station="Elbe", metres=None)).data["metres"] == 0
    assert (await called(kit, find_buoy)).data == {"metres": 1}

    def told(kit: Any) -> ToolResult[Water]:
        return ToolResult({"metres": 1, "rising": True}, "It rises.")

    assert (await called(kit, told)).text == "It rises."


async def test_a_sync_tool_runs_beside_the_event_loop(kit: ContextKit) -> None:
    """It may block; an async one, wrapped or not, runs in the loop."""
    here = threading.current_thread().name

    def blocking(kit: ContextKit) -> dict[str, str]:
        return {"project": kit.project, "thread": threading.current_thread().name}

    async def waiting(kit: ContextKit) -> dict[str, str]:
        return {"thread": threading.current_thread().name}

    def wrapped(kit: ContextKit) -> dict[str, str]:
        return waiting(kit)  # type: ignore[return-value]

    found = (await called(kit, blocking)).data
    assert (found["project"], found["thread"] != here) == (kit.project, True)
    assert (await called(kit, waiting)).data == {"thread": here}
    assert (await called(kit, wrapped)).data == {"thread": here}


async def test_a_tool_may_tell_how_far_it_is(kit: ContextKit) -> None:
    """A parameter `progress` is no argument, but what takes reports."""

    def counting(kit: Any, progress: Callable[[Progress], None], to: int) -> dict[str, int]:
        for done in range(1, to + 1):
            progress(Progress(source="tide", label="waves", done=done, total=to))
        return {"counted": to}

    offered = offer_tool("tide", tool(counting))
    assert list(offered.input_schema["properties"]) == ["to"]
    heard: list[Progress] = []
    await call_tool(kit, offered, {"to": 3}, heard.append)
    assert [(each.done, each.total) for each in heard] == [(1, 3), (2, 3), (3, 3)]
    assert (await call_tool(kit, offered, {"to": 2})).data == {"counted": 2}
    with pytest.raises(InvalidRequestError, match="has no parameter 'progress'; it has: to"):
        await call_tool(kit, offered, {"to": 1, "progress": 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "tool 'measure' needs station"),
        (
            {"station": "Elbe", "metre": 1},
            "tool 'measure' has no parameter 'metre'; did you mean 'metres'?",
        ),
        (
            {"station": "Elbe", "depth": 1},
            "tool 'measure' has no parameter 'depth'; it has: station, metres, rising, more",
        ),
        (
            {"station": "Elbe", "metres": "two"},
            "tool 'measure': metres: expected a number, got 'two'",
        ),
        ({"station": None}, "tool 'measure': station: expected a text, got None"),
        (
            {"station": "Elbe", "rising": None},
            "tool 'measure': rising: expected true or false, got None",
        ),
    ],
)
async def test_wrong_arguments(kit: ContextKit, arguments: dict[str, Any], message: str) -> None:
    """The error names the tool, the parameter, and what would be right."""
    with pytest.raises(InvalidRequestError) as caught:
        await called(kit, measure, **arguments)
    assert str(caught.value) == message


def failing(error: BaseException) -> Callable[..., Any]:
    """A tool's function that raises."""

    def fail(kit: Any) -> Half:
        raise error

    return fail


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (failing(RuntimeError("no\n water")), "RuntimeError: no water"),
        (failing(SystemExit(3)), "RuntimeError: SystemExit: 3"),
        (lambda kit: 5, "its result does not fit its type: expected an object, got 5"),
        (lambda kit: {"name": 5}, "fit its type: name: expected a text, got 5"),
        (lambda kit: {"name": "a", "b": {1}}, "its result is not JSON: Object of type set"),
        (lambda kit: {"b": float("nan")}, "its result is not JSON: "),
    ],
)
async def test_a_tool_that_fails(kit: ContextKit, run: Callable[..., Any], message: str) -> None:
    """The error names the plugin, the tool and the cause."""
    run.__annotations__["return"] = Half
    with pytest.raises(SourceError) as caught:
        await called(kit, run)
    assert str(caught.value).startswith("source 'tide' failed in contextkit_tools: tool 'measure':")
    assert message in str(caught.value)


async def test_a_tools_own_error_stays_as_it_is(kit: ContextKit) -> None:
    """One line for the agent, in the plugin's words."""
    with pytest.raises(ContextKitError, match=r"^the boat has sunk$"):
        await called(kit, failing(ContextKitError("the boat has sunk")))


def test_an_offer_of_a_bare_result() -> None:
    """Without a type for its data, a ToolResult is an object."""

    def bare(kit: Any) -> ToolResult:  # type: ignore[type-arg]
        return ToolResult({}, "")

    offered: OfferedTool = offer_tool("tide", tool(bare))
    assert offered.output_schema == {"type": "object"}
