"""Format an item in each style: XML, plain or compact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from contextkit.models.items import Style
from contextkit.text.markup import escape_xml, markdown_text, one_line
from contextkit.text.styles import element, style_of
from contextkit.text.truncation import truncate


def in_style(
    style: Style, *, markdown: Callable[[], str], xml: Callable[[], str], plain: Callable[[], str]
) -> str:
    """Return the text for a style; Markdown for unknown styles.

    ```python
    in_style(style, markdown=lambda: f"**Dish**: {name}", xml=…, plain=…)
    ```
    """
    return style_of(style).choose(markdown=markdown, xml=xml, plain=plain)()


def xml_entity(attributes: Mapping[str, str], body: Iterable[str]) -> str:
    """Format an `<entity …>` element with an escaped body.

    Empty attributes are left out.
    """
    return element("entity", _given(attributes), [*map(escape_xml, body)])


def plain_entity(head: str, body: Iterable[str]) -> str:
    """Format a head line and an indented body.

    The indent keeps the body's lines from looking like headings.
    """
    return "\n".join([head, *(f"  {line}".rstrip() for part in body for line in part.splitlines())])


def compact(style: Style, kind: str, attributes: Mapping[str, str], text: str, line: str) -> str:
    """Format an item on one line.

    Args:
        style: the context's style.
        kind: the XML element's name.
        attributes: its attributes; empty ones are left out.
        text: the content of the XML element.
        line: the same with its attributes, for the other styles.
    """
    own = style_of(style)
    return own.entry(own.line(line), tag=kind, attributes=_given(attributes), text=one_line(text))


def clipped(text: str, longest: int) -> str:
    """Clip a text to one line of `longest` characters."""
    return one_line(truncate(one_line(text), longest, len))


def behind_label(text: str) -> str:
    """Escape Markdown text that follows a label such as `**Dish**:`."""
    return markdown_text(text, behind_label=True)


def _given(attributes: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in attributes.items() if value}
