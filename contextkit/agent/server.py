"""The background server, which ends when it is idle."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, define, field

from contextkit.agent.answer import answer_event, answer_later, keep_for_later
from contextkit.agent.client import (
    ProtocolError,
    home_of,
    installed,
    receive,
    send,
    surroundings,
)
from contextkit.agent.events import HookEvent
from contextkit.agent.indexing import index_at_start
from contextkit.agent.listener import Listener
from contextkit.agent.notify import tell_plugins
from contextkit.agent.sessions import note
from contextkit.agent.software import Software
from contextkit.agent.workspaces import Workspaces
from contextkit.errors import ContextKitError, WorkspaceError, in_words
from contextkit.kit import ContextKit

_TOLD = ("context", "items")
_GONE = "the hook's process had stopped waiting"
_STRANGER = "it did not prove that it is a process of this user"
_ANYTHING = "what is there to know"
_PEER_SECONDS = 5.0
"""Time limit for receiving a request."""

_LONGEST_SECONDS = 60.0
"""A request that runs longer does not keep an idle server from ending."""

_LOOK_SECONDS = 1.0
"""Interval of the checks of an idle server's socket."""

_BEAT_SECONDS = 0.5
"""Interval of the signs of life while a command runs."""

RunCommand = Callable[[ContextKit, Mapping[str, Any]], Mapping[str, Any]]
"""Runs a client's command on the workspace's kit, and returns the answer to the client."""


