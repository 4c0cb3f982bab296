"""The output styles: one class for each, which says how everything is written in it.

A formatter takes the object that `style_of` gives and never looks at a style's name. It writes
with the methods of the object, and hands the layouts that differ to `choose`:

```python
style = style_of("markdown")
style.entry(f"{style.place('a.py:3')} {style.inline('retry the call')}", tag="note")
```

A further style is a subclass of one of the three: what it does not say it has from that one.
`TEXT_STYLES` holds it under its name, and `contextkit.models.items.Style` names it.
"""

# ruff: noqa: ARG002 - every style takes what one of them needs

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, Protocol, TypeVar

from attrs import frozen

from contextkit.text.markup import (
    code_span,
    escape_markdown,
    escape_xml,
    fenced,
    line_start_safe,
    markdown_text,
    one_line,
    plain_line,
    plain_text,
)

T = TypeVar("T")

Syntax = Literal["markdown", "xml", "plain"]
NO_ATTRIBUTES: Mapping[str, str] = {}


class ListedSource(Protocol):
    """A source in the list at the end of a context."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def location(self) -> str | None: ...
    @property
    def relevance(self) -> float: ...


@frozen(kw_only=True)
class Page:
    """A whole context whose items are written in its style.

    Attributes:
        title: its heading.
        sections: the heading of each section, and the texts of its items.
        sources: for the list of sources; none for no list.
        footer: the last line, in Markdown, or "".
        one_line_items: whether items stand in consecutive lines.
    """

    title: str
    sections: Sequence[tuple[str, Sequence[str]]]
    sources: Sequence[ListedSource] = ()
    footer: str = ""
    one_line_items: bool = False


class TextStyle(ABC):
    """How texts are written in one style.

    Attributes:
        syntax: what reads the text: a Markdown parser, an XML parser, or a person.
        bullet: what stands before an item of one line.
    """

    syntax: ClassVar[Syntax]
    bullet: ClassVar[str] = ""

    def choose(self, *, markdown: T, xml: T, plain: T) -> T:
        """Return the argument for this style's syntax."""
        return {"markdown": markdown, "xml": xml, "plain": plain}[self.syntax]

    # -- texts of others, so that they break out of nothing ---------------------------------

    @abstractmethod
    def text(self, text: str, *, behind_label: bool = False) -> str:
        """Write lines on lines of their own; the first one may stand behind a label."""

    @abstractmethod
    def line(self, text: str) -> str:
        """Write a text on one line, at its start or behind something else."""

    @abstractmethod
    def inline(self, text: str) -> str:
        """Write a text on one line, behind something else."""

    @abstractmethod
    def name(self, text: str) -> str:
        """Write a name that is on one line; it may stand within emphasis."""

    @abstractmethod
    def place(self, text: str) -> str:
        """Write a path or a place on one line, to be copied as it is."""

    @abstractmethod
    def characters(self, text: str) -> str:
        """Write the characters of a text, without any markup."""

    def read_back(self, text: str) -> str:
        """Return the characters that were written so; where nothing is escaped, the text."""
        return text

    @abstractmethod
    def code(self, text: str) -> str:
        """Write lines as they stand inside a code block."""

    @abstractmethod
    def code_block(self, text: str, language: str = "") -> str:
        """Write a whole code block."""

    # -- what stands around them ------------------------------------------------------------

    def entry(
        self,
        line: str,
        *,
        tag: str = "",
        attributes: Mapping[str, str] = NO_ATTRIBUTES,
        text: str | None = None,
    ) -> str:
        """Write an item that takes one line.

        Args:
            line: the line, made with the methods of this style.
            tag: the element that holds it in XML; default: none does.
            attributes: its attributes, not yet escaped.
            text: what the element holds, not yet escaped; default: the line as it is.
        """
        return f"{self.bullet}{line}"

    @abstractmethod
    def note(self, note: str) -> str:
        """Write a remark of contextkit, made with the methods of this style."""

    @abstractmethod
    def heading(self, title: str) -> str:
        """Write what a section adds to the text beside its items."""

    @abstractmethod
    def source_list(self, sources: Sequence[ListedSource]) -> str:
        """Write the list of sources."""

    @abstractmethod
    def document(self, page: Page) -> str:
        """Write a whole context."""


class _Lines(TextStyle):
    """What Markdown and plain text have in common: blank lines between the parts."""

    def _parts(self, title: str, page: Page) -> Iterator[str]:
        yield title
        for name, texts in page.sections:
            yield self.heading(name)
            yield from ["\n".join(texts)] if page.one_line_items else texts


