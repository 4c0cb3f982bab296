"""An embedded store that does not open: damage, other models, other versions, no room."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
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
    StoreReadOnlyError,
)
from contextkit.models.record import Record, Search
from contextkit.models.records import Records
from contextkit.store.edge_queries import shard_config
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.engine_errors import engine_errors, opening_errors
from contextkit.store.identity import StoreIdentity
from contextkit.store.shard_folder import SPARE_BYTES, ShardFolder
from contextkit.testing.surroundings import file_permissions_apply

Note = Callable[..., Record]

# The engine folds its own journals into the trackers beside them before it looks further.
_JOURNALS = ("tracker_journal.dat", "tracker.dat")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The store's folder."""
    return tmp_path / "store"


@pytest.fixture
def filled(path: Path, note: Note) -> Path:
    """The folder of a closed store with records."""
    store = _store(path)
    store.put([note(str(n), f"note {n}") for n in range(300)])
    store.close()
    return path


def _store(path: Path, **options: object) -> EmbeddedStore:
    return EmbeddedStore(path, OneEmbedder(load_embedder()), **options)  # type: ignore[arg-type]


def _hashes(path: Path) -> dict[str, str]:
    return {
        str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted((path / "shard").rglob("*"))
        if file.is_file() and file.name not in _JOURNALS
    }


