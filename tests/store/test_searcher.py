"""A host's own object in place of the store: what its results become."""

from __future__ import annotations

import dataclasses
import enum
import sqlite3
import uuid
from collections import namedtuple
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest

from contextkit.errors import SourceError
from contextkit.plugin.manager import SourceRegistry
from tests.store.searchers import asked, hit_of, host, note

MakePlugin = Callable[..., ModuleType]
MakeRegistry = Callable[..., SourceRegistry]


# -- what a result may be -------------------------------------------------------------------


@dataclasses.dataclass(slots=True)
class Slotted:
    id: str
    content: str
    score: float
    place: str


@attrs.frozen
class Attributed:
    id: str
    content: str
    score: float
    place: str


Named = namedtuple("Named", ["id", "content", "score", "place"])


class Plain:
    def __init__(self, name: str, content: str, score: float, place: str) -> None:
        self.id, self.content, self.score, self.place = name, content, score, place
        self._connection = object()


def row(*values: Any) -> sqlite3.Row:
    """The same as a row of a database."""
    with sqlite3.connect(":memory:") as connection:
        connection.row_factory = sqlite3.Row
        names = "? AS id, ? AS content, ? AS score, ? AS place"
        found = connection.execute(f"SELECT {names}", values).fetchone()
    connection.close()
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "make",
    [
        Slotted,
        Attributed,
        Named,
        Plain,
        row,
        lambda *values: dict(zip(("id", "content", "score", "place"), values, strict=True)),
        lambda name, text, score, place: {
            "id": name,
            "text": text,
            "relevance": score,
            "metadata": {"place": place},
        },
        lambda name, text, score, place: SimpleNamespace(
            content=text,
            score=score,
            metadata=SimpleNamespace(id=name, place=place, content="not this", score=7),
        ),
    ],
    ids=["dataclass", "attrs", "namedtuple", "class", "row", "dict", "metadata", "nested"],
)
def test_a_result_may_be_any_object_or_mapping(make: Callable[..., object]) -> None:
    """What it says at the top or in its metadata becomes one record and its relevance."""
    hit = hit_of(make("n1", "High water at noon", 0.5, "Dover"))
    assert (hit.record.id, hit.record.text, hit.relevance) == ("n1", "High water at noon", 0.5)
    assert hit.record.fields == {"id": "n1", "place": "Dover"}
    assert (hit.record.source, hit.record.project) == ("notes", "p")


@pytest.mark.parametrize("name", ["content", "text", "code", "message"])
def test_the_words_have_the_names_of_the_seeds(name: str) -> None:
    """One of four; whichever it is, it is not kept twice."""
    record = hit_of({"id": "1", name: "High water", "score": 1}).record
    assert (record.text, record.fields) == ("High water", {"id": "1"})


@pytest.mark.parametrize("name", ["goal", "signature", "docstring"])
def test_fields_may_hold_the_words(name: str) -> None:
    """An experience is its goal and more, a code unit may be its signature."""
    record = hit_of({"id": "1", name: "High water", "score": 1}).record
    assert (record.text, record.fields[name]) == ("", "High water")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"id": "a"}, "a"),
        ({"id": 7}, "7"),
        ({"id": uuid.UUID(int=7)}, str(uuid.UUID(int=7))),
        ({"sha": "abc"}, "abc"),
        ({"ghap_id": "ghap_1"}, "ghap_1"),
        ({"id": "a", "sha": "b"}, "a"),
        ({"id": None, "sha": "b"}, "b"),
        ({"file_path": "a.py", "start_line": 3}, "a.py:3"),
    ],
)
def test_an_id_is_what_the_result_has_for_one(values: dict[str, Any], expected: str) -> None:
    """Its id, or what else the seeds tell records apart by."""
    assert hit_of({"content": "x", "score": 1, **values}).record.id == expected


def test_a_result_without_an_id_gets_one_that_stays() -> None:
    """It is made from all that the result says but its score."""
    results = [
        {"content": "x", "score": 1.0},
        {"content": "x", "score": 0.5},
        {"content": "x", "score": 0.5, "place": "Dover"},
    ]
    one, same, other = (hit_of(result).record.id for result in results)
    assert one == same != other


@pytest.mark.parametrize(
    ("score", "relevance"),
    [
        (0, 0.0),
        (1, 1.0),
        (np.float32(0.5), 0.5),
        (1.0000001, 1.0),
        (-1e-7, 0.0),
    ],
)
def test_a_score_is_any_number_within_its_bounds(score: Any, relevance: float) -> None:
    """What rounding adds to a cosine is taken off."""
    assert hit_of(note(score=score)).relevance == relevance


