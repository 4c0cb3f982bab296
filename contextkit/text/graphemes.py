"""Find places to cut between visible characters."""

from __future__ import annotations

import unicodedata

_ZERO_WIDTH_JOINER = "\u200d"
# Characters that extend the previous one although their category does not say so: half-width
# voicing marks, Thai and Lao AM, zero-width non-joiner, emoji skin tones and tags.
_EXTENDING = frozenset("\uff9e\uff9f\u0e33\u0eb3\u200c\u200d") | frozenset(
    map(chr, (*range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080)))
)
# Signs that belong to the following character.
_PREPENDED = frozenset(
    map(
        chr,
        (
            *range(0x0600, 0x0606),
            *(0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x0D4E, 0x110BD, 0x110CD),
            *(0x111C2, 0x111C3, 0x1193F, 0x11941, 0x11A3A, 0x11D46, 0x11F02),
            *range(0x11A84, 0x11A8A),
        ),
    )
)
_VIRAMA = 9
_LOOK_BACK = 64
"""Characters of a run of flags or marks that are examined; an even number."""


def is_boundary(text: str, position: int) -> bool:
    """Whether `text` may be cut at `position`.

    It may not be cut within a surrogate pair, an emoji sequence, a flag, a Hangul syllable, an
    Indic conjunct or a CR LF, nor between a character and its combining marks. A few places
    that Unicode allows are refused too.

    Args:
        text: any text.
        position: 0 to the text's length; both ends are boundaries.
    """
    if position <= 0 or position >= len(text):
        return True
    before, after = text[position - 1], text[position]
    if before < "\u0300" and after < "\u0300":
        return not (before == "\r" and after == "\n")
    return not (
        after in _EXTENDING
        or before == _ZERO_WIDTH_JOINER
        or before in _PREPENDED
        or unicodedata.category(after)[0] == "M"
        or (after.isalpha() and _follows_virama(text, position))
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
        or _is_within_flag(text, position)
        or _is_within_syllable(before, after)
    )


def _follows_virama(text: str, position: int) -> bool:
    """Whether a virama before `position` joins the letters around it."""
    first = max(position - _LOOK_BACK, 0)
    while position > first and (
        text[position - 1] in _EXTENDING or unicodedata.category(text[position - 1])[0] == "M"
    ):
        position -= 1
        if unicodedata.combining(text[position]) == _VIRAMA:
            return True
    return False


def _is_within_flag(text: str, position: int) -> bool:
    """Whether `position` splits a flag's pair of regional indicators."""
    if not _is_regional(text[position]):
        return False
    start = position
    while start > 0 and position - start < _LOOK_BACK and _is_regional(text[start - 1]):
        start -= 1
    return (position - start) % 2 == 1


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _is_within_syllable(before: str, after: str) -> bool:
    """Whether two characters belong to the same Hangul syllable."""
    here, there = _hangul_part(before), _hangul_part(after)
    return there != "" and (here, there) in {
        *(("L", part) for part in ("L", "V", "LV", "LVT")),
        *((part, "V") for part in ("V", "LV")),
        *((part, "T") for part in ("V", "LV", "T", "LVT")),
    }


def _hangul_part(character: str) -> str:
    code = ord(character)
    if 0xAC00 <= code <= 0xD7A3:
        return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
    for part, first, last in (
        ("L", 0x1100, 0x115F),
        ("V", 0x1160, 0x11A7),
        ("T", 0x11A8, 0x11FF),
        ("L", 0xA960, 0xA97C),
        ("V", 0xD7B0, 0xD7C6),
        ("T", 0xD7CB, 0xD7FB),
    ):
        if first <= code <= last:
            return part
    return ""
