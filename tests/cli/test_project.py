"""`contextkit project`, and what other commands say of a name that is another folder's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from contextkit.cli.failures import ExitCode
from contextkit.testing import Git
from tests.cli.conftest import CommandLine

Elsewhere = Callable[..., CommandLine]


@pytest.fixture
def clone(contextkit: CommandLine, elsewhere: Elsewhere, tmp_path: Path) -> CommandLine:
    """A folder whose file names the project that the repository has used already."""
    (contextkit.folder / "contextkit.toml").write_text('project = "ledger"\n')
    assert contextkit("remember", "the ledger closes at noon").exit_code == 0
    folder = tmp_path / "clone"
    folder.mkdir()
    (folder / "contextkit.toml").write_text('project = "ledger"\n')
    return elsewhere(folder)


def test_a_clone_does_not_see_what_another_folder_remembers(clone: CommandLine) -> None:
    """The command goes on with the folder's own records, and says once what to do."""
    result = clone("assemble", "when does the ledger close?")
    assert (result.exit_code, "noon" in result.stdout) == (0, False)
    assert result.stderr.count("contextkit project link ledger") == 1


def test_after_the_link_it_does(contextkit: CommandLine, clone: CommandLine) -> None:
    """The user's act, by the name; then nothing is said any more."""
    assert clone.json("project", "link", "ledger")["folders"] == [
        str(contextkit.folder),
        str(clone.folder),
    ]
    result = clone("assemble", "when does the ledger close?")
    assert "closes at noon" in result.stdout
    assert "project link" not in result.stderr
    assert clone.json("project", "unlink", "ledger") == {"unlinked": True}
    assert "noon" not in clone("assemble", "when does the ledger close?").stdout


def test_only_the_name_of_the_file_can_be_linked(clone: CommandLine) -> None:
    """A mistyped name is no link to a project that nobody meant."""
    said = clone.line(2, "project", "link", "leger")
    assert "do not name 'leger', it names 'ledger'" in said


def test_show_and_list_tell_whose_the_name_is(contextkit: CommandLine, clone: CommandLine) -> None:
    """What the records belong to, why, and who shares it."""
    shown = clone.json("project", "show")
    assert (shown["project"], shown["name"]) == (str(clone.folder), "ledger")
    assert str(contextkit.folder) in shown["problem"]
    assert clone.json("project", "list") == [
        {"project": "name:ledger", "name": "ledger", "folders": [str(contextkit.folder)]}
    ]
    assert "project: name:ledger" in contextkit("project", "show").stdout


def test_show_says_why(contextkit: CommandLine, elsewhere: Elsewhere, tmp_path: Path) -> None:
    """Git, a link, the path or a name; and it counts records, not what the lists show."""

    def why(folder: Path) -> str:
        return str(elsewhere(folder).json("project", "show")["why"])

    plain, git = tmp_path / "plain", tmp_path / "git"
    plain.mkdir()
    assert why(plain) == "the folder's path, as git does not track it"
    git.mkdir()
    Git(git)("init", "--quiet")
    assert why(git) == "the folder's path, as git shows no first commit"
    Git(git)("commit", "--quiet", "--allow-empty", "-m", "Begin")
    assert why(git) == "git's first commit"
    assert elsewhere(plain)("project", "link", str(git)).exit_code == 0
    assert why(plain) == "a link; `contextkit project unlink` removes it"
    assert elsewhere(git)("project", "unlink").exit_code == 0
    assert why(git) == "the folder's path, as it is not linked to its repository's project"
    (plain / "contextkit.toml").write_text('project = "ledger"\n')
    assert why(plain) == f"the name in {plain / 'contextkit.toml'}:1"
    assert elsewhere(plain)("remember", "the ledger closes at noon").exit_code == 0
    assert "\nstored records: 1 memories\n" in elsewhere(plain)("project", "show").stdout


def test_doctor_warns_of_it_and_claims_no_name(clone: CommandLine, home: Path) -> None:
    """It names the command to run; of a name that is free it takes none."""
    findings = {
        row["part"]: row for row in json.loads(clone("doctor", "--json").stdout)["findings"]
    }
    assert findings["project"]["state"] == "warning"
    assert "contextkit project link ledger" in findings["project"]["remedy"]
    (clone.folder / "contextkit.toml").write_text('project = "free"\n')
    clone("doctor")
    assert [row["name"] for row in clone.json("project", "list")] == ["ledger"]