def _garble(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.write(b"\xff" * 512)


def _shorten(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _only(path: Path, pattern: str) -> Path:
    return min(path.glob(pattern))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "meta.json garbled": lambda path: _garble(path / "shard/meta.json"),
    "meta.json empty": lambda path: os.truncate(path / "shard/meta.json", 0),
    "meta.json a list": lambda path: (path / "shard/meta.json").write_text("[]"),
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
    missing = ModelEmbedder("wordllama", lambda: StaticModel(filled / "nowhere"), patience=None)
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
    meta = filled / "shard/meta.json"
    meta.write_text(json.dumps({**json.loads(meta.read_text()), key: 99}))
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


def test_the_log_does_not_grow_without_end(
    embedded: EmbeddedStore, note: Note, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long run of writes is flushed now and then, so that little is to be replayed."""
    monkeypatch.setattr("contextkit.store.embedded._UNFLUSHED_POINTS", 500)
    embedded.prepare()
    begins = tmp_path / "store/shard/wal/first-index"
    with embedded.hold():
        before = begins.read_text()
        embedded.put([note(str(n)) for n in range(499)])
        assert begins.read_text() == before
        embedded.put([note("more")])
        assert begins.read_text() != before
    assert embedded.count(None, None, {}) == 500


# -- disks ---------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a disk of some size in memory."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=20)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"nothing can be mounted here: {error}")
        return folder

    yield mount
    if folder.is_mount():
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=20)


def test_a_full_disk_is_refused_before_anything_is_stored(
    small_disk: Callable[[str], Path], note: Note
) -> None:
    """The process lives on, what was stored stays, and it can be read."""
    disk = small_disk("size=160m")
    store = _store(disk / "store")
    stored = 0
    with pytest.raises(StoreFullError, match="nothing was stored"):  # noqa: PT012
        for stored in range(1000):
            store.put([note(str(stored), fields={"noise": os.urandom(600_000).hex()})])
    assert stored > 10
    assert store.count(None, None, {}) == stored
    store.close()
    small_disk("remount,size=400m")
    assert len(list(store.scan(None, None, {}))) == stored
    store.close()


def test_a_disk_that_is_full_to_the_brim_is_an_error(
    small_disk: Callable[[str], Path], note: Note
) -> None:
    """Opening does not end the process either."""
    disk = small_disk("size=160m")
    store = _store(disk / "store")
    store.put([note("a")])
    store.close()
    for left in (1, 20, 40):
        (disk / "filler").write_bytes(b"")
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        (disk / "filler").write_bytes(bytes(free - left * 2**20))
        with pytest.raises(StoreFullError, match=f"{left} MiB left, but opening it needs"):
            store.count(None, None, {})
    (disk / "filler").unlink()
    assert store.count(None, None, {}) == 1
    store.close()


def test_a_disk_too_small_for_a_store_is_an_error(small_disk: Callable[[str], Path]) -> None:
    """Nothing is begun there."""
    disk = small_disk("size=32m")
    with pytest.raises(StoreFullError, match="making it needs 64"):
        _store(disk / "store").prepare()
    assert not list((disk / "store").glob("shard*[!k]"))


def _try_all_reads(store: EmbeddedStore) -> None:
    question = Search(query="alpha", source="notes", projects=("p",))
    assert [hit.record.id for hit in store.search([question])[0]] == ["a"]
    assert [record.id for record in store.newest("notes", ["p"], {}, 5)] == ["a"]
    assert [record.id for record in store.scan(None, None, {})] == ["a"]
    assert store.count(None, None, {}) == 1


def _try_all_writes(store: EmbeddedStore, record: Record) -> None:
    writes: list[Callable[[], object]] = [
        lambda: store.put([record]),
        lambda: store.delete([record.point_id]),
        lambda: store.delete_where("notes", ["p"], {}),
        store.optimize,
    ]
    for write in writes:
        with pytest.raises(StoreReadOnlyError, match="is read-only"):
            write()


def test_a_store_on_a_read_only_disk_can_be_read(
    small_disk: Callable[[str], Path], note: Note, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write says that it cannot be written to, and nothing of the copy stays, even while open."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    disk = small_disk("size=160m")
    store = _store(disk / "store")
    store.put([note("a", "alpha")])
    store.close()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True, timeout=20)
    _try_all_reads(store)
    _try_all_writes(store, note("b"))
    assert list(scratch.iterdir()) == []
    store.leave()


def test_a_store_that_one_may_only_read_can_be_read(path: Path, note: Note) -> None:
    """Where permissions forbid writing; what its owner writes is seen by the next read."""
    store = _store(path, lock_timeout=60.0)
    store.put([note("a", "alpha")])
    store.close()
    for each in (path, *path.rglob("*")):
        each.chmod(0o500 if each.is_dir() else 0o400)
    with file_permissions_apply():
        reader = _store(path)
        _try_all_reads(reader)
        _try_all_writes(reader, note("b"))
    for each in (path, *path.rglob("*")):
        each.chmod(0o700 if each.is_dir() else 0o600)
    store.put([note("b", "beta")])
    store.close()
    with file_permissions_apply():
        assert reader.count(None, None, {}) == 2
    reader.close()


def test_a_store_that_one_may_not_even_read_is_an_error(path: Path, note: Note) -> None:
    """The error says what is missing, and so does that of a folder without a store."""
    store = _store(path)
    store.put([note("a")])
    store.close()
    (path / "shard").chmod(0)
    path.chmod(0o500)
    for lock in path.glob("*.lock"):
        lock.chmod(0)
    with file_permissions_apply(), pytest.raises(StoreError, match="Permission denied"):
        _store(path).count(None, None, {})
    path.chmod(0o700)
    (path / "shard").chmod(0o700)
    empty = path.with_name("empty")
    empty.mkdir(mode=0o500)
    with file_permissions_apply(), pytest.raises(StoreError, match="there is no store at"):
        _store(empty).count(None, None, {})


def test_room_is_asked_for_the_whole_write_at_once(
    embedded: EmbeddedStore, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write of many batches that cannot fit stores not even its first."""
    embedded.put([note("before")])
    free = SPARE_BYTES + 4 * 2**20

    def disk_usage(_: Path) -> object:
        return type("usage", (), {"free": free})

    monkeypatch.setattr("contextkit.store.shard_folder.shutil.disk_usage", disk_usage)
    with pytest.raises(StoreFullError, match="68 MiB left"):
        embedded.put([note(str(n), "x" * 1000) for n in range(600)])
    assert embedded.count(None, None, {}) == 1
    embedded.put([note("after")])
    free = SPARE_BYTES - 1
    writes: list[Callable[[], None]] = [
        lambda: embedded.put([note("b")]),
        lambda: embedded.delete([note("before").point_id]),
        lambda: embedded.delete_where("notes", ["p"], {}),
    ]
    for write in writes:
        with pytest.raises(StoreFullError):
            write()
    assert embedded.count(None, None, {}) == 2
