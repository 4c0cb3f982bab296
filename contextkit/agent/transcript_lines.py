"""Read files of JSON lines that another program may still be writing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from contextkit.models.transcripts import LeftOut

_LONGEST = 64 << 20

DAMAGED = LeftOut("damaged line")
LONG = LeftOut("line over 64 MB")


def json_lines(file: Path) -> Iterator[tuple[int, dict[str, Any] | LeftOut]]:
    """Yield the number of each line, from 1, and its object.

    A line that is no JSON object gives `LeftOut`. An unfinished last line is not yielded: the
    program that writes the file will complete it. Empty lines are skipped.

    Args:
        file: the file, in UTF-8.

    Raises `OSError` if the file cannot be read.
    """
    with file.open("rb") as stream:
        number = 0
        while line := stream.readline(_LONGEST):
            number += 1
            if len(line) == _LONGEST and not line.endswith(b"\n"):
                while line and not line.endswith(b"\n"):
                    line = stream.readline(_LONGEST)
                yield number, LONG
                continue
            parsed = _object(line)
            # The last line may have no line end, and be whole.
            if isinstance(parsed, dict) or (line.endswith(b"\n") and line.strip()):
                yield number, parsed


def _object(line: bytes) -> dict[str, Any] | LeftOut:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return DAMAGED
    return parsed if isinstance(parsed, dict) else DAMAGED
