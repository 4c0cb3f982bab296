"""Remove secrets and environment dumps from events, and limit length."""

from __future__ import annotations

import re

from contextkit.text import hide_secrets

LONGEST = {"text": 4000, "command": 2000, "output": 2000, "path": 1000, "outcome": 200}
"""Part of an event -> most characters kept.

Of an output, half of these are from its end.
"""

_LOOKED_AT = 20_000
_ENVIRONMENT = re.compile(
    r"(?m)(?:^(?:declare -x |export )?[A-Za-z_]\w*=.*(?:\n|\Z)){5,}", re.MULTILINE
)
_LEFT_OUT = "[environment left out]\n"
_CONTROLS = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]|[\ud800-\udfff]")
_CUT = "…"


def guarded(text: str, part: str) -> str:
    """Return the storable form of an event's part.

    Args:
        text: the original text.
        part: a key of `LONGEST`.

    Returns:
        The text without terminal codes, controls and white space at its ends; values that
        look like secrets are `[secret: …]`, five lines or more of `NAME=value` are left out, and a
        long text is cut, which a `…` shows.
    """
    if not text:
        return text
    text = shortened(text, _LOOKED_AT)
    text = _CONTROLS.sub("", text.replace("\r\n", "\n")).strip()
    if part in {"output", "text"}:
        text = _ENVIRONMENT.sub(_LEFT_OUT, text).strip()
    text = hide_secrets(text)
    return shortened(text, LONGEST[part]) if part == "output" else _head(text, LONGEST[part])


def _head(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}{_CUT}"


def shortened(text: str, most: int) -> str:
    """Keep the beginning and the end: errors come last."""
    if len(text) <= most:
        return text
    half = (most - 3) // 2
    return f"{text[:half]}\n{_CUT}\n{text[-half:]}"
