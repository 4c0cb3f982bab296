r"""Keeping a memory's lines from becoming Markdown structure of the context they stand in.

A memory's text follows `**Memory**: ` and keeps its lines, its emphasis, its code spans and
its lists. What would open a heading, a rule, a fence, a quote, a table, a link definition or
HTML gets a backslash: `# a` becomes `\# a`, `<b>` becomes `\<b>`.
"""

from __future__ import annotations

import re

__all__ = ["inline_markdown"]

_LINE_END = re.compile("\r\n|[\r\n]")
_LIST_MARKER = re.compile(r"(?:[-+*]|\d{1,9}[.)])[ \t]+")
# A line of only these is a setext underline, a rule or a table's delimiter row.
_UNDERLINE = re.compile(r"[-=_*|: \t]+$")
_FENCE = re.compile("`{3,}|~{3,}")
_TOKEN = re.compile(r"\\.|`+|<(?=[A-Za-z/!?])")


def inline_markdown(text: str) -> str:
    """A text that opens no Markdown block but paragraphs, lists and indented code.

    Args:
        text: any text; it will stand behind other words on its first line.

    Returns:
        Its lines, with a backslash before every character that would open another block or
        an HTML tag outside a code span.
    """
    first, *others = _LINE_END.split(text)
    has_definition = "]:" in text
    # Whether every code span of this paragraph so far ended on the line it began on.
    line, settled = _without_tags(first, settled=True)
    lines = [line]
    for other in others:
        opening, rest = _escaped_opening(other, has_definition)
        line, settled = _without_tags(rest, settled=settled or not other.strip())
        lines.append(opening + line)
    return "\n".join(lines)


def _escaped_opening(line: str, has_definition: bool) -> tuple[str, str]:
    """The line's indentation, list markers and escaped opener, and the rest of it."""
    start = len(line) - len(line.lstrip())
    while start < len(line):
        rest = line[start:]
        if fence := _FENCE.match(rest):
            escaped = "".join(f"\\{character}" for character in fence.group())
            return line[:start] + escaped, rest[fence.end() :]
        if _UNDERLINE.match(rest) or rest[0] in "#>|" or (rest[0] == "[" and has_definition):
            return f"{line[:start]}\\{rest[0]}", rest[1:]
        marker = _LIST_MARKER.match(rest)
        if not marker:
            break
        start += marker.end()
    return line[:start], line[start:]


def _without_tags(line: str, *, settled: bool) -> tuple[str, bool]:
    """Escape what would open an HTML tag; tell whether all code spans ended on this line.

    Once a run of backticks stays open, which later run closes it depends on where the
    paragraph ends: from there on no text counts as code, and every tag is escaped.
    """
    parts: list[str] = []
    end = 0
    while token := _TOKEN.search(line, end):
        parts.append(line[end : token.start()])
        found, end = token.group(), token.end()
        if found == "<":
            found = "\\<"
        elif found[0] == "`" and settled:
            closing = re.compile(f"(?<!`)`{{{len(found)}}}(?!`)").search(line, end)
            settled = closing is not None
            if closing:
                found, end = line[token.start() : closing.end()], closing.end()
        parts.append(found)
    return "".join([*parts, line[end:]]), settled
