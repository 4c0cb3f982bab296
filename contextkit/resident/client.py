"""Asking the resident process, and starting it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from contextkit import __version__
from contextkit.resident.place import home_of, settings_in, socket_path
from contextkit.resident.protocol import ProtocolError, peer_is_us, receive, send

__all__ = ["ask", "connect", "installed", "start", "start_detached"]


def installed() -> str:
    """What a client and the resident process must have in common: version and environment."""
    return f"{__version__} {sys.prefix}"


def connect(environment: Mapping[str, str], seconds: float) -> socket.socket | None:
    """A connection to this user's resident process, or None where there is none.

    Args:
        environment: variables; they say whose records it serves.
        seconds: how long anything on the connection may take.
    """
    path = socket_path(environment)
    if path is None:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(path)
        if peer_is_us(connection):
            return connection
    except OSError:
        pass
    connection.close()
    return None


def ask(
    request: Mapping[str, Any],
    environment: Mapping[str, str],
    seconds: float,
    heard: Callable[[dict[str, Any]], None] = lambda _: None,
) -> dict[str, Any] | None:
    """Ask the resident process for something.

    Args:
        request: what is asked: `op`, and what belongs to it.
        environment: variables; its settings travel with the request.
        seconds: how long it may take.
        heard: called with each message before the last, which says how long it may take.

    Returns:
        Its last message; None where there is no resident process, it is another version's, or
        it went away in the middle.
    """
    connection = connect(environment, seconds)
    if connection is None:
        return None
    with connection:
        try:
            send(
                connection,
                {
                    **request,
                    "home": home_of(environment),
                    "installed": installed(),
                    "environment": settings_in(environment),
                },
            )
            message = receive(connection)
            while message.get("more"):
                heard(message)
                message = receive(connection)
        except (OSError, ProtocolError):
            return None
    return None if message.get("retired") else message


def start(environment: Mapping[str, str], warm: str | None = None) -> bool:
    """Start the resident process, detached; where there is one already, the new one ends.

    Args:
        environment: variables for it.
        warm: a folder in a workspace that it makes itself ready for.

    Returns:
        Whether one was started.
    """
    if socket_path(environment) is None:
        return False
    arguments = ["contextkit.resident"]
    if warm is not None:
        arguments += ["--warm", warm]
    return start_detached(arguments, environment)


def start_detached(
    arguments: Sequence[str], environment: Mapping[str, str], given: bytes | None = None
) -> bool:
    """Run a module as a process of its own, which nobody waits for and nobody hears.

    Args:
        arguments: the module's name, and what it is told.
        environment: variables for it.
        given: its standard input, of no more than a pipe takes at once; default: none.

    Returns:
        Whether one was started.
    """
    if not hasattr(os, "posix_spawn") or not sys.executable:
        return False
    # -P: the folder that a hook runs in may be anybody's, and is nothing to import from.
    command = [sys.executable, "-P", "-m", *arguments]
    streams: list[Any] = [
        (os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)
    ]
    reading = writing = None
    try:
        if given is not None:
            reading, writing = os.pipe()
            streams[0] = (os.POSIX_SPAWN_DUP2, reading, 0)
            os.write(writing, given)
        try:
            os.posix_spawn(sys.executable, command, environment, file_actions=streams, setsid=True)
        except NotImplementedError:
            os.posix_spawn(sys.executable, command, environment, file_actions=streams, setpgroup=0)
    except OSError:
        return False
    finally:
        for number in (reading, writing):
            if number is not None:
                os.close(number)
    return True
