"""Format items, in full and in shorter forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial

from attrs import frozen

from contextkit.budget.pieces import Piece
from contextkit.models.candidate import Candidate
from contextkit.models.copying import copied
from contextkit.models.items import ContextItem, Provenance, Successor
from contextkit.pipeline.looks import Look, default_text
from contextkit.pipeline.render import group_of
from contextkit.plugin.checks import Failed, checked_text, checked_texts, log_failure
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.clean import visible, visible_each
from contextkit.text.markup import one_line
from contextkit.text.parts import Parts
from contextkit.text.passages import Excerpt, excerpt
from contextkit.text.styles import TextStyle
from contextkit.text.tokens import TokenCounter
from contextkit.text.truncation import ELLIPSIS, truncate

_BACKTICKS = re.compile(r"(?<!\\)`+")
_LEAST_CUT = 20
"""Tokens of a text that is cut within its first sentence; fewer cannot be understood."""

_LEAST_USE = 0.4
"""An excerpt that uses less of its limit, and is the text's beginning, is replaced by a cut."""

_LEAST_WORDS = 14
"""Words of a document's passage; fewer say nothing beside its heading."""

_WORD = re.compile(r"\w+")
_FIRST_WORDS = 20

_PLACES = 3
_LINE_NUMBER = re.compile(r":\d+\Z")


ItemName = tuple[str, str]
"""An item's source, and its id there."""


