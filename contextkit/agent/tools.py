"""Find the tools that plugins offer, and call them.

Arguments and results are checked against each tool's types.
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
        shape: its allowed values.
        required: whether it must be given.
    """

    shape: Shape
    required: bool


@frozen(kw_only=True)
class OfferedTool:
    """A tool with its parameters, its result, and its plugin.

    Attributes:
        plugin: the plugin's name.
        tool: the tool.
        parameters: its parameters by name, in the order of its function.
        output: its result, an object.
        reports: whether it reports progress.
    """

    plugin: str
    tool: Tool
    parameters: Mapping[str, ToolParameter]
    output: Shape
    reports: bool

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        taken = self.parameters.items()
        return {
            "type": "object",
            "properties": {name: dict(parameter.shape.schema) for name, parameter in taken},
            "required": [name for name, parameter in taken if parameter.required],
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON schema of its result."""
        return dict(self.output.schema)


def offered_tools(
    registry: SourceRegistry, failed: Failed = log_failure
) -> Mapping[str, OfferedTool]:
    """Return the tools of all enabled plugins, by name.

    Args:
        registry: the plugins.
        failed: called with plugin, hook and reason if a plugin's hook fails or its tools are
            invalid; the tools of that plugin are left out.

    Raises `PluginError` if two plugins offer a tool of the same name.
    """
    statuses = {status.name: status for status in registry.plugins}
    found: dict[str, OfferedTool] = {}
    for offer in _offers(registry, failed):
        name = offer.tool.name
        if name in found:
            others = (_named(statuses[each.plugin]) for each in (found[name], offer))
            raise PluginError(
                f"the tool '{name}' is offered by {' and by '.join(others)}: turn one of them off"
            )
        found[name] = offer
    return dict(sorted(found.items()))


def _named(status: PluginStatus) -> str:
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
    # pluggy drops None from the list of results.
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
    """Read a tool's parameters and result from its function's signature.

    Raises `PluginError` if its name, description or signature is invalid.
    """
    if not _NAME.fullmatch(tool.name):
        raise PluginError(
            f"tool: expected a name of up to 64 lower-case letters, digits and _, starting with "
            f"a letter, got '{tool.name}'"
        )
    what = f"tool '{tool.name}'"
    if not tool.description.strip():
        raise PluginError(f"{what} has no description: agents choose tools by it")
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
        raise PluginError(f"{where} must be a keyword parameter")
    if given.annotation is given.empty:
        raise PluginError(f"{where} has no type annotation")
    shape = _shape(where, _hint(where, run, given.annotation))
    if given.default is given.empty:
        return ToolParameter(shape=shape, required=True)
    if given.default is None:
        # Agents handle "optional" better than "optional or null".
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
    """Evaluate an annotation that may be stored as text."""
    # Each annotation separately: ContextKit's is often imported for type checkers only.
    holder = types.SimpleNamespace(__annotations__={"hint": annotation})
    known = getattr(inspect.unwrap(run), "__globals__", {})
    try:
        return typing.get_type_hints(holder, globalns=known, include_extras=True)["hint"]
    except Exception as error:
        raise PluginError(f"{where} has a type that cannot be found: {error}") from error


def _shape(where: str, hint: Any) -> Shape:
    try:
        return shape_of(hint)
    except (TypeError, NameError) as error:
        raise PluginError(f"{where}: {error}") from error


def _output(what: str, run: Callable[..., Any], annotation: Any) -> Shape:
    where = f"{what}: its result"
    if annotation is inspect.Signature.empty:
        raise PluginError(f"{where} has no type annotation")
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
    """Call a tool for an agent.

    A synchronous tool runs in a thread.

    Args:
        kit: the workspace's.
        offered: the tool.
        arguments: its arguments, as JSON values.
        progress: called with progress reports, from any thread.

    Returns:
        The result as JSON values and as text, with invisible characters escaped.

    Raises:
        InvalidRequestError: an argument is missing, unknown, or of the wrong type.
        SourceError: the tool failed, or its result does not fit its type.
        ContextKitError: the tool raised it.
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
        # Converting to JSON and back leaves only plain values.
        plain = visible_values(json.loads(json.dumps(data, allow_nan=False)))
    except UnfitError as error:
        raise _failure(offered, f"its result does not fit its type: {error}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise _failure(offered, f"its result is not JSON: {error}") from error
    if text is None:
        text = json.dumps(plain, ensure_ascii=False, indent=2)
    return ToolResult(plain, visible(text))


def _failure(offered: OfferedTool, reason: str) -> SourceError:
    return SourceError(offered.plugin, TOOLS_HOOK, f"tool '{offered.tool.name}': {reason}")
