"""Turn a command's error into a message and exit code.

The message is one line. All exit codes of the command line are defined here.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from enum import IntEnum

import click

from contextkit.cli.output import say
from contextkit.errors import ContextKitError


class ExitCode(IntEnum):
    """The exit codes; errors carry theirs as `exit_code`."""

    FINE = 0
    FAILED = 1
    WRONG_REQUEST = 2
    CONFIGURATION = 3
    STORE = 4
    NOT_FOUND = 5
    INTERRUPTED = 130


_MEANINGS = {
    ExitCode.FINE: "success, also with an empty context",
    ExitCode.FAILED: "failure, complete or partial",
    ExitCode.WRONG_REQUEST: "invalid usage or request",
    ExitCode.CONFIGURATION: "invalid setting",
    ExitCode.STORE: "record store failure",
    ExitCode.NOT_FOUND: "no such record or project",
    ExitCode.INTERRUPTED: "interrupted",
}


def exit_code_lines() -> list[str]:
    """Describe each code in a line for the root help."""
    return [f"{code:>3}  {meaning}" for code, meaning in _MEANINGS.items()]


# The error is newer than the oldest supported click, which prints help and returns code 0.
_NoArgumentsError: type[click.UsageError] | tuple[()] = getattr(
    click.exceptions, "NoArgsIsHelpError", ()
)


class ReaderGoneError(Exception):
    """The output's reader has closed its pipe."""


@contextlib.contextmanager
def watch_reader() -> Iterator[None]:
    """Raise `ReaderGoneError` for a broken pipe.

    click would turn it into a failure.
    """
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error


def report_failure(error: BaseException, *, debug: bool) -> int:
    """Report an error in one line, and return its code.

    Args:
        error: the error that ended the command.
        debug: whether to print the traceback as well.
    """
    if isinstance(error, ReaderGoneError):
        _discard_output()
        return ExitCode.FINE
    if isinstance(error, click.Abort | KeyboardInterrupt):
        say("interrupted")
        return ExitCode.INTERRUPTED
    if isinstance(error, _NoArgumentsError):
        click.echo(error.format_message(), err=True)
        return ExitCode.WRONG_REQUEST
    if debug:
        import traceback

        traceback.print_exception(error)
    message, exit_code = _explained(error)
    say(message)
    return exit_code


def _explained(error: BaseException) -> tuple[str, int]:
    if isinstance(error, click.ClickException):
        return _usage(error), error.exit_code
    if isinstance(error, ContextKitError):
        return str(error), error.exit_code
    if isinstance(error, OSError):
        _discard_output()
        where = os.fsdecode(error.filename) if error.filename else "reading or writing failed"
        return f"{where}: {error.strerror or error}", ExitCode.FAILED
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return f"internal error: {text} (contextkit --debug shows the traceback)", ExitCode.FAILED


def _usage(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    root = context.find_root()
    if isinstance(error, click.NoSuchOption) and context is not root:
        known = {name for option in root.command.params for name in option.opts}
        if error.option_name in known:
            # Such as `contextkit assemble QUERY --debug`.
            command = context.command_path.removeprefix(f"{root.command_path} ")
            before = f"{root.command_path} {error.option_name} {command} ..."
            return f"{message} It goes before the command: {before}"
    end = "" if message.endswith((".", "?", "!")) else "."
    return f"{message}{end} Try '{context.command_path} --help'."


def _discard_output() -> None:
    """Discard unwritten output.

    Otherwise Python would try to write it again at exit.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
