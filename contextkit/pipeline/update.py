"""Update a context with new items from its kept answers.

A new item stands first among its source's items.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Self

from attrs import evolve, field, frozen

from contextkit.budget.fit import Fitted
from contextkit.budget.pieces import Piece
from contextkit.config.sections import SOURCE_NAME
from contextkit.errors import InvalidRequestError, SourceError
from contextkit.models.candidate import Candidate
from contextkit.models.context import FormattedContext
from contextkit.models.items import ContextItem, Provenance, Successor
from contextkit.models.record import Hit, Record, Search
from contextkit.models.request import ContextRequest, Recipe, Section
from contextkit.pipeline.format import ItemName, pieces_for
from contextkit.pipeline.gather import Answer, Question
from contextkit.pipeline.looks import Look
from contextkit.plugin.checks import Failed
from contextkit.plugin.item_checks import checked_items
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.markup import one_line
from contextkit.text.tokens import TokenCounter

ItemKey = tuple[str, str, str]
"""A candidate's section, its source, and its id there."""

_MOST_NAMES = 10

_TextKey = tuple[ItemKey, str, tuple[Provenance, ...], Successor | None]


@frozen(eq=False, kw_only=True)
class Gathered:
    """The questions and answers that the later stages need.

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
        """The sections that were queried."""
        return [question.section for question in self.questions]


class _Kept:
    """In-process state of a context.

    Copies share it, and pickles leave it out.
    """

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()


class Asked(_Kept):
    """A cached context's request and recipe, for a new assembly."""

    __slots__ = ("recipe", "request")

    def __init__(self, request: ContextRequest, recipe: Recipe) -> None:
        self.request = request
        self.recipe = recipe


class Ongoing(_Kept):
    """Answers and pieces of a context.

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
    """The context that an update starts from.

    Attributes:
        ongoing: the assembly of the context that is updated.
        new: the items that join it.
        by_hand: the new items that the host made, not a source.
        shown: the items in its text.
    """

    ongoing: Ongoing
    new: Sequence[ContextItem]
    by_hand: Collection[ItemName] = ()
    shown: Mapping[ItemKey, Candidate] = field(init=False)

    @shown.default
    def _shown(self) -> Mapping[ItemKey, Candidate]:
        return shown_in(self.ongoing.fitted)

    @property
    def names(self) -> str:
        """Name the new items for messages."""
        return _listed((item.source, item.id) for item in self.new)

    def notes(self, fitted: Fitted) -> list[str]:
        """Note items that entered or left the text.

        New items that are not in the text are noted as well.
        """
        now = shown_in(fitted)
        came = [key for key in now if key not in self.shown]
        left = [key for key in self.shown if key not in now]
        inside = {(source, item_id) for _, source, item_id in now}
        names = ((item.source, item.id) for item in self.new)
        outside = [("", *name) for name in names if name not in inside]
        return [
            f"updated with {self.names}; {what}: {_listed((s, i) for _, s, i in keys)}"
            for what, keys in (("added", came), ("removed", left), ("did not fit", outside))
            if keys
        ]


def ongoing_of(context: FormattedContext) -> Ongoing | Asked:
    """Return the state of a context's assembly.

    For a context from a cache this is its request and recipe.

    Raises `InvalidRequestError` where it has nothing, and for what is no context.
    """
    if not isinstance(context, FormattedContext):
        raise InvalidRequestError(f"only a context is updated, got a {type(context).__name__}")
    ongoing = context._ongoing
    if not isinstance(ongoing, Ongoing | Asked):
        raise InvalidRequestError(
            "this context cannot be updated: it was made by hand or by another process; "
            "assemble it in this one"
        )
    return ongoing


def _listed(items: Iterable[tuple[str, str]]) -> str:
    """List sources and ids for messages."""
    names = [one_line(f"{source} {item_id}") for source, item_id in items]
    more = len(names) - _MOST_NAMES
    return ", ".join([*names[:_MOST_NAMES], *([f"{more} more"] if more > 0 else [])])


def key_of(candidate: Candidate) -> ItemKey:
    """Return the key of a candidate within one assembly."""
    return (candidate.section, candidate.item.source, candidate.item.id)


def shown_in(fitted: Fitted) -> Mapping[ItemKey, Candidate]:
    """Return the candidates that are in the text."""
    entries = (entry for entries in fitted.placed.values() for entry in entries)
    return {key_of(entry.piece.candidate): entry.piece.candidate for entry in entries}


def text_key(candidate: Candidate) -> _TextKey:
    """Return the values that a candidate's formatted text depends on."""
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
    by_hand: Collection[ItemName] = (),
) -> list[Piece]:
    """Make pieces, reusing the known texts of candidates."""
    if not known:
        return pieces_for(registry, candidates, look, count, failed, query, by_hand)
    by_key = {text_key(p.candidate): p.summary_of or p for p in known}
    unknown = [candidate for candidate in candidates if text_key(candidate) not in by_key]
    anew = pieces_for(registry, unknown, look, count, failed, query, by_hand)
    made = {id(piece.candidate): piece for piece in anew}
    return [
        made[id(candidate)]
        if id(candidate) in made
        else evolve(by_key[text_key(candidate)], candidate=candidate)
        for candidate in candidates
    ]


