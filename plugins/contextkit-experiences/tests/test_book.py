"""Experiences are started, updated, resolved, added, listed and removed on a real store."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from contextkit.models.records import Records
from contextkit.testing import open_records
from contextkit_experiences import (
    Experience,
    ExperienceBook,
    ExperienceStateError,
    InvalidExperienceError,
    Lesson,
    UnknownExperienceError,
)
from contextkit_experiences.axes import from_record, to_records

Make = Callable[..., Experience]
BEGIN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def start(book: ExperienceBook, **changes: Any) -> Experience:
    """Begin an experience of which single values are changed."""
    values = {
        "goal": "Speed up the import",
        "hypothesis": "Parsing is slow",
        "action": "Profile the parser",
        "prediction": "The parser takes most of the time",
        "domain": "performance",
        "strategy": "check-assumptions",
    }
    return book.start(**(values | changes))


def axes(records: Records, ghap_id: str) -> set[str]:
    """The ids of the records that an experience has."""
    return {record.id for record in records.scan({"ghap_id": ghap_id})}


def test_a_life_from_start_to_resolution(book: ExperienceBook, records: Records) -> None:
    """An experience begins open, goes through another try, and ends with its outcome."""
    begun = start(book)
    tried = book.update(begun.id, hypothesis="The disk is slow", note="The parser is fast")
    remarked = book.update(begun.id, note="An SSD, though")
    ended = book.resolve(
        begun.id,
        "falsified",
        "The network was slow",
        surprise="Nobody knew of the proxy",
        root_cause="A proxy in between",
        lesson=Lesson(what_worked="Measured each hop"),
    )

    assert tuple(each.iteration_count for each in (begun, tried, remarked, ended)) == (1, 2, 2, 2)
    assert (ended.hypothesis, ended.action) == ("The disk is slow", "Profile the parser")
    assert ended.notes == ("The parser is fast", "An SSD, though")
    assert begun.started_at == ended.started_at < tried.updated_at < ended.updated_at
    assert ended.resolved_at == ended.updated_at
    assert ended.confidence_tier == "silver"
    assert ended == book.get(begun.id)
    assert {f"{begun.id}/{axis}" for axis in ("full", "strategy", "surprise", "root_cause")} == (
        axes(records, begun.id)
    )


def test_an_open_one_is_on_two_axes(book: ExperienceBook, records: Records) -> None:
    """Without a surprise and a root cause there is no record on their axes."""
    begun = start(book)

    assert {f"{begun.id}/full", f"{begun.id}/strategy"} == axes(records, begun.id)


def test_every_record_carries_the_whole(book: ExperienceBook, records: Records, make: Make) -> None:
    """Each axis has its own text and the same fields, and can be made whole again."""
    experience = make()
    book.add([experience])

    found = {record.fields["axis"]: record for record in records.scan()}

    assert {experience} == {from_record(record) for record in found.values()}
    assert found["surprise"].text == "The pool was half empty"
    assert found["root_cause"].text == "A lock was held across a retry"
    assert found["strategy"].text.startswith(
        "systematic-elimination for debugging: falsified after 1 iteration\nDoubled the pool"
    )
    assert "Stop the nightly timeout" in found["full"].text
    for record in found.values():
        assert tuple(
            record.fields[name]
            for name in (
                "ghap_id",
                "domain",
                "strategy",
                "outcome_status",
                "confidence_tier",
                "iteration_count",
            )
        ) == ("ghap_1", "debugging", "systematic-elimination", "falsified", "gold", 1)


@pytest.mark.parametrize(
    ("changes", "iterations"),
    [
        ({"action": "x"}, 2),
        ({"prediction": "x"}, 2),
        ({"note": "x"}, 1),
        ({"note": "x", "new_iteration": True}, 2),
        ({"new_iteration": True}, 2),
        ({"hypothesis": "x", "new_iteration": False}, 1),
    ],
)
def test_what_counts_as_a_new_iteration(
    book: ExperienceBook, changes: dict[str, Any], iterations: int
) -> None:
    """A changed hypothesis, action or prediction does, a note does not, and one may say."""
    assert iterations == book.update(start(book).id, **changes).iteration_count


def test_a_clock_that_goes_back_does_no_harm(records: Records, make: Make) -> None:
    """An update never lies before the change before it."""
    later, earlier = BEGIN + timedelta(days=1), BEGIN
    times = iter([later, earlier])
    book = ExperienceBook(records, clock=lambda: next(times))

    assert later == book.update(start(book).id, note="x").updated_at


def test_a_resolved_one_stays_as_it_is(book: ExperienceBook, make: Make) -> None:
    """Neither an update nor a second resolution is taken."""
    book.add([make()])

    with pytest.raises(ExperienceStateError, match=r"ghap_1 cannot be updated.*falsified"):
        book.update("ghap_1", note="too late")
    with pytest.raises(ExperienceStateError, match="ghap_1 cannot be resolved"):
        book.resolve("ghap_1", "confirmed", "after all")
    assert make() == book.get("ghap_1")


def test_an_update_must_change_something(book: ExperienceBook) -> None:
    """An update of nothing is an error that names what could be given."""
    ghap_id = start(book).id

    with pytest.raises(ExperienceStateError, match="nothing to change"):
        book.update(ghap_id)
    with pytest.raises(ExperienceStateError, match="nothing to change"):
        book.update(ghap_id, new_iteration=False)


def test_it_cannot_be_resolved_as_open(book: ExperienceBook) -> None:
    """`open` is no outcome, and neither is a word that is none of the statuses."""
    ghap_id = start(book).id

    with pytest.raises(ExperienceStateError, match="is open already"):
        book.resolve(ghap_id, "open", "x")
    with pytest.raises(InvalidExperienceError, match="outcome_status"):
        book.resolve(ghap_id, "solved", "x")  # type: ignore[arg-type]
    with pytest.raises(InvalidExperienceError, match="outcome_result"):
        book.resolve(ghap_id, "confirmed", " ")
    assert book.get(ghap_id).is_open


def test_a_tier_that_is_given_stands(book: ExperienceBook) -> None:
    """The derived tier gives way to the one that is named."""
    ghap_id = start(book).id

    assert book.resolve(ghap_id, "confirmed", "x", confidence_tier="gold").confidence_tier == "gold"


@pytest.mark.parametrize("ghap_id", ["ghap_none", "", "ghap_1/full", "\ud83d"])
def test_an_unknown_id_is_named(book: ExperienceBook, ghap_id: str) -> None:
    """Every method that takes an id says when there is none."""
    methods: list[Callable[[], object]] = [
        lambda: book.get(ghap_id),
        lambda: book.update(ghap_id, note="x"),
        lambda: book.resolve(ghap_id, "confirmed", "x"),
        lambda: book.remove(ghap_id),
    ]
    for method in methods:
        with pytest.raises(UnknownExperienceError, match="there is no experience"):
            method()


def test_what_is_there_is_not_replaced_unasked(
    book: ExperienceBook, records: Records, make: Make
) -> None:
    """Adding an id again adds nothing at all, unless it shall be replaced."""
    book.add([make()])

    with pytest.raises(ExperienceStateError, match="ghap_1 is there already, nothing was added"):
        book.add([make("ghap_2"), make(goal="Another")])
    assert records.count({"axis": "full"}) == 1

    book.add([make("ghap_2"), make(goal="Another")], replace=True)
    assert book.get("ghap_1").goal == "Another"
    assert records.count({"axis": "full"}) == 2


def test_axes_that_went_away_are_deleted(
    book: ExperienceBook, records: Records, make: Make
) -> None:
    """A replaced experience without a surprise is no longer found by the old one."""
    book.add([make(), make("ghap_2")])

    book.add([make(surprise=None)], replace=True)

    assert {"ghap_1/full", "ghap_1/strategy", "ghap_1/root_cause"} == axes(records, "ghap_1")
    assert len(axes(records, "ghap_2")) == 4


def test_one_id_twice_among_those_added_is_refused(book: ExperienceBook, make: Make) -> None:
    """Which of the two should stand cannot be known."""
    with pytest.raises(ExperienceStateError, match="ghap_1 is given twice"):
        book.add([make(), make()], replace=True)
    assert book.list() == []


def test_the_list_is_filtered_and_the_last_changed_comes_first(
    book: ExperienceBook, make: Make
) -> None:
    """Domain, strategy, outcome and limit select; words are taken in any spelling."""
    book.add(
        [
            make("ghap_a", started_at=BEGIN - timedelta(hours=1)),
            make("ghap_b", started_at=BEGIN + timedelta(hours=1), domain="testing"),
            make("ghap_c", started_at=BEGIN + timedelta(hours=2), strategy="ask-user"),
        ]
    )
    begun = start(book)

    def ids(**wanted: Any) -> list[str]:
        return [each.id for each in book.list(**wanted)]

    assert ["ghap_c", "ghap_b", begun.id, "ghap_a"] == ids()
    assert ids(domain="Debugging") == ["ghap_c", "ghap_a"]
    assert ids(strategy="systematic-elimination") == ["ghap_b", "ghap_a"]
    assert [begun.id] == ids(outcome="open")
    assert ids(limit=1) == ["ghap_c"]
    with pytest.raises(InvalidExperienceError, match="domain"):
        ids(domain="two words")


def test_what_is_removed_is_gone_on_every_axis(
    book: ExperienceBook, records: Records, make: Make
) -> None:
    """A removed experience leaves no record and can be added again."""
    book.add([make(), make("ghap_2")])

    assert make() == book.remove("ghap_1")
    assert [each.id for each in book.list()] == ["ghap_2"]
    assert set() == axes(records, "ghap_1")


def test_an_update_goes_to_where_the_experience_lives(tmp_path: Path, make: Make) -> None:
    """The user's own experience is seen in a project, and changed where it is."""
    with open_records(tmp_path / "store", "experiences", project="web") as records:
        own = start(ExperienceBook(records.shared))
        book = ExperienceBook(records)
        book.update(own.id, note="seen from the project")
        book.add([make(own.id)], replace=True)

        assert [own.id] == [each.id for each in book.list()]
        assert {""} == {record.project for record in records.scan()}
        book.remove(own.id)
        assert records.count() == 0


