"""`contextkit memories check`, through the real command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

import contextkit_memories
from contextkit.testing import CommandLine, command_line, open_kit, printed_json
from contextkit.testing.repositories import Git, own_git
from contextkit_memories import MemoryBook
from contextkit_memories.checking import check

PLUGIN = Path(__file__).parent.parent

SECRET = "tidal" + "99"

LOGIN = "\n".join(
    ["def validate_token(token):", *(f"    token = step_{n}(token)" for n in range(9)), ""]
)


@pytest.fixture
def git(tmp_path: Path) -> Iterator[Git]:
    """A repository with a module and its caller, of long ago."""
    folder = tmp_path / "workspace"
    (folder / "src/auth").mkdir(parents=True)
    with own_git(folder) as git:
        git("init", "-q")
        (folder / "src/auth/login.py").write_text(LOGIN)
        (folder / "src/main.py").write_text("print(validate_token(1))\n")
        git("add", "-A")
        git("commit", "-qm", "Begin")
        yield git


@pytest.fixture
def run(git: Git) -> Iterator[CommandLine]:
    """The command line in the repository, with this plugin alone."""
    with command_line(git.folder, PLUGIN, CONTEXTKIT_PROJECT="demo") as opened:
        yield opened


def renamed(git: Git) -> str:
    """Rename the function and move its folder in one commit."""
    git("mv", "src/auth", "src/session")
    for path in ("src/session/login.py", "src/main.py"):
        file = git.folder / path
        file.write_text(file.read_text().replace("validate_token", "verify_token"))
    git("commit", "-qam", "Rename")
    return git("rev-parse", "--short", "HEAD").strip()


def test_what_is_gone_is_listed_with_its_commit_and_new_name(git: Git, run: CommandLine) -> None:
    """And with the commands that mend or delete the memory, which nothing else changes."""
    text = "Login: `src/auth/login.py` in src/auth/ calls validate_token()"
    run("remember", text)
    assert run("memories", "check").stdout == "0 of 1 memories are outdated.\n"
    sha = renamed(git)
    before = printed_json(run("memories", "list", "--json"))
    (memory,) = before
    day = git("log", "-1", "--format=%cs").strip()
    since = f"is gone since {sha} of {day}; it may be"
    lines = run("memories", "check").stdout.splitlines()
    assert lines[0].startswith(memory["id"])
    assert lines[1:4] == [
        f"  src/auth/login.py {since} src/session/login.py now",
        f"  src/auth/ {since} src/session/ now",
        f"  validate_token {since} verify_token now",
    ]
    mended = "Login: `src/session/login.py` in src/session/ calls verify_token()"
    assert lines[4:] == [
        f"  $ contextkit remember '{mended}' --replaces {memory['id']}",
        f"  $ contextkit memories end {memory['id']}",
        "1 of 1 memories are outdated.",
    ]
    assert printed_json(run("memories", "list", "--json")) == before


def test_json_has_every_field(git: Git, run: CommandLine) -> None:
    """A commit that is no longer in the history has neither date nor new name."""
    git("commit", "-q", "--allow-empty", "-m", "Sort")
    sha = git("rev-parse", "HEAD").strip()
    memory = printed_json(run("remember", f"Sorted since {sha}", "--json"))
    git("reset", "-q", "--hard", "HEAD^")
    report = printed_json(run("memories", "check", "--json"))
    (outdated,) = report.pop("outdated")
    assert report == {"checked": 1, "anchored": 0, "left": 0}
    assert outdated["memory"]["id"] == memory["id"]
    assert outdated["commands"] == [f"contextkit memories end {memory['id']}"]
    assert outdated["broken"] == [
        {"kind": "commit", "text": sha, "since": None, "date": None, "now": None}
    ]


def test_a_change_that_is_not_committed_has_no_commit(git: Git, run: CommandLine) -> None:
    """It is gone all the same."""
    run("remember", "Login is in src/auth/login.py")
    (git.folder / "src/auth/login.py").unlink()
    assert "  src/auth/login.py is gone\n" in run("memories", "check").stdout


def test_a_memory_of_an_earlier_version_is_looked_up_at_its_date(
    git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it mentions is remembered, so the next check does not look again; the text stays."""
    with open_kit(git.folder, {"memories": contextkit_memories}) as kit:
        earlier = MemoryBook(evolve(kit.records("memories"), checkout=None))
        text = f"See src/auth/login.py and `validate_token`, not verify_token; password={SECRET}"
        memory = earlier.remember(text)
        assert memory.anchors is None
        monkeypatch.setenv("GIT_COMMITTER_DATE", "2050-01-01T00:00:00Z")
        renamed(git)
        book = MemoryBook.of(kit)
        reports = [check(book, git.folder) for _ in range(2)]
        assert [report.anchored for report in reports] == [1, 0]
        assert book.get(memory.id).text == text
        for report in reports:
            (outdated,) = report.outdated
            assert [each.text for each in outdated.broken] == [
                "src/auth/login.py",
                "validate_token",
            ]


def test_markdown_files_and_edits_keep_what_is_looked_up(git: Git, run: CommandLine) -> None:
    """What a text no longer mentions is not reported; what an edit adds is looked up."""
    memory = printed_json(run("remember", "Login: src/auth/login.py, see src/main.py", "--json"))
    folder = git.folder.parent / "files"
    run("memories", "export", "--markdown", str(folder))
    (file,) = folder.iterdir()
    assert "anchors" not in file.read_text()
    file.write_text(file.read_text().replace(", see src/main.py", ""))
    assert run("memories", "import", str(folder)).exit_code == 0
    renamed(git)
    (git.folder / "src/main.py").unlink()
    (outdated,) = printed_json(run("memories", "check", "--json"))["outdated"]
    assert [each["text"] for each in outdated["broken"]] == ["src/auth/login.py"]
    run("memories", "edit", memory["id"], "--text", "Login: verify_token()")
    assert run("memories", "check").stdout == "0 of 1 memories are outdated.\n"
    (git.folder / "src/session/login.py").unlink()
    assert "  verify_token is gone\n" in run("memories", "check").stdout
