"""Notice that the software of a running process has changed."""

from __future__ import annotations

import contextlib
import os
import sys
import time

from attrs import define, field

_INSTALLED = (".dist-info", ".egg-info", ".pth")
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_LIBRARY = os.path.dirname(os.__file__)  # noqa: PTH120 - compared as text


@define(eq=False)
class Software:
    """The distributions and source files that this process runs.

    An installation changes the folder of its distribution. The files of an editable one are
    compared themselves.
    """

    _began: int = field(factory=time.time_ns, init=False)
    _installed: object = field(init=False)
    _files: dict[str, tuple[int, int]] = field(factory=dict, init=False)
    _modules: int = field(default=0, init=False)

    @_installed.default
    def _look_at_distributions(self) -> object:
        return _distributions()

    def has_changed(self) -> bool:
        """Whether another process would run other software."""
        return _distributions() != self._installed or self._is_edited()

    def _is_edited(self) -> bool:
        if self._modules != len(sys.modules):
            self._modules = len(sys.modules)
            for file in _editable_files():
                if file not in self._files:
                    state = _state_of(file)
                    if state is not None and state[0] > self._began:
                        return True
                    self._files[file] = state or (0, 0)
        return any((_state_of(file) or (0, 0)) != state for file, state in self._files.items())


def _distributions() -> object:
    found = []
    for folder in sys.path:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            found += [
                (entry.path, entry.stat().st_mtime_ns)
                for entry in entries
                if entry.name.endswith(_INSTALLED)
            ]
    return sorted(found)


def _editable_files() -> list[str]:
    """List the loaded source files that were not copied into an environment."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return [
        file
        for file in files
        if isinstance(file, str)
        and file.endswith(".py")
        and not file.startswith(_LIBRARY)
        and not any(folder in file for folder in _PACKAGES)
    ]


def _state_of(file: str) -> tuple[int, int] | None:
    try:
        state = os.stat(file)  # noqa: PTH116 - hundreds of files for each answer
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size
