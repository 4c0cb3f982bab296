"""What the tests of the experiences source share: a real store and ready-made experiences."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contextkit.models.items import ContextItem
from contextkit.models.records import Records
from contextkit.testing import open_records
from contextkit_experiences.book import ExperienceBook
from contextkit_experiences.model import Experience, Lesson

Make = Callable[..., Experience]
ItemOf = Callable[..., ContextItem]

BEGIN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The records of the source on a real store on disk."""
    with open_records(tmp_path / "store", "experiences") as opened:
        yield opened


@pytest.fixture
def book(records: Records) -> ExperienceBook:
    """A book whose clock goes on by a minute with every look at it."""
    looks = iter(range(1_000_000))
    return ExperienceBook(records, clock=lambda: BEGIN + timedelta(minutes=next(looks)))


@pytest.fixture(scope="session")
def item_of() -> ItemOf:
    """Makes an item of a record's fields, as the query does."""

    def made(fields: Mapping[str, Any], **metadata: Any) -> ContextItem:
        return ContextItem(
            "experiences",
            "text",
            0.5,
            id=str(fields.get("id", "ghap_1")),
            created_at=BEGIN,
            metadata={"axis": "full", **fields, **metadata},
        )

    return made


@pytest.fixture(scope="session")
def hostile_fields() -> Callable[[str], dict[str, Any]]:
    """Makes every field of an experience of the same words."""
    names = ("goal", "hypothesis", "action", "prediction", "outcome_result", "surprise")

    def made(text: str) -> dict[str, Any]:
        return {
            **dict.fromkeys((*names, "root_cause", "domain", "strategy", "outcome_status"), text),
            "lesson": {"what_worked": text, "takeaway": text},
        }

    return made


@pytest.fixture(scope="session")
def make() -> Make:
    """Makes a resolved experience of which single values are changed."""

    def made(ghap_id: str = "ghap_1", **changes: Any) -> Experience:
        values: dict[str, Any] = {
            "id": ghap_id,
            "goal": "Stop the nightly timeout",
            "hypothesis": "The connection pool is too small",
            "action": "Doubled the pool",
            "prediction": "No timeout tonight",
            "domain": "debugging",
            "strategy": "systematic-elimination",
            "outcome_status": "falsified",
            "outcome_result": "It timed out again at 02:00",
            "surprise": "The pool was half empty",
            "root_cause": "A lock was held across a retry",
            "lesson": Lesson(what_worked="A timeout on the lock", takeaway="Look at locks first"),
            "started_at": BEGIN,
        }
        values.update(changes)
        return Experience(**values)

    return made
