"""Reading a TOML file that anybody may have written, in time that grows with its size."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

__all__ = ["MAX_TOML_BYTES", "parse_toml", "read_toml"]

MAX_TOML_BYTES = 1_000_000
"""The largest file of settings; `uv` and `poetry` keep their locks in files of their own."""

_MOST_PARTS = 64
# From the beginning of a key only: a run of letters is looked at once.
_DEEP_KEY = re.compile(
    r"(?<![\w.\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){%d}" % _MOST_PARTS  # noqa: UP031 - braces
)


def read_toml(file: Path) -> bytes:
    """Read a file of settings.

    Raises:
        OSError: it cannot be read.
        ValueError: it is larger than `MAX_TOML_BYTES`.
    """
    with file.open("rb") as stream:
        content = stream.read(MAX_TOML_BYTES + 1)
    if len(content) > MAX_TOML_BYTES:
        raise ValueError(f"larger than {MAX_TOML_BYTES:,} bytes")
    return content


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML.

    The parser takes the square of a dotted key's parts, and more.

    Raises:
        ValueError: it is no TOML, or has a key of more than 64 parts.
        RecursionError: it is nested too deep.
    """
    if deep := _DEEP_KEY.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise ValueError(f"a key has more than {_MOST_PARTS} parts (at line {line})")
    return tomllib.loads(text)
