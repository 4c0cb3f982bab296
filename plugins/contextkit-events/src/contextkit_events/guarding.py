"""What is never stored of an event: secrets of the usual shapes, dumps of an environment, length.

It knows shapes, not secrets: a password in plain words is kept.
"""

from __future__ import annotations

import re

__all__ = ["LONGEST", "guarded"]

LONGEST = {"text": 4000, "command": 2000, "output": 2000, "path": 1000, "outcome": 200}
"""Part of an event -> characters that are kept of it; of an output half of it from its end."""

_HIDDEN = "***"
_LOOKED_AT = 20_000
_NAMED = (
    # How many tokens there are is no secret.
    r"(?![\w.-]{0,40}tokens['\"]?\s?[=: ]\s?\d{1,9}\b)"
    r"[\w.-]{0,40}(?:secret|token|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|credentials?)[\w.-]{0,40}"
)
_SECRETS = (
    re.compile(r"(?s)(?P<before>)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [^-]*-----|\Z)"),
    re.compile(r"(?i)(?P<before>\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@]{0,100}:)[^\s/@]+(?=@)"),
    re.compile(r"(?i)(?P<before>\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}"),
    re.compile(rf"(?i)(?P<before>--?{_NAMED}[ =])(?:'[^']*'|\"[^\"]*\"|[^\s'\"]+)"),
    re.compile(rf"(?i)(?P<before>\b{_NAMED}['\"]?\s?[=:]\s?)(?:'[^']*'|\"[^\"]*\"|[^\s'\",;]+)"),
    re.compile(
        r"(?P<before>)\b(?:gh[opsur]_\w{20,}|github_pat_\w{20,}|sk-[\w-]{20,}|xox[abprs]-[\w-]{10,}"
        r"|AKIA[0-9A-Z]{16}|glpat-[\w-]{20,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,})"
    ),
)
_ENVIRONMENT = re.compile(
    r"(?m)(?:^(?:declare -x |export )?[A-Za-z_]\w*=.*(?:\n|\Z)){5,}", re.MULTILINE
)
_LEFT_OUT = "[environment left out]\n"
_CONTROLS = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]|[\ud800-\udfff]")
_CUT = "…"


def guarded(text: str, part: str) -> str:
    """What is stored of a part of an event.

    Args:
        text: as it was given.
        part: a key of `LONGEST`.

    Returns:
        The text without terminal codes, controls and white space at its ends; values that
        look like secrets are `***`, five lines or more of `NAME=value` are left out, and a
        long text is cut, which a `…` shows.
    """
    text = _shortened(text, _LOOKED_AT)
    text = _CONTROLS.sub("", text.replace("\r\n", "\n")).strip()
    if part in {"output", "text"}:
        text = _ENVIRONMENT.sub(_LEFT_OUT, text).strip()
    for secret in _SECRETS:
        text = secret.sub(rf"\g<before>{_HIDDEN}", text)
    return _shortened(text, LONGEST[part]) if part == "output" else _head(text, LONGEST[part])


def _head(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}{_CUT}"


def _shortened(text: str, most: int) -> str:
    """The beginning and the end: what went wrong stands last."""
    if len(text) <= most:
        return text
    half = (most - 3) // 2
    return f"{text[:half]}\n{_CUT}\n{text[-half:]}"
