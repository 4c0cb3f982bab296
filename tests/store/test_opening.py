"""An embedded store that does not open: damage, other models, other versions, no room."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import qdrant_edge as edge
from filelock import FileLock, Timeout

from contextkit.embedding.built_in import StaticModel, load_embedder
from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import ModelEmbedder
from contextkit.errors import (
    RecordDamagedError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreModelMismatchError,
)
from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.engine_errors import engine_errors, opening_errors
from contextkit.store.identity import StoreIdentity
from contextkit.store.shard_config import shard_config
from contextkit.store.shard_folder import ShardFolder

pytestmark = pytest.mark.one_python

Note = Callable[..., Record]

# The engine folds its own journals into the trackers beside them before it looks further.
_JOURNALS = ("tracker_journal.dat", "tracker.dat")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The store's folder."""
    return tmp_path / "store"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, note: Note) -> Path:
    """The folder of a closed store with records, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "store"
    store = _store(path)
    store.put([note(str(n), f"note {n}") for n in range(300)])
    store.close()
    return path


@pytest.fixture
def filled(path: Path, template: Path) -> Path:
    """A copy of it, with the holes of its files."""
    subprocess.run(["cp", "-r", "--sparse=always", str(template), str(path)], check=True)
    return path


def _store(path: Path, **options: object) -> EmbeddedStore:
    return EmbeddedStore(path, OneEmbedder(load_embedder()), **options)  # type: ignore[arg-type]


def _hashes(path: Path) -> dict[str, tuple[int, int]]:
    """The size and a checksum of each file: most of the bytes are in holes, and there are many."""
    return {
        str(file.relative_to(path)): (file.stat().st_size, zlib.crc32(file.read_bytes()))
        for file in sorted((path / "shard").rglob("*"))
        if file.is_file() and file.name not in _JOURNALS
    }


def _garble(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.write(b"\xff" * 512)


def _shorten(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _change_meta(path: Path, **parts: object) -> None:
    meta = path / "shard/meta.json"
    meta.write_text(json.dumps({**json.loads(meta.read_text()), **parts}))


def _only(path: Path, pattern: str) -> Path:
    return min(path.glob(pattern))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "meta.json garbled": lambda path: _garble(path / "shard/meta.json"),
    "meta.json empty": lambda path: os.truncate(path / "shard/meta.json", 0),
    "meta.json a list": lambda path: (path / "shard/meta.json").write_text("[]"),
    "models a list": lambda path: _change_meta(path, models=[]),
    "a model without its parts": lambda path: _change_meta(path, models={"a": {"x": 1}}),
    "sources a number": lambda path: _change_meta(path, sources=3),
    "meta.json gone": lambda path: (path / "shard/meta.json").unlink(),
    "log garbled": lambda path: _garble(_only(path, "shard/wal/open-*")),
    "log empty": lambda path: os.truncate(_only(path, "shard/wal/open-*"), 0),
    "segment garbled": lambda path: _garble(_only(path, "shard/segments/*/segment.json")),
    "segment's ids garbled": lambda path: _garble(
        _only(path, "shard/segments/*/mutable_id_tracker.mappings")
    ),
    "segment's ids short": lambda path: _shorten(
        _only(path, "shard/segments/*/mutable_id_tracker.mappings")
    ),
    "segment's ids gone": lambda path: _only(
        path, "shard/segments/*/mutable_id_tracker.mappings"
    ).unlink(),
    "segment's versions short": lambda path: _shorten(
        _only(path, "shard/segments/*/mutable_id_tracker.versions")
    ),
    "segment's vectors garbled": lambda path: _garble(
        _only(path, "shard/segments/*/vector_storage-bm25/store/config.json")
    ),
    "segment unfinished": lambda path: _only(path, "shard/segments/*/version.info").unlink(),
    "segments gone": lambda path: (path / "shard/segments").rename(path / "elsewhere"),
    "configuration empty": lambda path: os.truncate(path / "shard/edge_config.json", 0),
}


@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_damaged_store_is_refused_and_left_alone(filled: Path, damage: str) -> None:
    """The error names the folder and what to do; every file of it stays as it was."""
    DAMAGES[damage](filled)
    before = _hashes(filled)
    store = _store(filled)
    for _ in range(2):
        with pytest.raises(StoreDamagedError) as raised:
            store.count(None, None, {})
    text = str(raised.value)
    assert str(filled) in text
    assert "contextkit import" in text
    assert "\n" not in text
    assert _hashes(filled) == before


@pytest.mark.disk
def test_what_a_killed_process_leaves_is_not_taken_for_damage(filled: Path, path: Path) -> None:
    """Of what an open shard has on the disk no size is known, and the log has the rest."""
    store = _store(filled)
    store.delete([one.point_id for one in store.scan(None, None, {}) if one.id != "7"])
    left = path.with_name("left")
    shutil.copytree(filled, left)
    store.close()
    found = _store(left)
    assert [record.id for record in found.scan(None, None, {})] == ["7"]
    found.close()


def test_a_store_whose_sizes_are_no_sizes_opens(filled: Path) -> None:
    """They are a help, and not needed."""
    for text in ("", "[1]", '{"segments": "x"}', '{"segments/none": -1}'):
        (filled / "shard/sizes.json").write_text(text, encoding="utf-8")
        store = _store(filled)
        assert store.count(None, None, {}) == 300
        store.close()


@pytest.mark.disk
def test_damage_found_while_reading_costs_the_damaged_records(filled: Path) -> None:
    """All others are read before the error, which names the damaged ones."""
    _garble(_only(filled, "shard/segments/*/payload_storage/page_0.dat"))
    store = _store(filled)
    read: list[Record] = []
    with pytest.raises(RecordDamagedError, match="damaged in the store: ") as raised:
        read.extend(store.scan(None, None, {}))
    assert len({record.id for record in read}) == 300 - len(raised.value.records)
    assert len(raised.value.records) < 10
    store.close()


def test_another_model_is_refused_with_the_command_that_helps(filled: Path) -> None:
    """Both models and `contextkit reembed` are named."""
    store = EmbeddedStore(filled, OneEmbedder(load_embedder("none")))
    with pytest.raises(StoreModelMismatchError, match="contextkit reembed") as raised:
        store.count(None, None, {})
    assert "'wordllama-256'" in str(raised.value)
    assert "'none'" in str(raised.value)


def test_a_missing_model_means_keywords_only(filled: Path) -> None:
    """Where WordLlama cannot be read its stores still open, and say what is worse."""
    missing = ModelEmbedder("wordllama", lambda: StaticModel(filled / "nowhere"), timeout=None)
    store = EmbeddedStore(filled, OneEmbedder(missing))
    records = Records(store, "notes", "p")
    hit = records.search_sync("note 7")[0]
    assert "the embedding model 'wordllama' fails (FileNotFoundError" in str(store.problem)
    assert (hit.record.id, hit.similarity) == ("7", None)
    records.put([Record(id="new", text="unheard of")])
    assert [hit.record.id for hit in records.search_sync("unheard")] == ["new"]
    store.close()


@pytest.mark.parametrize("key", ["schema", "keywords"])
def test_a_store_of_another_version_is_refused(filled: Path, key: str) -> None:
    """The error tells the way over."""
    _change_meta(filled, **{key: 99})
    with pytest.raises(StoreError, match="another version of contextkit"):
        _store(filled).count(None, None, {})


def test_a_shard_that_somebody_else_has_open_is_busy(path: Path) -> None:
    """Not damaged: the engine's own lock tells."""
    _store(path).close()
    store = _store(path)
    store.prepare()
    store.close()
    shard = edge.EdgeShard.load(str(path / "shard"))
    with pytest.raises(StoreBusyError, match="wait until that process has ended"):
        store.count(None, None, {})
    shard.close()
    assert store.count(None, None, {}) == 0
    store.close()


