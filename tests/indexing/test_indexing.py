"""Index runs: what a source remembers, and what becomes of each source's run."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from structlog.testing import capture_logs

from contextkit import (
    ContextKit,
    Indexer,
    IndexReport,
    InvalidContextTypeError,
    Record,
    SourceInfo,
    hookimpl,
)
from contextkit.config.load import data_folder
from contextkit.errors import StoreBusyError, StoreError
from contextkit.files import write_atomically
from contextkit.indexing.files import FileIndex, SkipFileError
from contextkit.indexing.listing import FileListing, WorkspaceFile
from contextkit.indexing.partial import state_folder
from contextkit.indexing.run import IndexOutcome, in_index_order
from contextkit.models.indexer import IndexState, Progress
from contextkit.store.waiting import on_wait

MakePlugin = Callable[..., ModuleType]
OpenKit = Callable[..., ContextKit]


# -- what a source remembers ----------------------------------------------------------------


def test_a_state_is_what_was_saved_last(tmp_path: Path) -> None:
    """Nothing at first, nothing after it was cleared."""
    state = IndexState(tmp_path / "new" / "folder" / "tide.json")
    assert state.load() == {}
    state.save({"seen": ["a", "ü"], "n": 1})
    assert state.load() == {"seen": ["a", "ü"], "n": 1}
    state.save({"n": 2})
    assert IndexState(state.path).load() == {"n": 2}
    state.clear()
    state.clear()
    assert state.load() == {}
    assert list(state.path.parent.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_an_unreadable_state_is_an_empty_one(tmp_path: Path, content: bytes) -> None:
    """The next run starts anew rather than fail for ever."""
    (tmp_path / "tide.json").write_bytes(content)
    assert IndexState(tmp_path / "tide.json").load() == {}


def test_a_state_in_the_place_of_a_folder(tmp_path: Path) -> None:
    """Likewise."""
    (tmp_path / "tide.json").mkdir()
    assert IndexState(tmp_path / "tide.json").load() == {}


def test_a_write_that_fails_leaves_the_old_text(tmp_path: Path) -> None:
    """And no file of its own."""
    file = tmp_path / "state.json"
    write_atomically(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(file, "\ud800")
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_two_threads_write_one_file(tmp_path: Path) -> None:
    """Each text is whole, and neither takes the other's file away."""
    file = tmp_path / "state.json"
    failures = []

    def write(text: str) -> None:
        try:
            for _ in range(100):
                write_atomically(file, text)
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(letter * 5000,)) for letter in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert file.read_text() in {"a" * 5000, "b" * 5000}
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


# -- index runs -----------------------------------------------------------------------------


def indexing(indexer: Indexer) -> IndexReport:
    """Stores a record for each file, and counts its runs."""
    files = sorted(path.name for path in indexer.workspace.iterdir())
    for done, name in enumerate(files, 1):
        indexer.records.put([Record(id=name, text=f"the file {name}")])
        indexer.progress(done, len(files), "files")
    runs = indexer.state.load().get("runs", 0) + 1
    indexer.state.save({"runs": runs})
    return IndexReport(added=len(files), notes=(f"run {runs}", str(dict(indexer.settings))))


@pytest.fixture
def kit(open_kit: OpenKit, make_plugin: MakePlugin) -> ContextKit:
    """A kit with a source that indexes, one that cannot, and a workspace of two files."""
    kit = open_kit(
        {"files": make_plugin([], contextkit_index=indexing), "tide": make_plugin([])},
        settings={"sources.files.depth": 3, "embedding.model": "none"},
    )
    for name in ("a.txt", "b.txt"):
        (kit.workspace.root / name).touch()
    return kit


def test_every_source_that_can_is_indexed(kit: ContextKit) -> None:
    """It gets its records, its state, its settings, and somebody who watches."""
    seen: list[Progress] = []
    assert kit.index(progress=seen.append) == {
        "files": IndexOutcome(report=IndexReport(added=2, notes=("run 1", "{'depth': 3}")))
    }
    assert {record.id for record in kit.records("files").scan()} == {"a.txt", "b.txt"}
    assert seen == [
        Progress(source="files", label="files", done=1, total=2),
        Progress(source="files", label="files", done=2, total=2),
    ]
    again = kit.index(["files"])["files"].report
    assert again is not None
    assert again.notes[0] == "run 2"


def test_a_source_is_indexed_after_those_that_it_reads(
    open_kit: OpenKit, make_plugin: MakePlugin
) -> None:
    """And sees in the same run what they stored."""

    def counting(indexer: Indexer) -> IndexReport:
        return IndexReport(added=indexer.records.others("files").count())

    info = SourceInfo(reads=("files",))
    reader = make_plugin([], contextkit_index=counting, contextkit_source=lambda: info)
    files = make_plugin([], contextkit_index=indexing)
    settings = {"embedding.model": "none"}
    kit = open_kit({"counts": reader, "files": files}, settings=settings)
    (kit.workspace.root / "a.txt").touch()
    assert kit.index()["counts"].report == IndexReport(added=1)


