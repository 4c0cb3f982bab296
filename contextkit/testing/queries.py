"""Typical queries of people and programs, for any source."""

from __future__ import annotations

from collections.abc import Mapping

QUERIES: Mapping[str, str] = {
    "no text": "",
    "blanks": " \t\n ",
    "one letter": "a",
    "punctuation": "?!*\"'()[]{}^$|\\/:;+-~%_",
    "accents": "Überprüfung naïve café",
    "Chinese": "为什么要限制上下文的大小？",
    "Arabic": "لماذا نقيّد حجم السياق؟",
    "emoji": "👩‍👩‍👧‍👦 🚀",
    "line ends": "first\r\nsecond\u2028third",
    "controls": "a\x00b\x1b[31mc\x7f",
    "SQL": "'; DROP TABLE records; --",
    "a path": "../../etc/passwd",
    "a long text": "context " * 2_000,
}
"""What it is -> the query."""
