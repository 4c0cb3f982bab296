"""Enforce the time limit of a hook's process.

On systems that can fork, a child process builds the answer and its parent only waits: C code
that blocks the interpreter, a crash or a lack of memory affect the child alone. On other systems
a thread watches the time, which such C code can delay.
"""

from __future__ import annotations

import os
import select
import sys
import time
from _thread import allocate_lock, start_new_thread

from contextkit.agent.client import start, start_detached
from contextkit.agent.small_json import from_json, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn

    Show = Callable[[Mapping[str, Any], Mapping[str, Any]], str]
    """Formats an event's answer, which may be empty, for the agent."""

    Say = Callable[[Mapping[str, Any]], None]
    """Sends attributes to `Ending.learn`."""
else:
    # `signal` makes enumerations of its numbers.
    import _signal as signal

COLD_SECONDS = 2.0
"""Default time limit of a prompt that the hook's process answers itself.

It loads everything first, which takes the whole of the usual second on a busy machine.
"""

_LOOK_SECONDS = 0.05
_GRACE_SECONDS = 1.0
"""How long a child may exceed its limit if its parent was killed."""

_MOST_BYTES = 1 << 16


class Ending:
    """What is known about the end of a hook's process.

    Attributes:
        deadline: the time limit, by `time.monotonic`.
        wants_resident: whether to start a background server.
        message: an event to pass on to plugins, or None.
        text: the answer; None if it is not ready.
        late: whether the event got no answer because time ran out.
    """

    def __init__(
        self, show: Show, environment: Mapping[str, str], started: float, limit: float
    ) -> None:
        self.show = show
        self.environment = environment
        self.started = started
        self.deadline = started + limit
        self.event: Mapping[str, str] = {}
        self.wants_resident = False
        self.message: str | None = None
        self.text: str | None = None
        self.late = False
        self.output = 1
        self._ended = allocate_lock()

    def learn(self, said: Mapping[str, Any]) -> None:
        """Set attributes; `limit`, in seconds, sets the deadline."""
        for name, value in said.items():
            if name == "limit":
                self.deadline = self.started + value
            else:
                setattr(self, name, value)

    def finish(self, trouble: str | None = None, **fields: Any) -> NoReturn:
        """Print the answer, start remaining work, and end the process.

        Args:
            trouble: the log event that explains a missing answer, if any.
            fields: its further fields.
        """
        self._ended.acquire()
        try:
            try:
                text = self.show(self.event, {}) if self.text is None else self.text
                _write(self.output, text.encode("utf-8", "backslashreplace"))
            except Exception:  # noqa: BLE001, S110 - agents never see errors
                pass
            if trouble is not None:
                self.note(trouble, **fields)
            if self.wants_resident or self.message is not None:
                _let_the_agent_go_on()
            if self.wants_resident:
                start(self.environment, self.event.get("cwd") or os.getcwd())  # noqa: PTH109
            if self.message is not None:
                arguments = ["contextkit.agent.notify", *(["--late"] if self.late else [])]
                start_detached(arguments, self.environment, self.message.encode())
        finally:
            os._exit(0)

    def note(self, line: str, **fields: Any) -> None:
        """Log a line about this event."""
        try:
            from contextkit.agent.sessions import note

            name = self.event.get("hook_event_name")
            note(line, hook=name, session=self.event.get("session_id"), **fields)
        except Exception:  # noqa: BLE001, S110 - a full disk, for example
            pass

    def finish_late(self) -> NoReturn:
        """Finish without an answer because time is up."""
        self.late = True
        self.finish("hook_late", seconds=round(self.deadline - self.started, 3))


def _let_the_agent_go_on() -> None:
    """End this process and continue in another one, where the system can fork.

    Starting a program takes a fiftieth of the time of a cold answer.
    """
    if sys.platform == "win32" or not hasattr(os, "fork"):
        return
    try:
        if os.fork():
            os._exit(0)
    except OSError:
        # The system cannot start another process.
        return
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)


