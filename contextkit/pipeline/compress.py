"""Summarise pieces of sections that exceed their share.

This stage runs between formatting and fitting. In each section the weakest pieces come first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import define, evolve, field

from contextkit.budget.fit import Render
from contextkit.budget.pieces import Lane, Piece, Placed
from contextkit.budget.shares import allotments
from contextkit.models.items import ContextItem
from contextkit.pipeline.format import credit_of
from contextkit.pipeline.looks import Look
from contextkit.pipeline.render import group_of
from contextkit.pipeline.summaries import HOOK, Answers, Wanted
from contextkit.plugin.checks import Failed
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.clean import legible, visible
from contextkit.text.parts import Parts
from contextkit.text.passages import excerpt, keeps
from contextkit.text.styles import TextStyle
from contextkit.text.tokens import TokenCounter

_PART_KEPT = 3
"""A summary takes one token of so many."""

_MARGIN = 50

_CONSIDERED = 2
"""How many times what its section may use is summarised or shown; what is behind that is left."""


def too_much(
    lanes: Sequence[Lane],
    headings: Mapping[str, int],
    max_tokens: int,
    may_be: Callable[[Piece], bool],
) -> list[tuple[Piece, int]]:
    """Choose pieces to summarise, each with a token limit.

    The weakest pieces come first. The limit is a third of a piece's tokens. The last piece of a
    section gets the room that is left, so that no summary is shorter than it must be. The list is
    empty where all pieces fit whole.

    Args:
        lanes: the sections.
        headings: tokens that each section's heading takes.
        max_tokens: the budget, headings included.
        may_be: whether a piece can be summarised.
    """
    showing = [lane for lane in lanes if lane.pieces]
    wanted = {
        lane.key: headings[lane.key] + sum(piece.tokens for piece in lane.pieces)
        for lane in showing
    }
    if sum(wanted.values()) <= max_tokens:
        return []
    allotted = allotments({lane.key: lane.weight for lane in showing}, wanted, max_tokens)
    chosen: list[tuple[Piece, int]] = []
    for lane in showing:
        room = allotted[lane.key] - headings[lane.key]
        pool = _pool(lane.pieces, _CONSIDERED * room)
        excess = sum(piece.tokens for piece in pool) - room
        if excess > 0:
            # The tokens of parts do not add up exactly, and a summary that is one token too long is
            # useless.
            excess += room // _MARGIN
        for piece in reversed(pool):
            if excess > 0 and may_be(piece):
                most = max(piece.tokens // _PART_KEPT, piece.tokens - excess)
                chosen.append((piece, most))
                excess -= piece.tokens - most
    return chosen


def _pool(pieces: Sequence[Piece], most: int) -> list[Piece]:
    """Select the best pieces within a token limit.

    The best piece is always included.
    """
    pool: list[Piece] = []
    for piece in pieces:
        # A piece that is already a summary frees no room for further pieces.
        most -= (piece.summary_of or piece).tokens
        if most < 0 and pool:
            break
        pool.append(piece)
    return pool


DEFAULT = "its own sentences"
_ROUNDS = 3
_SHORTEST = 12
"""Fewer tokens say nothing."""


@define(eq=False, kw_only=True)
class Compressor:
    """Summarises one assembly's pieces that do not fit whole.

    Attributes:
        registry: calls the hooks.
        query: the request's query.
        max_tokens: the budget of the whole text.
        render: renders the whole text from each section's placed pieces.
        look: how the items look.
        count: text -> tokens.
        failed: called for hooks that fail.
        known: earlier summaries, by the key that `name` gives.
        name: gives the key of a summary.
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
        """Replace pieces that do not fit by summaries."""
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
        """Map the `id` of each summarised piece to its summary."""
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
        """Return a plugin's earlier summary if it is short enough.

        The default summary is not reused but made anew.
        """
        known = self.known.get(self.name(piece))
        is_fit = known and known.summarised_by != DEFAULT and known.tokens <= most
        return known if is_fit else None

    def _draft(self, piece: Piece, most: int) -> _Draft | None:
        """Prepare a piece for a summary; None if too short."""
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
        """Use a plugin's summary, or report why it is rejected."""
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
        """Extract the default summary from a piece's sentences.

        Returns None for code, which is not prose, and for elements, which are not sentences.
        """
        parts, item = draft.parts, draft.piece.candidate.item
        if group_of(item.kind) == "code" or parts.has_elements:
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


def _note_of(item: ContextItem, style: TextStyle) -> str:
    """Make a summary's note, which locates the original."""
    place = style.place(item.location or "")
    return style.note(f"summarised, see full at {place}" if place else "summarised")


@define(eq=False, kw_only=True)
class _Draft:
    """A piece to summarise.

    Attributes:
        piece: the piece.
        parts: of its text.
        credit: the lines behind its text, which stay.
        target: tokens that the new body may take.
        must_keep: the words of its text that the item must keep.
    """

    piece: Piece
    parts: Parts
    credit: str
    target: int
    must_keep: Sequence[str]
