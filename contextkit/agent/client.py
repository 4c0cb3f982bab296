"""Find, start and call the background server.

Messages are JSON with their length in front. The server of each `CONTEXTKIT_HOME` listens at a
socket of its own: a file, or a port where there are no Unix sockets (see `loopback`).
"""

from __future__ import annotations

import os
import stat
import sys
import zlib

from contextkit.agent.small_json import from_json, to_json
from contextkit.package import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket as sockets
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any
else:
    # `socket` imports enumerations, selectors and arrays.
    import _socket as sockets

HAS_UNIX_SOCKETS = hasattr(sockets, "AF_UNIX") and hasattr(os, "geteuid")

MAX_BYTES = 16 * 1024 * 1024
_LENGTH_BYTES = 4

_LONGEST = 100
"""Some systems limit a socket's path to 104 bytes, including the final zero."""

_PREFIX = "CONTEXTKIT_"
_HOME = "CONTEXTKIT_HOME"

_SURROUNDINGS = frozenset(
    ("HOME", "LANG", "PATH", "PYTHONPATH", "TZ", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
)
_SURROUNDED = ("GIT_CONFIG", "GIT_DIR", "GIT_WORK_TREE", "HF_", "LC_")
_SECRETS = ("_KEY", "_TOKEN", "_PASSWORD", "_PROXY", "_proxy")

FEW_PAGES = {"MALLOC_ARENA_MAX": "2", "MALLOC_TRIM_THRESHOLD_": "131072"}
"""Variables with which the C library keeps less freed memory, a seventh of the server's own."""


class ProtocolError(Exception):
    """A message is invalid or incomplete."""


def send(connection: sockets.socket, message: dict[str, Any]) -> None:
    """Send one message."""
    data = to_json(message).encode("ascii")
    connection.sendall(len(data).to_bytes(_LENGTH_BYTES, "big") + data)


def receive(connection: sockets.socket) -> dict[str, Any]:
    """Receive a message.

    Raises `ProtocolError` if none comes or it is invalid.
    """
    length = int.from_bytes(_read(connection, _LENGTH_BYTES), "big")
    if length > MAX_BYTES:
        raise ProtocolError(f"a message of {length} bytes is longer than {MAX_BYTES}")
    try:
        message = from_json(_read(connection, length))
    except ValueError as error:
        raise ProtocolError(f"a message is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise ProtocolError("a message is not a JSON object")
    return message


def _read(connection: sockets.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = connection.recv(min(length - len(parts), 1 << 16))
        if not part:
            raise ProtocolError("the connection was closed")
        parts += part
    return bytes(parts)


def peer_is_us(connection: sockets.socket) -> bool:
    """Whether the other process has the same user.

    Returns True if the system cannot tell.

    The socket's folder, which only this user can open, protects it then.
    """
    if sys.platform == "win32" or not hasattr(sockets, "SO_PEERCRED"):
        return True
    # Three numbers: the process, the user and the group.
    found = connection.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12)
    return int.from_bytes(found[4:8], sys.byteorder) == os.geteuid()


def home_of(environment: Mapping[str, str]) -> str:
    """Identify the folders that one server serves."""
    named = environment.get(_HOME)
    if named:
        path = os.path.abspath(os.path.expanduser(named))  # noqa: PTH100, PTH111 - pathlib costs 5 ms
        return os.path.normcase(path)
    parts = (environment.get(name, "") for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"))
    return "\0".join(parts)


def settings_in(environment: Mapping[str, str]) -> dict[str, str]:
    """Select the variables that are settings.

    `CONTEXTKIT_HOME` is made absolute: the server works in another folder.
    """
    found = {name: value for name, value in environment.items() if name.startswith(_PREFIX)}
    return {**found, _HOME: home_of(environment)} if found.get(_HOME) else found


def surroundings(environment: Mapping[str, str]) -> int:
    """Return a checksum of the further variables that may change what a command prints."""
    found = sorted(
        (name, value)
        for name, value in environment.items()
        if name in _SURROUNDINGS or name.startswith(_SURROUNDED) or name.endswith(_SECRETS)
    )
    return zlib.crc32(repr(found).encode("utf-8", "surrogateescape"))


def socket_path(environment: Mapping[str, str]) -> str | None:
    """Return the path of the server's socket, or of its address file.

    Its folder is created if needed. None if other users have access to the folder, because they
    could answer in the server's place.
    """
    name = f"{zlib.crc32(home_of(environment).encode('utf-8', 'surrogateescape')):08x}.sock"
    for folder in _folders(environment):
        path = f"{folder}/{name}"
        if len(os.fsencode(path)) <= _LONGEST or not HAS_UNIX_SOCKETS:
            return path if _is_ours(folder) else None
    return None


def _folders(environment: Mapping[str, str]) -> list[str]:
    if sys.platform == "win32":
        # Other users cannot read a user's profile.
        profile = environment.get("LOCALAPPDATA")
        return [f"{profile}/contextkit-servers"] if profile else []
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    shared = f"/tmp/contextkit-{os.geteuid()}"  # noqa: S108 - refused unless it is ours alone
    return [f"{runtime}/contextkit", shared] if runtime.startswith("/") else [shared]


def _is_ours(folder: str) -> bool:
    try:
        if not os.path.lexists(folder):
            _make_folder(folder)
        found = os.lstat(folder)
    except OSError:
        return False
    if sys.platform == "win32":
        return stat.S_ISDIR(found.st_mode)
    alone = not found.st_mode & 0o077
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and alone


def _make_folder(folder: str) -> None:
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102 - pathlib costs 5 ms
    except FileExistsError:
        # Another process was quicker.
        return


def installed() -> str:
    """The version and environment that client and server must share."""
    return f"{VERSION} {os.path.normcase(sys.prefix)}"


def connect(environment: Mapping[str, str], seconds: float) -> sockets.socket | None:
    """Connect to this user's background server; None if none runs.

    Args:
        environment: variables that identify the server.
        seconds: timeout of each operation on the connection.
    """
    path = socket_path(environment)
    if path is None:
        return None
    if sys.platform == "win32" or not HAS_UNIX_SOCKETS:
        from contextkit.agent import loopback

        try:
            return loopback.connect(path, seconds)
        except (OSError, ValueError):
            return None
    connection = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
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
    on_message: Callable[[dict[str, Any]], None] = lambda _: None,
) -> dict[str, Any] | None:
    """Send a request to the background server.

    Args:
        request: `op` and its arguments.
        environment: variables; the settings among them are sent with the request.
        seconds: the timeout.
        on_message: called with each message before the last one, which give the time limit.

    Returns:
        The last message; None if no server runs, it has another version, or it ended meanwhile.
    """
    connection = connect(environment, seconds)
    if connection is None:
        return None
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
            on_message(message)
            message = receive(connection)
    except (OSError, ProtocolError):
        return None
    finally:
        connection.close()
    return None if message.get("retired") else message


def start(environment: Mapping[str, str], warm: str | None = None) -> bool:
    """Start the background server, detached.

    If one already runs, the new one ends.

    Args:
        environment: its variables.
        warm: a folder of a workspace to load in advance.

    Returns:
        Whether a process was started.
    """
    if socket_path(environment) is None:
        return False
    arguments = ["contextkit.cli.background"]
    if warm is not None:
        arguments += ["--warm", warm]
    return start_detached(arguments, {**FEW_PAGES, **environment})


def start_detached(
    arguments: Sequence[str], environment: Mapping[str, str], given: bytes | None = None
) -> bool:
    """Run a module as a detached process without output.

    Args:
        arguments: the module's name and arguments.
        environment: its variables.
        given: its standard input, at most what a pipe can buffer; default: empty.

    Returns:
        Whether a process was started.
    """
    if not sys.executable:
        return False
    # -P: never import from the folder in which the hook runs, which may be untrusted.
    command = [sys.executable, "-P", "-m", *arguments]
    try:
        if sys.platform == "win32" or not hasattr(os, "posix_spawn"):
            _start_with_subprocess(command, environment, given)
        else:
            _spawn(command, environment, given)
    except OSError:
        return False
    return True


def _start_with_subprocess(
    command: list[str], environment: Mapping[str, str], given: bytes | None
) -> None:
    import subprocess

    # With a console of its own, the process does not end with the agent's.
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    flags |= getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=nowhere if given is None else subprocess.PIPE,
        stdout=nowhere,
        stderr=nowhere,
        creationflags=flags,
        start_new_session=True,
    )
    if process.stdin is not None:
        with process.stdin:
            process.stdin.write(given or b"")
    # It goes on when this process has ended.
    process.returncode = 0


if sys.platform != "win32":

    def _spawn(command: list[str], environment: Mapping[str, str], given: bytes | None) -> None:
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
                os.posix_spawn(command[0], command, environment, file_actions=streams, setsid=True)
            except NotImplementedError:  # this system cannot spawn a session
                os.posix_spawn(command[0], command, environment, file_actions=streams, setpgroup=0)
        finally:
            for number in (reading, writing):
                if number is not None:
                    os.close(number)
