"""Errors of plugins and libraries, put into words."""

from __future__ import annotations

import pytest

from contextkit.errors import in_words


class SilentError(Exception):
    """One that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SilentError(), "SilentError"),
        (ValueError("no\n  way"), "ValueError: no way"),
        (ValueError(), "ValueError"),
        (SystemExit(3), "SystemExit: 3"),
        (
            BaseExceptionGroup(
                "x", [OSError("a"), ExceptionGroup("y", [KeyError("b"), OSError("a")])]
            ),
            "OSError: a; KeyError: 'b'",
        ),
        (ValueError("x" * 1_000), f"ValueError: {'x' * 1_000}"),
        (ValueError("x" * 1_001), f"ValueError: {'x' * 1_000} …"),
    ],
)
def test_an_error_is_one_line_of_bounded_length(error: BaseException, words: str) -> None:
    """Whatever a plugin raises goes to the log, the trace and the terminal."""
    assert in_words(error) == words
