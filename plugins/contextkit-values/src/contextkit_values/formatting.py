"""Format values, on two lines or on one."""

from __future__ import annotations

from contextkit.models import ContextItem, Detail, Style
from contextkit.text import element, markdown_text, one_line, style_of

_WHOLE = "full"
"""The axis of whole experiences.

Its name says nothing about the subject of a value.
"""


def format_value(item: ContextItem, style: Style, detail: Detail) -> str:
    """Format a value: its subject, and its text below.

    The text is folded onto one line and opens no block, tag or section there. `full` and `summary`
    are the same; `compact` has both on one line.
    """
    axis = one_line(str(item.metadata.get("axis") or _WHOLE)).replace("_", " ")
    about = "" if axis == _WHOLE else f" ({axis})"
    text = one_line(item.own_text)
    own = style_of(style)
    if detail == "compact":
        line = f"{text}{about}"
        return own.entry(own.line(line), tag="value", text=line)
    return own.choose(markdown=_markdown, xml=_xml, plain=_plain)(about, own.line(text))


def _markdown(about: str, line: str) -> str:
    return f"**Value**{markdown_text(about, behind_label=True)}:\n{line}"


def _xml(about: str, line: str) -> str:
    return element("entity", {"name": f"Value{about}", "type": "value"}, [line])


def _plain(about: str, line: str) -> str:
    return f"Value{about} [value]\n{line}"
