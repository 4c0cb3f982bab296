"""Strip layout HTML from Markdown.

Such HTML only affects the rendered page and says nothing to a reader of the text.
"""

from __future__ import annotations

import re

_ELEMENTS = "br|center|div|figure|font|h[1-6]|hr|img|p|picture|source|span"
# Code stays as it is: a fence to its end or that of the text, and a span within its line. A
# possessively repeated group (`(?:…)*+`) matches too little in Python 3.11.2.
_LAYOUT = re.compile(
    rf"""(?P<code>^[ ]{{0,3}}(?P<mark>`{{3,}}+|~{{3,}}+)(?>(?:(?!\n[ ]{{0,3}}(?P=mark)).)*)
    |`[^`\n]*+`)
    |<!--(?>(?:(?!-->).)*)(?:-->|\Z)
    |</?(?:{_ELEMENTS})(?=[\s/>])[^<>]*+>""",
    re.VERBOSE | re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*+\n){2,}")


def without_layout(text: str, language: str) -> str:
    """Strip layout tags and comments from a document's text.

    Args:
        text: its lines.
        language: the text's language; anything but Markdown is returned unchanged.

    Returns:
        The text; as it was where nothing but tags is in it.
    """
    if language != "markdown" or "<" not in text:
        return text
    bare = _LAYOUT.sub(lambda found: found["code"] or "", text)
    return _BLANK_LINES.sub("\n\n", bare).strip("\n") or text
