"""Adding, counting, listing and removing patterns, on a real store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contextkit import ContextKit, InvalidRequestError, Record, Records
from contextkit.testing import open_records, run_together
from contextkit_patterns import InvalidPatternError, PatternBook, UnknownPatternError
from contextkit_patterns.pattern import MOST_APPLICATIONS, success_rate

# Between the look and the write others get many chances to take the store.
COUNTS = """
import sys
from contextlib import contextmanager

import contextkit_patterns
from contextkit import ContextKit, Records
from contextkit_patterns import PatternBook


class Slow(Records):
    def put(self, records):
        counted = [self.count() for _ in range(400)]
        return super().put(records)


with ContextKit.open(sys.argv[1], settings={"embedding.model": "none"}, entry_points=False) as kit:
    kit.register(contextkit_patterns, "patterns")
    records = kit.records("patterns")
    book = PatternBook(Slow(kit.store, "patterns", records.project), kit.store.hold)
    book.count()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(15):
        book.applied("restart", success=number % 3 > 0)
"""


def test_a_pattern_is_added_read_and_removed(book: PatternBook) -> None:
    """Its id is its name's words; either finds it."""
    added = book.add(
        "Restart  the Worker!",
        ["Drain the queue", "Restart\nit"],
        keywords=["Worker", "stuck  queue", "worker"],
        intents=["fix", "action", "fix"],
        entity_types=["Service"],
    )
    assert (added.id, added.name, added.outcome) == (
        "restart-the-worker",
        "Restart the Worker!",
        "stored",
    )
    assert added.steps == ("Drain the queue", "Restart it")
    assert added.keywords == ("worker", "stuck queue")
    assert (added.intents, added.entity_types) == (("fix", "action"), ("service",))
    assert (added.applications, added.successes, added.rate) == (0, 0, 0.5)
    for known_as in ("restart-the-worker", "Restart the worker"):
        assert book.get(known_as) == added
    assert book.remove(added.id) == added
    assert (book.count(), book.list()) == (0, [])


def test_the_same_name_changes_the_pattern(book: PatternBook) -> None:
    """What is not given stays, the counts above all."""
    book.add("Restart", ["a"], keywords=["worker"], applications=3, successes=2)
    changed = book.add("restart", ["b"])
    assert (changed.outcome, changed.steps, changed.name) == ("updated", ("b",), "restart")
    assert (changed.keywords, changed.applications, changed.successes) == (("worker",), 3, 2)
    assert book.add("restart", ["b"]).outcome == "unchanged"
    counted = book.add("restart", ["b"], applications=9)
    assert (counted.applications, counted.successes) == (9, 2)
    with pytest.raises(InvalidPatternError, match="got 2 of 1"):
        book.add("restart", ["b"], applications=1)
    assert book.count() == 1


def test_applications_are_counted(book: PatternBook) -> None:
    """With their successes and their time."""
    book.add("Restart", ["a"])
    assert book.applied("restart", success=True).successes == 1
    counted = book.applied("Restart", success=False)
    assert (counted.applications, counted.successes) == (2, 1)
    assert counted.applied_at is not None
    assert counted.applied_at >= counted.created_at
    assert book.get("restart") == counted


def test_what_was_counted_is_not_lost_at_the_most_that_is_counted(book: PatternBook) -> None:
    """Then nothing is added."""
    book.add("Restart", ["a"], applications=MOST_APPLICATIONS, successes=MOST_APPLICATIONS - 1)
    for success in (False, True, True):
        book.applied("restart", success=success)
    found = book.get("restart")
    assert (found.applications, found.successes) == (MOST_APPLICATIONS, MOST_APPLICATIONS)


def test_once_of_once_does_not_beat_95_of_100(book: PatternBook) -> None:
    """The prior wants more than one success; what was never applied stands between."""
    assert success_rate(95, 100) == pytest.approx(96 / 102)
    assert success_rate(1, 1) == pytest.approx(2 / 3)
    for name, successes, applications in (
        ("new", 0, 0),
        ("lucky", 1, 1),
        ("proven", 95, 100),
        ("bad", 0, 10),
        ("unlucky", 0, 1),
    ):
        book.add(name, ["a"], successes=successes, applications=applications)
    assert [each.name for each in book.list()] == ["proven", "lucky", "new", "unlucky", "bad"]
    assert [each.name for each in book.list(2)] == ["proven", "lucky"]
    with pytest.raises(InvalidRequestError, match="limit must be at least 1, got 0"):
        book.list(0)