def test_files_are_left_to_the_source_that_owns_them(
    open_kit: OpenKit, make_plugin: MakePlugin
) -> None:
    """Those that it has indexed, in the same run, and while it is on; not those it passed over.

    A state that is damaged owns nothing.
    """

    def owning(indexer: Indexer) -> IndexReport:
        assert indexer.owned_elsewhere == frozenset()
        listing = FileListing(indexer.workspace)
        for name in ("a.md", "b.md", "secret.md"):
            listing.add(name)
        return FileIndex(indexer, version=1).update(listing, records_of)

    def records_of(file: WorkspaceFile, content: bytes) -> list[Record]:
        if file.path == "secret.md":
            raise SkipFileError("secret")
        return [Record(id=file.path, text="x", fields={"file_path": file.path})]

    def leaving(indexer: Indexer) -> IndexReport:
        return IndexReport(notes=tuple(sorted(indexer.owned_elsewhere)))

    info = SourceInfo(owns_files=True, indexed_fields=("file_path",))
    plugins = {
        "all": make_plugin([], contextkit_index=leaving),
        "pages": make_plugin([], contextkit_index=owning, contextkit_source=lambda: info),
    }
    kit = open_kit(plugins, settings={"embedding.model": "none"})
    for name in ("a.md", "b.md", "secret.md"):
        (kit.workspace.root / name).touch()

    def left(sources: list[str] | None = None) -> Any:
        report = kit.index(sources)["all"].report
        return report and report.notes

    assert left(["all"]) == ()
    assert left() == left(["all"]) == ("a.md", "b.md")
    kit.disable("pages")
    assert left() == ()
    kit.enable("pages")
    state = state_folder(kit.store, kit.project) / "pages.json"
    state.write_text('{"files": 5}')
    assert left(["all"]) == ()


@pytest.mark.parametrize(
    ("reads", "order"),
    [
        ({"b": (), "a": ()}, "ba"),
        ({"a": ("b",), "b": ("c",), "c": ()}, "cba"),
        ({"a": ("gone",), "b": ()}, "ba"),
        ({"a": ("a",), "b": ()}, "ba"),
        ({"a": ("b",), "b": ("a",), "c": ("a",)}, "abc"),
        ({}, ""),
    ],
)
def test_the_order_of_indexing(reads: dict[str, tuple[str, ...]], order: str) -> None:
    """Those that read none first, then each behind what it reads; a circle is broken."""
    assert "".join(in_index_order(reads)) == order


def test_sources_that_cannot_are_left_out(kit: ContextKit) -> None:
    """Also where they are named; and naming none is not naming all."""
    assert kit.index(["tide"]) == {}
    assert kit.index([]) == {}
    with pytest.raises(InvalidContextTypeError, match="Did you mean 'files'"):
        kit.index(["file"])


def test_a_state_belongs_to_one_checkout_and_store(
    kit: ContextKit, open_kit: OpenKit, make_plugin: MakePlugin, tmp_path: Path
) -> None:
    """A new store starts with an empty state; another project name for the folder does not."""
    kit.index()
    changes: dict[str, dict[str, Any]] = {
        "run 2": {"project": "other"},
        "run 1": {"store.path": tmp_path / "elsewhere"},
    }
    for expected, change in changes.items():
        settings = {"embedding.model": "none"} | change
        fresh = open_kit({"files": make_plugin([], contextkit_index=indexing)}, settings=settings)
        report = fresh.index()["files"].report
        assert report is not None
        assert report.notes[0] == expected
        fresh.close()


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (3, "expected an IndexReport, got an int"),
        (IndexReport(added="all"), "IndexReport: added is a str"),  # type: ignore[arg-type]
        (IndexReport(notes=(3,)), "entry 0 is an int, expected str"),  # type: ignore[arg-type]
        (
            IndexReport(skipped=[("a.txt",)]),  # type: ignore[list-item]
            "skipped has ('a.txt',), expected (what, why)",
        ),
        (
            IndexReport(skipped=[(1, "binary")]),  # type: ignore[list-item]
            "skipped has (1, 'binary'), expected (what, why)",
        ),
        (ValueError("no\nharbour"), "ValueError: no harbour"),
        (SystemExit(3), "SystemExit: 3"),
        (InvalidContextTypeError("x", ["y"]), "Invalid source 'x'. Valid sources: y."),
    ],
)
def test_a_sources_trouble_is_its_own(
    kit: ContextKit, make_plugin: MakePlugin, result: Any, problem: str
) -> None:
    """The others are indexed; the trouble is the outcome's, and logged."""

    def contextkit_index(indexer: Indexer) -> Any:
        if isinstance(result, BaseException):
            raise result
        return result

    kit.register(make_plugin(contextkit_query=None, contextkit_index=contextkit_index), "bad")
    with capture_logs() as logs:
        outcomes = kit.index()
    assert outcomes["bad"] == IndexOutcome(problem=problem)
    assert outcomes["files"].problem is None
    assert [(e["event"], e["source"], e["reason"]) for e in logs] == [
        ("index_failed", "bad", problem)
    ]


