"""Listen where clients find the background server: at a socket file, or at a port."""

from __future__ import annotations

import contextlib
import os
import socket as sockets
import sys
from pathlib import Path

from attrs import field, frozen

from contextkit.agent import client
from contextkit.agent.loopback import HOST, SECRET_BYTES, as_address, knows_secret
from contextkit.files import write_atomically

_BACKLOG = 32
_WAKE_SECONDS = 1.0


@frozen
class Listener:
    """A socket that accepts clients, and the file by which they find it.

    Attributes:
        path: the socket's file, or the address file where there are no Unix sockets.
        socket: the listening socket.
        secret: what clients at a port must know; None at a socket file.
    """

    path: Path
    socket: sockets.socket
    secret: bytes | None
    _place: object = field(init=False)

    @_place.default
    def _first_place(self) -> object:
        return _identity(self.path)

    @classmethod
    def at(cls, path: Path) -> Listener:
        """Listen.

        Raises `OSError` if the system refuses.
        """
        if sys.platform != "win32" and client.HAS_UNIX_SOCKETS:
            listening = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
            listening.bind(str(path))
            path.chmod(0o600)
            listening.listen(_BACKLOG)
            return cls(path, listening, None)
        listening = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
        if sys.platform == "win32":
            # Another program could listen at the same port otherwise.
            listening.setsockopt(sockets.SOL_SOCKET, sockets.SO_EXCLUSIVEADDRUSE, 1)
        listening.bind((HOST, 0))
        listening.listen(_BACKLOG)
        secret = os.urandom(SECRET_BYTES)
        write_atomically(path, as_address(listening.getsockname()[1], secret))
        return cls(path, listening, secret)

    @property
    def is_in_place(self) -> bool:
        """Whether clients can still find the server."""
        return _identity(self.path) == self._place

    def trusts(self, connection: sockets.socket) -> bool:
        """Check that a client is a process of the same user."""
        if self.secret is None:
            return client.peer_is_us(connection)
        return knows_secret(connection, self.secret)

    def wake(self) -> None:
        """Connect, so that a thread that waits for clients goes on."""
        with contextlib.suppress(OSError), sockets.socket(self.socket.family) as waking:
            waking.settimeout(_WAKE_SECONDS)
            waking.connect(self.socket.getsockname())

    def close(self) -> None:
        """Stop listening, and remove the file."""
        if self.is_in_place:
            # On Windows, a file that a client reads cannot be removed; the next server does it.
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
        self.socket.close()


def _identity(path: Path) -> object:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