def test_a_store_that_was_only_read_is_left_open_for_the_end_of_the_process(
    filled: Path, note: Note
) -> None:
    """One that was written to is closed then: nothing is left for the next to replay."""
    store = _store(filled, idle_seconds=3600.0)
    # Looked at without the ticket, of which the store would take notice.
    lock = FileLock(filled / "shard.lock")
    assert store.count("notes", None, {}) == 300
    store.leave()
    with pytest.raises(Timeout):
        lock.acquire(blocking=False)
    store.put([note("300", "one more")])
    store.leave()
    with lock.acquire(blocking=False):
        pass
    assert store.count("notes", None, {}) == 301
    store.close()


def test_a_path_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    """The store itself, or a folder above it."""
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StoreError, match="cannot create a store at"):
            _store(path).put([Record(id="a", text="", source="notes")])
    assert (tmp_path / "file").read_text() == "mine"


def test_ctrl_c_in_the_engine_stays_ctrl_c() -> None:
    """Only panics are turned into errors."""
    with pytest.raises(KeyboardInterrupt), engine_errors("writing"):
        raise KeyboardInterrupt


# -- a first use that was killed -----------------------------------------------------------


def test_a_first_use_that_was_killed_is_begun_again(path: Path, note: Note) -> None:
    """A shard that was never finished is no store."""
    unfinished = path / "shard.new"
    unfinished.mkdir(parents=True)
    edge.EdgeShard.create(str(unfinished), shard_config()).close()
    store = _store(path)
    store.put([note("a")])
    assert store.count(None, None, {}) == 1
    store.close()
    assert not unfinished.exists()


def test_a_failed_first_use_leaves_nothing_half_done(path: Path) -> None:
    """What cannot be made is taken away again."""
    path.mkdir()
    folder = ShardFolder(path)
    with pytest.raises(LookupError), folder.replacing(StoreIdentity("id")):
        raise LookupError
    assert list(path.iterdir()) == []


@pytest.mark.disk
def test_the_log_does_not_grow_without_end(
    embedded: EmbeddedStore, note: Note, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long run of writes is flushed now and then, so that little is to be replayed."""
    monkeypatch.setattr("contextkit.store.embedded.UNFLUSHED_POINTS", 500)
    embedded.prepare()
    begins = tmp_path / "store/shard/wal/first-index"
    with embedded.hold():
        before = begins.read_text()
        embedded.put([note(str(n)) for n in range(499)])
        assert begins.read_text() == before
        embedded.put([note("more")])
        assert begins.read_text() != before
    assert embedded.count(None, None, {}) == 500


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Permission denied (os error 13)", StoreError),
        ("No space left on device (os error 28)", StoreFullError),
        ("Kind(WouldBlock)", StoreBusyError),
        ("bad magic number", StoreDamagedError),
    ],
)
def test_what_the_engine_says_on_opening_is_told_apart(
    said: str, expected: type[StoreError]
) -> None:
    """Only what is nobody else's fault is damage."""
    with pytest.raises(StoreError) as raised, opening_errors("/store"):
        raise OSError(said)
    assert type(raised.value) is expected
