"""Cache what takes long to compute in files, for the next process.

The files lie beside Python's compiled modules, under their names, and are trusted as those are.
Nothing is cached where Python writes no bytecode or may not write.
"""

from __future__ import annotations

import contextlib
import importlib.util
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Importing `typing` takes as long as reading a cache.
    from collections.abc import Iterable
    from typing import Any


def cache_file(module: str, name: str) -> str:
    """Return the path of a cache.

    Args:
        module: `__file__` of the module that it belongs to.
        name: its name, letters and digits.
    """
    return importlib.util.cache_from_source(module, optimization=name)


def read_cache(file: str, state: object) -> Any:
    """Return what was cached in this state; None if there is nothing, or of another state."""
    with contextlib.suppress(OSError, EOFError, TypeError, ValueError):
        with open(file, "rb") as opened:  # noqa: PTH123 - pathlib is not imported yet
            version, known, content = marshal.loads(opened.read())  # noqa: S302 - as modules are
        if version == sys.version and known == state:
            return content
    return None


def write_cache(file: str, state: object, content: object) -> None:
    """Cache something for the next process.

    Args:
        file: its path, by `cache_file`.
        state: all that it depends on but the version of Python; whatever `marshal` can write.
        content: what is cached; likewise.
    """
    if not sys.dont_write_bytecode:
        with contextlib.suppress(OSError, ValueError):
            replace_cache(file, [marshal.dumps([sys.version, state, content])])


def replace_cache(file: str, parts: Iterable[bytes | memoryview]) -> None:
    """Replace a cache at once; other processes may be reading it.

    Raises `OSError` if that fails; then the old file stays, and nothing else.
    """
    new = f"{file}.{os.getpid()}"
    try:
        with open(new, "wb") as opened:  # noqa: PTH123 - as above
            opened.writelines(parts)
        os.replace(new, file)  # noqa: PTH105 - as above
    except OSError:
        # Windows replaces no file that is mapped.
        with contextlib.suppress(OSError):
            os.unlink(new)  # noqa: PTH108 - as above
        raise
