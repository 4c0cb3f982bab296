"""What every test has: folders and settings of its own, and makers of plugins and kits."""

from __future__ import annotations

import contextlib
import itertools
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import structlog

from contextkit import ContextKit
from contextkit.plugin.manager import SourceRegistry
from contextkit.testing import own_home, write_distribution
from tests.making import make_plugin, make_registry
from tests.running import (
    need,
    pytest_collection_finish,
    pytest_configure,
    pytest_runtest_call,
)

__all__ = [
    "home",
    "need",
    "pytest_collection_finish",
    "pytest_configure",
    "pytest_runtest_call",
]


@pytest.fixture(autouse=True)
def home() -> Iterator[Path]:
    """The folder that stands in for the user's: no test sees or touches the real ones."""
    structlog.reset_defaults()
    with own_home() as folder:
        yield folder


@pytest.fixture(name="make_plugin")
def _make_plugin() -> Callable[..., ModuleType]:
    """Makes a plugin: `make_plugin(items, contextkit_weight=lambda request: 2.0)`."""
    return make_plugin


@pytest.fixture(name="make_registry")
def _make_registry() -> Callable[..., SourceRegistry]:
    """Makes a registry of plugins: `make_registry({"tide": plugin}, settings={…})`."""
    return make_registry


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
