"""Putting text that others wrote into Markdown and XML so that it stays text."""

from __future__ import annotations

import re

__all__ = ["escape_xml", "fence_for", "fenced", "line_start_safe", "one_line"]

_BACKTICKS = re.compile("`+")
_NOT_IN_LANGUAGE = re.compile(r"[\s`\x00-\x1f\x7f-\x9f]+")
# `\s` of a str pattern has every Unicode space and line end; the ranges add the controls.
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_XML_ENTITIES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\r": "&#13;"}
)
# What opens a block at the start of a line: heading, quote, list, rule, fence, table,
# setext underline, HTML, link definition.
_BLOCK_OPENER = re.compile(r"[#>*+\-_`~|=<\[:]")
_NUMBERED_LIST = re.compile(r"(\d{1,9})([.)])")


def fence_for(text: str) -> str:
    """A backtick fence that `text` cannot close.

    Args:
        text: what will stand inside it.

    Returns:
        At least three backticks, and more than any run of them in `text`.
    """
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    return "`" * max(3, longest + 1)


def fenced(text: str, language: str = "") -> str:
    """`text` as a Markdown code block that it cannot close.

    Args:
        text: the block's content; one line end at its end is not doubled.
        language: the language named on the opening fence; white space, controls and
            backticks, which would end it, are left out.

    Returns:
        The block, without a line end after its closing fence.
    """
    fence = fence_for(text)
    body = text if not text or text.endswith("\n") else f"{text}\n"
    return f"{fence}{_NOT_IN_LANGUAGE.sub('', language)}\n{body}{fence}"


def escape_xml(text: str) -> str:
    """`text` as XML character data, for an element or a quoted attribute.

    Characters that XML 1.0 cannot hold even as an entity (most controls, lone
    surrogates, U+FFFE and U+FFFF) are left out.

    Args:
        text: any text.

    Returns:
        Text that an XML parser reads back as `text` without those characters.
    """
    return _NOT_XML.sub("", text).translate(_XML_ENTITIES)


def one_line(text: str) -> str:
    """`text` on one line: every run of white space and controls becomes one space.

    Behind anything else on its line it cannot open a Markdown block; for the start of a
    line there is `line_start_safe`.

    Args:
        text: any text.

    Returns:
        The line, with no white space at either end.
    """
    return _BLANKS.sub(" ", text).strip(" ")


def line_start_safe(text: str) -> str:
    r"""`text` on one line that opens no Markdown block at the start of a line.

    Args:
        text: any text.

    Returns:
        `one_line(text)`, with a backslash before a first character that would open a
        heading, list, quote, table, fence or other block (`# a` becomes `\# a`).
    """
    line = one_line(text)
    if _BLOCK_OPENER.match(line):
        return f"\\{line}"
    return _NUMBERED_LIST.sub(r"\1\\\2", line, count=1) if _NUMBERED_LIST.match(line) else line
