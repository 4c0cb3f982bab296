"""The tasks source of contextkit: the stack of what is being done, kept by session.

The module is the plugin: its hooks are those of `contextkit_tasks.source`. `TaskStack`
pushes, pops and shows; `assemble_task_context` assembles by the recipe `task`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from contextkit_tasks.source import (
    contextkit_check_settings,
    contextkit_commands,
    contextkit_dedup_keys,
    contextkit_format,
    contextkit_query,
    contextkit_recipes,
    contextkit_source,
    contextkit_tools,
    contextkit_weight,
)

if TYPE_CHECKING:
    from contextkit_tasks.assembling import assemble_task_context
    from contextkit_tasks.errors import EmptyStackError, InvalidTaskError
    from contextkit_tasks.frame import TaskFrame
    from contextkit_tasks.stack import TaskStack

__all__ = [
    "EmptyStackError",
    "InvalidTaskError",
    "TaskFrame",
    "TaskStack",
    "assemble_task_context",
    "contextkit_check_settings",
    "contextkit_commands",
    "contextkit_dedup_keys",
    "contextkit_format",
    "contextkit_query",
    "contextkit_recipes",
    "contextkit_source",
    "contextkit_tools",
    "contextkit_weight",
]

_HOME = {
    "EmptyStackError": "errors",
    "InvalidTaskError": "errors",
    "TaskFrame": "frame",
    "TaskStack": "stack",
    "assemble_task_context": "assembling",
}


def __getattr__(name: str) -> Any:
    # A process that only loads the plugin need not pay for what its commands use.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