def supervise(run: Callable[[Say], None], ending: Ending) -> NoReturn:
    """Run a hook within its time limit and exit with 0.

    Args:
        run: builds the answer and sends it as `text`; before that it may send other attributes
            of the ending.
        ending: what to do at the end.
    """
    if sys.platform != "win32" and hasattr(os, "fork"):
        reading, writing = os.pipe()
        try:
            child = os.fork()
        except OSError:
            # The system cannot start another process.
            os.close(reading)
            os.close(writing)
        else:
            if child:
                os.close(writing)
                _wait(child, reading, ending)
            os.close(reading)
            _answer_in_child(run, writing, ending)
    _answer_with_thread(run, ending)


# -- with a process of its own ------------------------------------------------------------------

if sys.platform != "win32":

    def _answer_in_child(run: Callable[[Say], None], writing: int, ending: Ending) -> NoReturn:
        def say(said: Mapping[str, Any]) -> None:
            ending.learn(said)
            if "limit" in said:
                _end_by(ending)
            _write(writing, f"{to_json(said)}\n".encode("ascii"))

        try:
            # A process group of its own, so that the processes it starts end with it.
            os.setpgid(0, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            _end_by(ending)
            run(say)
        finally:
            os._exit(0)

    def _end_by(ending: Ending) -> None:
        """Set a timer that ends this process without its parent."""
        left = max(ending.deadline - time.monotonic(), 0.0)
        signal.setitimer(signal.ITIMER_REAL, left + _GRACE_SECONDS)

    def _wait(child: int, reading: int, ending: Ending) -> NoReturn:
        _lead_group(child)
        try:
            in_time = _listen(reading, ending)
        except BaseException as error:  # noqa: BLE001 - such as Ctrl-C; agents never see errors
            _end_child(child)
            ending.finish("hook_failed", reason=f"{type(error).__name__} while waiting")
        if not in_time:
            _end_child(child)
            ending.finish_late()
        if ending.text is None:
            # The same cause might end a background server too.
            ending.wants_resident, ending.message = False, None
            ending.finish("hook_failed", reason=_how_it_ended(child))
        _end_child(child)
        ending.finish()

    def _lead_group(child: int) -> None:
        try:
            os.setpgid(child, child)
        except OSError:
            # The child has done it itself, or has ended.
            return

    def _listen(reading: int, ending: Ending) -> bool:
        """Read the child's messages until its answer or its end.

        Returns False on timeout.
        """
        said = b""
        while ending.text is None:
            # On a busy machine, this process may wake up late, with the answer waiting for it.
            left = max(ending.deadline - time.monotonic(), 0.0)
            if not select.select([reading], [], [], left)[0]:
                return False
            part = os.read(reading, _MOST_BYTES)
            if not part:
                break
            *lines, said = (said + part).split(b"\n")
            for line in lines:
                ending.learn(from_json(line))
        return True

    def _end_child(child: int) -> None:
        for kill in (os.killpg, os.kill):
            try:
                kill(child, signal.SIGKILL)
            except OSError:
                continue

    def _how_it_ended(child: int) -> str:
        try:
            _, status = os.waitpid(child, 0)
        except OSError:
            return "the process that answered ended"
        code = os.waitstatus_to_exitcode(status)
        by = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return f"the process that answered ended {by}"


# -- with a thread ------------------------------------------------------------------------------


def _answer_with_thread(run: Callable[[Say], None], ending: Ending) -> NoReturn:
    def watch() -> None:
        while (left := ending.deadline - time.monotonic()) > 0:
            # The deadline may also become earlier.
            time.sleep(min(left, _LOOK_SECONDS))
        ending.finish_late()

    # Standard output is redirected for plugins later.
    ending.output = os.dup(1)
    start_new_thread(watch, ())
    run(ending.learn)
    ending.finish()


def _write(output: int, data: bytes) -> None:
    while data:
        data = data[os.write(output, data) :]