def test_what_was_passed_over_is_reported(kit: ContextKit, make_plugin: MakePlugin) -> None:
    """What and why, as pairs."""
    report = IndexReport(skipped=[("a.bin", "binary"), ("b.txt", "too large")])
    kit.register(make_plugin([], contextkit_index=lambda indexer: report), "careful")
    assert kit.index(["careful"]) == {"careful": IndexOutcome(report)}


def test_nothing_to_report_is_an_empty_report(kit: ContextKit, make_plugin: MakePlugin) -> None:
    """A hook may return `None`."""
    kit.register(make_plugin([], contextkit_index=lambda indexer: None), "quiet")
    assert kit.index(["quiet"]) == {"quiet": IndexOutcome(report=IndexReport())}


def test_the_stores_trouble_is_raised(kit: ContextKit, make_plugin: MakePlugin) -> None:
    """It is every source's."""

    def contextkit_index(indexer: Indexer) -> None:
        raise StoreBusyError("held")

    kit.register(make_plugin([], contextkit_index=contextkit_index), "bad")
    with pytest.raises(StoreBusyError):
        kit.index()


def test_two_runs_of_one_project_take_turns(kit: ContextKit) -> None:
    """Another process that indexes is waited for, or left to it."""
    kit.index()
    (lock,) = (Path(p) for p in kit_home(kit).rglob("index.lock"))
    program = (
        "import sys; from filelock import FileLock\n"
        "with FileLock(sys.argv[1]):\n"
        "    print('held', flush=True); sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, lock],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert kit.index(wait=False) == {
            "files": IndexOutcome(problem="another process is indexing this project")
        }
        heard: list[Any] = []
        with on_wait(lambda said: heard.extend((said, other.communicate("\n", timeout=20)))):
            assert kit.index()["files"].problem is None
    assert heard[0].startswith("waiting for the index of this project, which process ")


def kit_home(kit: ContextKit) -> Path:
    """Where the states are."""
    return data_folder() / "state" / kit.store.identity.id


def test_a_state_that_cannot_be_kept(kit: ContextKit) -> None:
    """The error says where it should have been."""
    kit_home(kit).parent.mkdir(parents=True)
    kit_home(kit).touch()
    with pytest.raises(StoreError, match=r"cannot create the folder .*: (File exists|Not a d)"):
        kit.index()


def test_a_lock_that_cannot_be_taken(kit: ContextKit) -> None:
    """Likewise."""
    kit.index()
    (lock,) = kit_home(kit).rglob("index.lock")
    lock.unlink()
    lock.mkdir()
    with pytest.raises(StoreError, match=r"cannot write the index state to .*: Is a directory"):
        kit.index()


def test_a_store_that_cannot_be_put_in_order_is_still_indexed(
    open_kit: OpenKit, make_plugin: MakePlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is slower, and the log says why; the run is as good."""

    def contextkit_index(indexer: Indexer) -> IndexReport:
        indexer.records.put([Record(id="1", text="a wave")])
        full = shutil.disk_usage(indexer.workspace)._replace(free=0)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
        monkeypatch.setattr("contextkit.store.embedded.WORTH_OPTIMIZING", 0)
        return IndexReport(added=2000)

    kit = open_kit(
        {"tide": make_plugin([], contextkit_index=contextkit_index)},
        settings={"embedding.model": "none"},
    )
    with capture_logs() as logs:
        assert kit.index() == {"tide": IndexOutcome(IndexReport(added=2000))}
    assert [entry["event"] for entry in logs] == ["store_not_optimized"]
    assert "MiB left" in logs[0]["reason"]


def test_a_large_run_leaves_the_store_in_order(open_kit: OpenKit, make_plugin: MakePlugin) -> None:
    """What a thousand changes leave behind is put in order at the end of the run."""

    @hookimpl
    def contextkit_index(indexer: Indexer) -> IndexReport:
        indexer.records.put([Record(id=str(n), text="a wave " * 50) for n in range(2000)])
        indexer.records.delete(*map(str, range(1900)))
        return IndexReport(added=2000, removed=1900)

    kit = open_kit(
        {"tide": make_plugin([], contextkit_index=contextkit_index)},
        settings={"embedding.model": "none"},
    )
    assert kit.index()["tide"].problem is None
    assert kit.store.optimize() is False
    assert kit.records("tide").count() == 100
