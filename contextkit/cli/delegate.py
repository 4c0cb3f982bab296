"""Let the background server run a command, if one runs.

The server has loaded everything, so that the answer comes in a fifth of the time. This process
imports only what it needs to ask, and runs the command itself if the server cannot.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_COMMANDS = frozenset(("assemble", "explain", "premortem"))
_OF_RECORDS = _COMMANDS | {"index", "sources"}
"""Commands that open the store."""

_HELP = frozenset(("-h", "--help"))
_OF_THIS_PROCESS = _HELP | {"-"}
"""Arguments that need this process: its standard input, or the width of its terminal."""

_FILE = "=@"
_OFF = frozenset(("false", "0", "no", "off"))
_SILENT_SECONDS = 3.0
"""How long the server may give no sign of life."""

_MOST_SECONDS = 30.0


def delegated(arguments: Sequence[str]) -> int | None:
    """Print what the background server's run of a command prints.

    Returns:
        The exit code; None if this process must run the command itself.
    """
    if not (_may_be_delegated(arguments) and _is_wanted(os.environ)):
        return None
    from contextkit.agent.client import ProtocolError, ask, surroundings

    deadline = time.monotonic() + _MOST_SECONDS

    def on_message(_: Mapping[str, Any]) -> None:
        if time.monotonic() > deadline:
            raise ProtocolError("the command takes too long")

    request = {
        "op": "command",
        "arguments": list(arguments),
        "encoding": sys.stdout.encoding,
        "surroundings": surroundings(os.environ),
    }
    try:
        request["folder"] = os.getcwd()  # noqa: PTH109 - pathlib costs 5 ms
    except OSError:
        return None
    answer = ask(request, os.environ, _SILENT_SECONDS, on_message)
    return None if answer is None or "code" not in answer else _print(answer)


def asks_the_store(arguments: Sequence[str]) -> bool:
    """Whether a command will probably open the store."""
    return not _OF_RECORDS.isdisjoint(arguments) and _HELP.isdisjoint(arguments)


def _may_be_delegated(arguments: Sequence[str]) -> bool:
    if not arguments or arguments[0] not in _COMMANDS or not _OF_THIS_PROCESS.isdisjoint(arguments):
        return False
    # Colours and progress need the terminal.
    streams = (sys.stdout, sys.stderr)
    on_terminal = any(stream is None or stream.isatty() for stream in streams)
    return not (on_terminal or any(_FILE in each for each in arguments))


def _is_wanted(environment: Mapping[str, str]) -> bool:
    if environment.get("CONTEXTKIT_DEBUG") or "_CONTEXTKIT_COMPLETE" in environment:
        return False
    return environment.get("CONTEXTKIT_HOOKS_RESIDENT", "").strip().lower() not in _OFF


def _print(answer: Mapping[str, Any]) -> int:
    try:
        for number, text in answer["output"]:
            stream: Any = sys.stdout if number == 1 else sys.stderr
            # As the command line does for its own output.
            stream.reconfigure(errors="backslashreplace")
            stream.write(text)
            stream.flush()
    except OSError as error:
        from contextkit.cli.failures import ReaderGoneError, report_failure

        gone = isinstance(error, BrokenPipeError)
        return report_failure(ReaderGoneError() if gone else error, debug=False)
    code: int = answer["code"]
    return code
