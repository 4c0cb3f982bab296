"""Walking a workspace: git's own rules, .gitignore without git, and what is passed over."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextkit.errors import WorkspaceError
from contextkit.indexing.listing import FileListing
from contextkit.testing import file_permissions_apply
from contextkit.testing.repositories import watched_git
from contextkit_code.settings import Settings
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
    return list_files(root, Settings(**settings))


@pytest.fixture
def asked_of_git(tmp_path: Path) -> Iterator[Callable[[], list[str]]]:
    """What git was asked since: the command of each process, in order."""
    with watched_git(tmp_path) as asked:
        yield asked


class TestGit:
    """A workspace in a git work tree."""

    def test_tracked_and_untracked_files_are_listed_ignored_ones_not(
        self, workspace: Path, git: Callable[..., str]
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
        self,
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

    def test_a_folder_of_a_work_tree_is_listed_by_itself(
        self, workspace: Path, git: Callable[..., str]
    ) -> None:
        """Paths are relative to the workspace, not to the repository."""
        git("init")
        _write(workspace, "top.py", "sub/a.py", "sub/deep/b.py")

        assert _paths(workspace / "sub") == ["a.py", "deep/b.py"]

    def test_a_folder_that_its_repository_ignores_is_walked_without_git(
        self, workspace: Path, git: Callable[..., str]
    ) -> None:
        """A workspace somebody ignores is still a workspace."""
        git("init")
        (workspace / ".gitignore").write_text("scratch/\n")
        _write(workspace, "scratch/a.py")

        assert _paths(workspace / "scratch") == ["a.py"]

    def test_submodules_and_nested_repositories_are_walked(
        self, workspace: Path, git: Callable[..., str], tmp_path: Path
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

    def test_linked_work_trees_are_not_walked(
        self, workspace: Path, git: Callable[..., str]
    ) -> None:
        """They hold the same code once more."""
        git("init")
        _write(workspace, "a.py")
        git("add", "-A")
        git("commit", "-m", "a")
        git("worktree", "add", "other")

        assert _paths(workspace) == ["a.py"]

    def test_a_conflicted_file_is_listed_once(
        self, workspace: Path, git: Callable[..., str]
    ) -> None:
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

    def test_a_bare_repository_has_nothing_to_index(
        self, workspace: Path, git: Callable[..., str]
    ) -> None:
        """Neither has a `.git` folder; both say so."""
        git("init", "--bare")
        listing = _listing(workspace)
        (workspace / "inner").mkdir()
        git("init", folder=workspace / "inner")

        assert (listing.files, len(listing.notes)) == ([], 1)
        assert "git repository without its files" in listing.notes[0]
        assert _paths(workspace / "inner" / ".git") == []

    def test_the_repository_of_a_git_hook_is_not_mistaken_for_the_workspace(
        self, workspace: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Git sets GIT_DIR and GIT_INDEX_FILE while it runs a hook."""
        git("init")
        _write(workspace, "a.py")
        monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
        monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")

        assert _paths(workspace) == ["a.py"]

    def test_a_broken_repository_is_walked_without_git(
        self, workspace: Path, git: Callable[..., str]
    ) -> None:
        """A damaged index does not hide the files; the note has git's words."""
        git("init")
        _write(workspace, "a.py", "b.log")
        (workspace / ".gitignore").write_text("*.log\n")
        (workspace / ".git" / "index").write_bytes(b"not an index")

        listing = _listing(workspace)

        assert [file.path for file in listing.files] == [".gitignore", "a.py"]
        assert listing.notes
        assert listing.notes[0].startswith("git: ")
        assert listing.notes[0].endswith("walked without it")

    def test_a_work_tree_whose_repository_is_gone_is_walked(self, workspace: Path) -> None:
        """The file that said where it was is git's, not the workspace's."""
        _write(workspace, "a.py")
        (workspace / ".git").write_text("gitdir: /nowhere/at/all\n")

        assert _paths(workspace) == ["a.py"]

    def test_without_git_installed_the_folder_is_walked(
        self, workspace: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No git is no error."""
        git("init")
        _write(workspace, "a.py")
        monkeypatch.setenv("PATH", str(workspace))

        listing = _listing(workspace)

        assert ([file.path for file in listing.files], listing.notes) == (["a.py"], [])

    def test_git_that_cannot_be_run_is_told(
        self, workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """A git that is no program costs its rules, not the files."""
        (tmp_path / "git").write_bytes(b"\x7fELF, but broken")
        (tmp_path / "git").chmod(0o755)
        _write(workspace, "a.py")
        monkeypatch.setenv("PATH", str(tmp_path))

        listing = _listing(workspace)

        assert [file.path for file in listing.files] == ["a.py"]
        assert "walked without it" in listing.notes[0]

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
    def test_another_users_repository_is_walked_without_git(
        self, workspace: Path, git: Callable[..., str]
    ) -> None:
        """Git refuses what it calls dubious ownership; the note says so."""
        git("init")
        _write(workspace, "a.py")
        for folder in (workspace, workspace / ".git"):
            os.chown(folder, _NOBODY, -1)

        listing = _listing(workspace)

        assert [file.path for file in listing.files] == ["a.py"]
        assert "dubious ownership" in listing.notes[0]


class TestPlain:
    """A workspace without git."""

    def test_nested_gitignore_files_are_honoured(self, workspace: Path) -> None:
        """The innermost file that says something decides; a folder left out is not entered."""
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
        (workspace / ".gitignore").write_text("*.log\nout/\n")
        (workspace / "sub" / ".gitignore").write_text("!keep.log\n/only/\n")

        assert _paths(workspace) == [
            ".gitignore",
            "a.py",
            "elsewhere/only/here.py",
            "sub/.gitignore",
            "sub/keep.log",
        ]

    def test_a_gitignore_with_nonsense_in_it_keeps_its_other_lines(self, workspace: Path) -> None:
        """Lines that git does not understand are passed over."""
        _write(workspace, "a.py", "b.log")
        (workspace / ".gitignore").write_bytes(b"!\n\xff\xfe\n*.log\n")

        assert _paths(workspace) == [".gitignore", "a.py"]

    def test_a_gitignore_that_is_a_folder_says_nothing(self, workspace: Path) -> None:
        """It cannot be read; the files beside it can."""
        _write(workspace, "a.py", ".gitignore/b.py")

        assert _paths(workspace) == [".gitignore/b.py", "a.py"]

    def test_links_are_not_followed(self, workspace: Path, tmp_path: Path) -> None:
        """Neither out of the workspace nor in a circle; a linked file is skipped by name."""
        _write(tmp_path, "outside/secret.py")
        _write(workspace, "a.py")
        (workspace / "loop").symlink_to(workspace)
        (workspace / "out").symlink_to(tmp_path / "outside")
        (workspace / "one.py").symlink_to(tmp_path / "outside" / "secret.py")
        (workspace / "broken.py").symlink_to("nowhere")

        listing = _listing(workspace)

        assert [file.path for file in listing.files] == ["a.py"]
        assert {(name, "a symbolic link") for name in ("broken.py", "loop", "one.py", "out")} == {
            *listing.skipped
        }

    def test_what_is_no_regular_file_is_skipped(self, workspace: Path) -> None:
        """A pipe would be waited for without end."""
        os.mkfifo(workspace / "pipe.py")

        assert _listing(workspace).skipped == [("pipe.py", "not a regular file")]

    def test_a_folder_that_cannot_be_read_is_skipped(self, workspace: Path) -> None:
        """Its neighbours are listed."""
        _write(workspace, "a.py", "locked/b.py")
        (workspace / "locked").chmod(0)

        with file_permissions_apply():
            listing = _listing(workspace)

        assert [file.path for file in listing.files] == ["a.py"]
        assert listing.skipped == [("locked/", "it cannot be read: Permission denied")]

    def test_a_file_that_cannot_even_be_looked_at_is_skipped(self, workspace: Path) -> None:
        """A folder that lists names and shows nothing of them."""
        _write(workspace, "half/b.py")
        (workspace / "half").chmod(0o600)

        with file_permissions_apply():
            (skipped,) = _listing(workspace).skipped

        assert skipped[0] == "half/b.py"
        assert "Permission denied" in skipped[1]

    def test_odd_names_become_text(self, workspace: Path) -> None:
        """Spaces, line ends and bytes that are not UTF-8 are all listed, each under a path."""
        raw = os.fsencode(workspace)
        for name in (b"a b.py", b"a\nb.py", b"\xff.py", "ü.py".encode()):
            Path(os.fsdecode(raw + b"/" + name)).write_text("x = 1\n")

        assert _paths(workspace) == ["a\nb.py", "a b.py", "ü.py", "\\xff.py"]
        for path in _paths(workspace):
            path.encode()

    def test_two_files_whose_paths_read_the_same_are_not_mixed(self, workspace: Path) -> None:
        """The second one is skipped, and said to be."""
        raw = os.fsencode(workspace)
        for name in (b"\xff.py", b"\\xff.py"):
            Path(os.fsdecode(raw + b"/" + name)).write_text("x = 1\n")

        listing = _listing(workspace)

        assert len(listing.files) == 1
        assert listing.skipped == [("\\xff.py", "another file's path reads the same")]

    def test_the_workspace_must_be_a_folder(self, workspace: Path) -> None:
        """A file, or nothing at all, is an error that names it."""
        with pytest.raises(WorkspaceError, match="nothing-here is not a folder"):
            _listing(workspace / "nothing-here")


class TestSelection:
    """What is passed over by its name, and what the settings say."""

    @pytest.mark.parametrize(
        ("path", "skipped", "reason"),
        [
            ("web/node_modules/a/b.js", "web/node_modules/", "fetched by a package manager"),
            (".venv/lib/a.py", ".venv/", "fetched by a package manager"),
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
            (".env", ".env", "it may hold secrets"),
            (".env.local", ".env.local", "it may hold secrets"),
            ("keys/server.PEM", "keys/server.PEM", "it may hold secrets"),
        ],
    )
    def test_obvious_files_are_passed_over(
        self, workspace: Path, path: str, skipped: str, reason: str
    ) -> None:
        """With a reason, a folder once for all its files."""
        _write(workspace, path, "a.py")
        listing = _listing(workspace)

        assert [file.path for file in listing.files] == ["a.py"]
        assert [(skipped, reason)] == listing.skipped

    @pytest.mark.parametrize(
        "settings",
        [
            Settings(exclude=("!.env", "!id_rsa", "!*.json")),
            Settings(include=(".env", "id_rsa", "*.json", "*.py")),
        ],
    )
    def test_no_setting_takes_a_key_file_back(self, workspace: Path, settings: Settings) -> None:
        """A workspace's globs cannot have keys indexed, and neither can the user's."""
        _write(workspace, ".env", "id_rsa", "credentials.json", "credentials.py")

        listing = list_files(workspace, settings)

        assert [file.path for file in listing.files] == ["credentials.py"]
        assert listing.skipped == [
            (path, "it may hold secrets") for path in (".env", "credentials.json", "id_rsa")
        ]

    @pytest.mark.parametrize(
        "path",
        [
            ".env.example",
            "min.js",
            "lock.py",
            "src/vendor/models.py",
            "a.git.py",
            "examples/third-party/a.py",
        ],
    )
    def test_names_that_only_look_like_it_are_listed(self, workspace: Path, path: str) -> None:
        """A word in a name is no proof."""
        _write(workspace, path)

        assert [path] == _paths(workspace)

    def test_a_vendor_folder_is_told_by_what_its_tool_leaves(self, workspace: Path) -> None:
        """Go and Composer leave a file in theirs."""
        _write(workspace, "vendor/modules.txt", "vendor/a/a.go", "main.go", "vendor2/a.go")

        listing = _listing(workspace)

        assert [file.path for file in listing.files] == ["main.go", "vendor2/a.go"]
        assert listing.skipped == [("vendor/", "vendored")]

    def test_include_and_exclude(self, workspace: Path, git: Callable[..., str]) -> None:
        """Globs as in .gitignore, the same with and without git."""
        _write(workspace, "a.py", "b.md", "docs/c.py", "docs/deep/d.py", "gen/e.py")
        expected = ["a.py", "docs/deep/d.py"]

        settings = {"include": ["*.py"], "exclude": ["docs/*", "!docs/deep/", "gen/"]}

        assert expected == _paths(workspace, **settings)
        git("init")
        assert expected == _paths(workspace, **settings)

    def test_an_excluded_folder_is_not_entered(self, workspace: Path) -> None:
        """Without git too it costs nothing, however much is in it."""
        _write(workspace, "a.py", "data/b.py")

        listing = _listing(workspace, exclude=["data/"])

        assert [file.path for file in listing.files] == ["a.py"]
        assert listing.skipped == [("data/", "excluded by the settings")]

    def test_an_exclusion_can_be_taken_back(self, workspace: Path, git: Callable[..., str]) -> None:
        """`!glob` wins over the built-in rules."""
        _write(workspace, "third_party/a.c", "yarn.lock", "node_modules/b.js")
        settings = {"exclude": ["!third_party/", "!yarn.lock"]}

        assert _paths(workspace, **settings) == ["third_party/a.c", "yarn.lock"]
        git("init")
        assert _paths(workspace, **settings) == ["third_party/a.c", "yarn.lock"]

    def test_large_files_are_skipped_unread(self, workspace: Path) -> None:
        """Fifty megabytes cost a look at their size."""
        with (workspace / "big.py").open("wb") as big:
            big.truncate(50_000_000)

        assert _listing(workspace).skipped == [
            ("big.py", "50,000,000 bytes, over max_file_bytes (1,000,000)")
        ]
        assert _paths(workspace, max_file_bytes=50_000_000) == ["big.py"]
