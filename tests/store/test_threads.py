"""Threads of one process on one embedded store."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from structlog.testing import capture_logs

from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.choice import OneEmbedder
from contextkit.errors import StoreBusyError, StoreError
from contextkit.models.record import Record, Search
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.shard_folder import ShardFolder
from contextkit.store.shard_lock import ShardLock
from contextkit.testing import file_permissions_apply

pytestmark = pytest.mark.one_python

Note = Callable[..., Record]


@pytest.fixture
def second(tmp_path: Path) -> EmbeddedStore:
    """Another object on the same folder, as another process would have it."""
    return EmbeddedStore(tmp_path / "store", OneEmbedder(load_embedder()), lock_timeout=60)


def _watchers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "contextkit-store"}


def _until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_threads_share_one_open_shard(embedded: EmbeddedStore, note: Note) -> None:
    """Eight threads write and search at once, from the first moment on."""

    def work(name: int) -> int:
        for n in range(20):
            embedded.put([note(f"{name}-{n}", f"note number {n} of {name}")])
            embedded.search([Search(query="note number", source="notes", projects=("p",))])
        return name

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(work, range(8))) == list(range(8))
    assert embedded.count(None, None, {}) == 160


def test_two_objects_in_one_process_take_turns(
    embedded: EmbeddedStore, second: EmbeddedStore, note: Note
) -> None:
    """A host that opens the store twice gets what two processes get."""
    for n in range(3):
        embedded.put([note(f"a{n}")])
        second.put([note(f"b{n}")])
    assert embedded.count(None, None, {}) == second.count(None, None, {}) == 6
    second.close()


def test_a_hold_may_end_on_another_thread(
    embedded: EmbeddedStore, second: EmbeddedStore, note: Note
) -> None:
    """An event loop takes it in one thread and leaves it in another."""
    hold = embedded.hold()
    with ThreadPoolExecutor(1) as thread:
        thread.submit(hold.__enter__).result()
        embedded.put([note("a")])
        thread.submit(hold.__exit__, None, None, None).result()
    assert second.count(None, None, {}) == 1
    second.close()


def test_an_error_within_a_hold_ends_it(
    embedded: EmbeddedStore, second: EmbeddedStore, note: Note
) -> None:
    """Nothing is left held."""

    def fail() -> None:
        with embedded.hold():
            embedded.put([note("a")])
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert second.count(None, None, {}) == 1
    second.close()


def test_close_does_not_wait_for_a_hold(
    embedded: EmbeddedStore, second: EmbeddedStore, note: Note
) -> None:
    """What is used later within that hold opens the store again."""
    with embedded.hold():
        embedded.put([note("a")])
        embedded.close()
        assert second.count(None, None, {}) == 1
        second.close()
        embedded.put([note("b")])
    assert embedded.count(None, None, {}) == 2


def test_close_while_others_work_loses_nothing(embedded: EmbeddedStore, note: Note) -> None:
    """Whoever is in the middle of something finishes it; the next one opens again."""

    def write(name: int) -> None:
        for n in range(30):
            embedded.put([note(f"{name}-{n}")])

    with ThreadPoolExecutor(4) as threads:
        writing = [threads.submit(write, name) for name in range(3)]
        while not all(job.done() for job in writing):
            threads.submit(embedded.close).result()
        for job in writing:
            job.result()
    assert embedded.count(None, None, {}) == 90


def test_close_waits_for_an_opening(
    embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file of the store is opened after `close` has returned."""
    opening = ShardFolder.open
    closing: list[Future[None]] = []

    def open_while_closing(folder: ShardFolder, *given: Any) -> Any:
        closing.append(threads.submit(embedded.close))
        _until(lambda: closing[0].done() or embedded._shared._closing)
        return opening(folder, *given)

    with ThreadPoolExecutor(1) as threads, monkeypatch.context() as patched:
        patched.setattr(ShardFolder, "open", open_while_closing)
        embedded.prepare()
        closing[0].result()
    assert not embedded._shared.is_open


def test_an_idle_store_is_let_go_of(tmp_path: Path, note: Note) -> None:
    """After `idle_seconds` nobody has the shard."""
    store = EmbeddedStore(tmp_path / "store", OneEmbedder(load_embedder("none")), idle_seconds=0.05)
    store.put([note("a")])
    lock = ShardLock(tmp_path / "store", timeout=60)
    _until(lambda: not store._shared._shard)
    lock.acquire()
    lock.release()
    assert store.count(None, None, {}) == 1
    store.close()


def test_watchers_do_not_pile_up(embedded: EmbeddedStore) -> None:
    """However often the store opens, one thread remains to watch it."""
    others = _watchers()
    for _ in range(10):
        embedded.close()
        embedded.prepare()
    _until(lambda: len(_watchers() - others) == 1)
    embedded.close()
    _until(lambda: _watchers() <= others)


