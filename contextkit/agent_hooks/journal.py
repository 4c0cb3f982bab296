"""What hooks have to say, which an agent is never told: a file of JSON lines."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any

from contextkit.config.layers import data_folder
from contextkit.private_files import make_private_folder, open_private

__all__ = ["journal", "note"]

_MOST_BYTES = 1 << 20


def journal() -> Path:
    """The file: `hooks/hooks.log` beside the store; the one before ends in `.1`."""
    return data_folder() / "hooks" / "hooks.log"


def note(event: str, **fields: Any) -> None:
    """Append one line, without secrets; where that fails, nothing happens."""
    # Only what goes wrong is noted, and most hooks do not need it.
    from contextkit.secret_shapes import redacted

    line = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "event": event,
        "pid": os.getpid(),
        **redacted(fields),
    }
    with contextlib.suppress(OSError):
        file = journal()
        make_private_folder(file.parent)
        if file.exists() and file.stat().st_size > _MOST_BYTES:
            file.replace(file.with_suffix(".log.1"))
        number = open_private(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(number, f"{json.dumps(line, default=str)}\n".encode())
        finally:
            os.close(number)
