"""Several processes on one embedded store, and what a kill leaves."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from contextkit.errors import StoreBusyError, StoreError
from contextkit.models.record import Record
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.shard_lock import ShardLock

pytestmark = [pytest.mark.one_python, pytest.mark.disk]

ROUNDS = 200 if os.environ.get("CONTEXTKIT_TEST_PROFILE") == "ci" else 40
WORKER = Path(__file__).with_name("worker.py")

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def worker() -> ModuleType:
    """The module that the other processes run."""
    spec = importlib.util.spec_from_file_location("contextkit_test_worker", WORKER)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The store's folder."""
    return tmp_path / "store"


@pytest.fixture
def open_store(path: Path, worker: ModuleType) -> Iterator[Callable[..., EmbeddedStore]]:
    """Opens the store in this process."""
    opened: list[EmbeddedStore] = []

    def open_it(**options: float) -> EmbeddedStore:
        patient = {"lock_timeout": 60.0, **options}
        opened.append(EmbeddedStore(path, worker.hashing(), **patient))  # type: ignore[arg-type]
        return opened[-1]

    yield open_it
    for store in opened:
        store.close()


@pytest.fixture
def start(path: Path) -> Iterator[Start]:
    """Starts another process; it is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(mode: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(WORKER), mode, str(path), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            # What it forked, too.
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _heard(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout
    return process.stdout.readline().split()


def _go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def test_four_processes_write_and_search_at_once(
    start: Start, open_store: Callable[..., EmbeddedStore]
) -> None:
    """Every write of all four is there, and no call failed."""
    processes = [start("busy", str(n), "50") for n in range(4)]
    assert [_heard(process) for process in processes] == [["ready"]] * 4
    for process in processes:
        _go_on(process)
    assert [_heard(process) for process in processes] == [["done"]] * 4
    assert [process.wait(timeout=60) for process in processes] == [0] * 4
    stored = {record.id for record in open_store().scan(None, None, {})}
    assert stored == {f"{name}-{n}" for name in range(4) for n in range(50)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forked")
def test_killed_writers_and_copies_lose_nothing(
    start: Start, open_store: Callable[..., EmbeddedStore], path: Path, worker: ModuleType
) -> None:
    """What a writer was told is stored is there after `kill -9`, and in a copy made then.

    A copy made while somebody writes may lack what was being moved; no text in it is another.
    """
    chance = random.Random(2)
    acknowledged: dict[str, int] = {}
    nursery = start("nursery", str(ROUNDS))
    for turn in range(ROUNDS):
        word, pid = _heard(nursery)
        assert word == "pid"
        for _ in range(chance.randint(1, 10)):
            _, name, size = _heard(nursery)
            acknowledged[name] = int(size)
        if turn % (ROUNDS // 5) == 0:
            _check_copy(path, worker, {})
        time.sleep(chance.uniform(0, 0.003))
        os.kill(int(pid), signal.SIGKILL)
        while (heard := _heard(nursery)) != ["gone"]:
            acknowledged[heard[1]] = int(heard[2])
    assert len(acknowledged) > 5 * ROUNDS
    _check_copy(path, worker, _records(acknowledged, worker))
    store = open_store()
    stored = {record.id: record for record in store.scan(None, None, {})}
    assert _changed(_records(acknowledged, worker), stored) == []
    assert store.problem is None


def _check_copy(path: Path, worker: ModuleType, wanted: dict[str, str]) -> None:
    """A copy has what is wanted, and no other text than was written, or opening it is an error."""
    copy = path.with_name("copy")
    # A file that goes meanwhile makes it fail, at the end.
    subprocess.run(["cp", "-r", str(path), str(copy)], check=False, capture_output=True)
    store = EmbeddedStore(copy, worker.hashing())
    stored: dict[str, Record] = {}
    try:
        stored = {record.id: record for record in store.scan(None, None, {})}
    except StoreError:
        assert not wanted
    assert _changed(wanted, stored) == []
    assert all(record.text == worker.note(record.id).text for record in stored.values())
    store.close()
    shutil.rmtree(copy)


def _records(acknowledged: dict[str, int], worker: ModuleType) -> dict[str, str]:
    """The id and text of every record that a writer was told is stored."""
    notes = (worker.note(f"{name}-{n}") for name, size in acknowledged.items() for n in range(size))
    return {note.id: note.text for note in notes}


def _changed(wanted: dict[str, str], stored: dict[str, Record]) -> list[str]:
    """The records that are missing or have another text."""
    return [one for one, text in wanted.items() if one not in stored or stored[one].text != text]


def test_an_idle_holder_makes_room_at_once(
    start: Start, open_store: Callable[..., EmbeddedStore]
) -> None:
    """A process that keeps the store open and does nothing holds nobody up."""
    holder = start("holder")
    assert _heard(holder) == ["ready"]
    assert open_store().count(None, None, {}) == 1


def test_a_busy_holder_lets_others_in(
    start: Start, open_store: Callable[..., EmbeddedStore]
) -> None:
    """Two threads that never rest do not keep another process out."""
    store = open_store()
    other = start("late")

    def work() -> int:
        done = 0
        while other.poll() is None:
            store.count(None, None, {})
            done += 1
        return done

    with ThreadPoolExecutor(2) as threads:
        assert all(job.result() for job in [threads.submit(work) for _ in range(2)])
    assert _heard(other) == ["done"]


def test_operations_that_overlap_without_end_let_others_in(
    start: Start, open_store: Callable[..., EmbeddedStore]
) -> None:
    """Where there is always one under way, the next one waits for the others' turn."""
    store = open_store()
    other = start("late")
    began = [threading.Event(), threading.Event()]

    def work(mine: int) -> None:
        while other.poll() is None:
            with store._shared.use():
                began[mine].set()
                began[1 - mine].wait(timeout=0.5)
                began[1 - mine].clear()

    with ThreadPoolExecutor(2) as threads:
        for job in [threads.submit(work, mine) for mine in range(2)]:
            job.result()
    assert _heard(other) == ["done"]


