"""The workspace that a folder is in is found, and so is the file with its settings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from contextkit.errors import WorkspaceError
from contextkit.workspace.find import Workspace, find_workspace


def git(*arguments: str | Path) -> None:
    """Run git, quietly."""
    subprocess.run(["git", *map(str, arguments)], check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder two levels below one that may be a workspace's root."""
    folder = tmp_path / "root" / "src" / "package"
    folder.mkdir(parents=True)
    return folder


def test_a_repository_is_a_workspace(folder: Path) -> None:
    """The nearest folder upwards with a git repository is the root."""
    root = folder.parents[1]
    git("init", root)
    assert find_workspace(folder) == Workspace(root)


def test_a_bare_repository_is_a_workspace(folder: Path) -> None:
    """A repository without a work tree counts too."""
    git("init", "--bare", folder)
    assert find_workspace(folder) == Workspace(folder)


def test_a_worktree_is_a_workspace(folder: Path) -> None:
    """In a linked work tree or a submodule `.git` is a file."""
    (folder / ".git").write_text("gitdir: elsewhere")
    assert find_workspace(folder) == Workspace(folder)


def test_its_settings_make_a_folder_a_workspace(folder: Path) -> None:
    """A `contextkit.toml` is nearer than the repository that it is in."""
    git("init", folder.parents[1])
    settings = folder.parent / "contextkit.toml"
    settings.touch()
    assert find_workspace(folder) == Workspace(folder.parent, settings)


def test_a_table_in_pyproject_makes_a_folder_a_workspace(folder: Path) -> None:
    """`[tool.contextkit]` is as good as a file of its own, and a file of its own is stronger."""
    pyproject = folder / "pyproject.toml"
    pyproject.write_text("[tool.contextkit.assemble]\nlimit = 3\n")
    assert find_workspace(folder) == Workspace(folder, pyproject)
    (folder / "contextkit.toml").touch()
    assert find_workspace(folder) == Workspace(folder, folder / "contextkit.toml")


@pytest.mark.parametrize(
    "text",
    [
        "[project]\nname = 'contextkit-fan'\n",
        "tool = 'contextkit'\n",
        "# contextkit\n[project\n",
        "[tool.other]\ncontextkit = 1\n",
    ],
)
def test_somebody_elses_pyproject_is_passed_over(folder: Path, text: str) -> None:
    """A `pyproject.toml` without the table is none of ours, whatever is wrong with it."""
    (folder / "pyproject.toml").write_text(text)
    assert find_workspace(folder) == Workspace(folder)


@pytest.mark.parametrize(
    "text", ["[tool.contextkit]\nlimit =\n", "[ tool . contextkit.assemble ]\n["]
)
def test_a_broken_pyproject_with_our_table_is_not_passed_over(folder: Path, text: str) -> None:
    """Settings that are there and cannot be read are not lost in silence."""
    (folder / "pyproject.toml").write_text(text)
    assert find_workspace(folder) == Workspace(folder, folder / "pyproject.toml")


def test_an_unreadable_pyproject_is_passed_over(folder: Path) -> None:
    """A folder of that name is no file, and a file that cannot be read is somebody else's."""
    pyproject = folder / "pyproject.toml"
    pyproject.mkdir()
    assert find_workspace(folder) == Workspace(folder)
    pyproject.rmdir()
    pyproject.symlink_to("/proc/self/mem")  # reading it fails, also for root
    assert find_workspace(folder) == Workspace(folder)


def test_a_folder_without_anything_is_its_own_workspace(folder: Path) -> None:
    """No repository, no settings: the folder itself."""
    assert find_workspace(folder) == Workspace(folder)


def test_the_root_is_resolved(folder: Path, tmp_path: Path) -> None:
    """A link to a workspace is that workspace, not a second one."""
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert find_workspace(link) == Workspace(folder)


def test_no_such_folder(tmp_path: Path) -> None:
    """The error names the folder that was asked for."""
    with pytest.raises(WorkspaceError, match=r"cannot read the workspace at .*nowhere"):
        find_workspace(tmp_path / "nowhere")


def test_a_file_is_no_workspace(tmp_path: Path) -> None:
    """The error says what to name instead."""
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(WorkspaceError, match="file is not a folder; name the workspace's root"):
        find_workspace(file)


@pytest.mark.parametrize("name", ["a\0b", "~nobody-of-that-name/x", "x" * 5000])
def test_a_path_that_cannot_be_one(name: str) -> None:
    """An impossible path is an error in words."""
    with pytest.raises(WorkspaceError, match="cannot read the workspace"):
        find_workspace(Path(name))


def test_links_in_a_loop(tmp_path: Path) -> None:
    """A link to itself is an error in words."""
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(WorkspaceError, match="cannot read the workspace"):
        find_workspace(loop)
