"""Values are made from the experiences there are, and replaced by those of the next time."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from numpy.typing import NDArray

import contextkit_values as plugin
from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.embedder import Embedder
from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.testing import open_records
from contextkit_values import NoDenseVectorsError, ValuesError, refresh
from contextkit_values.model import value_id

Store = Callable[..., None]
Lived = Callable[..., Record]
AT = datetime(2026, 3, 1, tzinfo=UTC)

LOCKS = (
    "A lock was held across a network retry",
    "The mutex was held while waiting for the database",
    "A lock was held during slow I/O and blocked all workers",
    "The file lock was held and never released after an exception",
)
CACHES = (
    "The cache returned a stale value after the update",
    "A stale cache entry survived the deploy",
    "The cached value was stale as the cache key ignored the user",
)
OTHERS = (
    "The certificate had expired",
    "The regex backtracked exponentially",
    "Wrong endianness in the header",
)


def by_axis(values: Records, axis: str = "root_cause") -> list[Record]:
    """The values of an axis, that of the most experiences first."""
    return sorted(values.scan({"axis": axis}), key=lambda each: each.fields["cluster_id"])


def test_what_experiences_have_in_common_becomes_values(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """Two themes become two values with a text, a size, members and where they come from."""
    stored(LOCKS)
    stored(CACHES, first=10, domain="performance", strategy="ask-user")
    stored(OTHERS, first=20)

    report = refresh(experiences, values, embedder, now=AT)

    locks, caches = by_axis(values)
    assert (report.added, report.updated, report.removed, report.unchanged) == (2, 0, 0, 0)
    assert locks.text in LOCKS
    assert caches.text in CACHES
    assert caches.fields["cluster_size"] == 3
    assert caches.fields["ghap_ids"] == sorted(
        ["ghap_010", "ghap_011", "ghap_012"],
        key=lambda each: (
            -dict(
                zip(caches.fields["ghap_ids"], caches.fields["member_similarities"], strict=True)
            )[each]
        ),
    )
    assert caches.fields["ghap_id"] == caches.fields["ghap_ids"][0]
    assert caches.fields["similarity_to_centroid"] == max(caches.fields["member_similarities"])
    assert caches.fields["domains"] == ["performance"]
    assert caches.fields["strategies"] == ["ask-user"]
    assert [each.fields["cluster_id"] for each in (locks, caches)] == [
        "root_cause_0",
        "root_cause_1",
    ]
    assert locks.fields["domains"] == ["debugging"]
    assert {locks.created_at, caches.created_at} == {AT}
    assert set(locks.fields["ghap_ids"]) <= {f"ghap_{n:03}" for n in range(4)}
    assert all(note.startswith(axis) for note, axis in zip(report.notes, axes(), strict=True))


def axes() -> Sequence[str]:
    """The axes in their order."""
    return ("full", "strategy", "surprise", "root_cause")


def test_the_same_again_changes_nothing(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """A second refresh keeps ids and times."""
    stored([*LOCKS, *CACHES])
    refresh(experiences, values, embedder, now=AT)
    before = by_axis(values)

    report = refresh(experiences, values, embedder, now=AT + timedelta(days=1))

    assert (report.added, report.updated, report.removed, report.unchanged) == (0, 0, 0, 2)
    assert by_axis(values) == before


def test_the_gone_are_deleted_and_the_changed_replaced(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """A cluster that lost its members goes; one that is told anew keeps its id and time."""
    stored([*LOCKS, *CACHES])
    refresh(experiences, values, embedder, now=AT)
    ids = {each.id for each in by_axis(values)}
    experiences.delete(*(f"ghap_{n:03}/root_cause" for n in range(len(LOCKS))))
    stored(CACHES, first=len(LOCKS), domain="testing")

    report = refresh(experiences, values, embedder, now=AT + timedelta(days=1))

    (left,) = by_axis(values)
    assert (report.added, report.updated, report.removed, report.unchanged) == (0, 1, 1, 0)
    assert left.id in ids
    assert left.created_at == AT
    assert left.fields["domains"] == ["testing"]


def test_the_id_is_that_of_the_members(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """Another member makes another value, and the old one goes."""
    stored(CACHES)
    refresh(experiences, values, embedder)
    (before,) = by_axis(values)
    stored([CACHES[0]] * 2, first=50)

    report = refresh(experiences, values, embedder)

    (after,) = by_axis(values)
    assert before.id != after.id
    assert "ghap_050" in after.fields["ghap_ids"]
    assert (report.added, report.removed) == (1, 1)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_experiences_make_no_values(
    experiences: Records, values: Records, embedder: Embedder, stored: Store, count: int
) -> None:
    """A note says so for each axis, and values of earlier days go."""
    stored(CACHES)
    refresh(experiences, values, embedder)
    experiences.delete(*(f"ghap_{n:03}/root_cause" for n in range(count, 3)))

    report = refresh(experiences, values, embedder)

    assert by_axis(values) == []
    counted = "1 resolved experience" if count == 1 else f"{count} resolved experiences"
    assert f"root_cause: {counted}, fewer than 3" in report.notes
    assert report.removed == 1


def test_open_experiences_teach_nothing_yet(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """Only what was resolved is clustered."""
    stored(CACHES, axis="full", outcome_status="open")

    assert (
        "full: 0 resolved experiences, fewer than 3" in refresh(experiences, values, embedder).notes
    )


@pytest.mark.parametrize(
    ("lesson", "text"),
    [
        (
            {"what_worked": "Cleared it", "takeaway": "Name\nthe user in keys"},
            "Name the user in keys",
        ),
        ({"what_worked": "Cleared it", "takeaway": None}, "Cleared it"),
        (None, "It failed again"),
        ("spoiled", "It failed again"),
    ],
)
def test_on_the_full_axis_the_lesson_is_shown(
    experiences: Records,
    values: Records,
    embedder: Embedder,
    stored: Store,
    lesson: Any,
    text: str,
) -> None:
    """Whole experiences are clustered, and the nearest one's takeaway stands for them."""
    stored(CACHES, axis="full", lesson=lesson)

    refresh(experiences, values, embedder)

    assert [each.text for each in by_axis(values, "full")] == [text]


