"""Escape or drop invisible characters in untrusted text.

Text can contain characters that a model reads and a person does not see: Unicode tags and
variation selectors that spell words, bidi controls that reorder code, zero-width characters,
terminal codes. Such text is stored unchanged, and cleaned where it leaves contextkit:

| where | rule |
|---|---|
| every context: items, titles, paths, notes | `visible`, applied to each part and to the whole |
| output of the command line, the page and MCP tools | `visible` |
| prose, before it becomes Markdown | `legible`: format characters are dropped |
| JSON for programs (`--json`) | JSON's own escapes, which a parser decodes |

`visible` writes an escape, such as `\u202e` or `\x1b`, so that code is shown as it is and no
character that disappears can turn its neighbours into markup. A long run becomes its first
escape and a count, `\u200b{+30}`, so that a hidden message in it cannot be read either.

Not escaped are: tabs and line feeds (CR LF becomes a line feed), joiners in emoji and after
letters of joining scripts (Arabic, Indic), variation selectors of emoji, Mongolian vowel separators
and selectors after Mongolian letters. The tags in the flags of England, Scotland and Wales are
escaped: a black flag remains.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
FORMAT_CHARACTERS = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""For patterns: Unicode's default ignorable characters, and interlinear annotations."""

# Line and paragraph separators, half surrogate pairs and noncharacters.
_OTHERS = "\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"

_EMOJI = (
    "\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935\u2b00-\u2bff"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
_SKIN = "\U0001f3fb-\U0001f3ff"
_SYMBOLS_WITH_EMOJI = "\xa9\xae\u203c\u2049\u2122\u2139\u3030\u303d\u3297\u3299"
_JOINING = (
    "\u0620-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1b00-\u1b7f\ua8e0-\ua9df"
    "\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
)
_MONGOLIAN = "\u1820-\u18aa"
_ONE_EMOJI = rf"[{_EMOJI}](?:[\ufe0e\ufe0f][{_SKIN}]?|[{_SKIN}])?"
_KEPT = rf"""
    {_ONE_EMOJI}(?>(?:\u200d{_ONE_EMOJI})*)
    | [\#*0-9]\ufe0f\u20e3
    | [{_SYMBOLS_WITH_EMOJI}][\ufe0e\ufe0f]
    | (?<=[{_JOINING}])[\u200c\u200d]
    | (?<=[{_MONGOLIAN}])[\u180b-\u180f]
"""

_LONGEST_RUN = 4
"""The longest run whose characters are shown one by one."""

ESCAPE_PATTERN = r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|r)(?:\{\+\d{1,9}\})?"
"""Matches the output of `visible`, for code that must not split it."""

# ASCII that is never suspect: `bytes.translate` takes a tenth of a pattern's time.
_PLAIN = bytes(code for code in range(0x7F) if code >= 0x20 or code in b"\t\n")


def visible(text: str) -> str:
    r"""Replace every invisible character by an escape.

    Half surrogate pairs, which cannot be encoded, become question marks. The function is
    idempotent.

    Args:
        text: any text.
    """
    return _visible_pattern().sub(_escaped, text) if _is_suspect(text) else text


def visible_each(texts: Sequence[str]) -> Sequence[str]:
    """Apply `visible` to several texts, which is faster than one by one."""
    return list(map(visible, texts)) if _is_suspect("\n".join(texts)) else texts


def legible(text: str) -> str:
    """Remove format characters from prose; `visible` still escapes its controls.

    Apply it before escaping a text for Markdown: without the character between them, `#` and a
    space would become a heading.

    Args:
        text: any text.
    """
    if text.isascii() or not _is_suspect(text):
        return text
    return _format_pattern().sub(lambda found: found["kept"] or "", text)


def visible_values(value: Any) -> Any:
    """Apply `visible` to all texts in a JSON value."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible(key): visible_values(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [visible_values(inner) for inner in value]
    return value


def visible_json(text: str) -> str:
    r"""Escape invisible characters in JSON without changing its values."""
    return _visible_pattern().sub(_escaped_for_json, text) if _is_suspect(text) else text


def _is_suspect(text: str) -> bool:
    rest = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    return bool(rest) and (
        rest.isascii()
        or _search_pattern().search(rest.decode("utf-8", "surrogatepass")) is not None
    )


# Compiled on first use: most texts need none of them, and compiling takes a millisecond.


@functools.cache
def _search_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_CONTROLS}{FORMAT_CHARACTERS}{_OTHERS}]")


@functools.cache
def _visible_pattern() -> re.Pattern[str]:
    hidden = rf"(?P<hidden>(?:(?!\r\n)[{_CONTROLS}{FORMAT_CHARACTERS}{_OTHERS}])+)"
    return re.compile(rf"(?P<kept>{_KEPT})|(?P<line_end>\r\n)|{hidden}", re.VERBOSE)


@functools.cache
def _format_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?P<kept>{_KEPT})|[{FORMAT_CHARACTERS}]", re.VERBOSE)


def _escaped(found: re.Match[str]) -> str:
    if hidden := found["hidden"]:
        if len(hidden) <= _LONGEST_RUN:
            return "".join(map(_escape, hidden))
        return f"{_escape(hidden[0])}{{+{len(hidden) - 1}}}"
    return "\n" if found["line_end"] else found[0]


def _escape(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "?"
    return character.encode("unicode_escape").decode("ascii")


def _escaped_for_json(found: re.Match[str]) -> str:
    hidden = found["hidden"]
    if hidden is None:
        return found[0]
    # Line ends of formatted JSON are not part of its values.
    units = hidden.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
