"""Files below a folder are looked at and read through no symbolic link."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import contextkit_code
import contextkit_documents
import contextkit_workspace
from contextkit.indexing.listing import FileListing
from contextkit.testing import open_kit, own_git
from contextkit.workspace.folder import Folder, LinkedFolderError

PRIVATE = "the private tide table"
GUIDE = f"# Guide\n\nHere is {PRIVATE}.\n"


@pytest.fixture(params=[True, False], ids=["descriptors", "names"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    """A folder with a file three levels down; in both ways in which systems can do it."""
    root = tmp_path / "workspace"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "notes.md").write_text("own\n")
    return Folder(root, by_descriptor=request.param)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder elsewhere that has the same below it."""
    (tmp_path / "outside" / "b").mkdir(parents=True)
    for path in ("notes.md", "b/notes.md"):
        (tmp_path / "outside" / path).write_text(GUIDE)
    return tmp_path / "outside"


def swap(root: Path, path: str, target: Path) -> None:
    """Put a link in a folder's place."""
    (root / path).rename(root.parent / "away")
    (root / path).symlink_to(target)


def test_a_file_is_looked_at_and_read(folder: Folder) -> None:
    """Its status is that of the file system."""
    location = folder.root / "a/b/notes.md"
    assert folder.look_up("a/b/notes.md") == location.lstat()
    assert folder.read("a/b/notes.md", 100) == (b"own\n", location.lstat())
    assert isinstance(folder.look_up("a/b/gone"), FileNotFoundError)
    assert isinstance(folder.look_up("a/b/notes.md/c"), NotADirectoryError)
    assert isinstance(folder.look_up("gone/b/c"), FileNotFoundError)


@pytest.mark.parametrize(("path", "to"), [("a", ""), ("a/b", "b")])
def test_nothing_is_seen_through_a_link(folder: Folder, outside: Path, path: str, to: str) -> None:
    """Neither where the file's own folder is one, nor one farther up."""
    swap(folder.root, path, outside / to)
    assert isinstance(folder.look_up("a/b/notes.md"), LinkedFolderError)
    with pytest.raises(LinkedFolderError, match="its folder is a symbolic link"):
        folder.read("a/b/notes.md", 100)
    with pytest.raises(LinkedFolderError):
        folder.entries("a/b")


def test_a_link_within_the_folder_is_none_either(folder: Folder) -> None:
    """What it leads to is there under its own name, and would be indexed twice."""
    (folder.root / "inner").symlink_to("a")
    assert isinstance(folder.look_up("inner/b/notes.md"), LinkedFolderError)
    assert stat.S_ISLNK(os.stat_result(folder.look_up("inner")).st_mode)  # type: ignore[arg-type]
    with pytest.raises(OSError, match=r".+"):
        folder.read("inner", 100)


def test_a_linked_root_is_followed(folder: Folder) -> None:
    """Where the workspace is was the user's choice."""
    link = folder.root.with_name("link")
    link.symlink_to(folder.root)
    again = Folder(link, by_descriptor=folder.by_descriptor)
    assert again.read("a/b/notes.md", 100)[0] == b"own\n"


@pytest.mark.parametrize("kind", ["fifo", "device", "socket", "folder"])
def test_what_is_no_file_is_not_read(folder: Folder, kind: str) -> None:
    """And nothing waits for it."""
    path = folder.root / "a" / "odd"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        if os.geteuid():
            pytest.skip("only root makes devices")
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    elif kind == "socket":
        os.mknod(path, stat.S_IFSOCK | 0o600)
    else:
        path.mkdir()
    with pytest.raises(OSError, match=r".+"):
        folder.read("a/odd", 100)


@pytest.mark.parametrize(
    "path",
    ["..", "../outside/notes.md", "a/../../outside/notes.md", "/etc/passwd", "a//b", "", "."],
)
def test_a_path_that_may_lead_out_is_refused(folder: Folder, outside: Path, path: str) -> None:
    """Whatever it leads to; the error names it."""
    error = folder.look_up(path)
    assert isinstance(error, ValueError)
    assert "expected a path below the workspace" in str(error)
    with pytest.raises(ValueError, match="expected a path below the workspace"):
        folder.read(path, 100)


def test_a_name_that_no_system_has_is_an_error(folder: Folder) -> None:
    """It is an answer, as others are."""
    assert isinstance(folder.look_up("a/\0"), ValueError)
    assert isinstance(folder.look_up("a/" + "x" * 5000), OSError)


def test_a_file_that_is_too_large_is_not_read(folder: Folder) -> None:
    """The error says the limit."""
    with pytest.raises(OSError, match="more than 3 bytes"):
        folder.read("a/b/notes.md", 3)
    assert folder.read("a/b/notes.md", 4)[0] == b"own\n"


def test_a_walk_enters_no_python_environment(folder: Folder) -> None:
    """It may have any name; a file that Python writes tells. The folder itself may be one."""
    for path in ("pyvenv.cfg", "Env/pyvenv.cfg", "Env/bin/activate"):
        (folder.root / path).parent.mkdir(exist_ok=True)
        (folder.root / path).touch()
    assert list(folder.walk(lambda _: True)) == ["pyvenv.cfg", "a/b/notes.md"]


def test_a_deep_tree_needs_few_open_files(folder: Folder) -> None:
    """Far fewer than it has levels, as a process may open a few hundred."""
    inner = folder.root
    for _ in range(200):
        inner = inner / "deep"
        inner.mkdir()
    (inner / "file").touch()
    before = open_files()
    path = "deep/" * 200 + "file"
    assert isinstance(folder.look_up(path), os.stat_result)
    assert isinstance(folder.look_up("deep/" * 40 + "gone"), FileNotFoundError)
    assert isinstance(folder.look_up(path), os.stat_result)
    assert list(folder.walk(lambda _: True)) == ["a/b/notes.md", path]
    assert open_files() <= before + 40
    folder.close()
    assert open_files() == before


