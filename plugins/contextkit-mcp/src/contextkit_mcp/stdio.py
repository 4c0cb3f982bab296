"""Serve one client on standard input and output."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Iterator
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from contextkit.text import well_formed

_Read = SessionMessage | Exception


async def serve_stdio(server: Server[Any]) -> None:
    """Serve until standard input closes; call in the main thread.

    Other output of the process goes to standard error meanwhile: standard output carries the
    protocol.
    """
    with _ended_by_interrupt():
        async with stdio_server() as (reading, writing), anyio.create_task_group() as tasks:
            passing_on, received = anyio.create_memory_object_stream[_Read]()
            tasks.start_soon(_pass_on, reading, passing_on, writing)
            async with received:
                await server.run(received, writing, server.create_initialization_options())
            tasks.cancel_scope.cancel()


async def _pass_on(
    reading: ObjectReceiveStream[_Read],
    passing_on: ObjectSendStream[_Read],
    writing: ObjectSendStream[SessionMessage],
) -> None:
    """Pass messages on, and answer invalid lines.

    Without an answer, their client would wait for ever.
    """
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with reading, passing_on:
            async for item in reading:
                if not isinstance(item, ValidationError):
                    await passing_on.send(item)
                elif (message := _mended(item)) is not None:
                    await passing_on.send(message)
                elif not _is_blank(item):
                    await writing.send(_refusal(item))


def _unread(error: ValidationError) -> str | None:
    """Return a line that is not JSON; None for JSON.

    The line is returned as far as the reader can tell.
    """
    found = error.errors(include_url=False)[0]
    return str(found["input"]) if found["type"] == "json_invalid" else None


def _is_blank(error: ValidationError) -> bool:
    line = _unread(error)
    return line is not None and not line.strip()


def _mended(error: ValidationError) -> SessionMessage | None:
    """Repair a message with half surrogate pairs; else None.

    The halves are replaced. A program that cuts a text in the middle of an emoji sends such a
    message.
    """
    line = _unread(error)
    try:
        text = well_formed(json.dumps(json.loads(line or ""), ensure_ascii=False))
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
    except (ValueError, RecursionError):
        return None


def _refusal(error: ValidationError) -> SessionMessage:
    if _unread(error) is None:
        asked = _id_of_request(error)
        said = types.ErrorData(code=types.INVALID_REQUEST, message="this is not a JSON-RPC message")
    else:
        asked = None
        said = types.ErrorData(code=types.PARSE_ERROR, message="this is not valid JSON")
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=asked, error=said))


def _id_of_request(error: ValidationError) -> str | int | None:
    for found in error.errors(include_url=False):
        message = found["input"]
        if isinstance(message, dict) and "method" in message:
            asked = message.get("id")
            return asked if isinstance(asked, (str, int)) else None
    return None


@contextlib.contextmanager
def _ended_by_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process.

    The wait for the client's next line cannot be interrupted.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
