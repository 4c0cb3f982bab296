"""The first context of a large repository: soon, from what answers it; the rest follows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from contextkit import ContextKit
from contextkit.indexing.partial import never_indexed
from contextkit.store.embedded import EmbeddedStore
from contextkit.testing import wait_until

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine, Repository

_QUESTION = "how is the tide table of an estuary computed?"
_FILES = 600


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Index one batch of each source before an assembly."""
    monkeypatch.setattr("contextkit.agent.indexing._FIRST_SECONDS", 0.0)


@pytest.fixture
def large(repository: Repository) -> Repository:
    """A repository with more files than a batch, of which one of the last answers the question."""
    files: dict[str, str | bytes] = {
        f"part{n:03}.py": f"def part{n}():\n    return {n}\n" for n in range(_FILES)
    }
    files["zz.py"] = (
        "def tide_table(estuary):\n    # Computes the tide table.\n    return estuary\n"
    )
    repository.commit("Add parts", files)
    return repository


def _stored(folder: Path) -> set[tuple[str, str, str]]:
    with ContextKit.open(folder) as kit:
        names = ("code", "commits", "documents")
        return {(n, record.id, record.text) for n in names for record in kit.records(n).scan()}


@pytest.mark.usefixtures("no_time")
def test_the_first_context_comes_from_what_may_answer_it(
    contextkit: CommandLine, large: Repository, home: Path
) -> None:
    """It says so; a process indexes the rest and ends, and then all is there as ever."""
    first = contextkit("assemble", _QUESTION)

    assert "def tide_table" in first.stdout
    assert "answered from a part of the index" in first.stderr
    assert "code (128 of 602 files)" in first.stderr

    wait_until(lambda: not list((home / "indexing").glob("*.json")), "the rest is indexed")
    later = contextkit("assemble", _QUESTION)
    assert later.stderr == ""
    assert later.stdout == first.stdout
    followed = _stored(large.folder)
    for path in (home / "state").rglob("*.json"):
        path.unlink()
    contextkit("index")
    assert _stored(large.folder) == followed


@pytest.mark.usefixtures("no_time")
def test_a_question_during_an_index_run_gets_one_note(
    contextkit: CommandLine, large: Repository, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note says how far the index is, and no second one that another process has it."""
    monkeypatch.setattr("contextkit.agent.indexing.index_in_background", lambda *_: None)
    first = contextkit("assemble", _QUESTION)
    [lock] = (home / "state").rglob("index.lock")
    with FileLock(lock, is_singleton=False):
        second = contextkit("assemble", _QUESTION)

    assert large.folder.is_dir()
    assert second.stderr.count("contextkit: ") == 1
    assert second.stderr == first.stderr


@pytest.mark.usefixtures("no_time")
def test_a_small_repository_is_indexed_at_once(contextkit: CommandLine, home: Path) -> None:
    """One batch of each source is all of it, however slow the machine is."""
    result = contextkit("assemble", "how is the token budget split?")

    assert "def split_budget" in result.stdout
    assert result.stderr == ""
    assert not list((home / "indexing").glob("*.json"))


@pytest.mark.usefixtures("home")
def test_that_nothing_is_indexed_is_seen_without_the_store(repository: Repository) -> None:
    """Another process may have it; a context that finds nothing neither fails nor waits."""
    with ContextKit.open(repository.folder) as kit:
        checkout = kit.records("code").checkout
        assert checkout is not None
        assert isinstance(kit.store, EmbeddedStore)
        kit.store.close()
        assert list(never_indexed(checkout.root))
        assert not kit.store._shared.is_open
        kit.index()
        assert not list(never_indexed(checkout.root))


@pytest.mark.usefixtures("home")
def test_runs_in_the_background_do_not_queue_for_the_store(repository: Repository) -> None:
    """While one of a folder waits for the store, the next one ends."""
    asked: dict[str, Any] = {"folder": str(repository.folder), "settings": {}, "sources": None}
    command = [sys.executable, "-P", "-m", "contextkit.agent.indexing"]
    with ContextKit.open(repository.folder) as kit:
        assert isinstance(kit.store, EmbeddedStore)
        with kit.store._shared.use():
            runs = [subprocess.Popen(command, stdin=subprocess.PIPE, text=True) for _ in range(2)]
            for run in runs:
                assert run.stdin is not None
                run.stdin.write(json.dumps(asked))
                run.stdin.close()
            wait_until(lambda: {run.poll() for run in runs} != {None}, "one has ended")
            assert {run.poll() for run in runs} == {0, None}
        assert [run.wait(60) for run in runs] == [0, 0]
        assert kit.records("code").count()
