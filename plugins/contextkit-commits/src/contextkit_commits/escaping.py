"""Text of a commit within Markdown and plain text, so that it stays text.

A message keeps its words and its lists. What would open a block of another kind at the
start of a line (a heading, a fence, a rule, a table, a link definition, strong text that
looks like another item) or an HTML tag anywhere gets a backslash.
"""

from __future__ import annotations

import re

__all__ = ["markdown_inline", "markdown_line", "visible_path"]

_MARKER = re.compile(r"[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))")
_OPENER = re.compile(
    r"""
      [ \t]*(?:
        \#{1,6}(?=[ \t]|$)              # a heading
      | `{3,} | ~{3,}                   # a fence
      | [-=|:][-=|: \t]*$               # the line under a heading or under a table's head, a rule
      | ([*_])[ \t]*(?:\1[ \t]*){2,}$   # a rule
      | \*(?![ \t])                     # emphasis, as in the lines around a message
      | \[[^\]]*\]:                     # a link definition
      )""",
    re.VERBOSE,
)
_TAG = re.compile(r"(\\*)<(?=[A-Za-z/!?])(?!(?:https?://|[^\s<>@]+@)[^\s<>]+>)")
_INLINE = re.compile(r"[\\`*<]|(?<=\])\(")
_PATH_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def markdown_line(line: str) -> str:
    """One line of a message, for the start of a line."""
    position = 0
    while not (opener := _OPENER.match(line, position)):
        marker = _MARKER.match(line, position)
        if marker is None:
            return _without_tags(line)
        position = marker.end()
    start = opener.end() - len(opener[0].lstrip())
    run = opener[0].lstrip()
    if run[0] in "`~":
        escaped = "".join(f"\\{character}" for character in run)
        return line[:start] + escaped + _without_tags(line[start + len(run) :])
    return f"{line[:start]}\\{_without_tags(line[start:])}"


def _without_tags(text: str) -> str:
    # A tag that has its backslash already must not lose it to a second one.
    return _TAG.sub(lambda tag: tag[0] if len(tag[1]) % 2 else f"{tag[1]}\\<", text)


def markdown_inline(text: str) -> str:
    """A name or a path within a line of Markdown, with nothing in it that is markup."""
    return _INLINE.sub(lambda found: f"\\{found[0]}", text)


def visible_path(path: str) -> str:
    r"""A path on one line: a line feed in it is shown as `\n`, other controls likewise."""
    return _PATH_CONTROLS.sub(lambda found: repr(found[0])[1:-1], path)