@pytest.mark.parametrize(
    ("values", "moment"),
    [
        ({"created_at": datetime(2026, 5, 1, tzinfo=UTC)}, datetime(2026, 5, 1, tzinfo=UTC)),
        ({"created_at": datetime(2026, 5, 1)}, datetime(2026, 5, 1, tzinfo=UTC)),  # noqa: DTZ001
        ({"created_at": "2026-05-01T12:00:00+02:00"}, datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ({"committed_at": "2026-05-01T12:00:00Z"}, datetime(2026, 5, 1, 12, tzinfo=UTC)),
        ({"timestamp": " 2026-05-01 "}, datetime(2026, 5, 1, tzinfo=UTC)),
        ({"timestamp": "yesterday"}, None),
        (
            {"created_at": datetime.min.replace(tzinfo=timezone(timedelta(hours=2)))},
            None,
        ),
        ({}, None),
    ],
)
def test_a_time_is_a_datetime_or_a_text(values: dict[str, Any], moment: datetime | None) -> None:
    """In UTC where it has no zone; what has no time, or none that can be read, is old."""
    record = hit_of(note(**values)).record
    assert record.created_at == (moment or datetime(1970, 1, 1, tzinfo=UTC))
    if moment and "timestamp" not in values:
        assert record.fields["timestamp"] == moment.isoformat()


class Tier(enum.Enum):
    GOLD = "gold"


def test_fields_become_plain_values() -> None:
    """Objects within a result are mappings, as the sources' formats want them."""
    record = hit_of(
        note(
            lesson=SimpleNamespace(what_worked="waiting", takeaway=None, _row=1),
            tier=Tier.GOLD,
            at=datetime(2026, 5, 1, tzinfo=UTC),
            places=("Dover", Path("a") / "b"),
            marks={"b", "a"},
            count=np.int64(3),
            share=np.float64(0.5),
            sure=True,
            raw=b"x",
            key=uuid.UUID(int=7),
            nothing=None,
            _private=1,
        )
    ).record
    assert record.fields == {
        "id": "n1",
        "lesson": {"what_worked": "waiting"},
        "tier": "gold",
        "at": "2026-05-01T00:00:00+00:00",
        "places": ["Dover", str(Path("a") / "b")],
        "marks": ["a", "b"],
        "count": 3,
        "share": 0.5,
        "sure": True,
        "raw": "b'x'",
        "key": str(uuid.UUID(int=7)),
    }
    assert type(record.fields["count"]) is int


# -- what is wrong with a result ------------------------------------------------------------

CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ("High water", "result 1: it is 'High water', expected an object or a mapping"),
        (7, "result 1: it is 7, expected"),
        (None, "result 1: it is None, expected"),
        (Plain, "expected an object or a mapping"),
        (("High water", 0.5), "expected an object or a mapping"),
        (note(metadata="Dover"), "its metadata is 'Dover', expected a mapping"),
        (note(score=None), "it has no relevance or score: expected a number within 0..1"),
        (note(score="0.5"), "its score is '0.5', expected a number within 0..1"),
        (note(score=True), "its score is True, expected a number"),
        (note(score=17.3), "its score is 17.3, expected a number within 0..1, 1 the best"),
        (note(score=-0.2), "its score is -0.2, expected"),
        (note(score=float("nan")), "its score is nan, expected"),
        (note(relevance=2), "its relevance is 2, expected"),
        (
            note(content=None),
            "it has none of content, text, code, message: expected a text to show",
        ),
        (note(content=["High water"]), r"its content is \['High water'\], expected a text"),
        (note(id=["n1"]), r"its id is \['n1'\], expected a text or a number"),
        (note(id=""), "its id is '', expected"),
        (note(id=True), "its id is True, expected"),
        (note(created_at=1714521600), "its created_at is 1714521600, expected a datetime or ISO"),
        (note(own=CYCLE), "its fields are nested deeper than 8 levels"),
    ],
)
def test_a_result_that_is_wrong_is_named(result: object, problem: str) -> None:
    """The error says which source, which method, which result and what would be right."""
    with pytest.raises(SourceError, match=problem) as caught:
        asked(host(search_notes=[note(), result]))
    assert (caught.value.source, caught.value.hook) == ("notes", "search_notes")


@pytest.mark.parametrize("results", [None, "High water", note(), {note()["id"]}, iter([note()])])
def test_what_is_no_list_of_results_is_refused(results: object) -> None:
    """A generator too: whoever iterates it would block the event loop."""
    with pytest.raises(SourceError, match=r"returned .*, expected a list of results"):
        asked(host(search_notes=lambda query, limit: results))
