"""An index of files: what is read again, what a second run costs, and how a crash heals."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from structlog.testing import capture_logs

from contextkit import Record, Records
from contextkit.errors import RecordError, StoreError
from contextkit.models.indexer import IndexState, Progress

if TYPE_CHECKING:
    from tests.indexing.conftest import Lines, Stored


def fail(*_: object, **__: object) -> None:
    """Take the place of what must not be called."""
    raise AssertionError("an unchanged workspace was worked on")


# -- what changed ---------------------------------------------------------------------------


def test_a_second_run_over_two_thousand_files_does_nothing(
    lines: Lines, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file is read, no record is put or deleted, no state is written."""
    for number in range(2000):
        (workspace / f"{number}.txt").write_text(f"line {number}\n")
    first = lines.index()
    lines.trust()
    saved = lines.state_path.stat().st_mtime_ns
    for name in ("put", "delete", "delete_where", "scan", "get", "count"):
        monkeypatch.setattr(Records, name, fail)
    monkeypatch.setattr("contextkit.indexing.listing.FileListing.read", fail)
    progress: list[Progress] = []

    second = lines.index(progress=progress)

    assert (first, second) == ((2000, 0, 0, 0), (0, 0, 0, 2000))
    assert saved == lines.state_path.stat().st_mtime_ns
    assert [(step.done, step.total) for step in progress] == [(2000, 2000)]


def test_a_changed_file_has_its_new_records_and_no_others(
    lines: Lines, workspace: Path, stored: Stored
) -> None:
    """What was deleted from it leaves nothing behind; other files' records stay as they are."""
    (workspace / "a").write_text("one\ntwo\n")
    (workspace / "b").write_text("one\n")
    lines.index()
    before = stored()
    (workspace / "a").write_text("two\nthree\n")

    assert lines.index() == (0, 1, 0, 1)

    after = stored()
    assert after.keys() == {"a:two", "a:three", "b:one"}
    assert after["b:one"] == before["b:one"]
    assert after["a:two"].created_at == after["a:three"].created_at > before["a:two"].created_at


def test_deleted_and_renamed_files_disappear(lines: Lines, workspace: Path, stored: Stored) -> None:
    """A renamed file is a new one and a deleted one."""
    for name in "abc":
        (workspace / name).write_text("one\n")
    lines.index()
    (workspace / "a").unlink()
    (workspace / "b").rename(workspace / "d")

    assert lines.index() == (1, 0, 2, 1)
    assert stored().keys() == {"c:one", "d:one"}
    for name in "cd":
        (workspace / name).unlink()
    assert lines.index() == (0, 0, 2, 0)
    assert stored() == {}


def test_a_touched_file_is_read_and_has_its_records(
    lines: Lines, workspace: Path, stored: Stored
) -> None:
    """The content decides: a checkout back and forth costs a look."""
    (workspace / "a").write_text("one\n")
    lines.index()
    before = stored()
    os.utime(workspace / "a", ns=(0, 0))

    assert lines.index() == (0, 0, 0, 1)
    assert lines.made == ["a"]
    assert stored() == before