def test_on_the_strategy_axis_its_performance_is_shown(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """The lines of the strategy's text become one."""
    stored([f"ask-user for testing: confirmed\n{text}" for text in CACHES], axis="strategy")

    refresh(experiences, values, embedder)

    (value,) = by_axis(values, "strategy")
    assert value.text.startswith("ask-user for testing: confirmed; ")


def test_the_words_are_those_of_the_nearest_that_has_any(
    experiences: Records, values: Records, embedder: Embedder, lived: Lived
) -> None:
    """A member that has nothing to say does not silence the others; if none has, none is."""
    silent = {"lesson": None, "outcome_result": None}
    told = {"lesson": {"what_worked": "Told"}}
    rest = [lived(f"ghap_{n}", CACHES[0], "full", **silent) for n in range(3)]

    experiences.put([*rest, lived("ghap_9", CACHES[0], "full", **told)])
    refresh(experiences, values, embedder)
    (value,) = by_axis(values, "full")
    experiences.delete("ghap_9/full")
    refresh(experiences, values, embedder)

    assert (value.text, value.fields["ghap_id"]) == ("Told", "ghap_9")
    assert by_axis(values, "full") == []


def test_without_a_model_nothing_is_touched(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """No vectors is an error that says what to do, and the values stay."""
    stored(CACHES)
    refresh(experiences, values, embedder)

    with pytest.raises(NoDenseVectorsError, match="install wordllama"):
        refresh(experiences, values, load_embedder("none"))

    assert len(by_axis(values)) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_cluster_size": 1}, "min_cluster_size: expected a whole number from 2: 1"),
        ({"min_similarity": 1.5}, "min_similarity: expected a number within 0..1: 1.5"),
        ({"min_similarity": float("nan")}, "min_similarity: expected"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    experiences: Records, values: Records, embedder: Embedder, options: Any, message: str
) -> None:
    """The error names the option and what it may be."""
    with pytest.raises(ValuesError, match=message):
        refresh(experiences, values, embedder, **options)


def test_texts_without_a_word_and_spoiled_records_are_passed_over(
    experiences: Records, values: Records, embedder: Embedder, lived: Lived, stored: Store
) -> None:
    """What has no direction or no id belongs to no cluster."""
    stored(CACHES)
    experiences.put(
        [
            *(lived(f"ghap_x{n}", "") for n in range(3)),
            evolve(lived("ghap_y", CACHES[0]), fields={"axis": "root_cause"}),
            lived("ghap_z", CACHES[1], domain=None, strategy=None),
        ]
    )

    refresh(experiences, values, embedder)

    (value,) = by_axis(values)
    assert set(value.fields["ghap_ids"]) <= {"ghap_000", "ghap_001", "ghap_002", "ghap_z"}
    assert value.fields["domains"] == ["debugging"]


class Directionless:
    """A model that knows no word."""

    def dense(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Zero vectors, as the packaged model gives for a text without tokens."""
        return np.zeros((len(texts), 8), dtype=np.float32)


def test_a_model_that_knows_no_word_finds_no_values(
    experiences: Records, values: Records, stored: Store
) -> None:
    """Zero vectors have no cosine, and break nothing."""
    stored(CACHES)

    assert (
        "root_cause: 3 resolved experiences, 0 of them in 0 values"
        in refresh(experiences, values, Directionless()).notes
    )


def test_values_are_the_projects_own(tmp_path: Path, embedder: Embedder, lived: Lived) -> None:
    """The user's experiences count in each project; each project's values are its own."""
    with open_records(tmp_path / "store", "experiences", project="web") as web:
        web.shared.put([lived(f"ghap_{n}", text) for n, text in enumerate(CACHES)])
        app = evolve(web, project="app")
        for records in (web, app):
            refresh(records, evolve(records, source="values"), embedder)
        web.shared.delete_where({"axis": "root_cause"})

        report = refresh(web, evolve(web, source="values"), embedder)

        assert report.removed == 1
        assert [each.project for each in evolve(app, source="values").scan()] == ["app"]


def test_no_value_of_a_shared_project_is_made_of_private_experiences(
    tmp_path: Path, embedder: Embedder, lived: Lived
) -> None:
    """On a server, its other users would read them."""
    with open_records(tmp_path / "store", "experiences", project="web") as local:
        web = evolve(local, own="user:ada")
        web.shared.put([lived(f"ghap_{n}", text) for n, text in enumerate(CACHES)])
        assert refresh(web, evolve(web, source="values"), embedder).added == 0
        web.put([lived(f"ghap_{n}", text) for n, text in enumerate(CACHES)])
        assert refresh(web, evolve(web, source="values"), embedder).added == 1


def test_a_projects_own_experience_comes_before_the_users(
    tmp_path: Path, embedder: Embedder, lived: Lived
) -> None:
    """Of one id that both have, only the project's is counted."""
    with open_records(tmp_path / "store", "experiences", project="web") as web:
        both = [lived(f"ghap_{n}", text, domain="testing") for n, text in enumerate(CACHES)]
        web.shared.put([evolve(each, fields={**each.fields, "domain": "users"}) for each in both])
        web.put(both)

        refresh(web, evolve(web, source="values"), embedder)

        (value,) = evolve(web, source="values").scan()
        assert (value.fields["cluster_size"], value.fields["domains"]) == (3, ["testing"])


def test_the_users_own_values_are_left_alone(
    tmp_path: Path, embedder: Embedder, lived: Lived
) -> None:
    """A project's refresh neither counts, nor keeps, nor deletes what is the user's."""
    with open_records(tmp_path / "store", "experiences", project="web") as web:
        values = evolve(web, source="values")
        web.shared.put([lived(f"ghap_{n}", text) for n, text in enumerate(CACHES)])
        refresh(web.shared, values.shared, embedder, now=AT)

        made = refresh(web, values, embedder)
        web.shared.delete_where({"axis": "root_cause"})
        gone = refresh(web, values, embedder)

        assert (made.added, made.unchanged, gone.removed) == (1, 0, 1)
        assert [(each.project, each.created_at) for each in values.scan()] == [("", AT)]


def test_the_order_of_the_members_does_not_matter_to_the_id() -> None:
    """Members that change places make no other value; another axis or member does."""
    assert value_id("full", ["ghap_1", "ghap_2"]) == value_id("full", ["ghap_2", "ghap_1"])
    assert value_id("full", ["ghap_1", "ghap_2"]) != value_id("surprise", ["ghap_1", "ghap_2"])
    assert value_id("full", ["ghap_1", "ghap_2"]) != value_id("full", ["ghap_1"])


def test_hostile_and_foreign_words_are_stored_on_one_line(
    experiences: Records, values: Records, embedder: Embedder, stored: Store
) -> None:
    """What others wrote is folded; every script is kept."""
    stored(["# 缓存 stale cache\n```\x1b[2J 😀"] * 3)

    refresh(experiences, values, embedder)

    (value,) = by_axis(values)
    assert value.text == "# 缓存 stale cache; ``` [2J 😀"


async def test_nothing_is_refreshed_by_itself() -> None:
    """The source has no part in an index run."""
    assert not hasattr(plugin, "contextkit_index")