Ask = Callable[[Section], Question]
AskWith = Callable[
    [Sequence[str], Callable[[Search], Awaitable[list[Hit]]]], Awaitable[Sequence[Answer]]
]


async def new_items(
    registry: SourceRegistry, given: Iterable[ContextItem | Record], ask: AskWith
) -> list[ContextItem]:
    """Check new items, and convert records to items.

    A record becomes the item that its source makes of it.

    Args:
        registry: the plugins.
        given: items, and records with a `source`.
        ask: asks sources, their searches answered by the function that it is given.

    Raises:
        InvalidContextTypeError: for a plugin that is not a source, or is broken.
        InvalidRequestError: for a value that is neither a valid item nor a valid record.
    """
    items = []
    for entry in given:
        if not isinstance(entry, (ContextItem, Record)):
            raise InvalidRequestError(
                f"an update takes items and records, got a {type(entry).__name__}"
            )
        if isinstance(entry, Record) and not entry.source:
            raise InvalidRequestError(
                f"the record '{entry.id}' has no source: give it one, or pass what `put` returned"
            )
        if not isinstance(entry.source, str) or not SOURCE_NAME.fullmatch(entry.source):
            raise InvalidRequestError(
                f"'{entry.source}' is not a source's name: lower-case letters, digits, - and _"
            )
        if registry.knows(entry.source):
            registry.require(entry.source)
        items.append(
            _checked(entry)
            if isinstance(entry, ContextItem)
            else await _item_of(registry, entry, ask)
        )
    if not items:
        raise InvalidRequestError("an update needs at least one item")
    return items


def _checked(item: ContextItem) -> ContextItem:
    try:
        return checked_items(item.source, (item,), 1).items[0]
    except SourceError as error:
        raise InvalidRequestError(error.reason) from error


async def _item_of(registry: SourceRegistry, record: Record, ask: AskWith) -> ContextItem:
    """Return the item that a source makes of a record."""
    plain = ContextItem(
        record.source,
        record.text,
        1.0,
        dict(record.fields),
        id=record.id,
        created_at=record.created_at,
    )

    async def answer(search: Search) -> list[Hit]:
        hit = Hit(record=record, relevance=1.0, keyword_score=1.0, similarity=None)
        return [hit] if search.source == record.source else []

    if not registry.knows(record.source):
        return plain
    answers = await ask([record.source], answer)
    found = (item for a in answers for item in a.items if item.id == record.id)
    return evolve(next(found, plain), relevance=1.0)


def joined(
    registry: SourceRegistry, gathered: Gathered, items: Sequence[ContextItem], ask: Ask
) -> Gathered:
    """Add new items first in their source's first section.

    A new item replaces one with the same id. A source without a section gets one, placed by its
    priority. A section keeps no more items than its limit.

    Args:
        registry: has the order of the sources.
        gathered: the questions and answers of the context.
        items: the new ones, best first.
        ask: makes the question of a section that is added.
    """
    questions, answers = list(gathered.questions), list(gathered.answers)
    for source in dict.fromkeys(item.source for item in items):
        own = [item for item in items if item.source == source]
        place = next((n for n, q in enumerate(questions) if q.section.source == source), None)
        if place is None:
            place = _place(registry, source, [question.section for question in questions])
            section = Section(source=source)
            questions.insert(place, ask(section))
            answers.insert(
                place, Answer(section=section, state="ok", milliseconds=0.0, breaker="closed")
            )
        asked = questions[place]
        limit = max(len(own), asked.limit)
        # The question asks for more items than are used, to make up for excluded ones.
        answers[place] = _with(answers[place], own, limit + asked.request.limit - asked.limit)
        questions[place] = evolve(asked, limit=limit)
    sections = tuple(question.section for question in questions)
    recipe = evolve(gathered.recipe, sections=sections)
    return evolve(gathered, recipe=recipe, questions=questions, answers=answers)


def _place(registry: SourceRegistry, source: str, sections: Sequence[Section]) -> int:
    for place, section in enumerate(sections):
        if registry.in_order([source, section.source])[0] == source:
            return place
    return len(sections)


def _with(answer: Answer, new: Sequence[ContextItem], most: int) -> Answer:
    ids = {item.id for item in new}
    items = (*new, *(item for item in answer.items if item.id not in ids))
    return evolve(
        answer,
        items=items[:most],
        state="ok" if answer.state == "empty" else answer.state,
    )
