"""What looks like a key, a password or a token in a text.

It knows shapes, not secrets: those that services give their tokens, and what stands behind a name
such as `password=`. A password in plain words is not seen. To hide is more eager than to find: a
`***` too many costs a word, a finding that is none costs its reader the belief in the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

__all__ = ["SecretShape", "find_secrets", "hide_secrets"]

_HIDDEN = "***"

# What it looks like, what one of stands in every such text, and its shape.
_ISSUED = tuple(
    (kind, tuple(marks.split(" ")), re.compile(shape))
    for kind, marks, shape in (
        (
            "a private key",
            "-----BEGIN",
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
            r"(?s:.*?)(?:-----END [^-]{0,60}-----|\Z)",
        ),
        ("a private key", "AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
        (
            "a GitHub token",
            "gho_ ghp_ ghs_ ghu_ ghr_ github_pat_",
            r"\b(?:gh[opsur]_\w{20,}|github_pat_\w{20,})",
        ),
        ("a GitLab token", "glpat-", r"\bglpat-[\w-]{20,}"),
        ("an AWS access key", "AKIA ASIA", r"\bA(?:KI|SI)A[0-9A-Z]{16}\b"),
        ("a Google API key", "AIza", r"\bAIza[\w-]{35}"),
        (
            "a Slack token",
            "xox hooks.slack.com",
            r"\bxox[abeoprs]-[\w-]{10,}|\bhooks\.slack\.com/services/[\w/]{20,}",
        ),
        ("a Stripe key", "k_live_ k_test_", r"\b[rs]k_(?:live|test)_\w{16,}"),
        ("an API key", "sk-", r"\bsk-(?=[\w-]{0,60}\d)[\w-]{20,}"),
        ("a SendGrid key", "SG.", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
        ("a Telegram bot's token", ":AA", r"\b\d{8,10}:AA[\w-]{32,}"),
        ("a JSON web token", "eyJ", r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}"),
        (
            "a token",
            "hf_ npm_ dckr_pat_ dop_v1_ lin_api_ dapi pypi- ya29.",
            r"\b(?:hf_|npm_|dckr_pat_|dop_v1_|lin_api_|dapi|pypi-|ya29\.)"
            r"(?=[\w-]{0,60}\d)[\w-]{30,}",
        ),
    )
)

# How many tokens there are is no secret.
_NAME = (
    r"(?!tokens['\"`]?\s?[=: ]\s?\d{1,9}\b)"
    r"(?:(?P<password>passw(?:or)?ds?|passphrase)|secret|token(?!i[sz])"
    r"|(?:api|access|private)[ _-]?key|credential)(?P<rest>[\w.-]{0,40})['\"`*]{0,3}"
)
_VALUE = r"(?P<value>'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|['\"`]?[^\s'\"`,;]+)"
_NAMED = (
    re.compile(
        r"(?i)\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@]{0,100}:"
        r"(?P<value>[^\s/@]+)(?=@)(?P<password>)(?P<rest>)"
    ),
    re.compile(r"(?i)\b(?:bearer|basic)\s+(?P<value>[\w.~+/=-]{8,})(?P<password>(?!))?(?P<rest>)"),
    re.compile(rf"(?i)(?<![\w-])--?[\w.-]{{0,40}}?{_NAME}[ =]{_VALUE}"),
    re.compile(rf"(?i){_NAME}\s?[=:](?![=:])\s?{_VALUE}"),
)
_TOLD = re.compile(rf"(?i){_NAME}(?:\s[\w'-]{{1,30}}){{0,6}}\s(?:is|was):?\s{_VALUE}")

_EXAMPLE = re.compile(
    # A placeholder, a part of a program, a path, an address.
    r"(?i)^[<\[({$%]|\$\{|\{\{|\w[\[(]|\.\.\.|…|\*\*\*|xxx|example|^(?:your|my|the|test|dummy|fake)\b"
    r"|^\w+(?:\.\w+)+$|^arn:|://|\\"
)
_WORD_FOR_ONE = re.compile(
    r"(?i)pass|secret|[-_.]|^(?:boolean|bytes|correct|default|defined|expired|false|hidden|incorrect"
    r"|invalid|missing|number|object|option|optional|prompt|redacted|removed|required|string|struct"
    r"|undefined|unknown|varchar)$"
)
_SHORTEST_PASSWORD = 6
_SHORTEST_KEY = 16


@frozen
class SecretShape:
    """A part of a text that looks like a secret.

    Attributes:
        kind: what it looks like, in words with their article: `a GitHub token`.
        start: where it begins in the text.
        end: where it ends.
        line: the line that it begins in, from 1.
        column: where it begins in that line, from 1.
    """

    kind: str
    start: int
    end: int
    line: int
    column: int

    def __str__(self) -> str:
        """What it looks like and where it is, without what it is."""
        return f"{self.kind} (line {self.line}, from character {self.column})"


def find_secrets(text: str) -> list[SecretShape]:
    """What looks like secrets in a text, and hardly like anything else.

    Args:
        text: some thousand characters; a long one takes as much longer.

    Returns:
        The parts, in the order of the text; none overlaps another.
    """
    sure = [(*span, kind) for kind, span in _issued(text) if not _is_example(text, span)]
    for named in _named(text, (*_NAMED, _TOLD)):
        if _is_made(named):
            kind = "a key or a token" if named["password"] is None else "a password"
            sure.append((*named.span("value"), kind))
    found: list[SecretShape] = []
    for start, end, kind in sorted(sure):
        if not found or start >= found[-1].end:
            line = text.count("\n", 0, start) + 1
            found.append(SecretShape(kind, start, end, line, start - text.rfind("\n", 0, start)))
    return found


def hide_secrets(text: str) -> str:
    """A text with `***` for what looks like a secret, and for all that is named like one.

    Args:
        text: some thousand characters; a long one takes as much longer.
    """
    spans = [span for _, span in _issued(text)]
    spans += [named.span("value") for named in _named(text, _NAMED)]
    spans += [named.span("value") for named in _named(text, (_TOLD,)) if _is_made(named)]
    kept, behind = [], 0
    for start, end in sorted(spans):
        if start >= behind:
            kept += [text[behind:start], _HIDDEN]
        behind = max(behind, end)
    return "".join([*kept, text[behind:]])


def _issued(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """What has the form that a service gives its tokens."""
    for kind, marks, shape in _ISSUED:
        if any(mark in text for mark in marks):
            for found in shape.finditer(text):
                yield kind, found.span()


def _named(text: str, shapes: tuple[re.Pattern[str], ...]) -> Iterator[re.Match[str]]:
    for shape in shapes:
        yield from shape.finditer(text)


def _is_example(text: str, span: tuple[int, int]) -> bool:
    return "example" in text[slice(*span)].lower()


def _is_made(named: re.Match[str]) -> bool:
    """Whether a named value is one that somebody made up, or a machine."""
    value = named["value"].strip("'\"`").rstrip(".,:!?)")
    if _EXAMPLE.search(value):
        return False
    digits = sum(map(str.isdecimal, value))
    if named["password"] is None:
        letters = sum(map(str.isalpha, value))
        return len(value) >= _SHORTEST_KEY and digits >= 2 and letters >= 2
    # `password_length: 12` is none.
    if len(value) < _SHORTEST_PASSWORD or named["rest"].strip("_.-"):
        return False
    return digits > 0 or (named.re is not _TOLD and _stands_alone(named, value))


def _stands_alone(named: re.Match[str], value: str) -> bool:
    """Whether a word is the whole value, and no word about one or the beginning of a sentence."""
    quoted = named["value"][0] in "'\"`"
    at_end = named.string[named.end("value") : named.end("value") + 1] in {"", "\n"}
    return (quoted or at_end) and not _WORD_FOR_ONE.search(value)
