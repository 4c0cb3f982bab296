"""What travels between a client and the resident process: JSON behind its length."""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any

__all__ = ["MAX_BYTES", "ProtocolError", "peer_is_us", "receive", "send"]

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
