"""A background server at a port proves itself to its clients, and they to it."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contextkit.agent import client
from contextkit.agent.loopback import HOST, SECRET_BYTES, as_address

if TYPE_CHECKING:
    from conftest import World

Until = Callable[[Callable[[], bool], str], None]

pytestmark = pytest.mark.parametrize(
    "has_unix", [False], indirect=True, ids=["port"], scope="module"
)

WITH = {"CONTEXTKIT_HOOKS_RESIDENT": "yes"}


def address_of(world: World) -> Path:
    """The address file of a world's server."""
    found = client.socket_path(world.environment)
    assert found is not None
    return Path(found)


@pytest.fixture
def served(world: World, until: Until) -> Iterator[World]:
    """A world with a server that has loaded its workspace."""
    command = [sys.executable, "-m", "contextkit.cli", "serve"]
    with subprocess.Popen(command, cwd=world.workspace, env=world.environment) as process:
        try:
            until(world.is_ready, "a server")
            yield world
        finally:
            process.kill()


@contextlib.contextmanager
def foreign(world: World, replies: bytes | None) -> Iterator[list[bytes]]:
    """Another program at the port of a server that was killed.

    Args:
        world: whose address file names the port.
        replies: what it sends to a client; None if it waits for more instead.

    Yields the bytes that it got from each client.
    """
    got: list[bytes] = []

    def answer(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    got.append(b"")
                    while data := connection.recv(1 << 16):
                        got[-1] += data
                        if replies is not None:
                            connection.sendall(replies)

    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen()
        address = as_address(listener.getsockname()[1], os.urandom(SECRET_BYTES))
        address_of(world).write_text(address, encoding="utf-8")
        thread = threading.Thread(target=answer, args=(listener,), daemon=True)
        thread.start()
        yield got
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize("replies", [None, bytes(64), b"HTTP/1.1 400 Bad Request\r\n\r\n" * 3])
def test_another_program_at_the_port_gets_no_prompt(
    world: World, until: Until, replies: bytes | None
) -> None:
    """It gets a random number alone; the hook answers by itself, in time, and starts a server."""
    with foreign(world, replies) as got:
        began = time.monotonic()
        assert "four spaces" in world.hook(world.prompt(), **WITH)
        assert time.monotonic() - began < 20
    assert [len(each) for each in got] == [SECRET_BYTES]
    # It is ended with its world.
    until(world.is_ready, "the server that the hook has started")


def test_only_the_user_can_read_the_address(served: World) -> None:
    """The file and its folder have modes for the user alone."""
    file = address_of(served)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)]
    assert modes == [0o600, 0o700]


def test_a_client_with_another_secret_is_refused_and_logged(served: World) -> None:
    """The server gives it no answer, and goes on answering others."""
    file = address_of(served)
    port = int(file.read_text(encoding="utf-8").split()[0])
    for sent in (bytes(2 * SECRET_BYTES), b'\0\0\0\x10{"op": "status"}', b"GET / HTTP/1.1\r\n\r\n"):
        with socket.create_connection((HOST, port), 5.0) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while data := connection.recv(1 << 16):
                    answer += data
        # A challenge and the server's own proof, at most.
        assert len(answer) <= 2 * SECRET_BYTES
        assert served.journal()[-1]["event"] == "connection_refused"
    assert len(served.journal()) == 3
    assert "four spaces" in served.hook(served.prompt(), **WITH)


@pytest.mark.parametrize("text", ["", "1", "0 00", "70000 " + "0" * 64, "80 " + "x" * 64, "é 1"])
def test_a_broken_address_file_counts_as_no_server(world: World, text: str) -> None:
    """The hook answers by itself."""
    address_of(world).write_text(text, encoding="utf-8")
    assert client.connect(world.environment, 1.0) is None


def test_a_silent_connection_is_closed_soon(served: World) -> None:
    """A program that connects and says nothing does not keep the server busy."""
    port = int(address_of(served).read_text(encoding="utf-8").split()[0])
    with socket.create_connection((HOST, port), 30.0) as connection:
        assert connection.recv(1) == b""
