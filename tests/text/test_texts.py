"""Texts that are given to be stored."""

from __future__ import annotations

import pytest

from contextkit import ContextKitError
from contextkit.text.given import given_line, given_lines


class WrongError(ContextKitError):
    """What a plugin raises."""


def test_a_line_has_single_spaces() -> None:
    """Whatever white space and controls it had."""
    assert given_line("\t High\r\n\x00 water \u2028", "a name", 10, WrongError) == "High water"


def test_lines_keep_their_breaks_and_lose_what_a_terminal_obeys() -> None:
    """Every line ends with a line feed; what is left may be nothing."""
    given = "\n \x1b[31mHigh\x1b[0m\r\n\twater\rat\x07 noon\x85 \n"
    assert given_lines(given, "a text", WrongError) == "High\n\twater\nat noon"
    assert given_lines(" \r\n\x00", "a text", WrongError) == ""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (5, "a step must be a text, got 5"),
        (b"x", "a step must be a text, got b'x'"),
        (None, "a step must be a text, got None"),
        ("ab\ud800", "a step must be valid Unicode: character 2 is half a surrogate pair"),
    ],
)
def test_what_is_no_text_is_refused(value: object, message: str) -> None:
    """With the error of whoever asks, in one line."""
    with pytest.raises(WrongError) as of_line:
        given_line(value, "a step", 9, WrongError)
    with pytest.raises(WrongError) as of_lines:
        given_lines(value, "a step", WrongError)
    assert (str(of_line.value), str(of_lines.value)) == (message, message)


@pytest.mark.parametrize(
    ("value", "said"),
    [(" \n", "'' has 0"), ("x" * 2_001, f"'{'x' * 40}' has 2,001")],
)
def test_a_line_has_its_length(value: str, said: str) -> None:
    """Counted as it is stored: what fits with its white space gone is fine."""
    with pytest.raises(WrongError) as caught:
        given_line(value, "a step", 2_000, WrongError)
    assert str(caught.value) == f"a step has 1 to 2,000 characters, {said}"
    assert given_line(f"  {'x' * 2_000}\n", "a step", 2_000, WrongError) == "x" * 2_000
