"""`contextkit index` over the workspaces that one meets."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine, Repository

In = Callable[[Path], "CommandLine"]


def skipped(contextkit: CommandLine) -> dict[str, str]:
    """What the code source passed over, and why."""
    return dict(contextkit.json("index", "code")["code"]["skipped"])


def test_it_says_what_was_done(contextkit: CommandLine) -> None:
    """A line for each source, on standard output."""
    result = contextkit("index")
    assert result.exit_code == 0
    # The documents are their source's.
    assert "documents: 2 added, 0 updated, 0 removed, 0 unchanged\n" in result.stdout
    assert "code: 1 added, 0 updated, 0 removed, 0 unchanged\n" in result.stdout
    lines = result.stdout.splitlines()
    assert any(line.startswith("commits: 2 added") for line in lines)
    # What it reads is indexed before it.
    assert lines[-1].startswith("entities: ")
    assert result.stderr == ""


def test_one_source_can_be_indexed_alone(contextkit: CommandLine) -> None:
    """The sources that are named, and only those."""
    assert list(contextkit.json("index", "commits", "commits")) == ["commits"]
    assert "Did you mean 'commits'?" in contextkit.line(2, "index", "commit")


def test_a_source_that_keeps_no_records_of_the_workspace_says_so(contextkit: CommandLine) -> None:
    """Asking for it is harmless."""
    result = contextkit("index", "memories")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "memories does not index the workspace" in result.stderr
    others = ",".join(name for name in contextkit.source_names() if name != "memories")
    nothing = contextkit("--disable", others, "index")
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert "no enabled source indexes the workspace" in nothing.stderr


def test_deleted_and_renamed_files_disappear(
    contextkit: CommandLine, repository: Repository
) -> None:
    """What is gone from the workspace is gone from the context."""
    contextkit("index")
    repository.git("mv", "budget.py", "shares.py")
    found = contextkit("assemble", "split budget", "--sources", "code").stdout
    assert "shares.py" in found
    assert "budget.py" not in found


def test_a_folder_that_is_no_repository(tmp_path: Path, elsewhere: In) -> None:
    """Files are indexed; that there is no history is no failure."""
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "ledger.py").write_text("def ledger():\n    return 'every expense'\n")
    here = elsewhere(folder)
    reports = here.json("index")
    assert reports["code"]["added"] == 1
    assert (reports["commits"]["added"], reports["commits"]["problem"]) == (0, None)
    result = here("assemble", "ledger of every expense")
    assert result.exit_code == 0
    assert "## Code" in result.stdout


def test_an_empty_folder(tmp_path: Path, elsewhere: In) -> None:
    """Nothing in, nothing out."""
    (tmp_path / "empty").mkdir()
    result = elsewhere(tmp_path / "empty")("assemble", "anything")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing relevant was found" in result.stderr


def test_a_repository_without_a_commit(
    new_repository: Callable[..., Repository], elsewhere: In
) -> None:
    """Its files are there, its history is empty."""
    repository = new_repository("young")
    (repository.folder / "ledger.py").write_text("def ledger():\n    return 'expenses'\n")
    reports = elsewhere(repository.folder).json("index")
    assert reports["code"]["added"] == 1
    assert (reports["commits"]["added"], reports["commits"]["problem"]) == (0, None)


def test_a_shallow_clone(repository: Repository, tmp_path: Path, elsewhere: In) -> None:
    """The commits that are there are indexed."""
    clone = tmp_path / "shallow"
    repository.git("clone", "--quiet", "--depth=1", repository.folder.as_uri(), str(clone))
    here = elsewhere(clone)
    reports = here.json("index")
    assert reports["commits"]["added"] == 1
    assert "Add a README" in here("assemble", "readme", "--sources", "commits").stdout


def test_a_bare_repository(repository: Repository, tmp_path: Path, elsewhere: In) -> None:
    """It has commits and no files."""
    clone = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(clone))
    here = elsewhere(clone)
    reports = here.json("index")
    assert reports["commits"]["added"] == 2
    assert reports["code"]["problem"] is None
    assert "## Commits" in here("assemble", "token budget", "--no-index").stdout


def test_a_submodule(
    repository: Repository, new_repository: Callable[..., Repository], elsewhere: In
) -> None:
    """A repository with another one in it is indexed; nothing fails."""
    outer = new_repository("outer")
    outer.commit("Begin", {"own.py": "def own_ledger():\n    return 1\n"})
    outer.git("submodule", "--quiet", "add", str(repository.folder), "inner")
    outer.commit("Add the submodule", {})
    here = elsewhere(outer.folder)
    reports = here.json("index")
    assert {report["problem"] for report in reports.values()} == {None}
    assert "own.py" in here("assemble", "own ledger", "--sources", "code").stdout


@pytest.mark.parametrize(
    "name", [b"with space.py", b"new\nline.py", b"quo'te\".py", b"\xff\xfe.py", "línea.py".encode()]
)
def test_file_names_of_any_bytes(
    contextkit: CommandLine, repository: Repository, name: bytes
) -> None:
    """They are indexed, found and printed, on one line each."""
    path = os.fsencode(repository.folder) + b"/" + name
    with open(path, "wb") as file:  # noqa: PTH123 - the name is bytes
        file.write(b"def peculiar_name():\n    return 'ledger'\n")
    (repository.folder / "other.txt").write_text("a commit of one file would be a duplicate of it")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "Add a peculiar name")
    ran = contextkit.process("assemble", "peculiar_name", "--sources", "code,commits")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"def peculiar_name" in ran.stdout
    assert b"Add a peculiar name" in ran.stdout
    assert contextkit("assemble", "peculiar_name", "--json").exit_code == 0


def test_files_that_are_not_what_they_seem(contextkit: CommandLine, repository: Repository) -> None:
    """A syntax error, a binary, a huge file and a symlink loop cost at most themselves."""
    folder = repository.folder
    (folder / "wrong.py").write_text("def half_done(:\n    return 'unfinished ledger'\n")
    (folder / "binary.py").write_bytes(bytes(range(256)) * 40)
    with (folder / "huge.py").open("wb") as huge:
        huge.truncate(50 * 2**20)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "self").symlink_to(folder, target_is_directory=True)
    (folder / "gone.py").symlink_to(folder / "nowhere.py")
    passed_over = skipped(contextkit)
    assert "binary.py" in passed_over
    assert "huge.py" in passed_over
    found = contextkit("assemble", "unfinished ledger", "--sources", "code")
    assert found.exit_code == 0
    assert "wrong.py" in found.stdout


def test_the_first_few_that_were_passed_over_are_named(
    contextkit: CommandLine, repository: Repository
) -> None:
    """A person gets five names and the number of the rest; JSON has all."""
    for number in range(8):
        (repository.folder / f"binary{number}\n.py").write_bytes(bytes(range(256)) * 40)
    shown = contextkit("index", "code")
    assert shown.exit_code == 0
    assert shown.stdout.count("  skipped '") == 5
    assert r"skipped 'binary0\n.py': " in shown.stdout
    assert "  and 3 more skipped (--json has all)" in shown.stdout
    assert len(skipped(contextkit)) == 8


def test_what_git_ignores_is_left_out(contextkit: CommandLine, repository: Repository) -> None:
    """`.gitignore` is honoured."""
    repository.commit("Ignore", {".gitignore": "secret.py\n"})
    (repository.folder / "secret.py").write_text("def secret_ledger():\n    return 1\n")
    found = contextkit("assemble", "secret_ledger", "--sources", "code").stdout
    assert "def secret_ledger" not in found


def test_two_indexing_at_once(contextkit: CommandLine, repository: Repository) -> None:
    """Both end well, and everything is there once."""
    for number in range(30):
        (repository.folder / f"part{number}.py").write_text(f"def part{number}():\n    return 1\n")
    both = [
        subprocess.Popen(
            contextkit.command("index", "code"),
            cwd=contextkit.folder,
            env=contextkit.variables(),
            stdout=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    assert [each.wait(60) for each in both] == [0, 0]
    assert contextkit.json("index", "code")["code"]["unchanged"] == 33