def pieces_for(
    registry: SourceRegistry,
    candidates: Sequence[Candidate],
    look: Look,
    count: TokenCounter,
    failed: Failed = log_failure,
    query: str = "",
    by_hand: Collection[ItemName] = (),
) -> list[Piece]:
    """Format candidates as pieces, one hook call per source.

    A source whose `contextkit_format` fails gets the default text, and `failed` is called.
    Items that are shortened keep what matches `query`. An item that a host made `by_hand` may
    have none of the fields that its source's format shows: then it gets the default text, too.
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
            style=look.style,
            detail=look.detail,
        )
        if formatted is None:
            formatted = tuple([default_text(item, look) for item in items])
        if look.detail == "compact":
            # A source without support for it would write more than one line.
            formatted = tuple(
                text if len(text.splitlines()) < 2 else default_text(item, look)
                for item, text in zip(items, formatted, strict=True)
            )
        if by_hand:
            formatted = tuple(
                default_text(item, look)
                if (source, item.id) in by_hand and not _shows(text, item)
                else text
                for item, text in zip(items, formatted, strict=True)
            )
        texts.update(zip(map(id, own), formatted, strict=True))
    shortener = _Shortener(registry, look, count, failed, query)
    shown_texts = visible_each([texts[id(each)] for each in candidates])
    wholes = [
        _Whole(each.item, text, credit_of(each.item, look), shortener)
        for each, text in zip(candidates, shown_texts, strict=True)
    ]
    shown = [f"{whole.text}{whole.credit}" for whole in wholes]
    tokens = count.many([f"{text}{look.separator}" for text in shown])
    return [
        Piece(candidate, text, own, whole.shortened, whole.beginning)
        for candidate, whole, text, own in zip(candidates, wholes, shown, tokens, strict=True)
    ]


def _shows(text: str, item: ContextItem) -> bool:
    """Check whether a formatted text shows the item's content.

    It does if it has most of the content's first words.
    """
    words = _WORD.findall(item.content)[:_FIRST_WORDS]
    shown = set(_WORD.findall(text))
    return 2 * sum(word in shown for word in words) >= len(words)


@frozen
class _Shortener:
    """Shortens items' texts by their sources' hooks, or by default."""

    registry: SourceRegistry
    look: Look
    count: TokenCounter
    failed: Failed
    query: str

    def __call__(self, item: ContextItem, text: str, max_tokens: int) -> str:
        """Shorten an item's text to a number of tokens.

        Returns "" where too little would be left.
        """
        if self.look.detail == "compact":
            return shortened_line(text, max_tokens, self.count, self.look.writer)
        own = self._by_source(copied(item, content=text), max_tokens)
        if own is not None:
            return own
        parts = None if group_of(item.kind) == "code" else Parts.of(text, self.look.style)
        if parts is None or parts.has_elements:
            return self.beginning(item, text, max_tokens)
        tail = parts.end(_note_of(item, parts.style, parts.head))
        said = excerpt(parts.body, self.query, max_tokens, self.count, head=parts.head, tail=tail)
        goes_on = self._goes_on(said.removesuffix(tail), text, max_tokens)
        short = (self.beginning(item, text, max_tokens) or said) if goes_on else said
        if group_of(item.kind) != "documentation":
            return short
        return short if parts.words_of(short.removesuffix(tail)) >= _LEAST_WORDS else ""

    def _goes_on(self, short: str, text: str, max_tokens: int) -> bool:
        """Check whether a cut would show all of an excerpt, and much more.

        It does if the block after the excerpt does not fit whole: a function below its name.
        """
        if self.count(short) > _LEAST_USE * max_tokens:
            return False
        return text.startswith(short.removesuffix(ELLIPSIS).rstrip())

    def beginning(self, item: ContextItem, text: str, max_tokens: int) -> str:
        """Cut a text at a number of tokens.

        Returns "" where too few would be left.
        """
        note = _note_of(item, self.look.writer, text.partition("\n")[0])
        if max_tokens - self.count(note) < _LEAST_CUT:
            return ""
        shorten = self.look.writer.choose(markdown=truncate, xml=_shortened_element, plain=truncate)
        return shorten(text, max_tokens, self.count, note)

    def _by_source(self, item: ContextItem, max_tokens: int) -> str | None:
        text = self.registry.attempt(
            item.source,
            "contextkit_truncate",
            partial(checked_text, item.source),
            self.failed,
            item=item,
            style=self.look.style,
            max_tokens=max_tokens,
            count=self.count,
            query=self.query,
        )
        if text is None:
            return None
        shown = visible(text)
        if self.count(shown) > max_tokens:
            return None
        return Excerpt(shown) if isinstance(text, Excerpt) else shown


def _note_of(item: ContextItem, style: TextStyle, head: str) -> str:
    """Make the note that locates the whole text.

    Returns "" where the head already names the place, or there is none.
    """
    place = one_line(visible(item.location or ""))
    if not place or item.id in place:
        return ""
    if style.characters(_LINE_NUMBER.sub("", place)) in head:
        return ""
    return style.note(f"truncated, see full at {style.place(place)}")


@frozen(eq=False)
class _Whole:
    """An item's whole text, and the credit lines after it.

    The credit lines are never cut.
    """

    item: ContextItem
    text: str
    credit: str
    shortener: _Shortener

    def shortened(self, max_tokens: int) -> str:
        """Shorten the text to a number of tokens, credit lines included."""
        return self._by(self.shortener, max_tokens)

    def beginning(self, max_tokens: int) -> str:
        """Cut the text at a number of tokens, credit lines included."""
        return self._by(self.shortener.beginning, max_tokens)

    def _by(self, short_of: Callable[[ContextItem, str, int], str], max_tokens: int) -> str:
        room = max_tokens - (self.shortener.count(self.credit) if self.credit else 0)
        short = short_of(self.item, self.text, room) if room > 0 else ""
        if not short:
            return ""
        shown = short + self.credit
        return Excerpt(shown) if isinstance(short, Excerpt) else shown


def credit_of(item: ContextItem, look: Look) -> str:
    """Make the credit lines after an item's text.

    They are never cut, and are often empty.
    """
    if not (item.also_in or item.superseded_by or item.valid_until):
        return ""
    return visible(_credit(item.also_in, look) + _update_note(item, look))


def _credit(also_in: Sequence[Provenance], look: Look) -> str:
    """Make the line with other places of an item.

    It is empty where there are none.
    """
    # Several records may come from the same place.
    named = list(dict.fromkeys(filter(None, (_place_of(other, look.writer) for other in also_in))))
    if not named:
        return ""
    more = f" and {len(named) - _PLACES} more" if len(named) > _PLACES else ""
    places = f"{', '.join(named[:_PLACES])}{more}"
    if look.detail == "compact":
        # A single line has no room for a separate element.
        behind = f" (also in: {places})"
        return look.writer.choose(markdown=behind, xml="", plain=behind)
    return look.writer.choose(
        markdown=f"\n\n*Also in: {places}*",
        xml=f"\n<also-in>{places}</also-in>",
        plain=f"\n(also in: {places})",
    )


def _place_of(other: Provenance, style: TextStyle) -> str:
    """Name an item's other place if it can be opened.

    Returns "" for an id or a commit.
    """
    place = one_line(visible(other.location or ""))
    if " " in place or other.location == other.id:
        return ""
    return style.place(place)


def _update_note(item: ContextItem, look: Look) -> str:
    """Make the note that an item is no longer true, and what is instead.

    Returns an empty text where there is nothing to say.
    """
    newer, until = item.superseded_by, item.valid_until
    said = [f"until {until:%Y-%m-%d}"] if until else []
    if newer is not None:
        said.append(f"superseded by {_name_of(newer, look.writer)}")
    if not said:
        return ""
    note = ", ".join(said)
    tag = "superseded-by" if newer is not None else "valid-until"
    element = f"<{tag}>{note.removeprefix('superseded by ')}</{tag}>"
    if look.detail == "compact":
        behind = f" ({note})"
        return look.writer.choose(markdown=behind, xml=element, plain=behind)
    # A line directly below a table or a quote would become a part of it.
    return look.writer.choose(
        markdown=f"\n\n{look.writer.note(note)}",
        xml=f"\n{element}",
        plain=f"\n{look.writer.note(note)}",
    )


def _name_of(newer: Successor, style: TextStyle) -> str:
    """Name a newer item by what the reader sees: first words and date."""
    date = f" of {newer.created_at:%Y-%m-%d}" if newer.created_at else ""
    if newer.title:
        words = one_line(visible(newer.title))
        return f"“{style.name(words)}”{date}"
    return f"{style.place(newer.location or newer.id)}{date}"


def shortened_line(text: str, max_tokens: int, count: TokenCounter, style: TextStyle) -> str:
    """Cut one line at a word.

    An XML element's line is not cut, because it ends with its closing tag.
    """
    whole_of = style.choose(markdown=_without_open_span, xml=None, plain=lambda _, short: short)
    if whole_of is None:
        return ""
    # A list marker without a word after it is meaningless.
    mark = style.bullet if text.startswith(style.bullet) else ""
    line = text[len(mark) :]

    def shown(short: str) -> str:
        whole = whole_of(line, short)
        return f"{mark}{whole}" if whole else ""

    return _cut(line, max_tokens - count(mark), max_tokens, count, shown)


def _without_open_span(line: str, short: str) -> str:
    """Cut a shortened line before an unclosed code span.

    After an unclosed backtick, the code would be read as markup.
    """
    end = len(short.removesuffix(ELLIPSIS))
    runs = list(_BACKTICKS.finditer(line))
    at = 0
    while at < len(runs) and runs[at].start() < end:
        same = (n for n in range(at + 1, len(runs)) if len(runs[n][0]) == len(runs[at][0]))
        closing = next(same, None)
        if closing is None:
            at += 1
        elif runs[closing].end() > end:
            before = line[: runs[at].start()]
            return f"{before}{ELLIPSIS}" if before else ""
        else:
            at = closing + 1
    return short


def _shortened_element(text: str, max_tokens: int, count: TokenCounter, note: str) -> str:
    """Shorten an XML element's body, and keep its tags.

    The tags are its first and last lines.
    """
    parts = Parts.of(text, "xml")
    if parts is None:
        return ""
    return _cut(
        parts.body,
        max_tokens - count(f"{parts.head}{parts.tail}") - 2,
        max_tokens,
        count,
        lambda short: f"{parts.head}{short}{parts.tail}",
        note,
    )


def _cut(
    text: str,
    room: int,
    max_tokens: int,
    count: TokenCounter,
    around: Callable[[str], str],
    note: str = "",
) -> str:
    """Cut a text to `room` tokens, or to fewer.

    It is cut further until it fits together with the text around it. Returns "" where nothing fits.
    """
    while short := truncate(text, room, count, note):
        whole = around(short)
        # The tokens of the parts do not add up to the tokens of the whole.
        over = count(whole) - max_tokens
        if over <= 0:
            return whole
        room = min(room, count(short)) - over
    return ""
