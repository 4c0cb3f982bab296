"""A store of the schema before is converted on its first opening."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from contextkit.errors import RecordError, StoreError, StoreFullError
from contextkit.models.record import Record, Search
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.payloads import make_payload
from contextkit.store.reembed import reembed
from contextkit.store.shard_folder import SHARD_SCHEMA
from contextkit.store.verify import verify
from tests.store.older import hashing, make_older

pytestmark = pytest.mark.one_python

_OLDER = Path(__file__).with_name("older.py")
_KILLS = 8


def _records(count: int) -> list[Record]:
    return [
        Record(
            id=str(n),
            text=f"note {n} about the {'harbour' if n % 3 else 'mountain'} {n % 17}",
            fields={"n": n, "part": n / 7},
            source=("notes", "code", "a b")[n % 3],
            project=("p", "q")[n % 2],
        )
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store of schema 3 with 1,500 records, to be copied."""
    path = tmp_path_factory.mktemp("older") / "store"
    make_older(path, _records(1500))
    return path


@pytest.fixture
def path(older: Path, tmp_path: Path) -> Path:
    """A copy of it, with the holes of its files."""
    path = tmp_path / "store"
    subprocess.run(["cp", "-r", "--sparse=always", str(older), str(path)], check=True)
    return path


def _plain(records: Sequence[Record]) -> list[tuple[object, ...]]:
    return sorted((r.source, r.project, r.id, r.text, dict(r.fields).__repr__()) for r in records)


def _schema(path: Path) -> int:
    return int(json.loads((path / "shard/meta.json").read_text())["schema"])


def _hits(store: EmbeddedStore) -> list[tuple[str, float, float | None]]:
    search = Search(query="harbour 5", source="code", projects=("p", "q"), limit=500)
    return [
        (hit.record.id, round(hit.relevance, 3), hit.similarity and round(hit.similarity, 3))
        for hit in store.search([search])[0]
    ]


@pytest.mark.disk
def test_a_store_of_the_schema_before_keeps_its_records_and_vectors(
    path: Path, tmp_path: Path
) -> None:
    """Its id stays, and searches find what they find in a new store; it is logged."""
    store_id = json.loads((path / "shard/meta.json").read_text())["id"]
    store, new = EmbeddedStore(path, hashing()), EmbeddedStore(tmp_path / "new", hashing())
    new.put(_records(1500))
    with capture_logs() as logs:
        found = verify(store)
    assert (found.records, found.damaged, found.miscounted, found.other_vectors) == (
        (1500, (), [], [])
    )
    assert _plain(list(store.scan(None, None, {}))) == _plain(_records(1500))
    assert (store.identity.id, store.problem) == (store_id, None)
    assert sorted(_hits(store)) == sorted(_hits(new))
    events = [log["event"] for log in logs]
    assert events[:2] == ["store_conversion_began", "store_converted"]
    assert {entry.name for entry in path.iterdir() if entry.is_dir()} == {"revisions", "shard"}
    store.close()
    with capture_logs() as logs:
        assert store.count(None, None, {}) == 1500
    assert logs == []
    store.close()
    new.close()


def test_a_killed_conversion_loses_nothing(older: Path, tmp_path: Path) -> None:
    """At whatever moment: the next process starts again or goes on with the new shard."""
    schemas = set()
    chance = random.Random(5)
    for turn in range(_KILLS):
        path = tmp_path / str(turn)
        subprocess.run(["cp", "-r", "--sparse=always", str(older), str(path)], check=True)
        process = subprocess.Popen(
            [sys.executable, str(_OLDER), str(path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # Begun when there is a new shard, or done before anybody saw it.
        while process.poll() is None and not (path / "shard.new").exists():
            time.sleep(0.005)
        time.sleep(chance.random() * 0.6)
        process.kill()
        process.wait()
        schemas.add(_schema(path) if (path / "shard").exists() else None)
        store = EmbeddedStore(path, hashing())
        assert store.count(None, None, {}) == 1500
        assert store.problem is None
        store.close()
        assert _schema(path) == SHARD_SCHEMA
        shutil.rmtree(path)
    assert 3 in schemas


@pytest.mark.disk
@pytest.mark.parametrize("left", ["both", "old and new"])
def test_a_conversion_killed_between_its_renames_is_finished(path: Path, left: str) -> None:
    """Of an old and a new shard, the new one is complete."""
    done = EmbeddedStore(path, hashing())
    shutil.copytree(path / "shard", path / "kept")
    done.prepare()
    done.close()
    (path / "kept").rename(path / "shard.old")
    if left == "old and new":
        (path / "shard").rename(path / "shard.new")
    with capture_logs() as logs:
        assert done.count(None, None, {}) == 1500
    assert logs == []
    done.close()
    assert not (path / "shard.old").exists()


@pytest.mark.disk
def test_a_store_that_cannot_be_converted_stays_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says how to go on, and the next opening tries again."""
    with monkeypatch.context() as patched:
        # As if a record had not arrived.
        count = itertools.count()
        patched.setattr("contextkit.store.takeover._checksum", lambda _: next(count))
        with pytest.raises(StoreError, match="run `contextkit export` with the version"):
            EmbeddedStore(path, hashing()).prepare()
    assert _schema(path) == 3
    assert not (path / "shard.new").exists()
    store = EmbeddedStore(path, hashing())
    assert store.count(None, None, {}) == 1500
    store.close()


def test_a_conversion_without_room_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both shards are on the disk for a while."""
    usage = shutil.disk_usage(path)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: usage._replace(free=65 * 2**20))
        with pytest.raises(StoreFullError, match="converting it"):
            EmbeddedStore(path, hashing()).prepare()
    assert _schema(path) == 3


def test_reembed_takes_a_store_of_the_schema_before(path: Path) -> None:
    """It needs no opening in between."""
    assert reembed(path, hashing(), lambda *_: None).records == 1500
    assert _schema(path) == SHARD_SCHEMA


def test_a_damaged_record_is_taken_over_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left out and named, and the others are not."""

    def twisted(record: Record) -> dict[str, object]:
        payload = make_payload(record)
        return {**payload, "text": "twisted"} if record.id == "6" else payload

    with monkeypatch.context() as patched:
        patched.setattr("contextkit.store.base.make_payload", twisted)
        make_older(tmp_path / "store", _records(9))
    store = EmbeddedStore(tmp_path / "store", hashing())
    found = verify(store)
    assert (found.records, found.damaged) == (8, ["notes record '6'"])
    store.close()


def test_records_with_the_same_number_are_refused(
    embedded: EmbeddedStore, note: Callable[..., Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one would replace the first; one of them can get another id."""
    monkeypatch.setattr("contextkit.store.edge_reading.point_number", lambda _: 7)
    monkeypatch.setattr("contextkit.store.edge_queries.point_number", lambda _: 7)
    embedded.put([note("a", "alpha")])
    embedded.put([note("a", "alpha again")])
    with pytest.raises(RecordError, match="notes record 'b' of 'p' has the same number as notes"):
        embedded.put([note("b", "beta")])
    with pytest.raises(RecordError, match="has the same number"):
        embedded.put([note("a"), note("b")])
