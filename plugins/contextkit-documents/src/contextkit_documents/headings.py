"""Parse a text's headings, in each of the documents' languages."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from contextkit_documents.releases import starts_a_release

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


_LONGEST = 500
_PARSED = 4_000
"""Characters of a heading that are parsed: badges beside a title have long addresses."""

_TAGGED = re.compile(
    r"<h([1-6])\b[^<>]*>((?>(?:(?!</?h[1-6]\b).)*))</h\1>", re.IGNORECASE | re.DOTALL
)
_ATTRIBUTES = re.compile(r"(?<=\S)[ \t]*\{:?[ \t]*[#.][^{}]*\}$")
"""An anchor or a class at a heading's end, as in `Keys {#keys .new}`; not shown."""

_TAG = re.compile(r"<[^<>]*>")
_ADOC = re.compile(r"(={1,6})[ \t]+(\S.*)")
_ORG = re.compile(r"(\*{1,6})[ \t]+(\S.*)")
_RST_LABEL = re.compile(r"\s*\.\. _(?:`[^`]+`|[^:]+):\s*")
_RST_QUOTED = re.compile(r"``(.+?)``|(?::[\w:.+-]+:)?`~?([^`<]+?)(?: <[^`]*>)?`_{0,2}")
_RST_LINE = re.compile(r"(?!(?:\.\.|::)\s*$)([!-/:-@\[-`{-~])\1+\s*")
"""An underline. A title of two letters, as S3, has a short one; `..` and `::` are none."""

_FENCES = {"---": ":", "+++": "="}
"""What encloses front matter, and what follows its keys: YAML or TOML."""


@frozen
class Heading:
    """A heading.

    Attributes:
        title: its text, without markup.
        level: 1 for the highest; 0 for a title in front matter, which is above all.
        first: its first row, counted from 0.
        body: the first row after it.
    """

    title: str
    level: int
    first: int
    body: int


@frozen
class Outline:
    """The structure of a text.

    Attributes:
        headings: in the order of the text.
        blocks: the rows where a paragraph, list, table or code block begins.
    """

    headings: Sequence[Heading] = ()
    blocks: frozenset[int] = field(default=frozenset())


def outline_of(lines: Sequence[str], language: str) -> Outline:
    """Parse the structure of a prose text.

    It is Markdown, reStructuredText, AsciiDoc, Org or plain text.

    Args:
        lines: its lines.
        language: as in `FileKind.language`; unknown languages are plain text, which has paragraphs
            only.
    """
    if language == "markdown":
        return _markdown(lines)
    blocks = _blocks(lines)
    if language == "rst":
        return Outline(_rst(lines), blocks)
    marked = {"asciidoc": _ADOC, "org": _ORG}.get(language)
    return Outline(list(_marked(lines, marked)) if marked else (), blocks)


def _blocks(lines: Sequence[str]) -> frozenset[int]:
    return frozenset(
        row
        for row, line in enumerate(lines)
        if row and line.strip() and not line.startswith((" ", "\t")) and not lines[row - 1].strip()
    )


def release_outline(lines: Sequence[str]) -> Outline:
    """Parse a list of changes in plain text: a release begins with a line with its version."""
    headings = [
        Heading(" ".join(line.split()), 1, row, row + 1)
        for row, line in enumerate(lines)
        if starts_a_release(line)
    ]
    return Outline(headings, _blocks(lines))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Emphasis and links do not affect the blocks, and take most of the time.
    return MarkdownIt("commonmark").enable("table").disable("inline")


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _markdown(lines: Sequence[str]) -> Outline:
    front = _front_matter(lines)
    headings: list[Heading] = []
    blocks: set[int] = set()
    # The end of front matter would make a heading.
    tokens = _parser().parse("\n".join([*[""] * front, *lines[front:]]))
    for number, token in enumerate(tokens):
        # A heading in a list or a quote is a part of that.
        if token.map is None or token.level:
            continue
        first, end = token.map
        if token.type == "heading_open":
            title = _words_of(tokens[number + 1].content)
            headings.append(Heading(title, int(token.tag[1:]), first, end))
        elif token.type == "html_block" and (tagged := _tagged(token.content)):
            title, level = tagged
            headings.append(Heading(title, level, first, end))
        elif token.nesting >= 0:
            blocks.add(first)
    title = _front_title(lines[:front])
    own = headings[0] if headings else None
    if own and own.title == title and not any(map(str.strip, lines[front : own.first])):
        headings[0] = evolve(own, first=0)
    elif title:
        headings.insert(0, Heading(title, 0, 0, front))
    return Outline(headings, frozenset(blocks))


