"""Records of agents' sessions, and the log of their hooks.

A session's file lists the items that it was shown. The log has JSON lines with errors, which
agents never see.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, define, field, frozen

from contextkit.agent.events import PROMPT
from contextkit.config.load import data_folder
from contextkit.files import make_private_folder, open_private, replace_file, write_private

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,80}")
_KEPT_DAYS = 7
_MOST_SESSIONS = 500

_MOST_BYTES = 1 << 20


@frozen
class Waiting:
    """An answer that came too late for its event, and waits for a later one.

    Attributes:
        event: the name of the event that it answers.
        context: the text.
        items: the origin of each item.
        tokens: the tokens of the text.
    """

    event: str
    context: str
    items: tuple[Mapping[str, Any], ...]
    tokens: int

    @classmethod
    def of(cls, event: str, answer: Mapping[str, Any]) -> Waiting:
        """Keep an event's answer, or what was written of it."""
        items, tokens = tuple(answer["items"]), int(answer["tokens"])
        return cls(event, str(answer["context"]), items, tokens)

    @staticmethod
    def keys_of(items: Sequence[Mapping[str, Any]]) -> list[str]:
        """List the items as `SOURCE:ID`."""
        return [f"{item['source']}:{item['id']}" for item in items]


@define(kw_only=True)
class Session:
    """The record of one session.

    Attributes:
        workspace: the root folder of its last workspace.
        shown: the items that it was shown, as `SOURCE:ID`.
        failures: the kinds of failing commands that it was warned about.
        off: whether contextkit is switched off for it.
        prompted: the time of its last prompt that was searched for, by `time.time`.
        waiting: an answer that the next event without one of its own gets, or None.
    """

    workspace: str = ""
    shown: set[str] = field(factory=set)
    failures: set[str] = field(factory=set)
    off: bool = False
    prompted: float = 0.0
    waiting: Waiting | None = None

    def forget(self) -> None:
        """Start over when the agent has lost its context."""
        self.shown, self.failures, self.waiting = set(), set(), None

    def turn_to_prompt(self) -> None:
        """Note a new prompt, which the answer to an earlier one may not fit."""
        self.prompted = time.time()
        if self.waiting is not None and self.waiting.event == PROMPT:
            self.drop_waiting()

    def keep(self, waiting: Waiting) -> None:
        """Keep an answer for a later event."""
        self.waiting = waiting
        self.shown |= {*Waiting.keys_of(waiting.items)}

    def drop_waiting(self) -> None:
        """Forget the answer that waits."""
        if self.waiting is not None:
            self.shown -= {*Waiting.keys_of(self.waiting.items)}
            self.waiting = None

    def deliver(self) -> dict[str, Any]:
        """Take the answer that waits; empty if there is none."""
        waiting, self.waiting = self.waiting, None
        if waiting is None:
            return {}
        items = list(waiting.items)
        return {"context": waiting.context, "items": items, "tokens": waiting.tokens}


def _folder() -> Path:
    return data_folder() / "hooks" / "sessions"


def _file(session_id: str) -> Path:
    # An id comes from outside and may not be safe as a file name.
    name = session_id
    if not _PLAIN.fullmatch(name):
        name = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
    return _folder() / f"{name}.json"


@contextlib.contextmanager
def open_session(session_id: str, seconds: float) -> Iterator[Session]:
    """Lock a session's record and save its changes.

    Args:
        session_id: the agent's id of the session.
        seconds: how long to wait for another event of the session.

    Raises:
        TimeoutError: another event took longer.
    """
    from filelock import FileLock, Timeout

    file = _file(session_id)
    make_private_folder(file.parent)
    try:
        with FileLock(file.with_suffix(".lock"), mode=0o600).acquire(timeout=max(seconds, 0.0)):
            session = _read(file)
            before = _as_json(session)
            yield session
            if (after := _as_json(session)) != before or not file.exists():
                _write(file, after)
            else:
                # Unchanged, but record that the session was active.
                with contextlib.suppress(OSError):
                    os.utime(file)
    except Timeout as error:
        raise TimeoutError("another event of this session is being answered") from error


def read_session(session_id: str) -> Session:
    """Read a session's record without locking it."""
    return _read(_file(session_id)) if session_id else Session()