def test_the_projects_pattern_hides_the_users(book: PatternBook) -> None:
    """Each is changed, counted and removed by itself."""
    users = book.add("Restart", ["everywhere"], shared=True)
    assert users.scope == "user"
    assert book.applied("restart", success=True).scope == "user"
    mine = book.add("Restart", ["here"])
    assert (mine.outcome, mine.scope, book.count()) == ("stored", "project", 2)
    assert book.applied("restart", success=False).steps == ("here",)
    assert book.remove("restart").steps == ("here",)
    left = book.get("restart")
    assert (left.steps, left.successes, left.applications) == (("everywhere",), 1, 1)
    book.remove("restart")
    assert book.count() == 0


def test_two_processes_at_once_lose_no_count(tmp_path: Path, kit: ContextKit) -> None:
    """Each application of each of them is counted."""
    book = PatternBook.of(kit)
    book.add("Restart", ["a"])
    run_together(COUNTS, *[[str(tmp_path)]] * 2)
    counted = book.get("restart")
    assert (counted.applications, counted.successes) == (30, 20)


def test_patterns_outlive_their_process(tmp_path: Path) -> None:
    """Counts included."""
    with open_records(tmp_path / "s", "patterns", model="none") as opened:
        PatternBook(opened).add("Restart", ["a"])
        counted = PatternBook(opened).applied("restart", success=True)
    with open_records(tmp_path / "s", "patterns", model="none") as opened:
        assert PatternBook(opened).get("restart") == counted


@pytest.mark.parametrize("asked", ["nothing", "", "!", "a b"])
def test_an_unknown_id_is_said(book: PatternBook, asked: str) -> None:
    """With the command that lists the ids."""
    for call in (book.get, book.remove, lambda each: book.applied(each, success=True)):
        with pytest.raises(UnknownPatternError, match="contextkit patterns list") as caught:
            call(asked)
        assert caught.value.id == asked


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "a name has 1 to 80 characters"),
        ({"name": "x" * 81}, "a name has 1 to 80 characters, 'x+' has 81"),
        ({"name": "!?"}, "has a letter or a digit, got '!\\?'"),
        ({"name": 5}, "a name must be a text, got 5"),
        ({"name": "\ud800"}, "character 0 is half a surrogate pair"),
        ({"steps": []}, "steps: 1 to 50 values, got 0"),
        ({"steps": ["a"] * 51}, "steps: 1 to 50 values, got 51"),
        ({"steps": "a"}, "steps must be a list of texts, got 'a'"),
        ({"steps": 5}, "steps must be a list of texts, got 5"),
        ({"steps": [" "]}, "a step has 1 to 2,000 characters"),
        ({"steps": [5]}, "a step must be a text, got 5"),
        ({"keywords": "a"}, "keywords must be a list of texts"),
        ({"keywords": ["?"]}, "a keyword has a letter or a digit"),
        ({"keywords": ["x" * 61]}, "a keyword has 1 to 60 characters"),
        ({"keywords": ["a"] * 51}, "keywords: at most 50 values, got 51"),
        ({"entity_types": [""]}, "an entity type has 1 to 60"),
        ({"intents": ["mend"]}, "an intent is one of question, action, fix, .*, got 'mend'"),
        ({"successes": 1}, "got 1 of 0"),
        ({"applications": 1, "successes": 2}, "got 2 of 1"),
        ({"applications": -1}, "at least 0 .* got -1"),
        ({"applications": True}, "whole number .* got True"),
        ({"applications": 10**9 + 1}, "whole number"),
    ],
)
def test_what_cannot_be_added_is_refused(
    book: PatternBook, changes: dict[str, Any], message: str
) -> None:
    """The error names the part, and nothing is stored."""
    with pytest.raises(InvalidPatternError, match=message):
        book.add(**{"name": "Restart", "steps": ["a"], **changes})
    assert book.count() == 0


def test_imported_records_do_no_harm(records: Records, book: PatternBook) -> None:
    """Fields of other types have their defaults, and the record can be removed."""
    odd = {
        "steps": "a",
        "keywords": [5, "", "?", "flaky"],
        "intents": ["mend", "fix"],
        "applications": 1,
        "successes": "x",
        "applied_at": "never",
    }
    records.put([Record(id="odd", text="From elsewhere\nfirst\nsecond", fields=odd)])
    (found,) = book.list()
    assert (found.name, found.steps) == ("From elsewhere", ("first", "second"))
    assert (found.keywords, found.intents, found.applications) == (("flaky",), ("fix",), 1)
    assert found.applied_at is None
    records.put([Record(id="odd", text="", fields={"applied_at": "2026-01-02T03:04:05"})])
    (found,) = book.list()
    assert (found.name, found.steps) == ("odd", ("odd",))
    assert found.applied_at is not None
    assert found.applied_at.utcoffset() is not None
    records.put([Record(id="odd", text="a", fields={"applications": 1, "successes": 2})])
    assert book.get("odd").successes == 0
    records.shared.put([Record(id="odd", text="the user's")])
    book.remove("odd")
    assert [each.scope for each in book.list()] == ["user"]
    book.remove("odd")
    assert book.count() == 0
