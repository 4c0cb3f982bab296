"""Running the `git` program so that nobody's configuration changes what it prints."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from io import BufferedReader
from typing import IO, cast

from attrs import define, field, frozen

from contextkit.errors import WorkspaceError
from contextkit.logs import get_logger

__all__ = ["MINIMUM_VERSION", "Answer", "Git", "GitFailedError"]

MINIMUM_VERSION = (2, 20)
_CHUNK = 1 << 16
# Where git finds its parts and its configuration (`safe.directory` among it), and where it
# stops looking for a repository. Everything else could point it at another repository.
_KEPT = re.compile(r"GIT_(CONFIG_\w+|EXEC_PATH|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)")
_SET = {
    "LC_ALL": "C",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_OPTIONS = (
    "--no-pager",
    "-c",
    "protocol.allow=never",
    "-c",
    "log.showRoot=true",
    "-c",
    "log.diffMerges=separate",
    "-c",
    f"diff.orderFile={os.devnull}",
)

_log = get_logger(__name__)


class GitFailedError(WorkspaceError):
    """git ran and reported a failure; the text has its own words."""


@frozen
class Answer:
    """What a short git command said: its exit code, its output, and its complaint."""

    code: int
    output: bytes
    complaint: str


@frozen
class Git:
    """The `git` program, pointed at one folder.

    Attributes:
        folder: the folder it works in, as `git -C` takes it.
        stall_seconds: after this long without a sign of life it is ended.
    """

    folder: str
    stall_seconds: float = 60.0

    def ask(self, *arguments: str) -> Answer:
        """Run a short command to its end, whatever its exit code.

        Raises `WorkspaceError` where git is missing or hangs.
        """
        run = _Run(self, arguments)
        output = b"".join(run.chunks(b""))
        return Answer(run.code, output, run.complaint)

    def stream(self, *arguments: str, given: bytes = b"") -> Generator[bytes, None, None]:
        """Run a command and yield its output as it comes; closing the iterator ends it.

        Args:
            arguments: the command and its options.
            given: what it reads from its standard input.

        Raises `GitFailedError` behind the last chunk where it reports a failure, and
        `WorkspaceError` where git is missing or hangs.
        """
        run = _Run(self, arguments)
        yield from run.chunks(given)
        if run.code != 0:
            raise GitFailedError(f"git {arguments[0]} failed in {self.folder}: {run.complaint}")

    def require_version(self) -> None:
        """Raise `WorkspaceError` where git is older than `MINIMUM_VERSION`."""
        said = self.ask("version").output.decode("utf-8", "replace").strip()
        found = re.search(r"(?<!\d)(\d++)\.(\d+)", said)
        if found is None or (int(found[1]), int(found[2])) < MINIMUM_VERSION:
            needed = ".".join(map(str, MINIMUM_VERSION))
            raise WorkspaceError(
                f"commits are read with git {needed} or newer, `git version` says {said!r}"
            )


@define(eq=False)
class _Run:
    """One process: started, read to its end or abandoned, and always gone afterwards."""

    git: Git
    arguments: Sequence[str]
    code: int = field(default=-1, init=False)
    complaint: str = field(default="", init=False)
    _waiting_since: float | None = field(default=None, init=False)
    _hung: bool = field(default=False, init=False)
    _over: threading.Event = field(factory=threading.Event, init=False)

    def chunks(self, given: bytes) -> Generator[bytes, None, None]:
        # Files rather than pipes at both sides: git can neither fill one nor wait for one.
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
            stdin.write(given)
            stdin.seek(0)
            process = self._start(stdin, stderr)
            watch = threading.Thread(target=self._watch, args=(process,), daemon=True)
            watch.start()
            try:
                while chunk := self._next(process):
                    yield chunk
                self.code = self._wait(process)
            finally:
                self._over.set()
                process.kill()
                process.wait()
                watch.join()
                _pipe(process).close()
            stderr.seek(0)
            self.complaint = _complaint(stderr.read())
        if self._hung:
            raise WorkspaceError(
                f"git {self.arguments[0]} said nothing for {self.git.stall_seconds:g} s in "
                f"{self.git.folder} and was ended; [sources.commits] git_timeout gives it longer"
            )

    def _start(self, stdin: IO[bytes], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
        command = ["git", *_OPTIONS, "-C", self.git.folder, *self.arguments]
        try:
            return subprocess.Popen(
                command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=_environment()
            )
        except OSError as error:
            raise WorkspaceError(
                f"git could not be started ({error.strerror}): install it, or switch its source "
                f"off with [sources.commits] enabled = false"
            ) from error

    def _next(self, process: subprocess.Popen[bytes]) -> bytes:
        self._waiting_since = time.monotonic()
        chunk = _pipe(process).read1(_CHUNK)
        self._waiting_since = None
        return chunk

    def _wait(self, process: subprocess.Popen[bytes]) -> int:
        self._waiting_since = time.monotonic()
        return process.wait()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        # Only while somebody waits for git does its silence count, not while its reader works.
        limit = self.git.stall_seconds
        while not self._over.wait(limit / 8):
            since = self._waiting_since
            if since is not None and time.monotonic() - since >= limit:
                self._hung = True
                process.kill()
                _log.warning("git_hung", arguments=list(self.arguments), seconds=limit)
                return


def _pipe(process: subprocess.Popen[bytes]) -> BufferedReader:
    return cast("BufferedReader", process.stdout)


def _environment() -> Mapping[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or _KEPT.fullmatch(name)
    }
    kept.pop("LANGUAGE", None)
    return {**kept, **_SET}


def _complaint(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    told = [line for line in lines if line.startswith(("fatal:", "error:"))]
    if told:
        return told[-1].partition(": ")[2]
    return next((line for line in reversed(lines) if line), "no reason given")
