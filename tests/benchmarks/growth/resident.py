"""What this process takes of the machine's memory, and whether that grows."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

__all__ = ["resident_bytes", "slope"]


def resident_bytes() -> int:
    """The memory that this process has resident; where only that is known, its most ever."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return 1024 * int(line.split()[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def slope(at: Sequence[float], values: Sequence[float]) -> float:
    """How much a value grows for each step, by least squares; 0 for fewer than two."""
    if len(at) < 2:
        return 0.0
    return float(np.polyfit(np.asarray(at, dtype=float), np.asarray(values, dtype=float), 1)[0])
