"""Execute some modules at the first use of one of their names, not when they are imported.

Other modules import these and rarely use them: `asyncio` imports `ssl`, and numpy documents its
functions. Together they take a thirteenth of the imports of a cold command. It is for processes of
contextkit's own, not for hosts.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

_RARELY_USED = frozenset(
    [
        "asyncio.sslproto",
        "calendar",
        "csv",
        "ctypes",
        "difflib",
        "html",
        "ipaddress",
        "numpy._core._add_newdocs",
        "numpy._core._add_newdocs_scalars",
        "pickle",
        "pkgutil",
        "random",
        "secrets",
        "shlex",
        "ssl",
        "tempfile",
    ]
)
"""Of these only numpy's change another module: they document its functions.

What they import uses none of them at once, so that two threads cannot wait for each other.
"""

_OF_IMPORTS = frozenset(
    ("__class__", "__dict__", "__file__", "__loader__", "__name__", "__path__", "__spec__")
)
"""Names that the import system looks up, and `inspect` for each module."""

_executing = RLock()


class _Deferred(ModuleType):
    """A module that has not been executed yet."""

    def __getattribute__(self, name: str) -> Any:
        if name not in _OF_IMPORTS:
            _execute(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        _execute(self)
        ModuleType.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        _execute(self)
        ModuleType.__delattr__(self, name)


def _execute(module: ModuleType) -> None:
    with _executing:
        deferring = module.__loader__
        if not isinstance(deferring, _Deferring) or deferring.begun:
            # Another thread has executed it, or the module uses itself.
            return
        deferring.begun = True
        try:
            deferring.loader.exec_module(module)
        except BaseException:
            deferring.begun = False
            raise
        vars(module)["__loader__"] = deferring.loader
        object.__setattr__(module, "__class__", ModuleType)


class _Deferring:
    """Loads a module without executing it.

    `importlib.util.LazyLoader` is not safe with threads in Python 3.11.
    """

    def __init__(self, spec: ModuleSpec, loader: Any) -> None:
        self.spec = spec
        self.loader = loader
        self.begun = False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as its own loader does."""
        module: ModuleType | None = self.loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Let the first use of a name execute the module."""
        self.spec.loader = self.loader
        module.__class__ = _Deferred


class _Finder:
    """Finds the modules that are rarely used."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module to defer; None for all others."""
        if name not in _RARELY_USED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Deferring(spec, spec.loader)  # type: ignore[assignment]
        return spec


def defer_imports() -> None:
    """Defer the modules that are rarely used, for the rest of the process."""
    sys.meta_path.insert(0, _Finder())
