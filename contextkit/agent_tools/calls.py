"""Calling a tool: its arguments and its result checked, whatever it raises in words."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from contextkit.agent_tools.offers import TOOLS_HOOK, OfferedTool
from contextkit.agent_tools.shapes import UnfitError
from contextkit.background import in_thread
from contextkit.errors import ContextKitError, InvalidRequestError, SourceError, in_words
from contextkit.indexing import Progress
from contextkit.invisible import visible, visible_values
from contextkit.tools import ToolResult

if TYPE_CHECKING:
    from contextkit.kit import ContextKit

__all__ = ["call_tool"]


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
