"""Walking a workspace: git's own rules, .gitignore without git, and what is passed over."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextkit.errors import WorkspaceError
from contextkit.indexing.listing import FileListing
from contextkit.testing import file_permissions_apply
from contextkit.testing.repositories import watched_git
from contextkit_code import contextkit_source
from contextkit_code.workspace_files import list_files

_NOBODY = 65_534


def _write(root: Path, *paths: str, text: str = "text\n") -> None:
    for path in paths:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def _paths(root: Path, **settings: Any) -> list[str]:
    return [file.path for file in _listing(root, **settings).files]


def _listing(root: Path, **settings: Any) -> FileListing:
    defaults = contextkit_source().setting_defaults
    return list_files(root, {**defaults, **settings})


@pytest.fixture
def asked_of_git(tmp_path: Path) -> Iterator[Callable[[], list[str]]]:
    """What git was asked since: the command of each process, in order."""
    with watched_git(tmp_path) as asked:
        yield asked


def test_tracked_and_untracked_files_are_listed_ignored_ones_not(
    workspace: Path, git: Callable[..., str]
) -> None:
    """What git would show is what is indexed; the index of git itself may be behind."""
    git("init")
    _write(workspace, "a.py", "gone.py", "new.py", "out/b.py", "c.log", "kept.log")
    (workspace / ".gitignore").write_text("out/\n*.log\n!kept.log\n")
    git("add", "a.py", "gone.py")
    (workspace / "gone.py").unlink()

    assert _paths(workspace) == [".gitignore", "a.py", "kept.log", "new.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="the front of git is a shell script")
def test_two_processes_of_git_are_enough(
    workspace: Path,
    git: Callable[..., str],
    asked_of_git: Callable[[], list[str]],
) -> None:
    """It is asked what is wrong only where something is."""
    assert _paths(workspace) == []
    assert asked_of_git() == ["check-ignore", "rev-parse"]
    git("init")
    asked_of_git()
    _write(workspace, "a.py")
    assert _paths(workspace) == ["a.py"]
    assert asked_of_git() == ["check-ignore", "ls-files"]


def test_submodules_and_nested_repositories_are_walked(
    workspace: Path, git: Callable[..., str], tmp_path: Path
) -> None:
    """Each by its own rules; a submodule that is not checked out holds nothing."""
    library = tmp_path / "library"
    library.mkdir()
    git("init", folder=library)
    _write(library, "lib.py", "skip.log")
    (library / ".gitignore").write_text("*.log\n")
    git("add", "-A", folder=library)
    git("commit", "-m", "a", folder=library)
    git("init")
    git("submodule", "add", str(library), "here")
    git("submodule", "add", str(library), "absent")
    git("submodule", "deinit", "-f", "absent")
    (workspace / "here" / "skip.log").write_text("x")
    nested = workspace / "nested"
    nested.mkdir()
    git("init", folder=nested)
    _write(nested, "n.py")

    assert _paths(workspace) == [".gitmodules", "here/.gitignore", "here/lib.py", "nested/n.py"]


def test_linked_work_trees_are_not_walked(workspace: Path, git: Callable[..., str]) -> None:
    """They hold the same code once more."""
    git("init")
    _write(workspace, "a.py")
    git("add", "-A")
    git("commit", "-m", "a")
    git("worktree", "add", "other")

    assert _paths(workspace) == ["a.py"]


def test_a_conflicted_file_is_listed_once(workspace: Path, git: Callable[..., str]) -> None:
    """Git has three entries for it."""
    git("init", "-b", "main")
    for branch, text in (("main", "1"), ("other", "2"), ("main", "3")):
        git("checkout", *([] if branch == "main" and text == "3" else ["-B"]), branch)
        (workspace / "a.py").write_text(text)
        git("add", "-A")
        git("commit", "-m", text)
    with pytest.raises(Exception, match="merge"):
        git("merge", "other")

    listing = _listing(workspace)

    assert [file.path for file in listing.files] == ["a.py"]
    assert listing.skipped == []


def test_a_bare_repository_has_nothing_to_index(workspace: Path, git: Callable[..., str]) -> None:
    """Neither has a `.git` folder; both say so."""
    git("init", "--bare")
    listing = _listing(workspace)
    (workspace / "inner").mkdir()
    git("init", folder=workspace / "inner")

    assert (listing.files, len(listing.notes)) == ([], 1)
    assert "is a bare git repository" in listing.notes[0]
    assert _paths(workspace / "inner" / ".git") == []


def _break_the_index(workspace: Path, _: Path) -> None:
    (workspace / ".git" / "index").write_bytes(b"not an index")


def _lose_the_repository(workspace: Path, elsewhere: Path) -> None:
    (workspace / ".git").rename(elsewhere / "away")
    (workspace / ".git").write_text("gitdir: /nowhere/at/all\n")


def _take_git_away(workspace: Path, elsewhere: Path) -> None:
    """Leave a program of that name that is none."""
    (elsewhere / "git").write_bytes(b"\x7fELF, but broken")
    (elsewhere / "git").chmod(0o755)


@pytest.mark.parametrize(
    ("change", "path", "note"),
    [
        (_break_the_index, None, "git: .* walked without it"),
        (_lose_the_repository, None, None),
        (lambda *_: None, "/nowhere", None),
        (_take_git_away, "{elsewhere}", "walked without it"),
    ],
    ids=["broken index", "repository gone", "no git", "broken git"],
)
def test_where_git_does_not_answer_the_folder_is_walked(
    workspace: Path,
    git: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path, Path], object],
    path: str | None,
    note: str | None,
) -> None:
    """Its files are listed by their `.gitignore`; a failure is noted in git's words."""
    git("init")
    _write(workspace, "a.py", "b.log")
    (workspace / ".gitignore").write_text("*.log\n")
    change(workspace, tmp_path)
    if path is not None:
        monkeypatch.setenv("PATH", path.format(elsewhere=tmp_path))

    listing = _listing(workspace)

    assert [file.path for file in listing.files] == [".gitignore", "a.py"]
    assert len(listing.notes) == (note is not None)
    assert note is None or re.search(note, listing.notes[0], re.DOTALL)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_repository_is_walked_without_git(
    workspace: Path, git: Callable[..., str]
) -> None:
    """Git refuses what it calls dubious ownership; the note says so."""
    git("init")
    _write(workspace, "a.py")
    for folder in (workspace, workspace / ".git"):
        os.chown(folder, _NOBODY, -1)

    listing = _listing(workspace)

    assert [file.path for file in listing.files] == ["a.py"]
    assert "dubious ownership" in listing.notes[0]


