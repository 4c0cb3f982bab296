"""Experiences whose outcome a later one overturns, and ids by their beginning."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contextkit.models import ContextItem, ContextRequest, Records
from contextkit.sources import AmbiguousEntryError
from contextkit_experiences import Experience, ExperienceBook, ExperienceStateError
from contextkit_experiences.errors import UnknownExperienceError
from contextkit_experiences.items import find_experiences
from contextkit_experiences.showing import one_line_of

Make = Callable[..., Experience]


async def found(records: Records, query: str) -> list[ContextItem]:
    """What the source finds."""
    return await find_experiences(ContextRequest(query=query, records=records))


@pytest.fixture
def overturned(book: ExperienceBook, make: Make) -> Experience:
    """A confirmed experience that a later one overturned."""
    old = make("ghap_old", outcome_status="confirmed", outcome_result="No timeout since")
    book.add([old])
    later = book.start(
        "Stop the nightly timeout",
        "It was the lock",
        "Revert the pool",
        "No timeout",
        domain="debugging",
        strategy="bisect",
    )
    return book.resolve(later.id, "confirmed", "The pool was innocent", replaces="ghap_o")


async def test_an_overturned_outcome_is_not_shown_as_true(
    records: Records, book: ExperienceBook, overturned: Experience
) -> None:
    """It is kept, and names what overturned it."""
    assert [item.id for item in await found(records, "nightly timeout")] == [overturned.id]
    old = book.get("ghap_old")
    assert (old.replaced_by, old.valid_until) == (overturned.id, overturned.resolved_at)
    assert overturned.replaces == ("ghap_old",)
    assert "  confirmed (overturned)  " in one_line_of(old)


async def test_a_question_about_the_past_shows_what_overturned_it(
    records: Records, overturned: Experience
) -> None:
    """With the outcome of the later one."""
    items = {
        item.id: item for item in await found(records, "nightly timeout: what did we do before?")
    }
    by = items["ghap_old"].superseded_by
    assert by is not None
    assert (by.id, by.title) == (overturned.id, "The pool was innocent")


def test_an_outcome_is_overturned_once(book: ExperienceBook, overturned: Experience) -> None:
    """The error names the one that did; none overturns itself."""
    third = book.start("a", "b", "c", "d", domain="debugging", strategy="bisect")
    with pytest.raises(ExperienceStateError, match=f"overturned by {overturned.id} already"):
        book.resolve(third.id, "confirmed", "e", replaces="ghap_old")
    with pytest.raises(ExperienceStateError, match="cannot overturn itself"):
        book.resolve(third.id, "confirmed", "e", replaces=third.id)
    assert book.get(third.id).is_open


def test_the_beginning_of_an_id_is_enough(book: ExperienceBook, make: Make) -> None:
    """With or without `ghap_`; one that fits several is refused with all of them."""
    book.add([make("ghap_1a2b"), make("ghap_1a9z"), make("ghap_1a2")])
    assert book.get("1a9").id == "ghap_1a9z"
    assert book.get("ghap_1a2").id == "ghap_1a2"
    with pytest.raises(AmbiguousEntryError, match="fits 3 experiences: ghap_1a2 "):
        book.get("ghap_1a")
    with pytest.raises(UnknownExperienceError):
        book.get("ghap_2")
    assert book.remove("ghap_1a2b").id == "ghap_1a2b"
    assert book.remove("1a9").id == "ghap_1a9z"
    assert [each.id for each in book.list()] == ["ghap_1a2"]