def switch_off(session_id: str, off: bool) -> None:
    """Switch contextkit off for a session, or on again.

    Raises `TimeoutError` if another event of the session takes too long.
    """
    with open_session(session_id, 5.0) as session:
        session.off = off


def latest_session(workspace: str) -> str | None:
    """The id of a workspace's most recent session, or None."""
    files = _latest_first()
    return next((file.stem for file in files if _read(file).workspace == workspace), None)


def prune_sessions() -> None:
    """Remove sessions older than a week and surplus ones."""
    oldest = time.time() - _KEPT_DAYS * 24 * 3600
    for position, file in enumerate(_latest_first()):
        if position >= _MOST_SESSIONS or _seen(file) < oldest:
            for part in (file, file.with_suffix(".lock")):
                with contextlib.suppress(OSError):
                    part.unlink(missing_ok=True)
    # A process that was killed leaves a temporary file, or a lock without a session.
    for part in [*_folder().glob(".*"), *_folder().glob("*.lock")]:
        if _seen(part) < oldest and not part.with_suffix(".json").exists():
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def _latest_first() -> list[Path]:
    return sorted(_folder().glob("*.json"), key=_seen, reverse=True)


def _seen(file: Path) -> float:
    """When a session was last active.

    Returns infinity if its file was just deleted.
    """
    with contextlib.suppress(OSError):
        return file.stat().st_mtime
    return math.inf


def _read(file: Path) -> Session:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return Session(
            workspace=str(data["workspace"]),
            shown={str(key) for key in data["shown"]},
            failures={str(kind) for kind in data["failures"]},
            off=data["off"] is True,
            prompted=float(data["prompted"]),
            waiting=data["waiting"] and Waiting.of(data["waiting"]["event"], data["waiting"]),
        )
    except (OSError, ValueError, LookupError, TypeError):
        return Session()


def _as_json(session: Session) -> str:
    return json.dumps(
        {
            "workspace": session.workspace,
            "shown": sorted(session.shown),
            "failures": sorted(session.failures),
            "off": session.off,
            "prompted": session.prompted,
            "waiting": session.waiting and asdict(session.waiting),
        }
    )


def _write(file: Path, text: str) -> None:
    made = file.with_name(f".{file.name}.{os.getpid()}")
    write_private(made, text)
    replace_file(made, file)


def log_folder() -> Path:
    """The folder of the hooks' logs, beside the store."""
    return data_folder() / "hooks"


def journal() -> Path:
    """The log file, `hooks/hooks.log` beside the store.

    The previous one ends in `.1`.
    """
    return log_folder() / "hooks.log"


def note(event: str, **fields: Any) -> None:
    """Append a line without secrets; errors are ignored."""
    # Imported here because most hooks log nothing.
    from contextkit.text.secrets import redacted

    line = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "event": event,
        "pid": os.getpid(),
        **redacted(fields),
    }
    append_line(journal(), line, _MOST_BYTES)


def append_line(file: Path, data: Mapping[str, Any], most_bytes: int) -> None:
    """Append JSON to a private file; errors are ignored.

    Several processes may do so at once. A file that is longer than `most_bytes` is renamed first,
    and takes the place of the one before it.
    """
    with contextlib.suppress(OSError):
        make_private_folder(file.parent)
        if _is_longer(file, most_bytes):
            _rotate(file, most_bytes)
        number = open_private(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(number, f"{json.dumps(data, default=str)}\n".encode())
        finally:
            os.close(number)


def _is_longer(file: Path, most_bytes: int) -> bool:
    try:
        return file.stat().st_size > most_bytes
    except FileNotFoundError:
        return False


def _rotate(file: Path, most_bytes: int) -> None:
    """Rename a long file, unless another process is doing so."""
    # Imported here because it is seldom needed, and hooks start often.
    from filelock import FileLock

    # The lock's `Timeout` is an OSError, too.
    lock = FileLock(file.with_suffix(".lock"), mode=0o600)
    with contextlib.suppress(OSError), lock.acquire(blocking=False):
        # What another process has begun since must not replace the long file.
        if _is_longer(file, most_bytes):
            file.replace(file.with_suffix(f"{file.suffix}.1"))