def test_a_holder_that_does_not_let_go_is_named(
    start: Start, open_store: Callable[..., EmbeddedStore]
) -> None:
    """The wait is bounded, and the error says which process has the store."""
    holder = start("holding")
    assert _heard(holder) == ["ready"]
    store = open_store(lock_timeout=0.2)
    with pytest.raises(StoreBusyError, match=rf"process {holder.pid} \(worker.py\)"):
        store.count(None, None, {})
    _go_on(holder)
    holder.wait(timeout=60)
    assert store.count(None, None, {}) == 0


def test_a_killed_holder_leaves_no_lock(
    start: Start, open_store: Callable[..., EmbeddedStore]
) -> None:
    """The system takes the locks of a dead process away."""
    holder = start("holding")
    assert _heard(holder) == ["ready"]
    holder.kill()
    assert open_store().count(None, None, {}) == 0


def test_one_hold_is_one_turn(
    start: Start, open_store: Callable[..., EmbeddedStore], path: Path, worker: ModuleType
) -> None:
    """Who comes in the middle of a hold waits for its end."""
    store = open_store()
    late = [worker.note("late").point_id]
    with store.hold():
        other = start("late")
        _until(lambda: _somebody_waits(path))
        for n in range(50):
            store.put([worker.note(str(n))])
        assert store.get(late) == []
    assert _heard(other) == ["done"]
    assert len(store.get(late)) == 1


def test_a_hold_within_a_hold_goes_on(
    start: Start, open_store: Callable[..., EmbeddedStore], path: Path
) -> None:
    """Though another process waits: the outer one would never end."""
    store = open_store()
    with store.hold():
        other = start("late")
        _until(lambda: _somebody_waits(path))
        with store.hold():
            assert store.count(None, None, {}) == 0
    assert _heard(other) == ["done"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked there")
@pytest.mark.parametrize("mode", ["forking", "forking_in_hold"])
def test_a_fork_keeps_nobody_from_the_store(
    start: Start, open_store: Callable[..., EmbeddedStore], mode: str
) -> None:
    """Parent, child and others all go on, while the child is alive."""
    parent = start(mode)
    assert sorted(_heard(parent)[0] for _ in range(2)) == ["child", "parent"]
    assert open_store().count(None, None, {}) == 3
    _go_on(parent)
    assert _heard(parent) == ["done", "3"]


def _until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def _somebody_waits(path: Path) -> bool:
    return ShardLock(path, 0).wanted()
