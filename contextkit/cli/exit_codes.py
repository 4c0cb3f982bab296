"""The exit codes of the command line, in one place."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ExitCode", "exit_code_lines"]


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
    ExitCode.FINE: "done; an empty context, too",
    ExitCode.FAILED: "failed, in whole or in part",
    ExitCode.WRONG_REQUEST: "wrong usage, or a request that makes no sense",
    ExitCode.CONFIGURATION: "a wrong setting",
    ExitCode.STORE: "the record store failed",
    ExitCode.NOT_FOUND: "no record has that id",
    ExitCode.INTERRUPTED: "interrupted",
}


def exit_code_lines() -> list[str]:
    """One line for each code, for the help of the root command."""
    return [f"{code:>3}  {meaning}" for code, meaning in _MEANINGS.items()]
