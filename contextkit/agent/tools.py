"""Tools that plugins offer to agents: find them, describe them, call them.

Arguments and results are checked against the types of the tool's function. A failure becomes a
message for the agent.
"""

from __future__ import annotations

import difflib
import inspect
import json
import pkgutil
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve, frozen

from contextkit.agent.tool_schemas import Shape, described_shape, shape_of
from contextkit.concurrency import in_thread
from contextkit.errors import (
    ContextKitError,
    InvalidRequestError,
    PluginError,
    SourceError,
    in_words,
)
from contextkit.models.indexer import Progress
from contextkit.models.options import UnfitError
from contextkit.models.source import Tool, ToolResult
from contextkit.plugin.checks import Failed, checked_tools, log_failure
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.status import PluginStatus
from contextkit.text.clean import visible, visible_values

if TYPE_CHECKING:
    from contextkit.kit import ContextKit

TOOLS_HOOK = "contextkit_tools"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PROGRESS = "progress"
_KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_OBJECT = shape_of(dict[str, Any])


@frozen(kw_only=True)
class ToolParameter:
    """One parameter of a tool.

    Attributes:
        shape: what it may be.
        required: whether it must be given.
    """

    shape: Shape
    required: bool


@frozen(kw_only=True)
class OfferedTool:
    """A tool, what it takes and gives, and the plugin that offers it.

    Attributes:
        plugin: the plugin's name.
        tool: the tool.
        parameters: what it takes, by name, in the order of its function.
        output: what it gives: an object.
        reports: whether it tells how far it is.
    """

    plugin: str
    tool: Tool
    parameters: Mapping[str, ToolParameter]
    output: Shape
    reports: bool

    @property
    def input_schema(self) -> dict[str, Any]:
        """A JSON schema of the object that it is called with."""
        taken = self.parameters.items()
        return {
            "type": "object",
            "properties": {name: dict(parameter.shape.schema) for name, parameter in taken},
            "required": [name for name, parameter in taken if parameter.required],
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> dict[str, Any]:
        """A JSON schema of the object that it gives."""
        return dict(self.output.schema)


def offered_tools(
    registry: SourceRegistry, failed: Failed = log_failure
) -> Mapping[str, OfferedTool]:
    """The tools of the plugins that are on, by name.

    Args:
        registry: the plugins.
        failed: called with plugin, hook and reason for a plugin whose hook fails or whose
            tools are not what they must be; it offers none.

    Raises `PluginError` where two plugins offer one name.
    """
    statuses = {status.name: status for status in registry.plugins}
    found: dict[str, OfferedTool] = {}
    for offer in _offers(registry, failed):
        name = offer.tool.name
        if name in found:
            others = (_told(statuses[each.plugin]) for each in (found[name], offer))
            raise PluginError(
                f"the tool '{name}' is offered by {' and by '.join(others)}: turn one of them off"
            )
        found[name] = offer
    return dict(sorted(found.items()))


def _told(status: PluginStatus) -> str:
    return f"'{status.name}' of {status.distribution}"


def _offers(registry: SourceRegistry, failed: Failed) -> Iterator[OfferedTool]:
    for plugin in registry.on:
        declared = registry.info(plugin).tools
        if registry.implements(plugin, TOOLS_HOOK):
            yield from registry.attempt(plugin, TOOLS_HOOK, partial(_tools, plugin), failed) or ()
        elif declared:
            try:
                yield from _tools(plugin, [_imported(plugin, declared)])
            except SourceError as error:
                failed(plugin, TOOLS_HOOK, error.reason)


def _imported(plugin: str, target: str) -> object:
    try:
        return pkgutil.resolve_name(target)
    except Exception as error:
        raise SourceError(plugin, TOOLS_HOOK, f"{target}: {in_words(error)}") from error


def _tools(plugin: str, results: Sequence[object]) -> tuple[OfferedTool, ...]:
    # pluggy leaves None out of the list of what the hook returned.
    tools = checked_tools(plugin, results[0]) if results else ()
    try:
        offers = tuple(offer_tool(plugin, tool) for tool in tools)
    except PluginError as error:
        raise SourceError(plugin, TOOLS_HOOK, str(error)) from error
    names = [tool.name for tool in tools]
    for name in names:
        if names.count(name) > 1:
            raise SourceError(plugin, TOOLS_HOOK, f"two tools have the name '{name}'")
    return offers


def offer_tool(plugin: str, tool: Tool) -> OfferedTool:
    """A tool with what its function's signature says of it.

    Raises `PluginError` for a name, a description or a signature that cannot be.
    """
    if not _NAME.fullmatch(tool.name):
        raise PluginError(
            f"'{tool.name}' is not a tool's name: up to 64 lower-case letters, digits and _, "
            f"a letter first"
        )
    what = f"tool '{tool.name}'"
    if not tool.description.strip():
        raise PluginError(f"{what} has no description: an agent chooses by it")
    try:
        signature = inspect.signature(tool.run)
    except (TypeError, ValueError) as error:
        raise PluginError(f"{what}: its function has no signature: {error}") from error
    first, *others = signature.parameters.values() or (None,)
    if first is None or first.kind not in {first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD}:
        raise PluginError(f"{what}: its function must take the ContextKit first")
    return OfferedTool(
        plugin=plugin,
        tool=tool,
        parameters={
            each.name: _parameter(what, tool.run, each) for each in others if not _reports(each)
        },
        output=_output(what, tool.run, signature.return_annotation),
        reports=any(map(_reports, others)),
    )


def _reports(parameter: inspect.Parameter) -> bool:
    return parameter.name == _PROGRESS and parameter.kind in _KEYWORD


def _parameter(what: str, run: Callable[..., Any], given: inspect.Parameter) -> ToolParameter:
    where = f"{what}: its parameter '{given.name}'"
    if given.kind not in _KEYWORD:
        raise PluginError(f"{where} must have a name that it is called by")
    if given.annotation is given.empty:
        raise PluginError(f"{where} has no type")
    shape = _shape(where, _hint(where, run, given.annotation))
    if given.default is given.empty:
        return ToolParameter(shape=shape, required=True)
    if given.default is None:
        # What may be left out need not be null, too: agents get such a choice wrong.
        return ToolParameter(shape=_without_null(shape), required=False)
    return ToolParameter(
        shape=evolve(shape, schema={**shape.schema, "default": given.default}), required=False
    )


def _without_null(shape: Shape) -> Shape:
    if shape.optional is None:
        return shape
    plain = evolve(shape, schema=shape.optional.schema)
    description = shape.schema.get("description")
    return plain if description is None else described_shape(plain, description)


def _hint(where: str, run: Callable[..., Any], annotation: Any) -> Any:
    """The type itself, where a module keeps its annotations as text."""
    # One by one: the ContextKit's own is often there for type checkers only.
    holder = types.SimpleNamespace(__annotations__={"hint": annotation})
    known = getattr(inspect.unwrap(run), "__globals__", {})
    try:
        return typing.get_type_hints(holder, globalns=known, include_extras=True)["hint"]
    except Exception as error:
        raise PluginError(f"{where} has a type that is not there: {error}") from error


def _shape(where: str, hint: Any) -> Shape:
    try:
        return shape_of(hint)
    except (TypeError, NameError) as error:
        raise PluginError(f"{where}: {error}") from error


def _output(what: str, run: Callable[..., Any], annotation: Any) -> Shape:
    where = f"{what}: its result"
    if annotation is inspect.Signature.empty:
        raise PluginError(f"{where} has no type")
    hint = _hint(where, run, annotation)
    if typing.get_origin(hint) is ToolResult:
        hint = typing.get_args(hint)[0]
    is_typed = hasattr(hint, "json_types")
    if (
        hint is ToolResult
        or isinstance(hint, TypeVar)
        or (hasattr(hint, "as_dict") and not is_typed)
    ):
        return _OBJECT
    shape = _shape(where, hint)
    if shape.schema.get("type") != "object":
        raise PluginError(f"{where} must be an object, such as a TypedDict")
    return shape


async def call_tool(
    kit: ContextKit,
    offered: OfferedTool,
    arguments: Mapping[str, Any],
    progress: Callable[[Progress], None] | None = None,
) -> ToolResult[dict[str, Any]]:
    """Call a tool as an agent asked for it; a sync one runs in a thread.

    Args:
        kit: what it works on.
        offered: the tool.
        arguments: its arguments, as JSON values.
        progress: called as the work goes on, from any thread.

    Returns:
        The result as JSON values, and as text, both with their invisible characters shown.

    Raises:
        InvalidRequestError: an argument is missing, unknown, or not what it must be.
        SourceError: the tool failed, or gave what its type does not say.
        ContextKitError: whatever else the tool raises of these.
    """
    given = _checked_arguments(offered, arguments)
    if offered.reports:
        given["progress"] = progress or (lambda _: None)
    run = partial(offered.tool.run, kit, **given)
    try:
        result = await run() if inspect.iscoroutinefunction(run) else await in_thread(run)
        if inspect.isawaitable(result):
            result = await result
    except ContextKitError:
        raise
    except Exception as error:
        raise _failure(offered, in_words(error)) from error
    return _checked_result(offered, result)


def _checked_arguments(offered: OfferedTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    what = f"tool '{offered.tool.name}'"
    known = list(offered.parameters)
    for name in arguments:
        if name not in known:
            nearest = difflib.get_close_matches(name, known, n=1)
            all_of_them = f"it has: {', '.join(known)}" if known else "it has none"
            hint = f"did you mean '{nearest[0]}'?" if nearest else all_of_them
            raise InvalidRequestError(f"{what} has no parameter '{name}'; {hint}")
    missing = [
        name
        for name, parameter in offered.parameters.items()
        if parameter.required and name not in arguments
    ]
    if missing:
        raise InvalidRequestError(f"{what} needs {', '.join(missing)}")
    try:
        return {name: _read(offered, name, value) for name, value in arguments.items()}
    except UnfitError as error:
        raise InvalidRequestError(f"{what}: {error}") from None


def _read(offered: OfferedTool, name: str, value: object) -> Any:
    try:
        return offered.parameters[name].shape.read(value)
    except UnfitError as error:
        raise error.within(name) from None


def _checked_result(offered: OfferedTool, result: object) -> ToolResult[dict[str, Any]]:
    data, text = (result.data, result.text) if isinstance(result, ToolResult) else (result, None)
    if hasattr(data, "as_dict"):
        data = data.as_dict()
    try:
        offered.output.read(data)
        # Through JSON, so that the result has plain values alone.
        plain = visible_values(json.loads(json.dumps(data, allow_nan=False)))
    except UnfitError as error:
        raise _failure(offered, f"its result is not what its type says: {error}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise _failure(offered, f"its result is not JSON: {error}") from error
    if text is None:
        text = json.dumps(plain, ensure_ascii=False, indent=2)
    return ToolResult(plain, visible(text))


def _failure(offered: OfferedTool, reason: str) -> SourceError:
    return SourceError(offered.plugin, TOOLS_HOOK, f"tool '{offered.tool.name}': {reason}")