def test_nested_gitignore_files_are_honoured(workspace: Path) -> None:
    """The innermost file that says something decides; a folder left out is not entered.

    Lines that git does not understand are passed over, and so is a folder of that name.
    """
    _write(
        workspace,
        "a.py",
        "a.log",
        "sub/a.log",
        "sub/keep.log",
        "sub/only/here.py",
        "elsewhere/only/here.py",
        "out/in/a.py",
    )
    (workspace / ".gitignore").write_bytes(b"!\n\xff\xfe\n*.log\nout/\n")
    (workspace / "sub" / ".gitignore").write_text("!keep.log\n/only/\n")
    _write(workspace, "elsewhere/.gitignore/b.py")

    assert _paths(workspace) == [
        ".gitignore",
        "a.py",
        "elsewhere/.gitignore/b.py",
        "elsewhere/only/here.py",
        "sub/.gitignore",
        "sub/keep.log",
    ]


def test_a_folder_that_cannot_be_read_is_skipped(workspace: Path) -> None:
    """Its neighbours are listed."""
    _write(workspace, "a.py", "locked/b.py")
    (workspace / "locked").chmod(0)

    with file_permissions_apply():
        listing = _listing(workspace)

    assert [file.path for file in listing.files] == ["a.py"]
    assert listing.skipped == [("locked/", "it cannot be read: Permission denied")]