def _tagged(block: str) -> tuple[str, int] | None:
    """Return the words and the level of a heading that is written in HTML, to have an anchor."""
    found = _TAGGED.fullmatch(block.strip()) if len(block) <= _PARSED else None
    words = " ".join(html.unescape(_TAG.sub(" ", found[2])).split()) if found else ""
    return (words[:_LONGEST], int(found[1])) if found and words else None


def _words_of(heading: str) -> str:
    """Return a heading's words as rendered, without its images and empty links.

    Attributes at its end are left out. Of a very long heading, the first words are returned.
    """
    heading = _ATTRIBUTES.sub("", heading[:_PARSED])
    shown = [
        child.content if child.type in {"text", "code_inline"} else " "
        for token in _inline_parser().parseInline(heading)
        for child in token.children or ()
        if child.type in {"text", "code_inline", "softbreak", "hardbreak"}
    ]
    return " ".join("".join(shown).split())[:_LONGEST]


def _front_matter(lines: Sequence[str]) -> int:
    """Return the number of rows of front matter at the beginning."""
    fence = lines[0].rstrip() if lines else ""
    if fence not in _FENCES:
        return 0
    ends = (row for row, line in enumerate(lines[1:], 1) if line.rstrip() == fence)
    return next(ends, -1) + 1


def _front_title(front: Sequence[str]) -> str:
    """Return the page's title that front matter has, or nothing."""
    for line in front[1:]:
        key, _, title = line.partition(_FENCES[front[0].rstrip()])
        if key.strip() == "title":
            return " ".join(title.strip().strip("\"'").split())[:_LONGEST]
    return ""


def _rst(lines: Sequence[str]) -> list[Heading]:
    """Parse titles underlined with punctuation.

    Levels follow the order of their first use.
    """
    headings = []
    styles: list[tuple[str, bool]] = []
    for row in range(1, len(lines)):
        under, title = lines[row], lines[row - 1]
        if not _RST_LINE.fullmatch(under) or not title.strip() or _RST_LINE.fullmatch(title):
            continue
        above = lines[row - 2] if row > 1 else ""
        overlined = above.rstrip() == under.rstrip()
        if len(under.rstrip()) < len(title.strip()) or (
            not overlined and (title[0].isspace() or above.strip())
        ):
            continue
        style = (under[0], overlined)
        if style not in styles:
            styles.append(style)
        first = row - 2 if overlined else row - 1
        words = _RST_QUOTED.sub(_quoted_words, title.strip()[:_LONGEST])
        headings.append(Heading(words, styles.index(style) + 1, first, row + 1))
    return headings


def _quoted_words(found: re.Match[str]) -> str:
    """Return the rendered words of a literal, role or link."""
    return found[1] or found[2]


def without_labels(lines: Sequence[str]) -> list[str]:
    """Blank out the label lines of reStructuredText.

    A label names the section below it, but stands at the end of the one above, which it is not
    about.
    """
    return ["" if _RST_LABEL.fullmatch(line) else line for line in lines]


def _marked(lines: Sequence[str], pattern: re.Pattern[str]) -> Iterator[Heading]:
    for row, line in enumerate(lines):
        found = pattern.fullmatch(line)
        if found:
            yield Heading(found[2].strip()[:_LONGEST], len(found[1]), row, row + 1)
