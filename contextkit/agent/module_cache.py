"""Cache the code of all modules that a command imports in one file.

A cold command imports some 650 modules. Python looks for each one in folders, and opens and reads
a file of its own, which takes a twelfth of the command's time. Here a module takes one look at its
source's time. It is for processes of contextkit's own, not for hosts.
"""

from __future__ import annotations

import contextlib
import marshal
import mmap
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType
from typing import Any

from contextkit.disk_cache import cache_file, replace_cache

_FEW = 10
"""Do not rewrite the file for this many new modules or fewer."""

_MOST = 3000
"""Limit of cached modules, some three times what all commands together use."""

_LENGTH_BYTES = 8
_HEADER_BYTES = 16
"""What the file of a compiled module has before its code."""

_Place = tuple[str, int, int, bool, str, int, int]
"""The source of a module, its time and size, whether it is a package, and its compiled file; then
where its code begins and ends in the cache."""

_Found = tuple[str, tuple[_Place, bytes | memoryview]]


class _CachedLoader(SourceFileLoader):
    """Loads the code of a module from the cache, and all else as Python does."""

    def __init__(self, name: str, path: str, code: memoryview) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the module's code."""
        try:
            code = marshal.loads(self._code)  # noqa: S302 - as modules are
        except (EOFError, TypeError, ValueError):
            return super().get_code(fullname)
        return code if isinstance(code, CodeType) else super().get_code(fullname)


class _Finder:
    """Finds cached modules where Python would find them, if their sources have not changed.

    Attributes:
        file: the cache.
        folders: the folders whose modules may be cached.
        state: what changes when Python may find other modules than before.
        places: name -> the module's place.
        codes: the code of all modules.
        path: the folders of modules that are in no package.
        changed: names of modules whose sources have changed.
    """

    def __init__(self) -> None:
        self.file = cache_file(__file__, "modules")
        self.path = list(sys.path)
        self.folders = _folders()
        self.state = [sys.version, sys.flags.optimize, [(f, _written(f)) for f in self.folders]]
        self.places, self.codes = _read(self.file, self.state)
        self.changed: set[str] = set()

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,  # noqa: ARG002 - the import system gives it
    ) -> ModuleSpec | None:
        """Find a cached module; None for all others."""
        if name not in self.places:
            return None
        source, modified, size, is_package, compiled, first, last = self.places[name]
        own = source.rpartition(os.sep)[0]
        there = own.rpartition(os.sep)[0] if is_package else own
        if (sys.path != self.path) if path is None else (list(path) != [there]):
            return None
        if _written(source) != (modified, size):
            self.changed.add(name)
            return None
        loader = _CachedLoader(name, source, self.codes[first:last])
        spec = ModuleSpec(name, loader, origin=source, is_package=is_package)
        spec.has_location = True
        spec.cached = compiled
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(own)
        return spec

    def cache_new_modules(self) -> None:
        """Cache the imported modules that are not cached, or were other ones."""
        new = [spec for name, spec in _imported() if not self._knows(name)]
        folder = os.path.dirname(self.file)  # noqa: PTH120 - pathlib is not imported yet
        if len(new) <= _FEW or sys.dont_write_bytecode or not os.access(folder, os.W_OK):
            return
        found = dict(self._compiled(new))
        # Python may be unable to write the compiled files.
        if len(found) > _FEW:
            with contextlib.suppress(OSError, ValueError):
                self._write(found)

    def _knows(self, name: str) -> bool:
        return name in self.places and name not in self.changed

    def _compiled(self, new: Iterable[ModuleSpec]) -> Iterator[_Found]:
        for spec in new:
            source, compiled = spec.origin, spec.cached
            is_package = spec.submodule_search_locations is not None
            if source is None or compiled is None or (written := _written(source)) is None:
                continue
            # Never a module of the folder in which a command runs, which may be untrusted.
            if _base(source, spec.name.count(".") + 1 + is_package) not in self.folders:
                continue
            try:
                with open(compiled, "rb") as opened:  # noqa: PTH123 - as above
                    data = opened.read()
            except OSError:
                continue
            if data.startswith(_header(*written)):
                place = (source, *written, is_package, compiled, 0, 0)
                yield spec.name, (place, data[_HEADER_BYTES:])

    def _write(self, found: dict[str, tuple[_Place, bytes | memoryview]]) -> None:
        if len(self.places) + len(found) <= _MOST:
            cached = {n: (p, self.codes[p[-2] : p[-1]]) for n, p in self.places.items()}
            found = {**cached, **found}
        places, end = {}, 0
        for name, (place, code) in found.items():
            places[name] = (*place[:5], end, end := end + len(code))
        header = marshal.dumps([self.state, places])
        length = len(header).to_bytes(_LENGTH_BYTES, "little")
        replace_cache(self.file, [length, header, *(code for _, code in found.values())])


@contextlib.contextmanager
def cached_modules() -> Iterator[None]:
    """Use cached modules until the process ends, and cache new ones at the end of the block."""
    finder = use_module_cache()
    try:
        yield
    finally:
        finder.cache_new_modules()


def use_module_cache() -> _Finder:
    """Use cached modules until the process ends."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    return finder


def cache_modules() -> None:
    """Cache the modules that this process has imported, for other processes."""
    _Finder().cache_new_modules()


def _folders() -> list[str]:
    """Return the folders in which Python looks for modules.

    The first one is the script's or the current one, which has none of those that are cached.
    """
    return list(sys.path) if sys.flags.safe_path else sys.path[1:]


def _imported() -> Iterator[tuple[str, ModuleSpec]]:
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if spec is not None and spec.name == name and type(spec.loader) is SourceFileLoader:
            yield name, spec


def _base(source: str, levels: int) -> str:
    for _ in range(levels):
        source = source.rpartition(os.sep)[0]
    return source


def _written(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - hundreds of files
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _read(file: str, state: list[Any]) -> tuple[dict[str, _Place], memoryview]:
    with contextlib.suppress(OSError, EOFError, TypeError, ValueError):
        with open(file, "rb") as opened:  # noqa: PTH123 - pathlib is not imported yet
            data = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
        end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
        known, places = marshal.loads(data[_LENGTH_BYTES:end])  # noqa: S302 - as modules are
        if known == state:
            return places, data[end:]
    return {}, memoryview(b"")


def _header(modified: int, size: int) -> bytes:
    """Return what a compiled file begins with if it is that of a source."""
    numbers = (0, modified // 10**9, size)
    return MAGIC_NUMBER + b"".join((n & 0xFFFFFFFF).to_bytes(4, "little") for n in numbers)