def test_odd_names_become_text(workspace: Path) -> None:
    """Spaces, line ends and bytes that are not UTF-8 are all listed, each under a path."""
    raw = os.fsencode(workspace)
    for name in (b"a b.py", b"a\nb.py", b"\xff.py", "ü.py".encode()):
        Path(os.fsdecode(raw + b"/" + name)).write_text("x = 1\n")

    assert _paths(workspace) == ["a\nb.py", "a b.py", "ü.py", "\\xff.py"]


def test_two_files_whose_paths_read_the_same_are_not_mixed(workspace: Path) -> None:
    """The second one is skipped, and said to be."""
    raw = os.fsencode(workspace)
    for name in (b"\xff.py", b"\\xff.py"):
        Path(os.fsdecode(raw + b"/" + name)).write_text("x = 1\n")

    listing = _listing(workspace)

    assert len(listing.files) == 1
    assert listing.skipped == [("\\xff.py", "another file's path reads the same")]


def test_an_environment_is_passed_over_without_git(workspace: Path) -> None:
    """It may have any name; a file that Python writes tells."""
    _write(workspace, "Env/pyvenv.cfg", "Env/bin/activate", "app.py")

    assert _paths(workspace) == ["app.py"]


def test_the_workspace_must_be_a_folder(workspace: Path) -> None:
    """A file, or nothing at all, is an error that names it."""
    with pytest.raises(WorkspaceError, match="nothing-here is not a folder"):
        _listing(workspace / "nothing-here")


@pytest.mark.parametrize(
    ("path", "skipped", "reason"),
    [
        ("web/node_modules/a/b.js", "web/node_modules/", "fetched or made by a tool"),
        (".venv/lib/a.py", ".venv/", "fetched or made by a tool"),
        ("third_party/x/a.c", "third_party/", "vendored"),
        ("fixtures/a.git/hooks/x", "fixtures/a.git/", "a git repository's own files"),
        ("package-lock.json", "package-lock.json", "a lock file"),
        ("pnpm-lock.yaml", "pnpm-lock.yaml", "a lock file"),
        ("Cargo.lock", "Cargo.lock", "a lock file"),
        ("go.sum", "go.sum", "a lock file"),
        ("js/jquery.min.js", "js/jquery.min.js", "minified"),
        ("js/app.js.map", "js/app.js.map", "generated"),
        ("a_pb2.py", "a_pb2.py", "generated"),
        ("api.pb.go", "api.pb.go", "generated"),
        ("logo.svg", "logo.svg", "a drawing"),
        ("lib/LICENSE-MIT", "lib/LICENSE-MIT", "a licence's text"),
        ("COPYING.LESSER", "COPYING.LESSER", "a licence's text"),
        ("copying.py", "", ""),
        (".env", ".env", "it may hold secrets"),
        (".env.local", ".env.local", "it may hold secrets"),
        ("keys/server.PEM", "keys/server.PEM", "it may hold secrets"),
        (".env.example", "", ""),
        ("min.js", "", ""),
        ("lock.py", "", ""),
        ("src/vendor/models.py", "", ""),
        ("a.git.py", "", ""),
        ("examples/third-party/a.py", "", ""),
    ],
)
def test_obvious_files_are_passed_over(
    workspace: Path, path: str, skipped: str, reason: str
) -> None:
    """With a reason, a folder once for all its files; a word in a name is no proof."""
    _write(workspace, path)
    listing = _listing(workspace)

    assert [file.path for file in listing.files] == ([] if skipped else [path])
    assert listing.skipped == ([(skipped, reason)] if skipped else [])


