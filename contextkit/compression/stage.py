"""The stage between formatting and fitting: sections that have too much get summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import define, evolve, field

from contextkit.compression.answers import HOOK, Answers, Wanted
from contextkit.compression.choosing import too_much
from contextkit.fitting.fit import Render
from contextkit.fitting.pieces import Lane, Piece, Placed
from contextkit.formatting.looks import Look
from contextkit.formatting.parts import Parts
from contextkit.formatting.stage import credit_of
from contextkit.invisible import legible, visible
from contextkit.markup import code_span, escape_xml, one_line
from contextkit.models import ContextItem, Style
from contextkit.passages import excerpt, keeps
from contextkit.registry import SourceRegistry
from contextkit.registry.hook_failures import Failed
from contextkit.rendering import group_of
from contextkit.tokens import TokenCounter

__all__ = ["Compressor"]

DEFAULT = "its own sentences"
_ROUNDS = 3
_SHORTEST = 12
"""Fewer tokens say nothing."""


@define(eq=False, kw_only=True)
class Compressor:
    """Summarises what does not fit whole, for one assembly.

    Attributes:
        registry: calls the hooks.
        query: what the context is for.
        max_tokens: the budget of the whole text.
        render: section -> what is placed of it, to the whole text.
        look: how the items look.
        count: text -> tokens.
        failed: told of hooks that fail.
        known: summaries that were made before, by what `name` gives.
        name: what a summary is known by.
    """

    registry: SourceRegistry
    query: str
    max_tokens: int
    render: Render
    look: Look
    count: TokenCounter
    failed: Failed
    name: Callable[[Piece], object]
    known: Mapping[object, Piece] = field(factory=dict)
    made: dict[object, Piece] = field(factory=dict, init=False)
    _refused: set[int] = field(factory=set, init=False)

    async def __call__(self, lanes: Sequence[Lane]) -> list[Lane]:
        """The same sections with summaries in place of what is too much."""
        headings = {lane.key: self.count(f"{lane.heading}\n\n") for lane in lanes}
        answers = Answers(
            self.registry,
            self.query,
            self.count,
            self.registry.config.assemble.compress_timeout,
            self.failed,
        )
        lanes = list(lanes)
        room = self.max_tokens - self._frame(lanes, headings)
        for _ in range(_ROUNDS):
            chosen = too_much(lanes, headings, room, self._may_be)
            if not chosen:
                break
            summaries = await self._summaries(chosen, answers)
            self._refused.update(id(piece) for piece, _ in chosen if id(piece) not in summaries)
            lanes = [
                evolve(lane, pieces=[summaries.get(id(piece), piece) for piece in lane.pieces])
                for lane in lanes
            ]
        return lanes

    def _frame(self, lanes: Sequence[Lane], headings: Mapping[str, int]) -> int:
        """Tokens of the text around the sections."""
        for lane in lanes:
            for piece in lane.pieces[:1]:
                nothing = Placed(piece, "", 0, truncated=False)
                return self.count(self.render({lane.key: [nothing]})) - headings[lane.key]
        return 0

    def _may_be(self, piece: Piece) -> bool:
        return piece.summary_of is None and id(piece) not in self._refused

    async def _summaries(
        self, chosen: Sequence[tuple[Piece, int]], answers: Answers
    ) -> dict[int, Piece]:
        """By `id` of a piece, its summary; of those that have one."""
        found: dict[int, Piece] = {}
        drafts: list[_Draft] = []
        for piece, most in chosen:
            if (known := self._known(piece, most)) is not None:
                found[id(piece)] = evolve(known, candidate=piece.candidate, summary_of=piece)
            elif draft := self._draft(piece, most):
                drafts.append(draft)
        await self._ask_plugins(drafts, answers, found)
        for draft in drafts:
            if id(draft.piece) not in found and (text := self._extracted(draft)):
                self._accept(draft, text, DEFAULT, found)
        self.made.update(
            (self.name(piece), found[id(piece)]) for piece, _ in chosen if id(piece) in found
        )
        return found

    def _known(self, piece: Piece, most: int) -> Piece | None:
        """A plugin's summary of before that is short enough; the default makes its own anew."""
        known = self.known.get(self.name(piece))
        is_fit = known and known.summarised_by != DEFAULT and known.tokens <= most
        return known if is_fit else None

    def _draft(self, piece: Piece, most: int) -> _Draft | None:
        """What there is to summarise in a piece; None where there is too little."""
        item = piece.candidate.item
        credit = credit_of(item, self.look)
        text = piece.text.removesuffix(credit)
        parts = Parts.of(text, self.look.style)
        if parts is None or not parts.body.strip():
            return None
        target = most - self.count(f"{parts.head}{parts.end(_note_of(item, parts.style))}{credit}")
        if target < _SHORTEST:
            return None
        must = tuple(words for words in item.must_keep if keeps(text, words))
        return _Draft(piece=piece, parts=parts, credit=credit, target=target, must_keep=must)

    async def _ask_plugins(
        self, drafts: Sequence[_Draft], answers: Answers, found: dict[int, Piece]
    ) -> None:
        wanted = [
            Wanted(evolve(d.piece.candidate.item, content=d.parts.words, text=None), d.target)
            for d in drafts
        ]
        for place, (plugin, words) in (await answers.of_own_sources(wanted)).items():
            self._take(drafts[place], words, plugin, found)
        for plugin in answers.general:
            waiting = [n for n, draft in enumerate(drafts) if id(draft.piece) not in found]
            answered = await answers.of(plugin, wanted, waiting)
            for place, (_, words) in answered.items():
                self._take(drafts[place], words, plugin, found)

    def _take(self, draft: _Draft, words: str, plugin: str, found: dict[int, Piece]) -> None:
        """Use a plugin's summary, or say why not."""
        item = draft.piece.candidate.item
        words = visible(legible(words)).strip()
        tokens = self.count(words)
        missing = [must for must in draft.must_keep if not keeps(words, must)]
        reason = None
        if not words:
            reason = f"the summary of {item.source} {item.id} is empty"
        elif tokens > draft.target:
            reason = (
                f"the summary of {item.source} {item.id} has {tokens} tokens; "
                f"asked for were {draft.target} at most"
            )
        elif missing:
            reason = f"the summary of {item.source} {item.id} lacks what must stay: {missing[0]!r}"
        elif not self._accept(draft, draft.parts.in_style(words), plugin, found):
            reason = f"the summary of {item.source} {item.id} is no shorter than the item"
        if reason:
            self.failed(plugin, HOOK, reason)

    def _extracted(self, draft: _Draft) -> str | None:
        """The default summary; code is no prose, and elements are no sentences."""
        parts, item = draft.parts, draft.piece.candidate.item
        if group_of(item.kind) == "code" or (parts.style == "xml" and "<" in parts.body):
            return None
        must = [words for words in draft.must_keep if not keeps(parts.head, words)]
        return excerpt(parts.body, self.query, draft.target, self.count, must_keep=must)

    def _accept(self, draft: _Draft, body: str, by: str, found: dict[int, Piece]) -> bool:
        piece, parts = draft.piece, draft.parts
        end = parts.end(_note_of(piece.candidate.item, parts.style))
        text = visible(f"{parts.head}{body}{end}") + draft.credit
        tokens = self.count(f"{text}{self.look.separator}")
        if tokens >= piece.tokens or len(text) >= len(piece.text):
            return False
        found[id(piece)] = evolve(
            piece, text=text, tokens=tokens, summary_of=piece, summarised_by=by
        )
        return True


def _note_of(item: ContextItem, style: Style) -> str:
    """What marks a summary, and says where the rest is."""
    place = one_line(item.location or "")
    place = {"markdown": code_span(place), "xml": escape_xml(place)}.get(style, place)
    note = f"(summarised, see full at {place})" if place else "(summarised)"
    return f"*{note}*" if style == "markdown" else note


@define(eq=False, kw_only=True)
class _Draft:
    """A piece that is to be summarised.

    Attributes:
        piece: the piece.
        parts: of its text.
        credit: what stands behind its text whatever becomes of it.
        target: tokens that the new body may take.
        must_keep: what the item must keep, of what its text has.
    """

    piece: Piece
    parts: Parts
    credit: str
    target: int
    must_keep: Sequence[str]
