"""Keep what takes long to compute for the next process.

The files lie beside Python's compiled modules, under their names, and are trusted as those are.
Nothing is kept where Python writes no bytecode or may not write.
"""

from __future__ import annotations

import contextlib
import importlib.util
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Importing `typing` takes as long as reading what is kept.
    from collections.abc import Iterable
    from typing import Any


def kept_file(module: str, name: str) -> str:
    """Return the path of a kept file.

    Args:
        module: `__file__` of the module that it belongs to.
        name: its name, letters and digits.
    """
    return importlib.util.cache_from_source(module, optimization=name)


def read_kept(file: str, state: object) -> Any:
    """Return what was kept in this state; None if there is nothing, or of another state."""
    with contextlib.suppress(OSError, EOFError, TypeError, ValueError):
        with open(file, "rb") as opened:  # noqa: PTH123 - pathlib is not imported yet
            version, known, content = marshal.loads(opened.read())  # noqa: S302 - as modules are
        if version == sys.version and known == state:
            return content
    return None


def keep(file: str, state: object, content: object) -> None:
    """Keep something for the next process.

    Args:
        file: its path, by `kept_file`.
        state: all that it depends on but the version of Python; whatever `marshal` can write.
        content: what is kept; likewise.
    """
    if not sys.dont_write_bytecode:
        with contextlib.suppress(OSError, ValueError):
            replace_kept(file, [marshal.dumps([sys.version, state, content])])


def replace_kept(file: str, parts: Iterable[bytes | memoryview]) -> None:
    """Replace a kept file at once; other processes may be reading it.

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
