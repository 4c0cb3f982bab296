"""A bare repository that came with a clone: its settings name programs, and none of them runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contextkit.testing import Git
from contextkit.workspace.find import Workspace, find_workspace

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine, Repository

EVENT = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "s1",
    "prompt": "what did I change in the tide?",
}
COMMANDS: dict[str, Sequence[str]] = {
    "hook": ("hook",),
    "assemble": ("assemble", "git status: what did I change in the tide?"),
    "explain": ("explain", "git status: what did I change in the tide?"),
    "doctor": ("doctor",),
    "sources": ("sources", "--health"),
    "report": ("report", "git status: what did I change in the tide?", "--html", "PAGE"),
    "index": ("index",),
    "init": ("init",),
}


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """What a program of the repository would make."""
    return tmp_path / "canary"


@pytest.fixture
def embedded(new_repository: Callable[..., Repository], tmp_path: Path, canary: Path) -> Path:
    """A folder of a clone that git takes for a repository with a work tree and a filter."""
    stranger = new_repository("stranger")
    stranger.commit("Begin", {"tide.py": "def tide():\n    return 1\n"})
    inner = stranger.folder / "fx"
    inner.mkdir()
    Git(inner)("init", "-q", "-b", "main")
    (inner / "a.py").write_text("a = 1\n")
    (inner / ".gitattributes").write_text("*.py filter=x\n")
    Git(inner)("add", ".")
    Git(inner)("commit", "-qm", "Inside")
    for part in list((inner / ".git").iterdir()):
        part.rename(inner / part.name)
    (inner / ".git").rmdir()
    program = f'sh -c \\"touch {canary}; cat\\"'
    (inner / "config").write_text(
        f"[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\n"
        f'[filter "x"]\nclean = "{program}"\n'
    )
    for kept in ("objects", "refs"):
        (inner / kept / "kept").write_text("")
    stranger.commit("Bring it", {})
    stranger.git("clone", "-q", str(stranger.folder), str(tmp_path / "clone"))
    folder = tmp_path / "clone" / "fx"
    (folder / "a.py").write_text("a = 2\n")
    return folder


def test_plain_git_runs_its_program(embedded: Path, canary: Path) -> None:
    """Otherwise the tests below would show nothing."""
    Git(embedded)("status", check=False)
    assert canary.exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_runs_its_program(
    contextkit: CommandLine, embedded: Path, canary: Path, name: str
) -> None:
    """A user who stands in its folder works with the clone around it."""
    contextkit.folder = embedded
    event = json.dumps({**EVENT, "cwd": str(embedded)})
    if name == "hook":
        ran = contextkit.process(*COMMANDS[name], given=event.encode())
        assert (ran.returncode, ran.stderr) == (0, b"")
    else:
        page = str(canary.with_name("page.html"))
        result = contextkit(*(page if word == "PAGE" else word for word in COMMANDS[name]))
        assert result.exit_code in {0, 1}, result.stderr
        assert "Traceback" not in result.stderr
    assert not canary.exists()


def test_the_clone_around_it_is_the_workspace(embedded: Path) -> None:
    """Also where the repository's folders are elsewhere, which a file of it names."""
    assert find_workspace(embedded) == Workspace(embedded.parent)
    assert find_workspace(embedded / "refs") == Workspace(embedded.parent)
    for part in ("objects", "refs"):
        (embedded / part).rename(embedded.parent / part)
    (embedded / "commondir").write_text("..\n")
    assert find_workspace(embedded) == Workspace(embedded.parent)


def test_it_is_not_used_where_settings_make_it_a_workspace(
    contextkit: CommandLine, embedded: Path, canary: Path
) -> None:
    """The error says why; nothing of it is run or indexed as history."""
    (embedded / "contextkit.toml").touch()
    contextkit.folder = embedded
    told = contextkit("index")
    doctor = contextkit("doctor")
    assert "is a bare repository inside the work tree" in " ".join(told.stderr.split())
    assert "is a bare repository inside the work tree" in " ".join(doctor.stdout.split())
    assert not canary.exists()


def test_settings_that_lead_out_of_their_folder_are_refused(
    contextkit: CommandLine, tmp_path: Path
) -> None:
    """What they lead to is not read, so that no error can show it."""
    (tmp_path / "private").write_text("password = 'hunter2'\n")
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "contextkit.toml").symlink_to("../private")
    contextkit.folder = folder
    line = contextkit.line(1, "sources")
    assert "symbolic link that points out of its folder" in line
    assert "hunter2" not in line
    (folder / "contextkit.toml").unlink()
    (folder / "own.toml").write_text("[assemble]\nlimit = 3\n")
    (folder / "contextkit.toml").symlink_to("own.toml")
    assert contextkit("sources").exit_code == 0


def test_a_table_that_is_elsewhere_is_none(tmp_path: Path) -> None:
    """A `pyproject.toml` may be a link to another folder's: that is somebody else's."""
    (tmp_path / "pyproject.toml").write_text("[tool.contextkit.assemble]\nlimit = 3\n")
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / ".git").mkdir()
    (folder / "pyproject.toml").symlink_to("../pyproject.toml")
    assert find_workspace(folder) == Workspace(folder)
