"""Format entities and relations in every style and detail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from contextkit import ContextItem
from contextkit.models import Detail, Style
from contextkit.sources import behind_label, clipped, in_style
from contextkit.text import escape_xml, line_start_safe, one_line, opening_tag, plain_line

_LONGEST_IN_COMPACT = 200


def formatted_entity(item: ContextItem, style: Style, detail: Detail) -> str:
    """Format one entity on a line.

    Args:
        item: the entity.
        style: `markdown`, `xml` or `plain`.
        detail: `full` has its properties and where it is; `summary` no properties; `compact`
            the same, without emphasis.
    """
    data = item.metadata
    kind = one_line(str(data.get("type") or "entity"))
    name = one_line(str(data.get("name") or item.title or item.id))
    known = _known(data) if detail == "full" else {}
    if location := one_line(str(data.get("location") or "")):
        known["in"] = location
    behind = f" ({_listed(known)})" if known else ""

    def markdown() -> str:
        if detail == "compact":
            return f"- {line_start_safe(_short(f'{kind}: {name}{behind}', detail))}"
        return f"**{behind_label(kind.replace('*', ''))}**: {behind_label(name + behind)}"

    return in_style(
        style,
        markdown=markdown,
        xml=lambda: _element("entity", {"name": name, "type": kind}, _listed(known)),
        plain=lambda: plain_line(_short(f"{name} [{kind}]{behind}", detail)),
    )


def formatted_relation(item: ContextItem, style: Style, detail: Detail) -> str:
    """Format one relation on a line, with its ends' names.

    `full` has its properties, too.
    """
    data = item.metadata
    kind = one_line(str(data.get("type") or "related to"))
    source, target = (one_line(str(data.get(end) or "?")) for end in ("source", "target"))
    known = _known(data) if detail == "full" else {}
    behind = f" ({_listed(known)})" if known else ""
    line = _short(f"{source} --[{kind}]--> {target}{behind}", detail)
    ends = {"type": kind, "source": source, "target": target}
    return in_style(
        style,
        markdown=lambda: f"- {line_start_safe(line)}",
        xml=lambda: _element("relation", ends, _listed(known)),
        plain=lambda: plain_line(line),
    )


def _element(tag: str, attributes: Mapping[str, str], said: str) -> str:
    opening = opening_tag(tag, attributes)
    return f"{opening}{escape_xml(said)}</{tag}>" if said else f"{opening[:-1]}/>"


def shortened_entity(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str:
    """Shorten an entity to name and location, or name only.

    The result is empty where neither fits. Half a line and a note on the location of the rest would
    take more room than they are worth.
    """
    bare = evolve(item, metadata={**item.metadata, "location": None})
    forms = (formatted_entity(each, style, "summary") for each in (item, bare))
    return next((form for form in forms if count(form) <= max_tokens), "")


def shortened_relation(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str:
    """Shorten a relation by dropping its properties.

    The result is empty where that does not fit: half a relation says nothing.
    """
    form = formatted_relation(item, style, "summary")
    return form if count(form) <= max_tokens else ""


def _known(data: Mapping[str, Any]) -> dict[str, Any]:
    properties = data.get("properties")
    return dict(properties) if isinstance(properties, Mapping) else {}


def _listed(known: Mapping[str, Any]) -> str:
    return ", ".join(f"{one_line(str(key))}: {one_line(_said(v))}" for key, v in known.items())


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short(line: str, detail: Detail) -> str:
    return clipped(line, _LONGEST_IN_COMPACT) if detail == "compact" else line
