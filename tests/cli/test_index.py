"""`contextkit index` over the workspaces that one meets."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

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
    assert "no source that is on indexes anything" in nothing.stderr


def test_a_folder_that_is_no_repository(tmp_path: Path, elsewhere: In) -> None:
    """Files are indexed; that there is no history is no failure, nor that there is nothing."""
    folder = tmp_path / "plain"
    folder.mkdir()
    assert "nothing relevant was found" in elsewhere(folder)("assemble", "anything").stderr
    (folder / "ledger.py").write_text("def ledger():\n    return 'every expense'\n")
    here = elsewhere(folder)
    reports = here.json("index")
    assert reports["code"]["added"] == 1
    assert (reports["commits"]["added"], reports["commits"]["problem"]) == (0, None)
    result = here("assemble", "ledger of every expense")
    assert result.exit_code == 0
    assert "## Code" in result.stdout


def test_file_names_of_any_bytes(contextkit: CommandLine, repository: Repository) -> None:
    """They are indexed, found and printed, on one line each."""
    names = (b"with space.py", b"new\nline.py", b"quo'te\".py", b"\xff\xfe.py", "línea.py".encode())
    for number, name in enumerate(names):
        path = os.fsencode(repository.folder) + b"/" + name
        with open(path, "wb") as file:  # noqa: PTH123 - the name is bytes
            file.write(b"def peculiar_name_%d():\n    return 'ledger'\n" % number)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "Add peculiar names")
    ran = contextkit.process("assemble", "peculiar_name", "--sources", "code,commits")
    assert (ran.returncode, ran.stderr) == (0, b"")
    for number in range(len(names)):
        assert b"def peculiar_name_%d" % number in ran.stdout
    assert b"Add peculiar names" in ran.stdout
    assert contextkit("assemble", "peculiar_name", "--json").exit_code == 0


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
