"""Asking the resident process, and starting it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any

from contextkit import __version__
from contextkit.resident.place import home_of, settings_in, socket_path
from contextkit.resident.protocol import ProtocolError, peer_is_us, receive, send

__all__ = ["ask", "connect", "installed", "start"]


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
    if socket_path(environment) is None or not sys.executable:
        return False
    # -P: the folder that a hook runs in may be anybody's, and is nothing to import from.
    arguments = [sys.executable, "-P", "-m", "contextkit.resident"]
    if warm is not None:
        arguments += ["--warm", warm]
    nothing = [
        (os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0)  # type: ignore[attr-defined, unused-ignore]
        for number in range(3)
    ]
    try:
        try:
            os.posix_spawn(
                sys.executable, arguments, environment, file_actions=nothing, setsid=True
            )
        except NotImplementedError:
            os.posix_spawn(
                sys.executable, arguments, environment, file_actions=nothing, setpgroup=0
            )
    except OSError:
        return False
    return True