@define(eq=False)
class ResidentServer:
    """Answers the hooks of one user and one `CONTEXTKIT_HOME`.

    Attributes:
        path: the path of the socket, or of the address file.
        idle_seconds: seconds without a request before it ends.
        run_command: runs a command for another process; None if it runs no commands.
        workspaces: the open workspaces.
    """

    path: Path
    idle_seconds: float
    run_command: RunCommand | None = None
    workspaces: Workspaces = field(factory=Workspaces)
    _listener: Listener | None = field(default=None, init=False)
    _ending: threading.Event = field(factory=threading.Event, init=False)
    _ended: threading.Event = field(factory=threading.Event, init=False)
    _enders: list[threading.Thread] = field(factory=list, init=False)
    _asked: float = field(factory=time.monotonic, init=False)
    _busy: int = field(default=0, init=False)
    _turn: threading.Lock = field(factory=threading.Lock, init=False)
    _warming: bool = field(default=False, init=False)
    _software: Software = field(factory=Software, init=False)

    def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Listen until `end` is called or requests stop.

        The caller has the socket's lock, `only_server`.

        Args:
            ready: called when it listens.
        """
        with contextlib.closing(Listener.at(self.path)) as self._listener:
            ready()
            self._accept(self._listener)
        # A thread that is stuck in a plugin may keep a workspace; the process ends without it.
        closing = threading.Thread(target=self.workspaces.close, daemon=True)
        closing.start()
        closing.join(_PEER_SECONDS)
        self._ended.set()
        for thread in self._enders:
            thread.join(_LOOK_SECONDS)

    def end(self) -> None:
        """Stop listening."""
        self._ending.set()
        if self._listener is not None:
            self._listener.wake()

    def _accept(self, listener: Listener) -> None:
        while not self._ending.is_set():
            left = self._asked + self.idle_seconds - time.monotonic()
            at_work = self._busy and left > -_LONGEST_SECONDS
            # Clients cannot find a server whose file was deleted.
            if (left <= 0 and not at_work) or not listener.is_in_place:
                return
            listener.socket.settimeout(min(max(left, 0.01), _LOOK_SECONDS))
            try:
                connection, _ = listener.socket.accept()
            except TimeoutError:
                continue
            if self._ending.is_set():
                connection.close()
                return
            threading.Thread(target=self._talk, args=(listener, connection), daemon=True).start()

    def _talk(self, listener: Listener, connection: socket.socket) -> None:
        with connection:
            if listener.trusts(connection):
                self._serve(connection)
            else:
                note("connection_refused", reason=_STRANGER, process="resident")

    def _serve(self, connection: socket.socket) -> None:
        with self._turn:
            self._busy += 1
        try:
            connection.settimeout(_PEER_SECONDS)
            self._respond(receive(connection), connection)
        except (OSError, ProtocolError):
            # The client has gone, or is not a client of contextkit.
            pass
        finally:
            with self._turn:
                self._busy -= 1
                self._asked = time.monotonic()

    def _respond(self, request: Mapping[str, Any], connection: socket.socket) -> None:
        if request.get("op") == "hook":
            self._respond_to_hook(request, connection)
        elif request.get("op") == "command":
            self._respond_to_command(request, connection)
        else:
            send(connection, self._answer(request))

    def _respond_to_hook(self, request: Mapping[str, Any], connection: socket.socket) -> None:
        if self._retires(request, connection):
            return
        if self._warming:
            send(connection, {"starting": True})
            return
        undelivered: dict[str, Any] = {"late": True}
        answered = time.time()
        with contextlib.suppress(OSError):
            undelivered = self._answer_hook(request, connection)
            answered = time.time()
            told = {name: undelivered[name] for name in _TOLD if name in undelivered}
            send(connection, {"answer": told})
            undelivered = {"late": undelivered.get("late")}
        # The agent has its answer, or has stopped waiting.
        connection.close()
        self._go_on(request, undelivered, answered)

    def _go_on(
        self, request: Mapping[str, Any], undelivered: Mapping[str, Any], answered: float
    ) -> None:
        """Do what an agent does not wait for.

        Args:
            request: the event's.
            undelivered: the answer that the agent did not get, or `late` if it must be made.
            answered: when the answer was ready, by `time.time`.
        """
        try:
            told = request["event"]
            event = HookEvent.from_json(told)
            with self.workspaces.use(event.folder, request["environment"]) as kit:
                if undelivered.get("context") and event.session:
                    note("hook_late", session=event.session, reason=_GONE, process="resident")
                    keep_for_later(event, undelivered, answered)
                elif undelivered.get("late"):
                    answer_later(kit, event)
                tell_plugins(kit, told)
                index_at_start(kit, event, {**os.environ, **request["environment"]})
        except ContextKitError:
            # A problem of the workspace was already logged when the event was answered.
            pass
        except Exception as error:  # noqa: BLE001 - agents never see errors
            note("telling_failed", reason=in_words(error), process="resident")

    def _answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        match request.get("op"):
            case "status":
                return {
                    "pid": os.getpid(),
                    "installed": installed(),
                    "workspaces": len(self.workspaces),
                    "idle_seconds": self.idle_seconds,
                    "warming": self._warming,
                }
            case "health":
                return {"health": self._health(request)}
            case "end":
                # Answer only after everything is closed.
                self._enders.append(threading.current_thread())
                self.end()
                self._ended.wait(_PEER_SECONDS)
                return {"pid": os.getpid()}
        return {"error": f"unknown: {request.get('op')!r}"}

    def _health(self, request: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        try:
            found = self.workspaces.health(str(request.get("folder")))
        except WorkspaceError:
            return None
        return None if found is None else [asdict(health) for health in found]

    def _respond_to_command(self, request: Mapping[str, Any], connection: socket.socket) -> None:
        """Run a command as a process of its own would, or refuse."""
        if self._retires(request, connection):
            return
        answer: Mapping[str, Any] = {"refused": True}
        is_alike = request.get("surroundings") == surroundings(os.environ)
        if self.run_command is not None and is_alike and not self._warming:
            try:
                using = self.workspaces.use(request["folder"], request["environment"])
                with using as kit, _beating(connection):
                    answer = self.run_command(kit, request)
            except Exception as error:  # noqa: BLE001 - the client runs the command itself
                note("command_refused", reason=in_words(error), process="resident")
        send(connection, dict(answer))

    def _retires(self, request: Mapping[str, Any], connection: socket.socket) -> bool:
        """End if the software or the home has changed; return whether it did."""
        if not self._is_outdated(request):
            return False
        note("resident_outdated", installed=request.get("installed"))
        send(connection, {"retired": True})
        self.end()
        return True

    def _is_outdated(self, request: Mapping[str, Any]) -> bool:
        """Whether the software or the home has changed."""
        return (
            request.get("home") != home_of(os.environ)
            or request.get("installed") != installed()
            or self._software.has_changed()
        )

    def _answer_hook(self, request: Mapping[str, Any], connection: socket.socket) -> dict[str, Any]:
        now = time.monotonic()
        try:
            # Items of an answer that comes too late must not count as shown.
            started = now - float(request.get("waited", 0.0))
            event = HookEvent.from_json(request["event"])
            with self.workspaces.use(event.folder, request["environment"]) as kit:
                limit = kit.config.hooks.timeout
                send(connection, {"more": True, "limit": limit})
                return answer_event(kit, event, started + limit)
        except TimeoutError as error:
            # TimeoutError is an OSError, but the connection still works: send an empty answer.
            note("hook_late", reason=in_words(error), process="resident")
            return {"late": True}
        except OSError:
            # The client has gone.
            raise
        except Exception as error:  # noqa: BLE001 - agents never see errors
            note("hook_failed", reason=in_words(error), process="resident")
            return {}

    def warm(self, folder: str, environment: Mapping[str, str]) -> None:
        """Load a workspace, its models included, before its first request.

        Until then hooks answer in their own process, which is as fast.
        """
        self._warming = True
        try:
            with self.workspaces.use(folder, environment) as kit:
                kit.assemble_context_sync(
                    _ANYTHING, source_timeout=10.0, deadline=10.0, cache=False
                )
        except WorkspaceError:
            pass
        except Exception as error:  # noqa: BLE001 - the first request will raise it again
            note("resident_not_warm", reason=in_words(error))
        finally:
            self._warming = False


@contextlib.contextmanager
def _beating(connection: socket.socket) -> Iterator[None]:
    """Tell a client again and again that this process is not stuck."""
    done = threading.Event()

    def beat() -> None:
        while not done.wait(_BEAT_SECONDS):
            with contextlib.suppress(OSError):
                send(connection, {"more": True})

    beating = threading.Thread(target=beat, daemon=True)
    beating.start()
    try:
        yield
    finally:
        done.set()
        beating.join()
