"""Waiting in line for an embedded store."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from attrs import define
from filelock import FileLock
from structlog.testing import capture_logs

from contextkit.errors import StoreBusyError
from contextkit.store import holder, waiting
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.holder import Beat
from contextkit.store.shard_lock import ShardLock
from contextkit.store.waiting import Wait, on_wait

pytestmark = pytest.mark.one_python


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store's folder."""
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


@define
class Clock:
    """A clock that tests move."""

    now: float = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    localtime = staticmethod(time.localtime)
    strftime = staticmethod(time.strftime)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of those who wait."""
    made = Clock()
    monkeypatch.setattr(waiting, "time", made)
    return made


def _until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def _waiting(store: Path) -> int:
    folder = store / "waiting"
    return len([*folder.iterdir()]) if folder.is_dir() else 0


def _in_line(store: Path, number: int) -> bool:
    return _waiting(store) == number


def _in_turn(store: Path, name: str, served: list[str]) -> None:
    lock = ShardLock(store, 60.0)
    lock.acquire()
    served.append(name)
    lock.release()


def test_those_who_wait_are_served_in_order(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A holder that wants the shard again comes after all who waited before."""
    monkeypatch.setattr(waiting, "_PASS_SECONDS", 1e9)
    first, served = ShardLock(store, 60.0), list[str]()
    first.acquire()
    with ThreadPoolExecutor(3) as threads:
        jobs = [threads.submit(_in_turn, store, "a", served)]
        _until(first.wanted)
        for number, name in enumerate("bc"):
            jobs.append(threads.submit(_in_turn, store, name, served))
            _until(partial(_in_line, store, number + 1))
        first.release()
        _in_turn(store, "holder", served)
        for job in jobs:
            job.result()
    assert served == ["a", "b", "c", "holder"]
    assert _waiting(store) == 0


@pytest.mark.parametrize("came", [lambda: 0, time.time_ns], ids=["old", "just now"])
def test_a_process_that_died_in_line_is_passed(
    store: Path, monkeypatch: pytest.MonkeyPatch, came: Callable[[], int]
) -> None:
    """Also if the machine was started again since; and nothing of it is left."""
    monkeypatch.setattr(waiting, "_PASS_SECONDS", 0.0)
    (store / "waiting").mkdir()
    (store / "waiting" / f"{came():020d}-1-1").touch()
    served: list[str] = []
    _in_turn(store, "other", served)
    assert served == ["other"]
    assert _waiting(store) == 0


def test_a_process_that_was_stopped_with_the_ticket_is_passed(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shard is free, so another process takes it."""
    monkeypatch.setattr(waiting, "_PASS_SECONDS", 0.0)
    with FileLock(store / "ticket.lock", thread_local=False):
        served: list[str] = []
        _in_turn(store, "other", served)
    assert served == ["other"]


def test_a_holder_that_makes_progress_is_waited_for(store: Path, clock: Clock) -> None:
    """The timeout counts from its last sign of life, of which there are two kinds."""
    Beat(store).begin()
    (store / "shard" / "segments").mkdir(parents=True)
    times = iter(range(4_000_000_000, 4_000_001_000))

    def live(*, of: Path) -> Callable[[], bool]:
        end = clock.now + 100.0

        def done() -> bool:
            os.utime(of, (next(times),) * 2)
            return clock.now > end

        return done

    wait = Wait(store, 10.0)
    wait.until(live(of=store / "holder"), 5.0)
    wait.until(live(of=store / "shard" / "segments"), 5.0)

    ended = clock.now
    with pytest.raises(StoreBusyError, match="made no progress in the last 10 s"):
        wait.until(lambda: False, 0.5)
    assert clock.now - ended <= 11.0


def test_a_wait_has_an_end(store: Path, clock: Clock) -> None:
    """Though the holder lives: the error does not say that it hangs."""
    Beat(store).begin()
    times = iter(range(1, 10_000))

    def live() -> bool:
        os.utime(store / "holder", (next(times),) * 2)
        return False

    began = clock.now
    with pytest.raises(StoreBusyError, match="still in use after 300 s, now by process") as busy:
        Wait(store, 10.0).until(live, 5.0)
    assert clock.now - began == 300.0
    assert "end it" not in str(busy.value)


def test_a_stuck_holder_is_named_with_what_is_safe(
    store: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its id, its command without arguments, and its age."""
    monkeypatch.setattr(sys, "argv", ["/bin/agent", "a secret"])
    Beat(store).begin()
    with pytest.raises(StoreBusyError) as busy:
        Wait(store, 10.0).until(lambda: False, 1.0)
    said = str(busy.value)
    assert f"process {os.getpid()} (agent), which has had it for " in said
    assert "it is safe to end that process if it hangs" in said
    assert "secret" not in said


def test_an_unknown_holder_is_another_process(store: Path, clock: Clock) -> None:
    """An earlier version wrote only its process id, and a file may be damaged."""
    (store / "holder").write_text("123")
    with pytest.raises(StoreBusyError, match="in use by another process"):
        Wait(store, 10.0).until(lambda: False, 1.0)


def test_a_wait_is_told_once(store: Path, clock: Clock) -> None:
    """After a second, to the log and to those who asked for it."""
    Beat(store).begin()
    heard: list[str] = []
    with capture_logs() as logs, on_wait(heard.append):
        wait = Wait(store, 10.0)
        wait.until(lambda: clock.now > 1000.9, 0.1)
        assert heard == []
        wait.until(lambda: clock.now > 1005.0, 0.1)
    [said] = [log for log in logs if log["event"] == "waiting_for_turn"]
    assert said["holder"].startswith(f"process {os.getpid()} (")
    told = f"waiting for the store, which {said['holder']} has used since {said['since']}"
    assert heard == [told]


def test_a_holder_gives_signs_of_life_while_others_wait(
    embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a hold too, in which nothing runs for a moment."""
    monkeypatch.setattr(holder, "_BEAT_SECONDS", 0.0)
    served: list[str] = []
    with embedded.hold():
        file = embedded.path / "holder"
        os.utime(file, (1, 1))
        waiter = threading.Thread(target=_in_turn, args=(embedded.path, "other", served))
        waiter.start()
        _until(lambda: file.stat().st_mtime > 1)
    waiter.join(60)
    assert served == ["other"]
