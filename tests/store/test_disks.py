"""An embedded store on disks that are full, small, read-only or not the user's."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import evolve

from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.choice import OneEmbedder
from contextkit.errors import (
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)
from contextkit.models.record import Record, Search
from contextkit.models.records import Records
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.shard_folder import SPARE_BYTES
from contextkit.testing.surroundings import file_permissions_apply

pytestmark = pytest.mark.disk

Note = Callable[..., Record]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The store's folder."""
    return tmp_path / "store"


def _store(path: Path, **options: object) -> EmbeddedStore:
    return EmbeddedStore(path, OneEmbedder(load_embedder()), **options)  # type: ignore[arg-type]


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


def test_a_store_on_a_disk_in_memory_keeps_its_holes(
    small_disk: Callable[[str], Path], note: Note
) -> None:
    """Optimizing fills the engine's files, one of 32 MiB for each source."""
    path = small_disk("size=600m") / "store"
    store = _store(path)
    texts = [" ".join(f"word{n + k}" for k in range(80)) for n in range(1000)]
    records = [note(str(n), text) for n, text in enumerate(texts)]
    for source in ("notes", "plain"):
        store.put([evolve(record, source=source) for record in records])
    store.close()
    assert store.optimize() is True
    assert sum(512 * file.stat().st_blocks for file in path.rglob("*")) < 32 * 2**20
    assert store.count(None, None, {}) == 2000
    assert Records(store, "notes", "p").search_sync("word0", limit=1)[0].record.id == "0"
    store.close()
