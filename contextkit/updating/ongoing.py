"""What a context keeps of its assembly, so that something new can join it later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from attrs import evolve, field, frozen

from contextkit.errors import InvalidRequestError
from contextkit.fitting.fit import Fitted
from contextkit.fitting.pieces import Piece
from contextkit.formatted import FormattedContext
from contextkit.formatting.looks import Look
from contextkit.formatting.stage import pieces_for
from contextkit.gathering.gather import Answer, Question
from contextkit.markup import one_line
from contextkit.models import ContextItem, Provenance, Successor
from contextkit.ranking.candidate import Candidate
from contextkit.registry import SourceRegistry
from contextkit.registry.hook_failures import Failed
from contextkit.request import ContextRequest, Recipe, Section
from contextkit.tokens import TokenCounter

__all__ = [
    "Asked",
    "Before",
    "Gathered",
    "ItemKey",
    "Ongoing",
    "key_of",
    "ongoing_of",
    "pieces_anew",
    "text_key",
]

ItemKey = tuple[str, str, str]
"""A candidate's section, its source, and its id there."""

_MOST_NAMES = 10

_TextKey = tuple[ItemKey, str, tuple[Provenance, ...], Successor | None]


@frozen(eq=False, kw_only=True)
class Gathered:
    """What was asked and what came back: all that the later stages need.

    Attributes:
        request: the request.
        recipe: the recipe.
        questions: one per section that was asked.
        answers: one per question, in the same order.
        count: counts the tokens.
    """

    request: ContextRequest
    recipe: Recipe
    questions: Sequence[Question]
    answers: Sequence[Answer]
    count: TokenCounter

    @property
    def sections(self) -> list[Section]:
        """The sections that were asked."""
        return [question.section for question in self.questions]


class _Kept:
    """What a context keeps, in its process: a copy shares it, a pickle comes back without it."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()


class Asked(_Kept):
    """What a context out of a cache was assembled for: enough to assemble it anew."""

    __slots__ = ("recipe", "request")

    def __init__(self, request: ContextRequest, recipe: Recipe) -> None:
        self.request = request
        self.recipe = recipe


class Ongoing(_Kept):
    """What was gathered for a context and what was made of it.

    It refers to what the context's trace refers to anyway.
    """

    __slots__ = ("fitted", "gathered", "pieces", "summaries")

    def __init__(
        self,
        gathered: Gathered,
        pieces: Sequence[Piece],
        fitted: Fitted,
        summaries: Mapping[object, Piece],
    ) -> None:
        self.gathered = gathered
        self.pieces = pieces
        self.fitted = fitted
        self.summaries = summaries


@frozen(eq=False)
class Before:
    """What an update goes on from.

    Attributes:
        ongoing: the assembly of the context that is updated.
        new: the items that join it.
        shown: what was in the text.
    """

    ongoing: Ongoing
    new: Sequence[ContextItem]
    shown: Mapping[ItemKey, Candidate] = field(init=False)

    @shown.default
    def _shown(self) -> Mapping[ItemKey, Candidate]:
        return shown_in(self.ongoing.fitted)

    @property
    def names(self) -> str:
        """The new items, for a person."""
        return _listed((item.source, item.id) for item in self.new)

    def notes(self, fitted: Fitted) -> list[str]:
        """What came into the text by the update, what left it, and what is new and not in it."""
        now = shown_in(fitted)
        came = [key for key in now if key not in self.shown]
        left = [key for key in self.shown if key not in now]
        inside = {(source, item_id) for _, source, item_id in now}
        names = ((item.source, item.id) for item in self.new)
        outside = [("", *name) for name in names if name not in inside]
        return [
            f"updated with {self.names}; {what}: {_listed((s, i) for _, s, i in keys)}"
            for what, keys in (("came in", came), ("left", left), ("not in", outside))
            if keys
        ]


def ongoing_of(context: FormattedContext) -> Ongoing | Asked:
    """What a context keeps of its assembly, or of the request where it is out of a cache.

    Raises `InvalidRequestError` where it has nothing.
    """
    if context._ongoing is None:
        raise InvalidRequestError(
            "this context cannot be updated: it was made by hand or by another process; "
            "assemble it in this one"
        )
    return context._ongoing


def _listed(items: Iterable[tuple[str, str]]) -> str:
    """Sources and ids, for a person."""
    names = [one_line(f"{source} {item_id}") for source, item_id in items]
    more = len(names) - _MOST_NAMES
    return ", ".join([*names[:_MOST_NAMES], *([f"{more} more"] if more > 0 else [])])


def key_of(candidate: Candidate) -> ItemKey:
    """What names a candidate within one assembly."""
    return (candidate.section, candidate.item.source, candidate.item.id)


def shown_in(fitted: Fitted) -> Mapping[ItemKey, Candidate]:
    """The candidates that are in the text."""
    entries = (entry for entries in fitted.placed.values() for entry in entries)
    return {key_of(entry.piece.candidate): entry.piece.candidate for entry in entries}


def text_key(candidate: Candidate) -> _TextKey:
    """What a candidate's formatted text depends on."""
    item = candidate.item
    return (key_of(candidate), item.content, item.also_in, item.superseded_by)


def pieces_anew(
    registry: SourceRegistry,
    candidates: Sequence[Candidate],
    look: Look,
    count: TokenCounter,
    failed: Failed,
    known: Sequence[Piece],
    query: str,
) -> list[Piece]:
    """Pieces of the candidates; those whose text is known already are not formatted again."""
    if not known:
        return pieces_for(registry, candidates, look, count, failed, query)
    by_key = {text_key(p.candidate): p.summary_of or p for p in known}
    unknown = [candidate for candidate in candidates if text_key(candidate) not in by_key]
    anew = pieces_for(registry, unknown, look, count, failed, query)
    made = {id(piece.candidate): piece for piece in anew}
    return [
        made[id(candidate)]
        if id(candidate) in made
        else evolve(by_key[text_key(candidate)], candidate=candidate)
        for candidate in candidates
    ]
