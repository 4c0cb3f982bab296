"""The forms of an item in each style: XML, plain text, and one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from contextkit.models.items import Style
from contextkit.text.markup import escape_xml, markdown_text, one_line
from contextkit.text.styles import element, style_of
from contextkit.text.truncation import truncate


def in_style(
    style: Style, *, markdown: Callable[[], str], xml: Callable[[], str], plain: Callable[[], str]
) -> str:
    """The text of one style; Markdown for a style that is not known.

    ```python
    in_style(style, markdown=lambda: f"**Dish**: {name}", xml=…, plain=…)
    ```
    """
    return style_of(style).choose(markdown=markdown, xml=xml, plain=plain)()


def xml_entity(attributes: Mapping[str, str], body: Iterable[str]) -> str:
    """`<entity …>`, the body's lines escaped, `</entity>`; empty attributes are left out."""
    return element("entity", _given(attributes), [*map(escape_xml, body)])


def plain_entity(head: str, body: Iterable[str]) -> str:
    """A head, and the body indented, so that no line of it passes for a heading."""
    return "\n".join([head, *(f"  {line}".rstrip() for part in body for line in part.splitlines())])


def compact(style: Style, kind: str, attributes: Mapping[str, str], text: str, line: str) -> str:
    """An item on one line.

    Args:
        style: the context's style.
        kind: the XML element's name.
        attributes: its attributes; empty ones are left out.
        text: what stands in the XML element.
        line: the same with its attributes, for the other styles.
    """
    own = style_of(style)
    return own.entry(own.line(line), tag=kind, attributes=_given(attributes), text=one_line(text))


def clipped(text: str, longest: int) -> str:
    """A text on one line of at most `longest` characters."""
    return one_line(truncate(one_line(text), longest, len))


def behind_label(text: str) -> str:
    """A text as Markdown that stands behind a label such as `**Dish**:`."""
    return markdown_text(text, behind_label=True)


def _given(attributes: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in attributes.items() if value}