def open_files() -> int:
    """How many files this process has open; 0 on a system that does not tell."""
    told = Path("/proc/self/fd")
    return sum(1 for _ in told.iterdir()) if told.exists() else 0


NAMES = st.sampled_from(["a", "b", "c", "link", "file"])


@given(st.lists(st.lists(NAMES, min_size=1, max_size=40).map("/".join), max_size=30))
def test_any_order_of_paths_has_the_same_answers(
    tmp_path_factory: pytest.TempPathFactory, paths: list[str]
) -> None:
    """What was looked at before changes nothing, however deep; both ways agree."""
    root = tmp_path_factory.mktemp("order")
    here = root
    for _ in range(38):
        (here / "a").mkdir()
        (here / "file").write_text("x")
        (here / "b").mkdir()
        (here / "link").symlink_to("a")
        here = here / "a"
    folder = Folder(root)
    for path in paths:
        answers: list[Any] = [
            folder.look_up(path),
            Folder(root).look_up(path),
            Folder(root, by_descriptor=False).look_up(path),
        ]
        kinds = {
            "status" if isinstance(each, os.stat_result) else type(each).__name__
            for each in answers
        }
        assert len(kinds) == 1, (path, answers)
        if kinds == {"status"}:
            assert "link" not in path.split("/")[:-1]


# -- listings -------------------------------------------------------------------------------


def test_a_listing_passes_over_what_is_behind_a_link(folder: Folder, outside: Path) -> None:
    """With a reason, as any file that is skipped."""
    (folder.root / "docs").symlink_to(outside)
    listing = FileListing(folder)
    listing.add("a/b/notes.md")
    listing.add("docs/notes.md")
    listing.add("docs/b/notes.md")
    listing.add("../outside/notes.md")
    assert [file.path for file in listing.files] == ["a/b/notes.md"]
    assert [path for path, _ in listing.skipped] == [
        "docs/notes.md",
        "docs/b/notes.md",
        "../outside/notes.md",
    ]
    assert {reason for _, reason in listing.skipped[:2]} == {"its folder is a symbolic link"}


@pytest.mark.parametrize(("path", "to"), [("a", ""), ("a/b", "b")])
def test_a_folder_that_became_a_link_since_it_was_listed(
    folder: Folder, outside: Path, path: str, to: str
) -> None:
    """Its files are not read."""
    listing = FileListing(folder)
    listing.add("a/b/notes.md")
    swap(folder.root, path, outside / to)
    listing.folder.close()
    with pytest.raises(LinkedFolderError):
        listing.read(listing.files[0])


def test_an_open_folder_is_what_it_was(folder: Folder, outside: Path) -> None:
    """Where it is still open, its own file is read, which is moved, and never the link's."""
    listing = FileListing(folder)
    listing.add("a/b/notes.md")
    swap(folder.root, "a", outside)
    try:
        content, _ = listing.read(listing.files[0])
    except LinkedFolderError:
        content = b"own\n"
    assert content == b"own\n"


# -- sources --------------------------------------------------------------------------------


@pytest.mark.parametrize("linked", ["docs", "docs/inner"])
async def test_no_source_reads_what_git_tracks_behind_a_link(tmp_path: Path, linked: str) -> None:
    """Git still lists the files that were in a folder before a link took its place."""
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    for root in (workspace / "docs", outside):
        (root / "inner").mkdir(parents=True)
    for name in ("notes.md", "tide.py", "package.json", ".gitignore"):
        (workspace / "docs/inner" / name).write_text("\n")
        for folder in (outside, outside / "inner"):
            (folder / name).write_text(f"# Tide\n\n# {PRIVATE}\nprivate = '{PRIVATE}'\n")
    (workspace / "pyproject.toml").symlink_to(outside / "notes.md")
    with own_git(workspace) as git:
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "Begin")
        target = outside if linked == "docs" else outside / "inner"
        swap(workspace, linked, target)
        plugins = {
            "code": contextkit_code,
            "documents": contextkit_documents,
            "workspace": contextkit_workspace,
        }
        with open_kit(workspace, plugins, settings={"embedding.model": "none"}) as kit:
            outcomes = kit.index()
            context = await kit.assemble_context(
                f"{PRIVATE} private tide git status", list(plugins), max_tokens=2000
            )
    assert PRIVATE not in context.markdown
    reasons = {
        path: reason
        for outcome in outcomes.values()
        if outcome.report is not None
        for path, reason in outcome.report.skipped
    }
    assert reasons["docs/inner/notes.md"] == "its folder is a symbolic link"
    assert reasons["docs/inner/tide.py"] == "its folder is a symbolic link"


async def test_a_walk_without_git_enters_no_link_and_reads_no_linked_rules(tmp_path: Path) -> None:
    """A `.gitignore` that is a link has no rules, as git has it; nothing waits for a pipe."""
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    outside.mkdir()
    (outside / "rules").write_text("*.py\n")
    (outside / "far.py").write_text("def far():\n    return 1\n")
    (workspace / "inner").mkdir(parents=True)
    (workspace / "near.py").write_text("def near():\n    return 1\n")
    (workspace / "linked").symlink_to(outside)
    (workspace / ".gitignore").symlink_to(outside / "rules")
    os.mkfifo(workspace / "inner" / ".gitignore")
    with open_kit(
        workspace, {"code": contextkit_code}, settings={"embedding.model": "none"}
    ) as kit:
        kit.index()
        context = await kit.assemble_context("near far", ["code"], max_tokens=1000)
    assert "near.py" in context.markdown
    assert "far.py" not in context.markdown
