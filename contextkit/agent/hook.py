"""The hook's process: read an event, print an answer.

Modules are imported only when needed. Errors are logged and never shown to the agent, and the
exit code is always 0.
"""

from __future__ import annotations

import gc
import os
import sys
import time

from contextkit.agent.client import ask
from contextkit.agent.small_json import from_json, to_json
from contextkit.agent.supervisor import COLD_SECONDS, Ending, supervise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from contextkit.agent.supervisor import Say, Show

    Read = Callable[[Mapping[str, Any]], Mapping[str, Any]]

_DEFAULT_SECONDS = 1.0
_LIMIT = "CONTEXTKIT_HOOKS_TIMEOUT"
_PROMPT = "UserPromptSubmit"
_ANSWERED = {"SessionStart", _PROMPT, "PreCompact"}
_OF_TOOLS = {"PostToolUse", "PostToolUseFailure"}
_MOST_SECONDS = 30.0
_MOST_BYTES = 8 * 1024 * 1024
_LONGEST_NAME = 4096
_OFF = {"false", "0", "no", "off"}


def answer_as_json(_: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Format an answer as JSON with `context` and `items`."""
    told = {"context": answer.get("context", ""), "items": answer.get("items", [])}
    return f"{to_json(told)}\n"


def run_hook(show: Show = answer_as_json, read: Read = dict, agent: str = "") -> None:
    """Answer the event on standard input and exit with 0.

    Args:
        show: formats the answer for the agent.
        read: translates the agent's event to the fields of Claude Code.
        agent: the agent's name, for the record of what agents were given.
    """
    started, environment = time.monotonic(), dict(os.environ)
    ending = Ending(show, environment, started, _seconds(environment))
    supervise(lambda say: _Hook(ending, say, read, agent).run(), ending)


class _Hook:
    """Processes one event from standard input."""

    def __init__(self, ending: Ending, say: Say, read: Read, agent: str) -> None:
        self.ending = ending
        self.say = say
        self.read = read
        self.agent = agent
        self.started = ending.started
        self.environment = ending.environment
        self.event: Mapping[str, Any] = {}

    def run(self) -> None:
        """Build the answer and send it to the supervisor."""
        answer: Mapping[str, Any] = {}
        try:
            answer = self._answer()
        except BaseException as error:  # noqa: BLE001 - agents never see errors
            # Plugins still get events that were answered late, but none after other errors.
            self.ending.late = isinstance(error, TimeoutError)
            if not self.ending.late:
                self.ending.message = None
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            self.ending.note("hook_late" if self.ending.late else "hook_failed", reason=reason)
        text = ""
        try:
            text = self.ending.show(self.event, answer)
        except Exception as error:  # noqa: BLE001 - agents never see errors
            self.ending.note("hook_failed", reason=f"{type(error).__name__}: {error}")
        ending = self.ending
        said = {"text": text, "late": ending.late, "wants_resident": ending.wants_resident}
        self.say({**said, "message": ending.message})

    def _answer(self) -> Mapping[str, Any]:
        if _says_no(self.environment, "CONTEXTKIT_HOOKS_ENABLED"):
            return {}
        event = self.read(_read_event())
        folder = event.get("cwd") or os.getcwd()  # noqa: PTH109 - pathlib costs 5 ms
        self.event = {**event, "cwd": folder, "agent": self.agent}
        told = bool(self.event.get("hook_event_name") and self.event.get("session_id"))
        asks = not _says_no(self.environment, "CONTEXTKIT_HOOKS_RESIDENT")
        self.say({"event": _named(self.event), "wants_resident": asks})
        may_be_answered = _may_be_answered(self.event)
        if not (may_be_answered or told):
            self.ending.wants_resident = False
            return {}
        if asks:
            # The server passes the event on to plugins even if its answer is late.
            answer = self._asked()
            if answer is not None:
                return answer
        if self.event.get("hook_event_name") == _PROMPT and not self.environment.get(_LIMIT):
            # The limit in a file is not known yet.
            self.say({"limit": COLD_SECONDS})
        # Settings are only read for an event that may have an answer.
        self.ending.wants_resident &= may_be_answered
        if told:
            self._tell_at_the_end()
        return self._here() if may_be_answered else {}

    def _asked(self) -> Mapping[str, Any] | None:
        """Ask the background server; None if it gives no answer."""
        # The first message of the server gives the configured time limit.
        request = {
            "op": "hook",
            "event": self.event,
            "waited": time.monotonic() - self.started,
        }
        message = ask(request, self.environment, _MOST_SECONDS, self._heard)
        if message is None:
            return None
        self.ending.wants_resident = False
        if message.get("starting"):
            return None
        answer = message.get("answer")
        return answer if isinstance(answer, dict) else {}

    def _tell_at_the_end(self) -> None:
        """Start a process that passes the event on to plugins."""
        from contextkit.agent.notify import as_message

        message = as_message(self.event)
        if message is not None:
            said = {"message": message.decode("ascii")}
            self.say({**said, "wants_resident": self.ending.wants_resident})

    def _here(self) -> Mapping[str, Any]:
        """Answer in this process, hiding the output of plugins."""
        # The process ends before garbage collection would pay off.
        gc.disable()
        # Starting threads takes longer than the work of numpy here.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from contextkit.agent.deferred import defer_imports
        from contextkit.agent.generated import use_cached_code
        from contextkit.agent.module_cache import use_module_cache
        from contextkit.store.read_ahead import begin_reading_ahead

        begin_reading_ahead(self.environment)
        use_module_cache()
        defer_imports()
        use_cached_code()
        from contextkit.agent.answer import answer_here

        nothing = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nothing, stream)
        answer = answer_here(self.event, self.started, self._heard)
        self.ending.late = bool(answer.get("late"))
        return answer

    def _heard(self, message: Mapping[str, Any]) -> None:
        limit = message.get("limit")
        if isinstance(limit, (int, float)) and self.started + limit != self.ending.deadline:
            self.say({"limit": limit})
        if message.get("resident") is False:
            self.say({"wants_resident": False})


def _named(event: Mapping[str, Any]) -> dict[str, str]:
    """The fields that identify an event, without overlong ones."""
    names = {name: event.get(name) for name in ("hook_event_name", "session_id", "cwd")}
    return {
        name: value
        for name, value in names.items()
        if isinstance(value, str) and len(value) <= _LONGEST_NAME
    }


def _may_be_answered(event: Mapping[str, Any]) -> bool:
    name = event.get("hook_event_name")
    if not isinstance(name, str) or name not in _OF_TOOLS:
        return isinstance(name, str) and name in _ANSWERED
    given = event.get("tool_input")
    if not (isinstance(given, dict) and given.get("command")):
        return False
    # Compiling its patterns takes milliseconds.
    from contextkit.agent.failures import failed_kind

    return failed_kind(event) is not None


def _seconds(environment: Mapping[str, str]) -> float:
    try:
        seconds = float(environment.get(_LIMIT) or _DEFAULT_SECONDS)
    except ValueError:
        return _DEFAULT_SECONDS
    return seconds if 0 < seconds <= _MOST_SECONDS else _DEFAULT_SECONDS


def _says_no(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").strip().lower() in _OFF


def _read_event() -> Mapping[str, Any]:
    data = b"" if sys.stdin is None else sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"event: expected at most {_MOST_BYTES} bytes, got more")
    event = from_json(data)
    if not isinstance(event, dict):
        raise TypeError(f"event: expected a JSON object, got {type(event).__name__}")
    return event
