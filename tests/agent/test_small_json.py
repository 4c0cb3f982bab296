"""JSON as `json` reads and writes it."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import Any

import pytest

from contextkit.agent.small_json import from_json, to_json

VALUES: list[Any] = [
    *(None, True, 0, -12, 1.5, 1e300, math.inf, "", 'größe \ud800 😀 \x00\n"\\/', [], {}),
    {"a": [1, {"b": [None, False]}], "": {"c": "d"}, "a b": -0.0},
]


@pytest.mark.parametrize("value", VALUES)
def test_values_are_written_and_read_as_by_json(value: Any) -> None:
    """The text is the same, and so is what is read of it, also with white space around it."""
    text = to_json(value)
    assert text == json.dumps(value)
    assert from_json(f" \t{text}\r\n".encode()) == json.loads(text)


@pytest.mark.parametrize("data", [b"", b"{", b"{} x", b"\xff", b'{"a": 01}', b"'a'", b'"\n"'])
def test_other_text_is_refused_as_by_json(data: bytes) -> None:
    """The message is the same."""
    with pytest.raises(ValueError, match=r"\w") as expected:
        json.loads(data)
    with pytest.raises(ValueError, match=r"\w") as found:
        from_json(data)
    assert str(found.value) == str(expected.value)


def test_broken_text_is_refused_before_json_is_imported() -> None:
    """A hook's process reads it without `json`."""
    code = """
import sys
from contextkit.agent.small_json import from_json
assert "json" not in sys.modules
try:
    from_json(b"{")
except ValueError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("Expecting property name")


def test_other_encodings_are_read() -> None:
    """A mark at the beginning, and UTF-16, are understood."""
    assert from_json(b"\xef\xbb\xbf[1]") == [1]
    assert from_json('{"a": "ü"}'.encode("utf-16")) == {"a": "ü"}


def test_what_is_no_json_is_not_written() -> None:
    """A set raises the error that it raises there."""
    with pytest.raises(TypeError, match="Object of type set is not JSON serializable"):
        to_json({"a": {1}})
