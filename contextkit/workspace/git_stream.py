"""Read a process's output as it comes, with a timeout."""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from io import BufferedReader
from typing import cast

from attrs import define, field

from contextkit.logs import get_logger

_CHUNK = 1 << 16
_log = get_logger(__name__)


@define(eq=False)
class Stream:
    """One process, always ended after its output.

    Attributes:
        command: the program and its arguments.
        environment: all of its variables.
        timeout: seconds without output after which it is stopped.
        code: its exit code.
        stderr: its standard error, available at its end.
        timed_out: whether it was stopped after the timeout.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    timeout: float
    code: int = field(default=-1, init=False)
    stderr: bytes = field(default=b"", init=False)
    timed_out: bool = field(default=False, init=False)
    _waiting_since: float | None = field(default=None, init=False)
    _over: threading.Event = field(factory=threading.Event, init=False)

    def chunks(self, given: bytes) -> Generator[bytes, None, None]:
        """Start the process and yield its output.

        Raises `OSError` if it fails to start.
        """
        # Files instead of pipes, so that the process can neither fill nor wait for one.
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
            stdin.write(given)
            stdin.seek(0)
            process = subprocess.Popen(
                self.command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=self.environment,
            )
            pipe = cast("BufferedReader", process.stdout)
            watch = threading.Thread(target=self._watch, args=(process,), daemon=True)
            watch.start()
            try:
                while chunk := self._next(pipe):
                    yield chunk
                self._waiting_since = time.monotonic()
                self.code = process.wait()
            finally:
                self._over.set()
                process.kill()
                process.wait()
                watch.join()
                pipe.close()
            stderr.seek(0)
            self.stderr = stderr.read()

    def _next(self, pipe: BufferedReader) -> bytes:
        self._waiting_since = time.monotonic()
        chunk = pipe.read1(_CHUNK)
        self._waiting_since = None
        return chunk

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        # The timeout counts while a chunk is awaited, not while the last one is processed.
        while not self._over.wait(self.timeout / 8):
            since = self._waiting_since
            if since is not None and time.monotonic() - since >= self.timeout:
                self.timed_out = True
                process.kill()
                _log.warning("git_timed_out", seconds=self.timeout)
                return
