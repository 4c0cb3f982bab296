"""Count the markup parts that plain words must not create."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any
from xml.parsers import expat

from contextkit.models.items import Style
from contextkit.text.styles import style_of

_BEHIND = "what stands behind"
_MARKDOWN_PARTS = {
    "heading_open": "a heading",
    "fence": "a code block",
    "html_block": "HTML",
    "html_inline": "HTML",
    "hr": "a rule",
    "blockquote_open": "a quote",
    "table_open": "a table",
    "image": "an image",
}
_PLAIN_TITLES = ("===", "---")


class MarkupError(ValueError):
    """A text is invalid in its style, or absorbs text."""


def structure(text: str, style: Style) -> Counter[str]:
    """Count the parts of a text that are markup.

    Args:
        text: an item's text.
        style: its style.

    Raises:
        MarkupError: where the text does not end properly, or is not valid XML.
    """
    return style_of(style).choose(markdown=_markdown, xml=_xml, plain=_plain)(text)


def _markdown(text: str) -> Counter[str]:
    from markdown_it import MarkdownIt

    environment: dict[str, Any] = {}
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(f"{text}\n\n{_BEHIND}", environment)
    last = tokens[-3:]
    if [token.type for token in last] != ["paragraph_open", "inline", "paragraph_close"] or (
        last[0].level or last[1].content != _BEHIND
    ):
        raise MarkupError("it takes in the text that stands behind it")
    parts = Counter[str]()
    for token in itertools.chain(tokens, *(block.children or () for block in tokens)):
        if token.type in _MARKDOWN_PARTS:
            parts[_MARKDOWN_PARTS[token.type]] += 1
    parts["a link definition"] = len(environment.get("references", {}))
    return parts


def _xml(text: str) -> Counter[str]:
    parts = Counter[str]()
    parser = expat.ParserCreate()

    def element(tag: str, attributes: dict[str, str]) -> None:
        parts[f"<{' '.join([tag, *attributes])}>"] += 1

    def count(what: str) -> Any:
        def counted(*_: str) -> None:
            parts[what] += 1

        return counted

    parser.StartElementHandler = element
    parser.CommentHandler = count("a comment")
    parser.ProcessingInstructionHandler = count("a processing instruction")
    parser.StartCdataSectionHandler = count("a CDATA section")
    try:
        parser.Parse(f"<behind>{text}</behind>", True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise MarkupError(f"it is not well-formed: {error}") from error
    return parts


def _plain(text: str) -> Counter[str]:
    titles = sum(line.startswith(_PLAIN_TITLES) for line in text.splitlines())
    return Counter({"a line that looks like a title": titles})
