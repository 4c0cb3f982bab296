"""A real Redis on a socket in a folder, which tests may stop, hang and end."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

from attrs import define, field

__all__ = ["RedisServer"]

_ANSWERS_BY = 60.0


@define(eq=False)
class RedisServer:
    """A server without a port and without files.

    Attributes:
        folder: where its socket is.
        options: further ones of its command line.
    """

    folder: Path
    options: tuple[str, ...] = ()
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self.folder / "redis.sock"

    @property
    def url(self) -> str:
        """The setting `cache.url`."""
        return f"unix://{self.socket}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(
            [
                "redis-server",
                *("--port", "0", "--unixsocket", str(self.socket), "--save", ""),
                *("--appendonly", "no", "--dir", str(self.folder), *self.options),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _until(lambda: self.command("PING").startswith((b"+PONG", b"-NOAUTH")))

    def command(self, *words: str | bytes) -> bytes:
        """What it answers, as it comes over the wire; empty where it does not."""
        parts = [word if isinstance(word, bytes) else word.encode() for word in words]
        asked = b"*%d\r\n" % len(parts)
        asked += b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_ANSWERS_BY)
                connection.connect(str(self.socket))
                connection.sendall(asked)
                return connection.recv(1_000_000)
        except OSError:
            return b""

    def number(self, *words: str) -> int:
        """An answer that is a number."""
        return int(self.command(*words).strip(b":\r\n"))

    def names(self, pattern: str = "*") -> list[str]:
        """The names of its values."""
        lines = self.command("KEYS", pattern).decode().split("\r\n")
        return sorted(lines[2::2])

    def hang(self) -> None:
        """Let it answer nothing, and its connections stay open."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it answer again."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it without a word."""
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
        self._process = None
        self.socket.unlink(missing_ok=True)

    def _signal(self, number: int) -> None:
        if self._process is not None:
            self._process.send_signal(number)


def _until(true: Callable[[], bool]) -> None:
    import time

    deadline = time.monotonic() + _ANSWERS_BY
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError("redis-server does not answer")
        time.sleep(0.005)
