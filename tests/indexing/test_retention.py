"""Retention: what of a source's records is kept, and what goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contextkit import (
    ContextItem,
    ContextKit,
    ContextRequest,
    IndexReport,
    InvalidContextTypeError,
    Record,
    Records,
    SourceInfo,
    hookimpl,
)
from contextkit.errors import ConfigError
from contextkit.indexing.retention import Pruned, Retention, prune
from contextkit.models.indexer import Indexer
from contextkit.models.record import Filters
from contextkit.testing import open_records

NOW = datetime(2026, 5, 1, tzinfo=UTC)
HEADS = {"part": "head"}


class _Log:
    """A source that keeps its records for ten days, and of parts of one thing one counts."""

    @hookimpl
    def contextkit_source(self) -> SourceInfo:
        """What is kept, unless the configuration says otherwise."""
        return SourceInfo(keep_days=10, count_filters={"part": "head"})

    @hookimpl
    def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        """Find nothing."""
        return []


class _Read(_Log):
    """The same, reading the workspace."""

    @hookimpl
    def contextkit_index(self, indexer: Indexer) -> IndexReport:
        """Index nothing."""
        return IndexReport()


def _aged(*days: float, part: str = "head", since: datetime = NOW) -> list[Record]:
    """A record for each number of days."""
    return [
        Record(
            id=f"{part}{day}",
            text="x",
            fields={"part": part},
            created_at=since - timedelta(days=day),
        )
        for day in days
    ]


def _ids(records: Records) -> set[str]:
    return {record.id for record in records.scan()}


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """A project's records in a real store."""
    with open_records(tmp_path / "store", "log", model="none") as records:
        yield records


@pytest.fixture
def config(home: Path) -> Callable[[str], None]:
    """Writes the user's own configuration."""

    def write(text: str) -> None:
        (home / "config.toml").write_text(text)

    return write


# -- one scope ------------------------------------------------------------------------------


def test_what_is_too_old_goes_with_what_belongs_to_it(records: Records) -> None:
    """Of a thing of several records one is counted, and all go; the last moment is kept."""
    records.put([*_aged(1, 10, 11), *_aged(1, 10, 11, part="tail")])
    pruned = prune(records, Retention(keep_days=10), counted=HEADS, now=NOW)
    assert pruned == Pruned(too_old=1, left=2)
    assert _ids(records) == {"head1", "head10", "tail1", "tail10"}


def test_what_is_not_counted_goes_alone(records: Records) -> None:
    """A part that is too old goes, though no thing is that old."""
    records.put([*_aged(1), *_aged(11, part="tail")])
    assert prune(records, Retention(keep_days=10), counted=HEADS, now=NOW) == Pruned(left=1)
    assert _ids(records) == {"head1"}


def test_the_newest_of_too_many_stay(records: Records) -> None:
    """What is too old does not count among them."""
    records.put(_aged(1, 2, 3, 4, 50))
    pruned = prune(records, Retention(keep_days=10, keep_records=3), now=NOW)
    assert pruned == Pruned(too_old=1, too_many=1, left=3)
    assert _ids(records) == {"head1", "head2", "head3"}


def test_records_of_one_moment_stay_or_go_together(records: Records) -> None:
    """Nothing says which of them is the older one, so none is deleted at random."""
    records.put([Record(id=f"{n}", text="x", created_at=NOW) for n in range(5)])
    assert prune(records, Retention(keep_records=3), now=NOW) == Pruned(left=5)


def test_a_few_too_many_may_wait(records: Records) -> None:
    """Beyond the spare part of the number, all go that are too many."""
    records.put(_aged(*range(11)))
    assert prune(records, Retention(keep_records=10), spare=0.1, now=NOW).too_many == 0
    records.put(_aged(11))
    assert prune(records, Retention(keep_records=10), spare=0.1, now=NOW).too_many == 2
    assert len(_ids(records)) == 10


def test_others_may_delete_meanwhile(records: Records) -> None:
    """Between counting and looking at the newest, for instance: then none is too many."""
    records.put(_aged(*range(6)))

    class _Hasty(Records):
        def newest(self, limit: int, filters: Filters | None = None) -> list[Record]:
            records.delete(*(record.id for record in _aged(2, 3, 4, 5)))
            return super().newest(limit, filters)

    hasty = _Hasty(records._store, records.source, records.project)
    assert prune(hasty, Retention(keep_records=5), now=NOW) == Pruned(left=2)
    assert _ids(records) == {"head0", "head1"}


def test_a_dry_run_tells_the_same_and_deletes_nothing(records: Records) -> None:
    """What it counts is what then goes."""
    records.put(_aged(1, 2, 3, 50, 60))
    retention = Retention(keep_days=10, keep_records=2)
    told = prune(records, retention, now=NOW, dry_run=True)
    assert len(_ids(records)) == 5
    assert prune(records, retention, now=NOW) == told == Pruned(too_old=2, too_many=1, left=2)


