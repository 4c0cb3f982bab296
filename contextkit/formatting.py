"""Each item's text: what its source makes of it, and how it is shortened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from attrs import evolve, frozen

from contextkit.checks import checked_text, checked_texts
from contextkit.hook_failures import Failed, log_failure
from contextkit.markup import escape_xml, line_start_safe, one_line
from contextkit.models import ContextItem, Provenance, Style
from contextkit.placing import Piece
from contextkit.ranking import Candidate
from contextkit.registry import SourceRegistry
from contextkit.tokens import TokenCounter
from contextkit.truncation import truncate

__all__ = ["pieces_for"]


def pieces_for(
    registry: SourceRegistry,
    candidates: Sequence[Candidate],
    style: Style,
    count: TokenCounter,
    failed: Failed = log_failure,
) -> list[Piece]:
    """Format candidates, one hook call per source, and make them ready to be placed.

    A source whose `contextkit_format` fails gets the default text; `failed` is told.
    """
    by_source: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_source.setdefault(candidate.item.source, []).append(candidate)
    texts: dict[int, str] = {}
    for source, own in by_source.items():
        items = [candidate.item for candidate in own]
        formatted = registry.attempt(
            source,
            "contextkit_format",
            partial(checked_texts, source, items=len(items)),
            failed,
            items=items,
            style=style,
        )
        if formatted is None:
            formatted = tuple(_DEFAULT[style](item) for item in items)
        texts.update(zip(map(id, own), formatted, strict=True))
    shortener = _Shortener(registry, style, count, failed)
    return [_piece(candidate, texts[id(candidate)], shortener) for candidate in candidates]


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


@frozen
class _Shortener:
    """Shortens items' texts: by their sources' hooks, or by default."""

    registry: SourceRegistry
    style: Style
    count: TokenCounter
    failed: Failed

    def __call__(self, item: ContextItem, text: str, max_tokens: int) -> str:
        """An item's text within so many tokens, "" where that says nothing."""
        if self.style == "markdown":
            own = self._by_source(evolve(item, content=text), max_tokens)
            if own is not None:
                return own
        place = f", see full at {one_line(item.location)}" if item.location else ""
        if self.style == "xml":
            note = f"(truncated{escape_xml(place)})"
            return _shortened_element(text, max_tokens, self.count, note)
        note = f"*(truncated{place})*" if self.style == "markdown" else f"(truncated{place})"
        return truncate(text, max_tokens, self.count, note)

    def _by_source(self, item: ContextItem, max_tokens: int) -> str | None:
        text = self.registry.attempt(
            item.source,
            "contextkit_truncate",
            partial(checked_text, item.source),
            self.failed,
            item=item,
            max_tokens=max_tokens,
            count=self.count,
        )
        return text if text is not None and self.count(text) <= max_tokens else None


def _piece(candidate: Candidate, text: str, shortener: _Shortener) -> Piece:
    count = shortener.count
    text = _well_formed(text)
    credit = _well_formed(_credit(candidate.item.also_in, shortener.style))

    def shorten(max_tokens: int) -> str:
        room = max_tokens - (count(credit) if credit else 0)
        short = shortener(candidate.item, text, room) if room > 0 else ""
        return _well_formed(short) + credit if short else ""

    whole = text + credit
    return Piece(candidate, whole, count(f"{whole}\n\n"), shorten)


def _well_formed(text: str) -> str:
    """The text without half surrogate pairs, which no host could write anywhere."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


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
