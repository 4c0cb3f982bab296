"""Private keys: blocks between `-----BEGIN` and `-----END`, also where one of them is cut off.

An SSH2 key has four dashes and a space; the private part of a PuTTY key follows `Private-Lines:`.
"""

from __future__ import annotations

from collections.abc import Iterator

from contextkit.text.secrets.span import SecretSpan, compiled

_MARKS = ("----", "Private-Lines:")
# Copied text may have no-break spaces.
_KIND = r"\s[A-Z0-9\s]{0,30}PRIVATE\sKEY(?:\sBLOCK)?\s?-{4,7}"
_BEGIN = rf"-{{4,7}}\s?BEGIN{_KIND}|Private-Lines: ?\d"
_END = rf"-{{4,7}}\s?END{_KIND}|Private-MAC: ?[0-9a-f]{{0,80}}"

# What a key's lines consist of; in a string they are joined by `\n`, quoted, added.
_BODY = (
    r"(?>(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Subject|MessageID):"
    # No mark of the next key, so that each text is read once.
    r"(?:[^\n\\-]|-(?!---|Lines)){0,200}"
    r"|(?!Private-MAC)[A-Za-z0-9+/=\s\"'`,>|#*.\\])*)"
)
_WORDS = r"(?<![\w+/=])[A-Za-z]{1,15}[ \t]+[A-Za-z]{1,15}[ \t]+[A-Za-z]{1,15}(?![\w+/=])"
_MATERIAL = r"[A-Za-z0-9+/]{24}"
_LINE = r"[\s\"'`,>|#*+]*[A-Za-z0-9+/=]{16,}(?:\\[nr]|[\s\"'`,+])*"
"""A line of a key that lacks its beginning."""
_LONGEST_LINE = 4000


def private_keys(text: str) -> Iterator[SecretSpan]:
    """The private keys in a text, whole or in part."""
    for mark in _MARKS:
        behind = 0
        at = text.find(mark)
        while at >= 0:
            start, end = _block(text, at, behind)
            if end > start:
                yield SecretSpan(start, end, "private key")
                behind = end
            at = text.find(mark, max(end, at + len(mark)))


def _block(text: str, at: int, behind: int) -> tuple[int, int]:
    """Where the key begins and ends that has its first or its last line here; or nothing."""
    if begin := compiled(_BEGIN).match(text, at):
        body = compiled(_BODY).match(text, begin.end())
        end = body.end() if body else begin.end()
        closed = compiled(_END).match(text, end)
        prose = None if closed else compiled(_WORDS).search(text, begin.end(), end)
        end = closed.end() if closed else prose.start() if prose else end
        if compiled(_MATERIAL).search(text, begin.end(), end):
            return at, end if closed else begin.end() + len(text[begin.end() : end].rstrip())
    elif (end_line := compiled(_END).match(text, at)) and (
        start := _first_line(text, at, behind)
    ) < at:
        return start, end_line.end()
    return at, at


def _first_line(text: str, end: int, behind: int) -> int:
    """Where the lines of a key begin that end here."""
    start = end
    while start > behind:
        least = max(behind, start - _LONGEST_LINE)
        line = text.rfind("\n", least, start - 1) + 1 or least
        if not compiled(_LINE).fullmatch(text, line, start):
            break
        start = line
    return start
