"""What many tests are made of: plugins, registries and kits' settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from contextkit import ContextItem, ContextKit, hookimpl
from contextkit.config.sections import SourceSettings
from contextkit.config.settings import Config
from contextkit.plugin.manager import SourceRegistry

OpenKit = Callable[..., ContextKit]
"""The fixture `open_kit`."""

KEYWORDS: dict[str, Any] = {"embedding.model": "none"}
"""Settings of a kit that loads no model."""


def make_plugin(items: Sequence[ContextItem] | None = None, **hooks: Any) -> ModuleType:
    """Make a plugin: `make_plugin(items, contextkit_weight=lambda request: 2.0)`.

    With `items` it is a source that finds them. A hook is a function, or the value that it
    returns. A function that is marked already, as a wrapper is, stays as it is.
    """
    plugin = ModuleType("plugin")
    if items is not None:
        hooks["contextkit_query"] = lambda request: list(items)
    for name, given in hooks.items():
        function = given if inspect.isroutine(given) else _returning(given, name)
        marked = hasattr(function, "contextkit_impl")
        setattr(plugin, name, function if marked else hookimpl(function))
    return plugin


def _returning(value: Any, hook: str) -> Callable[..., Any]:
    if hook == "contextkit_query":
        return lambda request: value
    return lambda: value


def make_registry(
    plugins: Mapping[str, object] | None = None,
    settings: Mapping[str, SourceSettings] | None = None,
) -> SourceRegistry:
    """Make a registry of plugins: `make_registry({"tide": plugin}, settings={…})`."""
    registry = SourceRegistry(Config(sources=settings or {}), entry_points=False)
    for name, plugin in (plugins or {}).items():
        registry.register(plugin, name)
    return registry
