"""Read and write JSON as `json` does, without importing it.

Its modules import regular expressions, which take longer than a hook's other imports together.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Settings:
    """What the reader takes from a `json.JSONDecoder`."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def to_json(value: Any) -> str:
    """Return a value as JSON in ASCII.

    Raises `TypeError` or `ValueError` for a value that is none of JSON's.
    """
    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:
        from json import dumps

        return dumps(value)
    encode = make_encoder(
        {}, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, True
    )
    return "".join(encode(value, 0))


def from_json(data: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raises `ValueError` if it is none.
    """
    try:
        from _json import make_scanner

        settings: Any = _Settings
        text = data.decode("utf-8").strip(" \t\r\n")
        value, end = make_scanner(settings)(text, 0)
    except (ImportError, StopIteration, SystemError, ValueError):
        # The reader cannot raise `json.JSONDecodeError` while `json` is not imported.
        end, text = 0, " "
    if end == len(text):
        return value
    from json import loads

    # It knows the other encodings, and says what is wrong.
    return loads(data)


def _refuse(value: object) -> None:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
