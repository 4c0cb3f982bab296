"""The client of the background server: find it, start it, ask it.

Each `CONTEXTKIT_HOME` has one server, which listens on a socket of its own. Messages are JSON
behind their length.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import struct
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from contextkit.package import VERSION

MAX_BYTES = 16 * 1024 * 1024
_LENGTH = struct.Struct(">I")


class ProtocolError(Exception):
    """What came is no message, or only the beginning of one."""


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    """Send one message."""
    data = json.dumps(message).encode("ascii")
    connection.sendall(_LENGTH.pack(len(data)) + data)


def receive(connection: socket.socket) -> dict[str, Any]:
    """The next message. Raises `ProtocolError` where none comes, or no JSON object."""
    (length,) = _LENGTH.unpack(_read(connection, _LENGTH.size))
    if length > MAX_BYTES:
        raise ProtocolError(f"a message of {length} bytes is longer than {MAX_BYTES}")
    try:
        message = json.loads(_read(connection, length))
    except ValueError as error:
        raise ProtocolError(f"a message is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise ProtocolError("a message is not a JSON object")
    return message


def _read(connection: socket.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = connection.recv(min(length - len(parts), 1 << 16))
        if not part:
            raise ProtocolError("the other side has gone")
        parts += part
    return bytes(parts)


def peer_is_us(connection: socket.socket) -> bool:
    """Whether the same user is on the other side; where nobody can tell, the folder protects."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    form = struct.Struct("iII")
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, form.size)
    _, user, _ = form.unpack(found)
    return bool(user == os.geteuid())


_LONGEST = 100
"""A socket's path may have 104 bytes on some systems, its end included."""

_PREFIX = "CONTEXTKIT_"


def home_of(environment: Mapping[str, str]) -> str:
    """What one resident process serves: the folders that records and settings come from."""
    named = environment.get("CONTEXTKIT_HOME")
    if named:
        return os.path.abspath(os.path.expanduser(named))  # noqa: PTH100, PTH111 - pathlib costs 5 ms
    parts = (environment.get(name, "") for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"))
    return "\0".join(parts)


def settings_in(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that are settings."""
    return {name: value for name, value in environment.items() if name.startswith(_PREFIX)}


def socket_path(environment: Mapping[str, str]) -> str | None:
    """Where the socket is, or would be.

    Its folder is made where it is not there yet. None where there are no Unix sockets, or
    where the folder is not this user's alone: whoever else can write to it could answer.
    """
    if not hasattr(os, "geteuid"):
        return None
    name = f"{zlib.crc32(home_of(environment).encode('utf-8', 'surrogateescape')):08x}.sock"
    for folder in _folders(environment):
        path = f"{folder}/{name}"
        if len(os.fsencode(path)) <= _LONGEST:
            return path if _is_ours(folder) else None
    return None


def _folders(environment: Mapping[str, str]) -> list[str]:
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    shared = f"/tmp/contextkit-{os.geteuid()}"  # noqa: S108 - refused unless it is ours alone
    return [f"{runtime}/contextkit", shared] if runtime.startswith("/") else [shared]


def _is_ours(folder: str) -> bool:
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)  # noqa: PTH102 - pathlib costs 5 ms
        found = os.lstat(folder)
    except OSError:
        return False
    alone = not found.st_mode & 0o077
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and alone


def installed() -> str:
    """What a client and the resident process must have in common: version and environment."""
    return f"{VERSION} {sys.prefix}"


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
    arguments = ["contextkit.agent"]
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
