"""Format memories, whole or on one line."""

from __future__ import annotations

from contextkit import ContextItem
from contextkit.models import Detail, Style
from contextkit.sources import behind_label, compact, in_style, plain_entity, xml_entity
from contextkit.text import code_span, escape_markdown, one_line
from contextkit_memories.truth import OUTDATED
from contextkit_memories.words import DEFAULT_CATEGORY

_DATE = len("2026-01-02")


def formatted(item: ContextItem, style: Style, detail: Detail) -> str:
    """Format one memory.

    `full` and `summary` are the same; `compact` is one line.
    """
    known, text = _known(item), item.content
    category, gone = known.get("category"), _gone(item, style)
    known |= {"outdated": gone} if gone else {}
    mark = f"outdated: {gone}" if gone else ""
    if detail == "compact":
        label = f"{category}:" if category else ""
        marked = f"({mark})" if mark else ""
        line = " ".join(part for part in (known.get("date"), label, marked, text) if part)
        return compact(style, "memory", known, text, line)
    shown = [known.get("date"), category]
    about = ", ".join(part for part in [*shown, mark] if part)
    escaped = ", ".join(
        [*(escape_markdown(part) for part in shown if part), *([mark] if mark else [])]
    )
    return in_style(
        style,
        markdown=lambda: f"**Memory**{f' ({escaped})' if escaped else ''}: {behind_label(text)}",
        xml=lambda: xml_entity({"type": "memory", **known}, [text]),
        plain=lambda: plain_entity(f"memory [{about}]" if about else "[memory]", [text]),
    )


def _known(item: ContextItem) -> dict[str, str]:
    """Return a memory's date and category, unless unknown or default.

    The date is that from which it is true.
    """
    since = item.valid_from or item.metadata.get("created_at") or ""
    date = one_line(str(since))[:_DATE]
    # Results of a host's own searcher without a time are dated 1970-01-01.
    date = "" if date == "1970-01-01" else date
    category = one_line(str(item.metadata.get("category", DEFAULT_CATEGORY)))
    shown = "" if category == DEFAULT_CATEGORY else category
    return {name: it for name, it in (("date", date), ("category", shown)) if it}


def _gone(item: ContextItem, style: Style) -> str:
    """Say what a memory mentions that is gone from the workspace.

    It stands before the text, so that a shortened memory has it too.
    """
    gone = [str(text) for text in item.metadata.get(OUTDATED) or ()]
    plain = ", ".join(map(one_line, gone))
    named = in_style(
        style,
        markdown=lambda: ", ".join(map(code_span, gone)),
        xml=lambda: plain,
        plain=lambda: plain,
    )
    return f"{named} {'is' if len(gone) == 1 else 'are'} gone" if named else ""
