"""Memory, open files and processes of a soak, where the system has `/proc`."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from tests.benchmarks.growth.resident import slope
from tests.benchmarks.soak.place import Place

__all__ = ["Watch"]

_PROC = Path("/proc")
_RESIDENT = "contextkit.cli.background"
_KIT = "kit_worker.py"
_WARM_SECONDS = 120.0
"""In this time, models are loaded and the first index is made."""

_LEAST_SAMPLES = 6
_LEAST_SHOWN = 3
_GROWTH = 1.1
_SPARE_MB = 8.0
_SPARE_FILES = 8


@frozen
class Sample:
    """One look at a process."""

    seconds: float
    megabytes: float
    files: int


@define
class Watch:
    """The long-lived processes of a soak.

    Attributes:
        place: where they work.
        samples: (kind and user, process id) -> what was seen of it.
    """

    place: Place
    samples: dict[tuple[str, int], list[Sample]] = field(factory=dict)
    _began: float = field(factory=time.monotonic, init=False)

    def look(self) -> None:
        """Take a sample of each background server and kit."""
        for process, environment in self.processes():
            name = _name(process, environment)
            sample = self._sample(process) if name else None
            if sample is not None:
                self.samples.setdefault((name, process), []).append(sample)

    def processes(self) -> Iterator[tuple[int, Mapping[str, str]]]:
        """Yield every process of the soak, with its variables."""
        ours = f"CONTEXTKIT_STORE_PATH={self.place.store}".encode()
        for folder in _PROC.glob("[0-9]*"):
            try:
                parts = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if ours in parts:
                pairs = (part.decode(errors="replace").partition("=") for part in parts)
                yield int(folder.name), {name: value for name, _, value in pairs}

    def _sample(self, process: int) -> Sample | None:
        folder = _PROC / str(process)
        try:
            pages = int((folder / "statm").read_text(encoding="ascii").split()[1])
            files = sum(1 for _ in (folder / "fd").iterdir())
        except (OSError, IndexError):
            return None
        megabytes = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
        return Sample(time.monotonic() - self._began, megabytes, files)

    def rows(self) -> list[dict[str, Any]]:
        """A row of the table for each process."""
        return [
            {
                "process": name,
                "samples": len(found),
                "first, MB": found[0].megabytes,
                "median, MB": statistics.median(each.megabytes for each in found),
                "last, MB": found[-1].megabytes,
                "MB an hour": 3600 * _slope(found),
                "files: first": found[0].files,
                "most": max(each.files for each in found),
                "last": found[-1].files,
            }
            for (name, _), found in sorted(self.samples.items())
            if len(found) >= _LEAST_SHOWN
        ]

    @property
    def further(self) -> int:
        """Processes that were seen for a moment: servers that found another one running."""
        return sum(len(found) < _LEAST_SHOWN for found in self.samples.values())

    def problems(self) -> Iterator[str]:
        """What grew: the second half beside the first one, once all is warm."""
        for (name, process), seen in sorted(self.samples.items()):
            found = _warm(seen)
            if len(found) < _LEAST_SAMPLES:
                continue
            half = len(found) // 2
            first, last = found[:half], found[half:]
            before = statistics.median(each.megabytes for each in first)
            after = statistics.median(each.megabytes for each in last)
            if after > before * _GROWTH + _SPARE_MB:
                yield f"memory of {name} ({process}) grew from {before:.0f} to {after:.0f} MB"
            opened, still_open = (max(s.files for s in part) for part in (first, last))
            if still_open > opened + _SPARE_FILES:
                yield f"open files of {name} ({process}) grew from {opened} to {still_open}"


def _name(process: int, environment: Mapping[str, str]) -> str:
    try:
        command = (_PROC / str(process) / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
    user = environment.get("CONTEXTKIT_HOME", "")[-1:]
    if _RESIDENT in command.split("\0"):
        return f"server {user}"
    return f"kit {user}" if _KIT in command else ""


def _warm(samples: Sequence[Sample]) -> Sequence[Sample]:
    return [each for each in samples if each.seconds >= samples[0].seconds + _WARM_SECONDS]


def _slope(samples: Sequence[Sample]) -> float:
    """Megabytes a second; 0 in a run that is too short."""
    warm = _warm(samples)
    return slope([each.seconds for each in warm], [each.megabytes for each in warm])
