"""Connect to the background server where there are no Unix sockets.

The server listens at a port of 127.0.0.1. Its address file, which only the user can read, has the
port and a secret that no other server has. Other users can connect to the port, and another
program can take it after the server was killed. Each side therefore proves that it knows the
secret before anything else is sent. The secret itself is never sent.
"""

from __future__ import annotations

import hmac
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket as sockets
else:
    # `socket` imports enumerations, selectors and arrays.
    import _socket as sockets

HOST = "127.0.0.1"

_SECONDS = 0.5
"""Limit of a connection and its proofs: a foreign program may accept and say nothing."""

SECRET_BYTES = 32
_MOST_BYTES = 200
_SERVER, _CLIENT = b"server", b"client"


def connect(file: str, seconds: float) -> sockets.socket:
    """Connect to the server that an address file names.

    Args:
        file: the address file.
        seconds: timeout of each later operation on the connection.

    Raises `OSError` or `ValueError` if no server listens there, or another program does.
    """
    port, secret = _read(file)
    connection = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
    try:
        connection.settimeout(min(seconds, _SECONDS))
        connection.connect((HOST, port))
        connection.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY, 1)
        ours = os.urandom(SECRET_BYTES)
        connection.sendall(ours)
        theirs, proof = _receive(connection), _receive(connection)
        if not hmac.compare_digest(proof, _proof(secret, _SERVER, ours, theirs)):
            raise ConnectionRefusedError(f"port {port} belongs to another program")
        connection.sendall(_proof(secret, _CLIENT, ours, theirs))
        connection.settimeout(seconds)
    except BaseException:
        connection.close()
        raise
    return connection


def knows_secret(connection: sockets.socket, secret: bytes) -> bool:
    """Exchange proofs with a client; return whether its proof is right."""
    try:
        connection.settimeout(_SECONDS)
        connection.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY, 1)
        theirs, ours = _receive(connection), os.urandom(SECRET_BYTES)
        connection.sendall(ours + _proof(secret, _SERVER, theirs, ours))
        return hmac.compare_digest(_receive(connection), _proof(secret, _CLIENT, theirs, ours))
    except OSError:
        return False


def _proof(secret: bytes, side: bytes, of_client: bytes, of_server: bytes) -> bytes:
    return hmac.digest(secret, side + of_client + of_server, "sha256")


def _receive(connection: sockets.socket) -> bytes:
    deadline, data = time.monotonic() + _SECONDS, b""
    while len(data) < SECRET_BYTES:
        part = connection.recv(SECRET_BYTES - len(data))
        # A byte at a time would keep within the timeout of each operation.
        if not part or time.monotonic() > deadline:
            raise ConnectionAbortedError("the connection was closed before the proof")
        data += part
    return data


def as_address(port: int, secret: bytes) -> str:
    """Return the text of an address file."""
    return f"{port} {secret.hex()}"


def _read(file: str) -> tuple[int, bytes]:
    with open(file, "rb") as opened:  # noqa: PTH123 - pathlib costs 5 ms
        port, secret = opened.read(_MOST_BYTES).split()
    found = bytes.fromhex(secret.decode("ascii"))
    if len(found) != SECRET_BYTES or not 0 < int(port) < 1 << 16:
        raise ValueError(f"{file} is not an address file")
    return int(port), found