@pytest.mark.parametrize("days", [math.inf, 1e12])
def test_ages_beyond_the_calendar_keep_everything(records: Records, days: float) -> None:
    """No moment is that long ago."""
    records.put(_aged(1, 40_000))
    assert prune(records, Retention(keep_days=days), now=NOW) == Pruned(left=2)


# -- a kit's sources ------------------------------------------------------------------------


def test_each_source_is_pruned_as_it_says(open_kit: Callable[..., ContextKit]) -> None:
    """The project's records and the user's own, each by themselves."""
    kit = open_kit({"log": _Log(), "other": _Log()})
    now = datetime.now(UTC)
    records = kit.records("log")
    records.put(_aged(1, 20, since=now))
    records.shared.put(_aged(2, 30, since=now))
    assert kit.prune(["log"], dry_run=True) == {"log": Pruned(too_old=2, left=2)}
    assert kit.prune() == {"log": Pruned(too_old=2, left=2), "other": Pruned()}
    assert _ids(records) == {"head1", "head2"}


def test_another_projects_records_stay(open_kit: Callable[..., ContextKit]) -> None:
    """A number that is kept is a number for each project."""
    kit = open_kit({"log": _Log()}, settings={"sources.log.keep_records": 1})
    other = kit.pipeline.records("log", "elsewhere")
    other.put(_aged(1, 2, since=datetime.now(UTC)))
    kit.records("log").put(_aged(3, 4, since=datetime.now(UTC)))
    assert kit.prune()["log"].too_many == 1
    assert _ids(other) == {"head1", "head2"}


def test_the_users_configuration_is_stronger(
    open_kit: Callable[..., ContextKit], config: Callable[[str], None]
) -> None:
    """It may keep longer than the source would, and no more than a number."""
    config("[sources.log]\nkeep_days = 100\nkeep_records = 3\n")
    kit = open_kit({"log": _Log()})
    assert kit.retention("log") == Retention(keep_days=100, keep_records=3)
    config("[sources.log]\nkeep_days = inf\n")
    endless = open_kit({"log": _Log()})
    assert endless.retention("log").is_endless
    assert endless.prune() == {}


def test_what_is_read_from_the_workspace_is_left_alone(
    open_kit: Callable[..., ContextKit],
) -> None:
    """It would be read again, or missed for good."""
    kit = open_kit({"read": _Read()})
    kit.records("read").put(_aged(50, since=datetime.now(UTC)))
    assert kit.prune() == {}
    assert kit.records("read").count() == 1


def test_indexing_prunes(open_kit: Callable[..., ContextKit]) -> None:
    """So that what is configured comes true without a command of its own."""
    kit = open_kit({"log": _Log()})
    kit.records("log").put(_aged(1, 20, since=datetime.now(UTC)))
    kit.index()
    assert _ids(kit.records("log")) == {"head1"}


def test_where_nothing_is_too_old_nothing_is_written(
    open_kit: Callable[..., ContextKit],
) -> None:
    """Writing makes caches stale, and the store slow to leave."""
    kit = open_kit({"log": _Log()})
    kit.records("log").put(_aged(1, since=datetime.now(UTC)))
    before = kit.store.revision("log")
    kit.index()
    assert before is not None
    assert kit.store.revision("log") == before


def test_a_source_that_is_not_there_is_named(open_kit: Callable[..., ContextKit]) -> None:
    """Nothing is deleted for a name that was mistyped."""
    kit = open_kit({"log": _Log()})
    for ask in (lambda: kit.prune(["logs"]), lambda: kit.retention("logs")):
        with pytest.raises(InvalidContextTypeError, match="logs"):
            ask()


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("keep_days = 0", "keep_days: expected a number of days over 0"),
        ("keep_records = 0", "keep_records: expected a whole number of at least 1"),
    ],
)
def test_wrong_settings_are_named(
    open_kit: Callable[..., ContextKit], config: Callable[[str], None], setting: str, expected: str
) -> None:
    """Keeping nothing at all is no retention."""
    config(f"[sources.log]\n{setting}\n")
    with pytest.raises(ConfigError, match=expected):
        open_kit()


@pytest.mark.parametrize("setting", ["keep_days = 1", "keep_records = 1"])
def test_a_project_does_not_delete_the_users_records(
    open_kit: Callable[..., ContextKit], tmp_path: Path, setting: str
) -> None:
    """A cloned repository's file could otherwise empty the memories."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "contextkit.toml").write_text(f"[sources.log]\n{setting}\n")
    with pytest.raises(ConfigError, match="delete them"):
        open_kit()
