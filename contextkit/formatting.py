"""Each item's text: what its source makes of it, and how it is shortened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import structlog
from attrs import evolve

from contextkit.checks import checked_texts
from contextkit.errors import SourceError
from contextkit.fitting import Piece
from contextkit.markup import escape_xml, line_start_safe, one_line
from contextkit.models import ContextItem, Provenance, Style
from contextkit.ranking import Candidate
from contextkit.registry import SourceRegistry
from contextkit.tokens import TokenCounter
from contextkit.truncation import truncate

__all__ = ["pieces_for"]

_log = structlog.get_logger(__name__)


def pieces_for(
    registry: SourceRegistry,
    candidates: Sequence[Candidate],
    style: Style,
    count: TokenCounter,
) -> list[Piece]:
    """Format candidates, one hook call per source, and make them ready to be placed.

    A source whose `contextkit_format` fails gets the default text; the failure is logged.
    """
    by_source: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_source.setdefault(candidate.item.source, []).append(candidate)
    texts: dict[int, str] = {}
    for source, own in by_source.items():
        formatted = _formatted(registry, source, [candidate.item for candidate in own], style)
        texts.update(zip(map(id, own), formatted, strict=True))
    return [
        _piece(registry, candidate, texts[id(candidate)], style, count) for candidate in candidates
    ]


def _formatted(
    registry: SourceRegistry, source: str, items: list[ContextItem], style: Style
) -> Sequence[str]:
    try:
        result = registry.call(source, "contextkit_format", items=items, style=style)
        if result is not None:
            return checked_texts(source, result, len(items))
    except SourceError as error:
        _log.warning("hook_failed", source=source, hook=error.hook, reason=error.reason)
    return [_DEFAULT[style](item) for item in items]


def _default_markdown(item: ContextItem) -> str:
    lines = item.content.splitlines() or [""]
    return "\n".join(line_start_safe(line) for line in lines)


def _default_xml(item: ContextItem) -> str:
    name = escape_xml(one_line(item.title or item.id))
    kind = escape_xml(item.kind or item.source)
    return f'<entity name="{name}" type="{kind}">\n{escape_xml(item.content)}\n</entity>'


def _default_plain(item: ContextItem) -> str:
    place = one_line(item.location or item.kind or item.source)
    return f"{one_line(item.title or item.id)} [{place}]\n{item.content}"


_DEFAULT: Mapping[Style, Callable[[ContextItem], str]] = {
    "markdown": _default_markdown,
    "xml": _default_xml,
    "plain": _default_plain,
}


def _piece(
    registry: SourceRegistry, candidate: Candidate, text: str, style: Style, count: TokenCounter
) -> Piece:
    credit = _credit(candidate.item.also_in, style)

    def shorten(max_tokens: int) -> str:
        room = max_tokens - (count(credit) if credit else 0)
        short = _shortened(registry, candidate.item, text, style, room, count)
        return short + credit if short else ""

    whole = text + credit
    return Piece(candidate, whole, count(f"{whole}\n\n"), shorten)


def _credit(also_in: Sequence[Provenance], style: Style) -> str:
    """The line that names where else an item was found; empty where nowhere."""
    if not also_in:
        return ""
    places = ", ".join(
        f"{other.source} {one_line(other.location or other.id)}" for other in also_in
    )
    return {
        "markdown": f"\n*Also in: {places}*",
        "xml": f"\n<also-in>{escape_xml(places)}</also-in>",
        "plain": f"\n(also in: {places})",
    }[style]


def _shortened(
    registry: SourceRegistry,
    item: ContextItem,
    text: str,
    style: Style,
    max_tokens: int,
    count: TokenCounter,
) -> str:
    """An item's text within so many tokens, by its source or by default."""
    if style == "markdown":
        own = _shortened_by_source(registry, evolve(item, content=text), max_tokens, count)
        if own is not None:
            return own
    place = f", see full at {one_line(item.location)}" if item.location else ""
    if style == "xml":
        return _shortened_element(text, max_tokens, count, f"(truncated{escape_xml(place)})")
    note = f"*(truncated{place})*" if style == "markdown" else f"(truncated{place})"
    return truncate(text, max_tokens, count, note)


def _shortened_by_source(
    registry: SourceRegistry, item: ContextItem, max_tokens: int, count: TokenCounter
) -> str | None:
    try:
        result = registry.call(
            item.source, "contextkit_truncate", item=item, max_tokens=max_tokens, count=count
        )
    except SourceError as error:
        _log.warning("hook_failed", source=item.source, hook=error.hook, reason=error.reason)
        return None
    return result if isinstance(result, str) and count(result) <= max_tokens else None


def _shortened_element(text: str, max_tokens: int, count: TokenCounter, note: str) -> str:
    """An XML element with a shorter body: its first and its last line are its tags."""
    opening, _, rest = text.partition("\n")
    body, _, closing = rest.rpartition("\n")
    tags = count(f"{opening}\n{closing}\n")
    if not body or not opening.startswith("<") or not closing.startswith("</"):
        return ""
    short = truncate(body, max_tokens - tags - 2, count, note)
    shortened = f"{opening}\n{short}\n{closing}"
    return shortened if short and count(shortened) <= max_tokens else ""
