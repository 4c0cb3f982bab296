"""What every test has: folders and settings of its own, and makers of plugins and kits."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import structlog

from contextkit import ContextItem, ContextKit, hookimpl
from contextkit.config.sections import SourceSettings
from contextkit.config.settings import Config
from contextkit.plugin.manager import SourceRegistry
from contextkit.testing import own_home, write_distribution
from tests.running import need, pytest_configure, pytest_runtest_call

__all__ = ["home", "need", "pytest_configure", "pytest_runtest_call"]


@pytest.fixture(autouse=True)
def home() -> Iterator[Path]:
    """The folder that stands in for the user's: no test sees or touches the real ones."""
    structlog.reset_defaults()
    with own_home() as folder:
        yield folder


def _make_plugin(items: Sequence[ContextItem] | None = None, **hooks: Any) -> ModuleType:
    """A plugin with these hooks; with `items` it is a source that finds them.

    A hook is a function, or the value that it returns. A function that is marked already,
    as a wrapper is, stays as it is.
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


@pytest.fixture
def make_plugin() -> Callable[..., ModuleType]:
    """Makes a plugin: `make_plugin(items, contextkit_weight=lambda request: 2.0)`."""
    return _make_plugin


@pytest.fixture
def make_registry() -> Callable[..., SourceRegistry]:
    """Makes a registry of plugins: `make_registry({"tide": plugin}, settings={…})`."""

    def make(
        plugins: Mapping[str, object] | None = None,
        settings: Mapping[str, SourceSettings] | None = None,
    ) -> SourceRegistry:
        registry = SourceRegistry(Config(sources=settings or {}), entry_points=False)
        for name, plugin in (plugins or {}).items():
            registry.register(plugin, name)
        return registry

    return make


@pytest.fixture
def open_kit(tmp_path: Path) -> Iterator[Callable[..., ContextKit]]:
    """Opens a kit on a folder of its own, with a real store: `open_kit({"tide": plugin})`."""
    with contextlib.ExitStack() as stack:

        def open_one(plugins: Mapping[str, object] | None = None, **options: Any) -> ContextKit:
            folder = tmp_path / "workspace"
            folder.mkdir(exist_ok=True)
            kit = stack.enter_context(ContextKit.open(folder, entry_points=False, **options))
            for name, plugin in (plugins or {}).items():
                kit.register(plugin, name)
            return kit

        yield open_one


class Site:
    """A folder on `sys.path` with distributions that were really installed there."""

    _modules = itertools.count()

    def __init__(self, folder: Path) -> None:
        """An empty one."""
        self.folder = folder

    def install(self, distribution: str, name: str, code: str, attribute: str = "") -> str:
        """Install a distribution with one entry point; return its module's name."""
        module = f"contextkit_test_{next(self._modules)}"
        (self.folder / f"{module}.py").write_text(textwrap.dedent(code), encoding="utf-8")
        target = f"{module}:{attribute}" if attribute else module
        write_distribution(self.folder, distribution, {name: target}, version="1.2")
        return module


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Where a test installs its distributions."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return Site(folder)