class Markdown(_Lines):
    """Markdown."""

    syntax = "markdown"
    bullet = "- "

    def text(self, text: str, *, behind_label: bool = False) -> str:
        return markdown_text(text, behind_label=behind_label)

    def line(self, text: str) -> str:
        return line_start_safe(text)

    def inline(self, text: str) -> str:
        return line_start_safe(text)

    def name(self, text: str) -> str:
        return escape_markdown(text)

    def place(self, text: str) -> str:
        return code_span(text)

    def characters(self, text: str) -> str:
        return text

    def code(self, text: str) -> str:
        return text

    def code_block(self, text: str, language: str = "") -> str:
        return fenced(text, language)

    def note(self, note: str) -> str:
        return f"*({note})*"

    def heading(self, title: str) -> str:
        return f"## {one_line(title)}"

    def source_list(self, sources: Sequence[ListedSource]) -> str:
        return "\n".join(["**Sources:**", *map(self._source, sources)])

    def _source(self, source: ListedSource) -> str:
        location = source.location
        place = self.place(location) if location else self.name(one_line(source.type))
        return f"- {self.line(source.name)} ({place})"

    def document(self, page: Page) -> str:
        parts = [*self._parts(f"# {one_line(page.title)}", page)]
        space = "\n" if page.footer else ""
        ending = [f"{self.source_list(page.sources)}{space}"] if page.sources else []
        ending += [page.footer] if page.footer else []
        if ending:
            # The blank line before the rule matters: without it the last text is a heading.
            parts.append("\n".join(["---", *ending]))
        return "\n\n".join(parts)


class Xml(TextStyle):
    """XML, escaped, in one root element so that a parser takes it."""

    syntax = "xml"

    def text(self, text: str, *, behind_label: bool = False) -> str:
        return escape_xml(text)

    def line(self, text: str) -> str:
        return escape_xml(one_line(text))

    inline = line
    place = line

    def name(self, text: str) -> str:
        return escape_xml(text)

    def characters(self, text: str) -> str:
        return escape_xml(text)

    def read_back(self, text: str) -> str:
        return html.unescape(text)

    def code(self, text: str) -> str:
        return escape_xml(text)

    def code_block(self, text: str, language: str = "") -> str:
        return escape_xml(text)

    def entry(
        self,
        line: str,
        *,
        tag: str = "",
        attributes: Mapping[str, str] = NO_ATTRIBUTES,
        text: str | None = None,
    ) -> str:
        held = line if text is None else escape_xml(text)
        return f"{opening_tag(tag, attributes)}{held}</{tag}>" if tag else held

    def note(self, note: str) -> str:
        return f"({note})"

    def heading(self, title: str) -> str:
        return "\n".join(self._section(title))

    def _section(self, title: str) -> tuple[str, str]:
        return opening_tag("section", {"name": one_line(title)}), "</section>"

    def source_list(self, sources: Sequence[ListedSource]) -> str:
        return "\n".join(["<sources>", *map(self._source, sources), "</sources>"])

    def _source(self, source: ListedSource) -> str:
        attributes = {"name": source.name, "type": source.type}
        if source.location:
            attributes["location"] = source.location
        attributes["relevance"] = f"{source.relevance:.2f}"
        one_lined = {name: one_line(value) for name, value in attributes.items()}
        return f"  <source{_attributes(one_lined)} />"

    def document(self, page: Page) -> str:
        lines = [opening_tag("context", {"title": one_line(page.title)})]
        for name, texts in page.sections:
            opening, closing = self._section(name)
            lines += [opening, *texts, closing]
        if page.sources:
            lines.append(self.source_list(page.sources))
        if page.footer:
            lines.append(f"<footer>{escape_xml(page.footer.strip('*'))}</footer>")
        return "\n".join([*lines, "</context>"])


class Plain(_Lines):
    """Plain text."""

    syntax = "plain"

    def text(self, text: str, *, behind_label: bool = False) -> str:
        return plain_text(text)

    def line(self, text: str) -> str:
        return plain_line(text)

    def inline(self, text: str) -> str:
        return one_line(text)

    name = inline
    place = inline

    def characters(self, text: str) -> str:
        return text

    def code(self, text: str) -> str:
        return plain_text(text)

    def code_block(self, text: str, language: str = "") -> str:
        return plain_text(text)

    def entry(
        self,
        line: str,
        *,
        tag: str = "",
        attributes: Mapping[str, str] = NO_ATTRIBUTES,
        text: str | None = None,
    ) -> str:
        return plain_text(line)

    def note(self, note: str) -> str:
        return f"({note})"

    def heading(self, title: str) -> str:
        return f"--- {one_line(title)} ---"

    def source_list(self, sources: Sequence[ListedSource]) -> str:
        return "\n".join(["Sources:", *map(self._source, sources)])

    def _source(self, source: ListedSource) -> str:
        return f"  - {one_line(source.name)} ({one_line(source.location or source.type)})"

    def document(self, page: Page) -> str:
        parts = [*self._parts(f"=== {one_line(page.title)} ===", page)]
        parts += [self.source_list(page.sources)] if page.sources else []
        parts += [page.footer.strip("*")] if page.footer else []
        return "\n\n".join(parts)


TEXT_STYLES: dict[str, TextStyle] = {"markdown": Markdown(), "xml": Xml(), "plain": Plain()}
"""Name -> style."""


def style_of(name: str) -> TextStyle:
    """Return the style of a name; Markdown for an unknown one."""
    return TEXT_STYLES.get(name) or TEXT_STYLES["markdown"]


def opening_tag(tag: str, attributes: Mapping[str, str] = NO_ATTRIBUTES) -> str:
    """Return an opening XML tag; its attributes are escaped."""
    return f"<{tag}{_attributes(attributes)}>"


def _attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{escape_xml(value)}"' for name, value in attributes.items())


def element(tag: str, attributes: Mapping[str, str], lines: Sequence[str]) -> str:
    """Return an XML element, tags on lines of their own, around escaped lines."""
    return "\n".join([opening_tag(tag, attributes), *lines, f"</{tag}>"])
