"""Something new joins what was gathered: an item beside its source's others, in its place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from attrs import evolve

from contextkit.config import SOURCE_NAME
from contextkit.errors import InvalidRequestError, SourceError
from contextkit.gathering.gather import Answer, Question
from contextkit.models import ContextItem
from contextkit.records import Hit, Record, Search
from contextkit.registry import SourceRegistry
from contextkit.registry.checks import checked_items
from contextkit.request import Section
from contextkit.updating.ongoing import Gathered

__all__ = ["AskWith", "joined", "new_items"]

Ask = Callable[[Section], Question]
AskWith = Callable[
    [Sequence[str], Callable[[Search], Awaitable[list[Hit]]]], Awaitable[Sequence[Answer]]
]


async def new_items(
    registry: SourceRegistry, given: Iterable[ContextItem | Record], ask: AskWith
) -> list[ContextItem]:
    """What joins a context, checked; a record becomes the item that its source makes of it.

    Args:
        registry: the plugins.
        given: items, and records with a `source`.
        ask: asks sources, their searches answered by the function that it is given.

    Raises:
        InvalidContextTypeError: for a plugin that is no source, or is broken.
        InvalidRequestError: for what is neither an item nor a record, or not a sound one.
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
        return checked_items(item.source, (item,), 1)[0]
    except SourceError as error:
        raise InvalidRequestError(error.reason) from error


async def _item_of(registry: SourceRegistry, record: Record, ask: AskWith) -> ContextItem:
    """The item that a source finds where the record is all that there is."""
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
    """The same with new items, each first in the first section of its source.

    An item with the id of one that is there takes its place. A source that has no section
    gets one where its priority puts it. A section keeps no more items than its limit.

    Args:
        registry: says in which order sources stand.
        gathered: what the context was made from.
        items: the new ones, best first.
        ask: makes the question of a section that was not there.
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
        # More is asked for than goes on, in place of what the request excludes.
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
