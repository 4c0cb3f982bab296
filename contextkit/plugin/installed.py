"""Find the installed plugins, and cache them while nothing is installed or removed.

`importlib.metadata` takes a twentieth of a cold command: it parses the metadata of all
distributions with the modules of `email`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
from importlib.machinery import PathFinder
from typing import Any

from attrs import astuple, frozen

from contextkit.disk_cache import cache_file, read_cache, write_cache
from contextkit.plugin.spec import ENTRY_POINT_GROUP

_METADATA = "importlib.metadata"
_UNKNOWN = "an unknown distribution"
_FOLDERS = (".dist-info", ".egg-info")
_POINTS = "entry_points.txt"


@frozen
class InstalledPlugin:
    """An entry point of a plugin.

    Attributes:
        name: the source's name.
        target: `module` or `module:attribute`.
        distribution: the name of its distribution.
        version: the version of its distribution.
    """

    name: str
    target: str
    distribution: str = _UNKNOWN
    version: str = ""

    def load(self) -> object:
        """Import the plugin; raises what its import raises."""
        module, _, attribute = self.target.partition(":")
        names = [name for name in attribute.strip().split(".") if name]
        return functools.reduce(getattr, names, importlib.import_module(module.strip()))


def installed_plugins() -> list[InstalledPlugin]:
    """Return the entry points of all installed plugins."""
    if _METADATA in sys.modules or not _is_usual():
        return _found()
    file, state = cache_file(__file__, "plugins"), [sys.path, _state()]
    plugins = read_cache(file, state)
    if plugins is not None:
        return [InstalledPlugin(*each) for each in plugins]
    found = _found()
    # What was installed meanwhile would be missed.
    if state[-1] == _state():
        write_cache(file, state, [astuple(each) for each in found])
    return found


def _found() -> list[InstalledPlugin]:
    import importlib.metadata

    plugins = []
    for point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        if point.dist is None:
            plugins.append(InstalledPlugin(point.name, point.value))
            continue
        # Each access parses the whole metadata file again, including the README.
        told = point.dist.metadata
        plugins.append(InstalledPlugin(point.name, point.value, told["Name"], told["Version"]))
    return plugins


def _is_usual() -> bool:
    """Whether distributions are found in the folders of the path only."""
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    return finders == [PathFinder] and all(not os.path.isfile(each) for each in sys.path)  # noqa: PTH113


def _state() -> list[Any]:
    """Return what changes when a distribution is installed, removed or edited."""
    found: list[Any] = []
    for folder in sys.path:
        with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
            paths = sorted(each.path for each in entries if each.name.endswith(_FOLDERS))
            found += [(each, _written(each), _written(f"{each}/{_POINTS}")) for each in paths]
    return found


def _written(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 - hundreds of files
    except OSError:
        return 0
