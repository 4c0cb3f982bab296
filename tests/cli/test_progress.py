"""Progress: on a terminal, after a second, with counts and rates; silence anywhere else."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import pty
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import pytest

from contextkit.cli.progress import progress_bars
from contextkit.models.indexer import Progress
from contextkit.store.shard_lock import ShardLock

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

WAITING = """
    import pathlib, time
    from contextkit import IndexReport, hookimpl

    @hookimpl
    def contextkit_query(request):
        return []

    @hookimpl
    def contextkit_index(indexer):
        done = 0
        while not pathlib.Path(indexer.workspace, "go").exists() and done < 6000:
            done += 1
            indexer.progress(done, 6000, "tides")
            time.sleep(0.01)
        return IndexReport(added=done)
    """


def test_it_is_drawn_with_counts_and_rates(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """Standard output has only the data, and the cursor is given back in the end."""
    install("tides", WAITING)
    go = contextkit.folder / "go"

    def seen(shown: bytes) -> None:
        if b" of 6,000 tides" in shown and b" tides/s" in shown:
            go.touch()

    code, output, shown = contextkit.on_terminal("index", "tides", "--json", seen=seen)
    assert code == 0
    assert go.exists()
    assert b"tides:" in shown
    assert json.loads(output)["tides"]["added"] < 6000
    assert shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l") >= 0


def run_on(terminal: TextIO, monkeypatch: pytest.MonkeyPatch, after: float) -> None:
    """Report twice, to whoever looks at this terminal."""
    others = set(threading.enumerate())
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", terminal)
        with progress_bars(after) as report:
            report(Progress(source="code", label="files", done=1, total=None))
            for thread in {*threading.enumerate()} - others:
                if isinstance(thread, threading.Timer):
                    assert thread.interval == after
                    thread.join(60 if after == 0 else 0)
            report(Progress(source="code", label="files", done=30, total=50))


def shown_by(monkeypatch: pytest.MonkeyPatch, after: float) -> bytes:
    """What a terminal gets of a run that reports twice."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        run_on(terminal, monkeypatch, after)
        os.write(theirs, b"the end")
    shown = b""
    while not shown.endswith(b"the end"):
        shown += os.read(ours, 65536)
    os.close(ours)
    return shown.removesuffix(b"the end")


def test_a_short_run_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends before its time draws nothing, and moves no cursor."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    assert shown_by(monkeypatch, after=3600) == b""
    assert inspect.signature(progress_bars).parameters["after"].default == 1.0
    drawn = shown_by(monkeypatch, after=0)
    assert b"30 of 50 files" in drawn
    assert b"files/s" in drawn


def test_a_terminal_that_has_gone_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is there to be shown anything; the work goes on."""
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty()
    terminal = os.fdopen(theirs, "w")
    os.close(ours)
    run_on(terminal, monkeypatch, after=0)
    with contextlib.suppress(OSError):
        terminal.close()


def test_a_dumb_terminal_gets_no_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing but text can be shown, nothing is."""
    monkeypatch.setenv("TERM", "dumb")
    assert shown_by(monkeypatch, after=0) == b""


def test_a_pipe_gets_nothing(contextkit: CommandLine, tmp_path: Path) -> None:
    """No bar, no escape sequence, for whatever else counts, too."""
    contextkit("remember", "Tabs")
    exported = tmp_path / "records.jsonl"
    for arguments in (
        *(("index", "code"), ("export", str(exported)), ("import", str(exported)), ("reembed",)),
    ):
        ran = contextkit(*arguments)
        assert ran.exit_code == 0
        assert not {"\x1b", "\r"} & {*ran.stdout, *ran.stderr}


def test_a_wait_for_the_store_is_told_on_a_terminal(contextkit: CommandLine, home: Path) -> None:
    """Who has it, and since when; the command then does what it should."""
    contextkit("remember", "Tabs")
    lock = ShardLock(home / "store", 60.0)
    lock.acquire()

    def let_go(shown: bytes) -> None:
        if b"has used since" in shown:
            lock.release()

    code, output, shown = contextkit.on_terminal("memories", "list", seen=let_go)

    assert code == 0
    assert b"Tabs" in output
    assert f"contextkit: waiting for the store, which process {os.getpid()} (".encode() in shown
