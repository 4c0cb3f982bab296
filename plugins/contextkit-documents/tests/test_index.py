"""Index runs: what is listed, what is read again, what goes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from contextkit import Record
from contextkit.errors import WorkspaceError
from contextkit.testing import file_permissions_apply

Git = Callable[..., str]
Index = Callable[..., Any]
Stored = Callable[[], list[Record]]

GUIDE = "# Guide\n\nIntro.\n\n## Install\n\nRun it.\n"


def headings(records: Sequence[Record]) -> list[tuple[str, ...]]:
    """The headings of records."""
    return [tuple(record.fields["headings"]) for record in records]


def test_a_document_becomes_records(workspace: Path, index: Index, stored: Stored) -> None:
    """One a chunk, with its place and its headings."""
    (workspace / "docs").mkdir()
    (workspace / "docs" / "guide.md").write_text(GUIDE)
    report = index()
    assert (report.added, report.skipped, report.notes) == (1, [], [])
    intro, install = stored()
    assert intro.id == "docs/guide.md::Guide"
    assert install.id == "docs/guide.md::Guide > Install"
    assert install.text == "Run it."
    assert dict(install.fields) == {
        "kind": "documentation",
        "file_path": "docs/guide.md",
        "language": "markdown",
        "headings": ["Guide", "Install"],
        "start_line": 5,
        "end_line": 7,
        "position": 1,
    }


def test_sections_of_one_name_have_ids_of_their_own(
    workspace: Path, index: Index, stored: Stored
) -> None:
    """Counted from the second one on."""
    (workspace / "a.md").write_text("# A\n\none\n\n# A\n\ntwo\n")
    index()
    assert [record.id for record in stored()] == ["a.md::A", "a.md::A#2"]


def test_only_what_changed_is_written_again(workspace: Path, index: Index, stored: Stored) -> None:
    """Of the rest the records stay as they were; a section that went takes its record along."""
    one, two = workspace / "one.md", workspace / "two.md"
    one.write_text(GUIDE)
    two.write_text(GUIDE)
    index()
    before = {record.id: record for record in stored()}
    one.write_text("# Guide\n\nIntro.\n\n## Remove\n\nUndo it.\n")
    report = index()
    assert (report.added, report.updated, report.removed, report.unchanged) == (0, 1, 0, 1)
    after = {record.id: record for record in stored()}
    assert "one.md::Guide > Install" not in after
    assert "one.md::Guide > Remove" in after
    for record_id in ("two.md::Guide", "two.md::Guide > Install"):
        assert after[record_id] == before[record_id]


def test_git_says_what_is_ignored(workspace: Path, index: Index, stored: Stored, git: Git) -> None:
    """Ignored and deleted documents are left out; one that becomes ignored goes."""
    git("init", "-q")
    (workspace / ".gitignore").write_text("build/\n")
    for name in ("tracked.md", "untracked.md", "deleted.md", "build/made.md", ".github/hidden.md"):
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(GUIDE)
    git("add", "tracked.md", "deleted.md")
    git("commit", "-qm", "a")
    (workspace / "deleted.md").unlink()
    assert index().added == 3
    paths = {record.fields["file_path"] for record in stored()}
    assert paths == {"tracked.md", "untracked.md", ".github/hidden.md"}
    (workspace / ".gitignore").write_text("build/\nuntracked.md\n")
    assert index().removed == 1


def test_a_folder_that_git_ignores_is_walked_but_for_hidden_and_fetched_ones(
    workspace: Path, index: Index, stored: Stored, git: Git
) -> None:
    """A user who opens it wants its documents."""
    git("init", "-q", "..")
    (workspace.parent / ".gitignore").write_text("workspace/\n")
    for name in ("docs/a.md", ".cache/b.md", "node_modules/c.md"):
        (workspace / name).parent.mkdir()
        (workspace / name).write_text(GUIDE)
    report = index()
    assert (report.added, list(report.skipped)) == (1, [])
    assert {record.fields["file_path"] for record in stored()} == {"docs/a.md"}


def test_a_broken_repository_is_walked_with_a_note(workspace: Path, index: Index, git: Git) -> None:
    """What git says of it is passed on."""
    git("init", "-q")
    (workspace / "a.md").write_text(GUIDE)
    (workspace / ".git" / "index").write_bytes(b"broken")
    report = index()
    assert report.added == 1
    assert any(note.endswith("walked without it") for note in report.notes)


def test_what_cannot_be_indexed_is_skipped_with_a_reason(
    workspace: Path, index: Index, stored: Stored
) -> None:
    """And stays skipped in the next run; everything else is indexed."""
    (workspace / "good.md").write_text(GUIDE)
    (workspace / "latin.md").write_bytes(b"# caf\xe9\n")
    (workspace / "binary.txt").write_bytes(b"a\0b")
    (workspace / "big.md").write_text("word " * 300)
    (workspace / "data.json").write_text('"x",' * 30_000)
    (workspace / "lamp.conf").write_text("# Lamps.\n" * 12_000)
    (workspace / "secrets.toml").write_text("[a]\n")
    (workspace / "link.md").symlink_to("good.md")
    (workspace / "folder.md").mkdir()
    for _ in range(2):
        report = index(max_file_bytes=1_000)
        assert dict(report.skipped) == {
            "big.md": "1,500 bytes, over max_file_bytes (1,000)",
            "binary.txt": "it is binary",
            "data.json": "120,000 bytes, over max_file_bytes (1,000)",
            "lamp.conf": "108,000 bytes, over max_file_bytes (1,000)",
            "latin.md": "it is not UTF-8: byte 5 cannot be read",
            "link.md": "a symbolic link",
            "secrets.toml": "it may hold secrets",
        }
    skipped = dict(index().skipped)
    assert skipped["data.json"] == "120,000 bytes: data rather than configuration"
    assert "lamp.conf" not in skipped


def test_what_may_not_be_read_is_skipped(workspace: Path, index: Index, stored: Stored) -> None:
    """A file says so in the report, a folder in a note."""
    path = workspace / "a.md"
    path.write_text(GUIDE)
    index()
    path.chmod(0)
    (workspace / "closed").mkdir(mode=0)
    with file_permissions_apply():
        report = index()
    assert dict(report.skipped)["a.md"].startswith("it cannot be read")
    assert any("closed" in note for note in report.notes)
    assert stored() == []


def test_settings_choose_the_documents(workspace: Path, index: Index, stored: Stored) -> None:
    """Globs as in .gitignore; what they leave out later goes."""
    for name in ("docs/a.md", "docs/old/b.md", "c.md"):
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(GUIDE)
    assert index().added == 3
    assert index(include=["docs/**"], exclude=["old/"]).removed == 2
    assert {record.fields["file_path"] for record in stored()} == {"docs/a.md"}


def test_no_folder_ends_the_run(workspace: Path, index: Index) -> None:
    """A workspace that went away must not look like one without documents."""
    workspace.rmdir()
    with pytest.raises(WorkspaceError, match="is not a folder"):
        index()


@pytest.fixture
def deep(workspace: Path) -> Iterator[int]:
    """Folders 1,100 levels deep, beyond what a path can say, with a few documents."""
    levels = range(1_100)
    folder = os.open(workspace, os.O_RDONLY)
    for level in levels:
        if level % 100 == 0:
            file = os.open("a.md", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=folder)
            os.write(file, b"# Tide\n\nHigh water.\n")
            os.close(file)
        os.mkdir("deep", dir_fd=folder)
        inner = os.open("deep", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    yield len(levels[::100])
    # `shutil.rmtree` is recursive, too.
    subprocess.run(["rm", "-rf", str(workspace)], check=True)


def test_documents_are_indexed_however_deep_they_lie(deep: int, index: Index) -> None:
    """Folders are opened one by one."""
    report = index()
    assert (report.added, report.notes) == (deep, [])
