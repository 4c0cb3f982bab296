"""What can be wrong with a task, and with the stack."""

from __future__ import annotations

from contextkit.errors import ContextKitError, RecordError

__all__ = ["EmptyStackError", "InvalidTaskError"]


class InvalidTaskError(RecordError):
    """A part of a task is not what it may be; nothing was stored."""

    exit_code = 2


class EmptyStackError(ContextKitError):
    """There is no task to pop, or to assemble a context for.

    Attributes:
        session: the session whose stack is empty; None for the project's default stack.
    """

    exit_code = 5

    def __init__(self, session: str | None) -> None:
        self.session = session
        whose = "the project's task stack" if session is None else f"session {session!r}'s stack"
        super().__init__(f'{whose} is empty: `contextkit task push "GOAL"` begins a task')
