"""Tell whether a file's text defines, uses or only mentions a name."""

from __future__ import annotations

import bisect
import functools
import re
from pathlib import PurePosixPath

NOT_FOUND, MENTIONED, USED, DEFINED = 0, 1, 2, 3
"""How a text contains a name: not at all; in prose or comments; in code; as a definition."""

_EXAMINED = 50
_LINE = 300
_PROSE = frozenset(
    {"", ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".org", ".html", ".svg"}
)
_CODE_NAME = re.compile(r"(?i)\w*(?:docker|make|just|jenkins|gem|rake|proc)file|cmakelists\.txt")
_CHANGES = re.compile(r"(?i)(?:changes|changelog|history|news|release[-_]?notes)\b")
_COMMENTS = {
    "#": (
        ".py .pyi .sh .bash .zsh .rb .toml .yaml .yml .cfg .conf .ini .mk .pl .r .jl .ex .exs "
        ".nix .tf .cmake .env"
    ),
    "--": ".sql .lua .hs .elm",
}
_MARKS = {suffix: mark for mark, suffixes in _COMMENTS.items() for suffix in suffixes.split()}
_TRIPLE = re.compile(r'"""|\'\'\'')
_BLOCK = re.compile(r"(?:^|(?<=[\s;{}()]))/\*", re.MULTILINE)
_STRING = r'"(?>(?:[^"\\]|\\.)*)"|\'(?>(?:[^\'\\]|\\.)*)\''
_KEYWORDS = (
    "def|class|func|function|fn|type|struct|interface|enum|trait|const|let|var|val|module|sub|"
    "record|object|namespace|macro_rules!|define|union|protocol|defp|defmodule|typedef"
)
_BEFORE_DEFINED = re.compile(
    rf"(?:\b(?:{_KEYWORDS})\s+\*?|\bfunc \([^)]{{0,80}}\) |^\s*(?:export\s+)?[\"']?|\.)$"
)
_KEYWORD_BEFORE = re.compile(rf"(?:\b(?:{_KEYWORDS})\s+\*?|\bfunc \([^)]{{0,80}}\) )$")
_ASSIGNED = re.compile(r"[\"']?\s{0,8}(?::?=(?!=)|:(?!:))")


def grade(text: str, path: str, name: str) -> int:
    """Tell how a file's text contains a name, as one of the constants.

    Comments, docstrings and prose mention a name after it is gone: "`old` is now `new`". So they
    do not count as uses. A string counts if it has no white space, as the key of a setting.

    Args:
        text: the file's text, or a part of it.
        path: the file's path, which tells its kind.
        name: a name, with dots or dashes in it perhaps.
    """
    if name not in text:
        return NOT_FOUND
    occurrences = list(zip(range(_EXAMINED), _word(name).finditer(text), strict=False))
    if not occurrences or _is_prose(path):
        return MENTIONED if occurrences else NOT_FOUND
    mark = _MARKS.get(PurePosixPath(path).suffix.lower(), "//")
    spans = _skipped(text, path)
    best = MENTIONED
    for _, found in occurrences:
        place = bisect.bisect(spans, (found.start(), len(text))) - 1
        if place < 0 or spans[place][1] <= found.start():
            best = max(best, _graded(text, found, mark))
        if best == DEFINED:
            break
    return best


def _graded(text: str, found: re.Match[str], mark: str) -> int:
    """Tell how one line contains a name."""
    start, end = found.span()
    line_start = max(text.rfind("\n", 0, start) + 1, start - _LINE)
    line_end = text.find("\n", end)
    line = text[line_start : min(end + _LINE, len(text) if line_end < 0 else line_end)]
    start, end = start - line_start, end - line_start
    for each in _strings_and(mark).finditer(line):
        if each.start() >= start:
            break
        if each[0] == mark:
            return MENTIONED
        if each.end() > start and re.search(r"\s", each[0]) and not found[0].startswith("-"):
            return MENTIONED
    before, behind = line[:start], line[end:]
    is_assigned = _ASSIGNED.match(behind) is not None
    if _KEYWORD_BEFORE.search(before) or (is_assigned and _BEFORE_DEFINED.search(before)):
        return DEFINED
    return USED


@functools.lru_cache(maxsize=512)
def _word(name: str) -> re.Pattern[str]:
    dash = "-" if "-" in name else ""
    return re.compile(rf"(?<![\w{dash}]){re.escape(name)}(?![\w{dash}])")


@functools.cache
def _strings_and(mark: str) -> re.Pattern[str]:
    return re.compile(rf"{_STRING}|{re.escape(mark)}")


def _is_prose(path: str) -> bool:
    name = PurePosixPath(path).name
    if _CODE_NAME.fullmatch(name):
        return False
    return PurePosixPath(name).suffix.lower() in _PROSE or bool(_CHANGES.match(name))


def _skipped(text: str, path: str) -> list[tuple[int, int]]:
    """List the docstrings, or the block comments, of a text."""
    is_python = path.endswith((".py", ".pyi"))
    opening = _TRIPLE if is_python else _BLOCK
    spans: list[tuple[int, int]] = []
    at = 0
    while found := opening.search(text, at):
        closing = text.find(found[0] if is_python else "*/", found.end())
        at = len(text) if closing < 0 else closing + len(found[0])
        spans.append((found.start(), at))
    return spans
