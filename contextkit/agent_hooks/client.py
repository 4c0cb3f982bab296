"""The life of a hook's process: an event on standard input, an answer on standard output.

It imports next to nothing before it knows that it must. Whatever goes wrong is logged, never
told to the agent, and the exit code is 0.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import time
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Mapping
from typing import Any

from contextkit.resident.client import ask, start, start_detached

__all__ = ["Show", "answer_as_json", "run_hook"]

Show = Callable[[Mapping[str, Any], Mapping[str, Any]], str]
"""Makes an agent's text from its event and an answer, which may be empty."""

_ANSWERED = {"SessionStart", "UserPromptSubmit"}
_OF_TOOLS = {"PostToolUse", "PostToolUseFailure"}
_DEFAULT_SECONDS = 1.0
_MOST_SECONDS = 30.0
_LOOK_SECONDS = 0.05
_MOST_BYTES = 8 * 1024 * 1024
_OFF = {"false", "0", "no", "off"}


def answer_as_json(_: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """The plain form: always a JSON object with `context` and `items`."""
    told = {"context": answer.get("context", ""), "items": answer.get("items", [])}
    return f"{json.dumps(told)}\n"


def run_hook(show: Show = answer_as_json) -> None:
    """Answer the event on standard input, and end the process with exit code 0.

    Args:
        show: writes an answer down as the agent reads it.
    """
    hook = _Hook(show, time.monotonic(), dict(os.environ))
    start_new_thread(hook.watch, ())
    hook.run()


class _Hook:
    """One event, from its first byte to the end of the process."""

    def __init__(self, show: Show, started: float, environment: Mapping[str, str]) -> None:
        self.show = show
        self.started = started
        self.environment = environment
        self.deadline = started + _seconds(environment)
        self.event: Mapping[str, Any] = {}
        self.output = 1
        self.wants_resident = False
        self.must_tell = False
        self._ended = allocate_lock()

    def run(self) -> None:
        """Answer, and end the process."""
        answer: Mapping[str, Any] = {}
        try:
            answer = self._answer()
        except BaseException as error:  # noqa: BLE001 - an agent is told nothing of it
            # What is wrong with the workspace is noted once; what took too long is told of.
            self.must_tell = self.must_tell and isinstance(error, TimeoutError)
            self._note("hook_failed", reason=" ".join(f"{type(error).__name__}: {error}".split()))
        self._end(answer)

    def watch(self) -> None:
        """End the process when its time is up, whatever it does."""
        while (left := self.deadline - time.monotonic()) > 0:
            # It may become less, too.
            time.sleep(min(left, _LOOK_SECONDS))
        self._end({}, late=True)

    # -- answering ------------------------------------------------------------------------

    def _answer(self) -> Mapping[str, Any]:
        if _says_no(self.environment, "CONTEXTKIT_HOOKS_ENABLED"):
            return {}
        self.event = _read_event()
        self.must_tell = bool(self.event.get("hook_event_name") and self.event.get("session_id"))
        may_be_answered = _may_be_answered(self.event)
        if not (may_be_answered or self.must_tell):
            return {}
        self.wants_resident = not _says_no(self.environment, "CONTEXTKIT_HOOKS_RESIDENT")
        answer = self._asked() if self.wants_resident else None
        if answer is not None:
            return answer
        # Only where there is something to say the settings are read that want one.
        self.wants_resident = self.wants_resident and may_be_answered
        return self._here() if may_be_answered else {}

    def _asked(self) -> Mapping[str, Any] | None:
        """The resident process's answer, or None where it gives none."""
        # How long it really may take is a setting, which the answer begins with.
        request = {
            "op": "hook",
            "event": {"cwd": os.getcwd(), **self.event},  # noqa: PTH109
            "waited": time.monotonic() - self.started,
        }
        # Whoever gets the question tells, even where it answers too late.
        must_tell, self.must_tell = self.must_tell, False
        message = ask(request, self.environment, _MOST_SECONDS, self._heard)
        if message is not None:
            self.wants_resident = False
        if message is None or message.get("starting"):
            self.must_tell = must_tell
            return None
        answer = message.get("answer")
        return answer if isinstance(answer, dict) else {}

    def _here(self) -> Mapping[str, Any]:
        """The answer of this process; what plugins print meanwhile is not part of it."""
        # The process ends before there is garbage worth looking for.
        gc.disable()
        # Starting threads for it takes longer than all that numpy has to do.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from contextkit.agent_hooks.here import answer_here

        self.output = os.dup(1)
        nothing = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nothing, stream)
        return answer_here(self.event, self.started, self._heard)

    def _heard(self, message: Mapping[str, Any]) -> None:
        limit = message.get("limit")
        if isinstance(limit, (int, float)):
            self.deadline = self.started + limit
        if message.get("resident") is False:
            self.wants_resident = False

    # -- the end --------------------------------------------------------------------------

    def _end(self, answer: Mapping[str, Any], *, late: bool = False) -> None:
        """Write the answer and end the process; whoever comes second waits for that."""
        self._ended.acquire()
        try:
            with contextlib.suppress(Exception):
                text = self.show(self.event, answer)
                _write(self.output, text.encode("utf-8", "backslashreplace"))
            if late:
                self._note("hook_late", seconds=round(self.deadline - self.started, 3))
            if self.wants_resident:
                folder = self.event.get("cwd")
                start(self.environment, folder if isinstance(folder, str) else os.getcwd())  # noqa: PTH109
            if self.must_tell:
                self._tell()
        finally:
            os._exit(0)

    def _tell(self) -> None:
        """Let a process of its own tell the plugins; nobody waits for it."""
        from contextkit.agent_hooks.telling import as_message

        message = as_message({"cwd": os.getcwd(), **self.event})  # noqa: PTH109
        if message is not None:
            start_detached(["contextkit.agent_hooks.telling"], self.environment, message)

    def _note(self, event: str, **fields: Any) -> None:
        with contextlib.suppress(Exception):
            from contextkit.agent_hooks.journal import note

            name = self.event.get("hook_event_name")
            note(event, hook=name, session=self.event.get("session_id"), **fields)


def _may_be_answered(event: Mapping[str, Any]) -> bool:
    name = event.get("hook_event_name")
    if not isinstance(name, str) or name not in _OF_TOOLS:
        return isinstance(name, str) and name in _ANSWERED
    # Its patterns take milliseconds to compile.
    from contextkit.agent_hooks.failing import failed_kind

    return failed_kind(event) is not None


def _seconds(environment: Mapping[str, str]) -> float:
    try:
        seconds = float(environment.get("CONTEXTKIT_HOOKS_TIMEOUT") or _DEFAULT_SECONDS)
    except ValueError:
        return _DEFAULT_SECONDS
    return seconds if 0 < seconds <= _MOST_SECONDS else _DEFAULT_SECONDS


def _says_no(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").strip().lower() in _OFF


def _read_event() -> Mapping[str, Any]:
    data = b"" if sys.stdin is None else sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"an event of over {_MOST_BYTES} bytes")
    event = json.loads(data)
    if not isinstance(event, dict):
        raise TypeError("an event is a JSON object")
    return event


def _write(output: int, data: bytes) -> None:
    while data:
        data = data[os.write(output, data) :]