def test_the_projects_own_comes_before_the_users(tmp_path: Path, make: Make) -> None:
    """Where both have one id, the project's is read, changed and removed."""
    with open_records(tmp_path / "store", "experiences", project="web") as records:
        ExperienceBook(records.shared).add([make(goal="The user's")])
        records.put(to_records(make(goal="The project's")))
        book = ExperienceBook(records)

        assert book.get("ghap_1").goal == "The project's"
        book.add([make(goal="Changed", surprise=None)], replace=True)
        assert book.remove("ghap_1").goal == "Changed"
        assert book.get("ghap_1").goal == "The user's"
        assert records.count() == 4


def test_experiences_outlive_the_process(tmp_path: Path, make: Make) -> None:
    """What was stored is there when the store is opened again."""
    with open_records(tmp_path / "store", "experiences") as records:
        ExperienceBook(records).add([make(goal="目標\n```\n# x")])
    with open_records(tmp_path / "store", "experiences") as records:
        assert make(goal="目標\n```\n# x") == ExperienceBook(records).get("ghap_1")


def test_a_stored_experience_that_something_else_spoiled_is_named(
    book: ExperienceBook, records: Records, make: Make
) -> None:
    """A record that is no experience is an error that names it, not a crash."""
    book.add([make()])
    spoiled = records.get("ghap_1/full")[0]
    records.put([evolve(spoiled, fields={**spoiled.fields, "goal": 7})])

    with pytest.raises(InvalidExperienceError, match="stored experience ghap_1/full: goal: found"):
        book.get("ghap_1")
