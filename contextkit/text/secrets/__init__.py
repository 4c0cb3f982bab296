"""Find keys, passwords and tokens in a text.

It knows the formats of services' tokens, and values behind a name such as `password=`. It does not
find a password in plain words. Its time is proportional to the text's length.

| module | what it knows |
|---|---|
| `issued` | the shapes that services give their tokens |
| `keys` | private keys in blocks |
| `named` | values behind names, in commands, in headers and in addresses |
| `span` | a secret's place, and the mark that replaces it |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextkit.text.secrets.issued import issued
from contextkit.text.secrets.keys import private_keys
from contextkit.text.secrets.named import named
from contextkit.text.secrets.span import MARK, SecretSpan, replaced, without_marks, without_overlaps

__all__ = [
    "MARK",
    "SecretSpan",
    "find_secrets",
    "hide_secrets",
    "redacted",
    "replaced",
    "without_overlaps",
]


def find_secrets(text: str) -> list[SecretSpan]:
    """Find likely secrets, with few false positives.

    Args:
        text: any text.

    Returns:
        The parts, in the order of the text; none overlaps another.
    """
    return _found(text)


def redacted(value: Any) -> Any:
    """A JSON value with a mark in place of each secret in its strings, for what is logged."""
    if isinstance(value, str):
        return replaced(value, find_secrets(value))
    if isinstance(value, Mapping):
        return {key: redacted(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [redacted(inner) for inner in value]
    return value


def hide_secrets(text: str) -> str:
    """Replace likely secrets, and every value with a secret-like name, by `[secret: …]`.

    It replaces more than `find_secrets` finds: for texts in which a word too many costs little.

    Args:
        text: any text.
    """
    return replaced(text, _found(text, eager=True))


def _found(text: str, *, eager: bool = False) -> list[SecretSpan]:
    plain = without_marks(text)
    found = [*private_keys(plain), *issued(plain), *named(plain, eager=eager)]
    return without_overlaps(text, found)
