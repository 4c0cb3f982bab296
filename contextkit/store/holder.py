"""Tell waiting processes who holds a shard, and whether it makes progress.

The file `holder` names the process that opened the shard last. Its time is a sign of life: the
holder renews it while it works and others wait. During some operations the engine lets no other
thread run; then the files that it writes are the signs of life.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from attrs import define, field, frozen

from contextkit.files import write_private

_BEAT_SECONDS = 1.0
_FILE = "holder"
_host = getattr(os, "uname", lambda: None)
_command: list[str] = []


def name_process(command: str) -> None:
    """Set the name under which other processes see this one."""
    _command[:] = [command]


def _name() -> str:
    if _command:
        return _command[0]
    # No arguments: they may be what a user typed.
    return Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"


def _here() -> str:
    found = _host()
    return found.nodename if found is not None else ""


@frozen
class Holder:
    """A process that holds a shard.

    Attributes:
        process: its id.
        host: the machine or container that it runs on.
        command: its name.
        since: the time at which it opened the shard, in seconds since 1970.
    """

    process: int
    host: str
    command: str
    since: float

    @classmethod
    def read(cls, folder: Path) -> Holder | None:
        """Read who opened a store's shard last; None if that is unknown."""
        try:
            process, since, host, command = (
                (folder / _FILE).read_text(encoding="utf-8").split("\n", 3)
            )
            return cls(int(process), host, command, float(since))
        except (OSError, ValueError):
            return None

    @property
    def name(self) -> str:
        """The process and its command."""
        host = "" if self.host == _here() else f" on {self.host}"
        return f"process {self.process}{host} ({self.command})"

    @property
    def seconds(self) -> int:
        """The seconds for which it has held the shard."""
        return max(0, round(time.time() - self.since))


@define
class Beat:
    """This process's signs of life.

    Attributes:
        folder: the store's folder.
    """

    folder: Path
    _last: float = field(default=0.0, init=False)

    def begin(self) -> None:
        """Name this process as the holder."""
        self._last = time.monotonic()
        with contextlib.suppress(OSError):
            write_private(
                self.folder / _FILE, f"{os.getpid()}\n{time.time():.3f}\n{_here()}\n{_name()}"
            )

    def go_on(self) -> None:
        """Give a sign of life, at most one a second."""
        now = time.monotonic()
        if now - self._last >= _BEAT_SECONDS:
            self._last = now
            with contextlib.suppress(OSError):
                os.utime(self.folder / _FILE)


def last_beat(folder: Path) -> int:
    """The time of the holder's last sign of life."""
    return _time(str(folder / _FILE))


def last_write(folder: Path) -> int:
    """The time at which a shard's files changed last."""
    newest = 0
    for shard in (folder / "shard", folder / "shard.new"):
        for path, _, files in os.walk(shard):
            newest = max(newest, _time(path), *(_time(f"{path}/{file}") for file in files))
    return newest


def _time(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116
    except OSError:
        return 0
