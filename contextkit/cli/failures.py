"""From whatever ends a command to one line for a person and an exit code.

The exit codes of the command line, in one place.
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
    """What a command's exit code means; errors carry theirs as `exit_code`."""

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
    ExitCode.NOT_FOUND: "no record with that id",
    ExitCode.INTERRUPTED: "interrupted",
}


def exit_code_lines() -> list[str]:
    """One line for each code, for the help of the root command."""
    return [f"{code:>3}  {meaning}" for code, meaning in _MEANINGS.items()]


# Newer than the oldest click that we support: there, help is printed and the code is 0.
_NoArgumentsError: type[click.UsageError] | tuple[()] = getattr(
    click.exceptions, "NoArgsIsHelpError", ()
)


class ReaderGoneError(Exception):
    """The reader of the output has closed it."""


@contextlib.contextmanager
def watch_reader() -> Iterator[None]:
    """Raise `ReaderGoneError` for a broken pipe, which click would turn into a failure."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error


def report_failure(error: BaseException, *, debug: bool) -> int:
    """Say in one line what went wrong, and return the exit code for it.

    Args:
        error: what ended the command.
        debug: whether the traceback is shown, too.
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
    return f"{message} Try '{context.command_path} --help'."


def _discard_output() -> None:
    """Let what could not be written go, so that Python does not try it again at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