def test_all_who_wait_for_an_opening_share_its_error(
    embedded: EmbeddedStore, tmp_path: Path
) -> None:
    """Ten threads that wait for a busy store wait once, not one after the other."""
    embedded.prepare()
    store = EmbeddedStore(tmp_path / "store", OneEmbedder(load_embedder()), lock_timeout=0.5)
    with embedded.hold(), ThreadPoolExecutor(10) as threads:
        waiting = [threads.submit(store.prepare) for _ in range(10)]
        errors = [job.exception() for job in waiting]
    assert {type(error) for error in errors} == {StoreBusyError}
    # Who comes when the first wait is over, as a busy machine may have it, waits anew.
    assert len({id(error) for error in errors}) < 10
    assert store.count(None, None, {}) == 0
    store.close()


def test_a_store_that_was_moved_away_is_made_anew(
    embedded: EmbeddedStore, tmp_path: Path, note: Note
) -> None:
    """Nothing more is written to the moved folder, and nothing in it is lost."""
    embedded.put([note("a")])
    (tmp_path / "store").rename(tmp_path / "moved")
    embedded.put([note("b")])
    assert [record.id for record in embedded.scan(None, None, {})] == ["b"]
    moved = EmbeddedStore(tmp_path / "moved", OneEmbedder(load_embedder()))
    assert [record.id for record in moved.scan(None, None, {})] == ["a"]
    moved.close()


def test_an_interrupted_opening_is_tried_again(
    embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the store opens reaches who pressed it, and the lock is free again."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("contextkit.store.shard_folder.ShardFolder.open", interrupt)
        with pytest.raises(KeyboardInterrupt):
            embedded.prepare()
    assert embedded.count(None, None, {}) == 0


def test_nobody_waits_in_a_folder_that_may_not_be_looked_at(tmp_path: Path) -> None:
    """The holder's watch goes on, and the lock is let go of where the folder is back."""
    lock = ShardLock(tmp_path / "closed" / "store", 0.1)
    lock.folder.mkdir(parents=True)
    lock.acquire()
    lock.folder.parent.chmod(0)
    with file_permissions_apply():
        assert not lock.wanted()
    lock.folder.parent.chmod(0o700)
    lock.release()
    ShardLock(lock.folder, 0.1).acquire()


def test_a_lock_that_the_system_keeps_ends_no_watch(tmp_path: Path, note: Note) -> None:
    """As a network's disk may have it: the idle shard is let go of, and opens again."""
    models = OneEmbedder(load_embedder("none"))
    store = EmbeddedStore(tmp_path / "store", models, lock_timeout=60, idle_seconds=0.05)
    others = _watchers()

    class Failing(FileLock):
        def release(self, force: bool = False) -> None:
            super().release(force)
            raise OSError("Input/output error")

    with store.hold():
        store.put([note("a")])
        lock = store._shared._lock
        assert lock is not None
        lock._held.release()
        lock._held = Failing(lock.folder / "shard.lock", thread_local=False)
        lock._held.acquire()
    _until(lambda: _watchers() <= others)
    assert store._shared._shard is None
    assert store.count(None, None, {}) == 1
    store.close()


def test_nobody_waits_at_a_folder_that_is_gone(tmp_path: Path) -> None:
    """Looking for others there makes no folder."""
    lock = ShardLock(tmp_path / "gone", 0.1)
    assert not lock.wanted()
    assert not (tmp_path / "gone").exists()


def test_a_folder_that_cannot_be_locked_is_an_error(tmp_path: Path) -> None:
    """The error says which."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=f"cannot lock the store at {tmp_path}"):
        ShardLock(tmp_path / "file", 0.1).acquire()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked there")
def test_a_child_that_lives_on_keeps_nobody_out(embedded: EmbeddedStore, note: Note) -> None:
    """What a host forks while the store is open does not keep the engine's lock."""
    embedded.put([note("a")])
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    embedded.put([note("b")])
    os.close(writing)
    os.close(reading)
    assert os.waitpid(child, 0)[1] == 0
    assert embedded.count(None, None, {}) == 2


def test_an_engine_that_fails_to_close_does_not_keep_the_lock(
    embedded: EmbeddedStore, second: EmbeddedStore, note: Note
) -> None:
    """The log has what was acknowledged; the failure is told in the program's log."""
    embedded.put([note("a")])
    opened = embedded._shared._shard

    class Failing:
        def close(self) -> None:
            assert opened
            opened.close()
            raise OSError("no room to flush")

    embedded._shared._shard = Failing()  # type: ignore[assignment]
    with capture_logs() as logs:
        embedded.close()
    assert [entry["event"] for entry in logs] == ["store_close_failed"]
    assert second.count(None, None, {}) == 1
    second.close()
