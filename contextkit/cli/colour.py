"""Print a Markdown context in colour.

The characters are the same as without colour, so that nothing is hidden.
"""

from __future__ import annotations

import re

from rich.console import Console
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.text import Text

from contextkit.text.blocks import Fence, TextBlocks
from contextkit.text.clean import visible

# The first pattern that matches a part of a line counts. The colours are plain and cover little
# text: they are as readable on a light ground as on a dark one.
_PIECES = (
    (re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE), "bold magenta"),
    (re.compile(r"^\*\(.*\)\*$", re.MULTILINE), "dim italic"),
    (re.compile(r"^\*[^*\n]+\*$", re.MULTILINE), "italic"),
    (re.compile(r"^\*\*[^*\n]+\*\*", re.MULTILINE), "bold"),
    (re.compile(r"(?<!`)`[^`\n]+`(?!`)"), "cyan"),
)
_CODE = ANSISyntaxTheme(
    {
        ("Comment",): Style(dim=True),
        ("Keyword",): Style(color="magenta"),
        ("Operator", "Word"): Style(color="magenta"),
        ("Name", "Function"): Style(color="cyan"),
        ("Name", "Class"): Style(color="cyan", bold=True),
        ("Name", "Decorator"): Style(color="cyan"),
        ("Name", "Tag"): Style(color="cyan"),
        ("Literal", "String"): Style(color="green"),
        ("Literal", "Number"): Style(color="yellow"),
    }
)
_MARK = "dim"
_PLACE = re.compile(r"`([^`\n]+?)(?::\d+)?`[ \t]*$")
"""The place at the end of a code item's heading: its file says the language."""


def print_markdown(text: str) -> None:
    """Print a context to a terminal that shows colour."""
    Console(highlight=False).print(coloured_markdown(visible(text)), soft_wrap=True)


def coloured_markdown(text: str) -> Text:
    """Style a Markdown text's headings, labels, marks and code."""
    coloured = Text(text)
    if coloured.plain != text:
        # rich removes carriage returns, so positions are counted in the text that it keeps.
        text = coloured.plain
    fences = TextBlocks(text).fences
    for pattern, style in _PIECES:
        for found in pattern.finditer(text):
            if not any(fence.start <= found.start() < fence.end for fence in fences):
                coloured.stylize(style, *found.span())
    for fence in fences:
        _colour_code(coloured, text, fence)
    return coloured


def _colour_code(coloured: Text, text: str, fence: Fence) -> None:
    coloured.stylize(_MARK, fence.start, fence.content)
    closing = text.find("\n", fence.end)
    coloured.stylize(_MARK, fence.end, len(text) if closing < 0 else closing)
    language = text[fence.start : fence.content].strip().lstrip("`~> ").split(" ", 1)[0]
    heading = text[: fence.start].rstrip("\n").rpartition("\n")[2]
    if not language and (place := _PLACE.search(heading)):
        language = Syntax.guess_lexer(place[1])
    lexer = Syntax("", language).lexer
    if lexer is None:
        return
    code = text[fence.content : fence.end]
    for at, kind, value in lexer.get_tokens_unprocessed(code):
        style = _CODE.get_style_for_token(kind)
        start = fence.content + at
        coloured.stylize(style, start, start + len(value))
