"""Open kits of chosen plugins, and call their tools."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from contextkit.agent.tools import call_tool, offered_tools
from contextkit.config.load import load_config
from contextkit.kit import ContextKit
from contextkit.models.source import ToolResult
from contextkit.plugin.manager import SourceRegistry
from contextkit.testing.surroundings import own_home
from contextkit.workspace.find import PROJECT_FILE, Workspace


@contextlib.contextmanager
def open_kit(
    workspace: Path,
    plugins: Mapping[str, object],
    *,
    settings: Mapping[str, Any] | None = None,
) -> Iterator[ContextKit]:
    """Open a kit with these plugins and an empty store.

    The kit has no other plugins, and is closed at the end. It reads only the given settings and
    the workspace's own `contextkit.toml`. A source has 30 seconds to answer, unless these set
    another timeout.

    Args:
        workspace: the workspace's root, created where it is missing.
        plugins: name -> module, class or object.
        settings: dotted key -> value. `{"embedding.model": "none"}` searches by keywords alone,
            which is quick.

    Raises:
        ConfigError: where a setting is wrong.
        PluginError: where a plugin cannot be registered.
    """
    workspace.mkdir(parents=True, exist_ok=True)
    file = workspace / PROJECT_FILE
    found = Workspace(workspace.resolve(), file if file.is_file() else None)
    with own_home():
        config = load_config(found, environment={}, flags=settings)
        with ContextKit.over(found, config, SourceRegistry(config, entry_points=False)) as kit:
            for name, plugin in plugins.items():
                kit.register(plugin, name)
            yield kit


@frozen(eq=False)
class ToolCaller:
    """Calls tools as an agent's host does.

    For example, `await call("count_tides", word="spring")`.

    Attributes:
        kit: the kit.
    """

    kit: ContextKit

    async def __call__(self, tool: str, /, **arguments: Any) -> ToolResult[dict[str, Any]]:
        """Call a tool, and return its result.

        Args:
            tool: its name.
            arguments: as the host gives them.

        Raises:
            LookupError: where no plugin offers such a tool.
            InvalidRequestError: where an argument is missing, unknown or invalid.
            ContextKitError: any other error of the tool, as `SourceError` where it is not one.
        """
        return await call_tool(self.kit, offered_tools(self.kit.registry)[tool], arguments)