def test_a_file_changed_within_the_clocks_grain_is_noticed(
    lines: Lines, workspace: Path, stored: Stored
) -> None:
    """Same size, same times, other content, right after it was read: its stamp is not trusted."""
    path = workspace / "a"
    path.write_text("old\n")
    status = path.stat()
    lines.index()
    assert json.loads(lines.state_path.read_text())["files"]["a"][0] == -1
    path.write_text("new\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert lines.index() == (0, 1, 0, 0)
    assert stored().keys() == {"a:new"}


def test_a_file_that_has_been_still_is_trusted(
    lines: Lines, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its stamp was older than the coarsest clock's grain when it was read."""
    (workspace / "a").write_text("one\n")
    now = time.time_ns()
    monkeypatch.setattr("contextkit.indexing.files.time.time_ns", lambda: now + 60_000_000_000)
    lines.index()
    monkeypatch.setattr("contextkit.indexing.listing.FileListing.read", fail)

    assert lines.index() == (0, 0, 0, 1)


def test_a_file_is_indexed_again_on_demand(lines: Lines, workspace: Path, stored: Stored) -> None:
    """Though its content is the same, and its times are trusted; the others are not."""
    for name in "ab":
        (workspace / name).write_text("one\n")
    lines.index()
    lines.trust()
    before = stored()

    assert lines.index(again={"b", "gone"}) == (0, 1, 0, 1)

    assert lines.made == ["a", "b", "b"]
    assert stored()["b:one"].created_at > before["b:one"].created_at
    assert stored()["a:one"] == before["a:one"]


def test_progress_is_told_per_file(lines: Lines, workspace: Path) -> None:
    """It counts up to the number of files; the log says what the run did."""
    for number in range(3):
        (workspace / str(number)).write_text("one\n")
    progress: list[Progress] = []

    with capture_logs() as logs:
        lines.index(progress=progress)

    assert [step.done for step in progress] == [0, 1, 2, 3]
    assert {(step.total, step.label, step.source) for step in progress} == {(3, "pages", "lines")}
    (entry,) = (entry for entry in logs if entry["event"] == "files_indexed")
    assert (entry["source"], entry["added"], entry["skipped"]) == ("lines", 3, 0)


def test_records_are_put_in_batches(
    lines: Lines, workspace: Path, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are, only some are in memory at a time."""
    for number in range(10):
        text = "".join(f"line {n}\n" for n in range(300))
        (workspace / str(number)).write_text(text)
    sizes: list[int] = []
    put = Records.put

    def counting_put(self: Records, records: Sequence[Record]) -> list[Record]:
        sizes.append(len(records))
        return put(self, records)

    monkeypatch.setattr(Records, "put", counting_put)
    lines.index()

    assert 3000 == sum(sizes) == len(stored())
    assert max(sizes) < 512 + 300


def test_a_record_must_name_its_file(
    lines: Lines, workspace: Path, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not be told later that it is this file's; nothing is stored."""
    (workspace / "a").write_text("one\n")
    for fields, said in (({}, "None"), ({"file_path": "b"}, "'b'")):
        record = Record(id="1", text="x", fields=fields)
        monkeypatch.setattr(lines, "records_of", lambda *_, made=record: [made])
        with pytest.raises(RecordError) as raised:
            lines.index()
        assert str(raised.value) == (
            f"lines record '1': field file_path: expected its file's path 'a', got {said}"
        )
    assert stored() == {}


def test_a_time_of_its_own_is_no_records(
    lines: Lines, workspace: Path, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be lost without a word: the run's takes its place."""
    (workspace / "a").write_text("one\n")
    record = Record(
        id="1", text="x", fields={"file_path": "a"}, created_at=datetime(2001, 3, 1, tzinfo=UTC)
    )
    monkeypatch.setattr(lines, "records_of", lambda *_: [record])
    with pytest.raises(RecordError, match=r"lines record '1' of a: created_at is 2001-03-01T"):
        lines.index()
    assert stored() == {}


def test_a_file_of_which_no_records_can_be_made_is_named(
    lines: Lines, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What went wrong says nothing of where."""
    (workspace / "a").write_text("one\n")
    monkeypatch.setattr(lines, "records_of", lambda *_: int("yesterday"))
    with pytest.raises(RecordError, match="lines: cannot make records of a: ValueError: inv"):
        lines.index()
    monkeypatch.undo()
    assert lines.index()[0] == 1


# -- what is remembered ---------------------------------------------------------------------


def test_a_source_keeps_more_than_its_files(lines: Lines, workspace: Path) -> None:
    """It is saved with them, and not by a run that finds nothing to do."""
    (workspace / "a").write_text("one\n")
    lines.index(keep=["x"])
    lines.trust()
    lines.index(keep=["y"])
    assert lines.kept == {"words": ["x"]}
    lines.index()
    assert lines.kept == {"words": ["x"]}
    lines.version = 2
    lines.index()
    assert lines.kept == {}


@pytest.mark.parametrize(
    "damage",
    [
        {"version": 1},
        {"files": 3},
        {"files": {"a": [1]}},
        {"files": {"a": ["x", 0, 0, "", ""]}},
        {"created_at": "yesterday"},
        {"created_at": 3},
        {"kept": 3},
        {"version": "1"},
        b"",
        b"{",
        b"[]",
    ],
)
def test_a_lost_or_damaged_state_is_made_anew(
    lines: Lines, workspace: Path, stored: Stored, damage: bytes | dict[str, object]
) -> None:
    """Records that nobody knows of any more are deleted first."""
    (workspace / "a").write_text("one\n")
    (workspace / "gone").write_text("one\n")
    lines.index()
    (workspace / "gone").unlink()
    if isinstance(damage, bytes):
        lines.state_path.write_bytes(damage)
    else:
        saved = json.loads(lines.state_path.read_text()) if damage != {"version": 1} else {}
        lines.state_path.write_text(json.dumps(saved | damage))

    assert lines.index() == (1, 0, 0, 0)
    assert stored().keys() == {"a:one"}


def test_a_lost_state_of_an_empty_workspace(lines: Lines, workspace: Path, stored: Stored) -> None:
    """Likewise, once."""
    (workspace / "a").write_text("one\n")
    lines.index()
    (workspace / "a").unlink()
    lines.state_path.unlink()

    assert lines.index() == (0, 0, 0, 0)
    assert stored() == {}
    saved = lines.state_path.stat().st_mtime_ns
    lines.index()
    assert saved == lines.state_path.stat().st_mtime_ns


def test_a_clock_that_goes_back_leaves_no_old_records(
    lines: Lines, workspace: Path, stored: Stored
) -> None:
    """Each run's time is later than the last one's, whatever the clock says."""
    path = workspace / "a"
    path.write_text("one\n")
    lines.index()
    state = json.loads(lines.state_path.read_text())
    state["created_at"] = "2999-01-01T00:00:00+00:00"
    lines.state_path.write_text(json.dumps(state))
    path.write_text("two\n")
    lines.index()
    path.write_text("three\n")

    lines.index()

    assert stored().keys() == {"a:three"}
    assert stored()["a:three"].created_at.year == 2999


# -- runs that were ended: whatever moment one ends at, the next brings everything in order -----


@pytest.mark.parametrize("broken", ["put", "delete_where"])
def test_a_run_that_fails_in_the_store_heals(
    lines: Lines,
    workspace: Path,
    stored: Stored,
    monkeypatch: pytest.MonkeyPatch,
    broken: str,
) -> None:
    """Also when the files are put back to what they were before the failed run."""
    path = workspace / "a"
    path.write_text("old\n")
    lines.index()
    path.write_text("new\n")

    def no_more(*_: object, **__: object) -> None:
        raise StoreError("no more")

    with monkeypatch.context() as patch:
        patch.setattr(Records, broken, no_more)
        with pytest.raises(StoreError):
            lines.index()
    assert "a:old" in stored()
    path.write_text("old\n")
    lines.index()
    assert stored().keys() == {"a:old"}
    path.write_text("new\n")
    lines.index()
    assert stored().keys() == {"a:new"}


def test_a_new_file_of_a_failed_run_that_is_gone_leaves_nothing(
    lines: Lines, workspace: Path, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records were put, its state was not saved, and then it was deleted."""
    lines.index()
    path = workspace / "a"
    path.write_text("one\n")
    save = IndexState.save
    saves: list[int] = []

    def save_once(self: IndexState, state: Any) -> None:
        if saves:
            raise OSError("the disk is gone")
        saves.append(1)
        save(self, state)

    with monkeypatch.context() as patch:
        patch.setattr(IndexState, "save", save_once)
        with pytest.raises(OSError, match="the disk is gone"):
            lines.index()
    assert stored().keys() == {"a:one"}
    path.unlink()

    lines.index()

    assert stored() == {}


def test_a_long_run_keeps_what_it_has_done(
    lines: Lines, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is ended after a checkpoint is not begun anew."""
    for number in range(1500):
        (workspace / f"{number:04}").write_text("one\n")
    put = Records.put
    puts: list[int] = []

    def put_some(self: Records, records: Sequence[Record]) -> list[Record]:
        puts.append(1)
        if len(puts) == 6:
            raise KeyboardInterrupt
        return put(self, records)

    with monkeypatch.context() as patch:
        patch.setattr(Records, "put", put_some)
        with pytest.raises(KeyboardInterrupt):
            lines.index()

    added, updated, _, unchanged = lines.index()

    assert unchanged == 1024
    assert unchanged + added + updated == 1500
