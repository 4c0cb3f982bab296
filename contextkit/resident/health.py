"""What the resident process remembers of a project's sources."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contextkit.gathering.breakers import SourceHealth
from contextkit.resident.client import ask

__all__ = ["remembered_health"]

_SECONDS = 5.0


def remembered_health(
    folder: Path, environment: Mapping[str, str]
) -> dict[str, SourceHealth] | None:
    """Source -> how it fared in the resident process.

    Args:
        folder: a folder in the workspace.
        environment: variables; they say which resident process is asked.

    Returns:
        What it knows; None where there is none, or it has not this workspace open.
    """
    asked: dict[str, Any] = {"op": "health", "folder": str(folder.absolute())}
    rows = (ask(asked, environment, _SECONDS) or {}).get("health")
    return None if rows is None else {row["source"]: SourceHealth(**row) for row in rows}