@pytest.mark.parametrize(
    "settings",
    [
        {"exclude": ["!.env", "!id_rsa", "!*.json"]},
        {"include": [".env", "id_rsa", "*.json", "*.py"]},
    ],
)
def test_no_setting_takes_a_key_file_back(workspace: Path, settings: dict[str, Any]) -> None:
    """A workspace's globs cannot have keys indexed, and neither can the user's."""
    _write(workspace, ".env", "id_rsa", "credentials.json", "credentials.py")

    listing = _listing(workspace, **settings)

    assert [file.path for file in listing.files] == ["credentials.py"]
    assert listing.skipped == [
        (path, "it may hold secrets") for path in (".env", "credentials.json", "id_rsa")
    ]


def test_a_vendor_folder_is_told_by_what_its_tool_leaves(workspace: Path) -> None:
    """Go and Composer leave a file in theirs."""
    _write(workspace, "vendor/modules.txt", "vendor/a/a.go", "main.go", "vendor2/a.go")

    listing = _listing(workspace)

    assert [file.path for file in listing.files] == ["main.go", "vendor2/a.go"]
    assert listing.skipped == [("vendor/", "vendored")]


def test_what_a_package_builds_is_left_out(workspace: Path) -> None:
    """A bundle repeats the code; one that is most of the code is indexed."""
    code = ["a/index.js", "a/lib/one.ts", "a/two.js", "b/dist/b.js", "b/gulpfile.js", "dist/c.py"]
    _write(workspace, *code, "a/dist/node/a.cjs", *(f"{at}package.json" for at in ("", "a/", "b/")))

    listing = _listing(workspace)

    assert [file.path for file in listing.files if "package" not in file.path] == code
    assert listing.skipped == [("a/dist/", "generated")]


def test_gitattributes_say_what_is_generated_and_vendored(workspace: Path) -> None:
    """An exclusion that is taken back is stronger, and so is a later line that unsets the mark."""
    _write(workspace, "a.c", "gen/b.c", "gen/c.c", "lib/d.c", "lib/e.c")
    (workspace / ".gitattributes").write_text(
        "# a comment\n\n*.c text\ngen/*.c linguist-generated=true\ngen/c.c -linguist-generated\n"
        'lib/** -diff linguist-vendored\n"quoted" linguist-vendored\n'
    )

    listing = _listing(workspace, exclude=["!lib/e.c", ".gitattributes"])
    assert [file.path for file in listing.files] == ["a.c", "gen/c.c", "lib/e.c"]
    assert listing.skipped == [
        ("gen/b.c", "marked as generated in .gitattributes"),
        ("lib/d.c", "marked as vendored in .gitattributes"),
    ]


def test_include_and_exclude(workspace: Path, git: Callable[..., str]) -> None:
    """Globs as in .gitignore, the same with and without git."""
    _write(workspace, "a.py", "b.md", "docs/c.py", "docs/deep/d.py", "gen/e.py")
    settings = {"include": ["*.py"], "exclude": ["docs/*", "!docs/deep/", "gen/"]}

    assert _paths(workspace, **settings) == ["a.py", "docs/deep/d.py"]
    git("init")
    assert _paths(workspace, **settings) == ["a.py", "docs/deep/d.py"]


def test_an_excluded_folder_is_not_entered(workspace: Path) -> None:
    """Without git too it costs nothing, however much is in it."""
    _write(workspace, "data/b.py")
    assert _listing(workspace, exclude=["data/"]).skipped == [("data/", "excluded by the settings")]


def test_an_exclusion_can_be_taken_back(workspace: Path, git: Callable[..., str]) -> None:
    """`!glob` wins over the built-in rules."""
    _write(workspace, "third_party/a.c", "yarn.lock", "node_modules/b.js")
    settings = {"exclude": ["!third_party/", "!yarn.lock"]}

    assert _paths(workspace, **settings) == ["third_party/a.c", "yarn.lock"]
    git("init")
    assert _paths(workspace, **settings) == ["third_party/a.c", "yarn.lock"]