def test_a_hook_says_it_in_its_log_alone(clone: CommandLine, home: Path) -> None:
    """An agent is told nothing of it, and of the other folder's records nothing either."""
    for name in ("SessionStart", "UserPromptSubmit"):
        event = {
            "hook_event_name": name,
            "session_id": "s1",
            "cwd": str(clone.folder),
            "prompt": "when does the ledger close?",
        }
        done = clone.with_variables(
            CONTEXTKIT_HOOKS_RESIDENT="no", CONTEXTKIT_HOOKS_TIMEOUT="30"
        ).process("hook", given=json.dumps(event).encode())
        assert json.loads(done.stdout) == {"context": "", "items": []}
        assert done.stderr == b""
    notes = [json.loads(line) for line in (home / "hooks/hooks.log").read_text().splitlines()]
    assert [note["event"] for note in notes] == ["project_name_not_used"]


def test_records_move_to_this_folders_project(
    contextkit: CommandLine, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    """Those of a folder that is gone, too; a second time there is no such project."""
    old = tmp_path / "old"
    old.mkdir()
    assert elsewhere(old)("remember", "the ledger closes at noon").exit_code == 0
    old.rmdir()
    assert contextkit.json("project", "move", str(old))["moved"] == 1
    assert "closes at noon" in contextkit("memories", "list").stdout
    assert "no project is called" in contextkit.line(5, "project", "move", str(old))
    assert "are the same project" in contextkit.line(2, "project", "move", str(contextkit.folder))


@pytest.mark.parametrize(
    "arguments", [("move", "leger"), ("move", "git:leger"), ("forget", "leger", "--yes")]
)
def test_a_mistyped_project_is_refused(contextkit: CommandLine, arguments: list[str]) -> None:
    """Before anything moves or is deleted, also where it is the one to move to."""
    said = contextkit.line(5, "project", *arguments)
    assert said == (f"no project is called '{arguments[1]}'; `contextkit project list` shows them")
    assert contextkit("remember", "the ledger closes at noon").exit_code == 0
    assert "'leger'" in contextkit.line(5, "project", "move", str(contextkit.folder), "leger")
    assert "noon" in contextkit("memories", "list").stdout


def test_forget_deletes_a_project_after_a_question(
    contextkit: CommandLine, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    """It says what it deletes, and nothing is deleted without a yes."""
    old = tmp_path / "old"
    old.mkdir()
    there = elsewhere(old)
    assert there("remember", "the ledger closes at noon").exit_code == 0
    refused = contextkit("project", "forget", str(old))
    assert refused.exit_code == ExitCode.INTERRUPTED
    assert "Delete 1 memories of" in refused.stderr
    assert "noon" in there("memories", "list").stdout
    assert contextkit.json("project", "forget", str(old), "--yes")["deleted"] == {"memories": 1}
    assert "noon" not in there("memories", "list").stdout


def test_hand_made_records_follow_the_repository(elsewhere: Elsewhere, tmp_path: Path) -> None:
    """Of a source that also indexes code, too: what people wrote is the project's."""
    folder, tree = tmp_path / "plain", tmp_path / "tree"
    folder.mkdir()
    assert elsewhere(folder)("entities", "add", "Ada", "--type", "person").exit_code == 0
    git = Git(folder)
    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "-m", "Begin")
    git("worktree", "add", "--quiet", str(tree), "-b", "tree")
    listed = elsewhere(tree)("entities", "list")
    assert "Ada" in listed.stdout
    assert "contextkit: 1 record of this folder moved to the project of its repo" in listed.stderr
    shown = elsewhere(tree)("project", "show").stdout
    assert f"took over the records of {folder}" in shown
    assert str(folder) in elsewhere(tree)("doctor").stdout


def test_a_shallow_clone_that_is_completed_joins_its_repository(
    elsewhere: Elsewhere, tmp_path: Path
) -> None:
    """Its records move, a folder that was linked to it follows, and a new clone shares them."""
    origin, shallow, linked, full = (tmp_path / name for name in ("o", "shallow", "linked", "full"))
    origin.mkdir()
    linked.mkdir()
    git = Git(origin)
    git("init", "--quiet")
    for message in ("Begin", "Go on"):
        git("commit", "--quiet", "--allow-empty", "-m", message)
    git("clone", "--quiet", "--depth", "1", origin.as_uri(), str(shallow))
    assert elsewhere(shallow)("remember", "the ledger closes at noon").exit_code == 0
    assert elsewhere(linked)("project", "link", str(shallow)).exit_code == 0
    assert elsewhere(shallow).json("project", "show")["project"] == str(shallow)

    Git(shallow)("fetch", "--quiet", "--unshallow")
    git("clone", "--quiet", origin.as_uri(), str(full))

    assert elsewhere(full).json("project", "show")["project"].startswith("git:")
    for folder in (shallow, linked, full):
        assert "noon" in elsewhere(folder)("memories", "list").stdout
    (project,) = elsewhere(full).json("project", "list")
    assert {*project["folders"]} == {str(shallow), str(linked), str(full)}
