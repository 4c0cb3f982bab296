"""A repository can name programs in many ways; contextkit runs none of them.

Each way is set up in a real repository, with a canary that its program touches. Then a user's
commands run: index, assemble, doctor. Where plain git would run the program, that is shown.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import contextkit_code
import contextkit_commits
import contextkit_documents
import contextkit_workspace
from contextkit.cli.checks.surroundings import git_findings
from contextkit.testing import open_kit, own_git, wait_until
from contextkit.workspace.facts import workspace_facts
from contextkit.workspace.git import COMMANDS, Git as SafeGit
from contextkit.workspace.repository import place_of
from tests.workspace.strange import WAYS, Strange

PLUGINS = {
    "code": contextkit_code,
    "commits": contextkit_commits,
    "documents": contextkit_documents,
    "workspace": contextkit_workspace,
}


@pytest.fixture
def strange(tmp_path: Path) -> Iterator[Strange]:
    """A repository with one commit."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    canary, program = tmp_path / "canary", tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{canary}"\n')
    program.chmod(0o755)
    with own_git(folder) as git:
        git("init", "-q", "-b", "main")
        (folder / "a.py").write_text("def tide():\n    return 1\n")
        (folder / "README.md").write_text("# Tide\n\nIt comes and goes.\n")
        git("add", ".")
        git("commit", "-qm", "Begin the tide")
        (folder / "a.py").write_text("def tide():\n    return 2\n")
        (folder / "new.py").write_text("x = 1\n")
        yield Strange(git, program, canary)


async def use(folder: Path) -> str:
    """What a user's commands do: index, assemble, init, doctor; returns the context's text."""
    with open_kit(folder, PLUGINS, settings={"embedding.model": "none"}) as kit:
        kit.index()
        context = await kit.assemble_context(
            "git status: what did I change in tide?", list(PLUGINS), max_tokens=2000
        )
    list(git_findings(folder))
    workspace_facts(folder)
    for command in (("show", "HEAD"), ("log", "-p", "-1")):
        SafeGit(folder).run(*command, check=False)
    return context.markdown


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
@pytest.mark.parametrize("way", WAYS)
async def test_no_program_that_a_repository_names_runs(
    strange: Strange, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Neither for the sources nor for doctor; and the repository is used all the same."""
    set_up, plain = WAYS[way]
    set_up(strange)
    monkeypatch.chdir(strange.folder)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")

    text = await use(strange.folder)

    assert not strange.canary.exists(), strange.canary.read_text()
    assert "Begin the tide" in text
    assert "changed, not staged" in text
    if plain is not None:
        strange.git(*plain, check=False)
        assert strange.canary.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
@pytest.mark.parametrize("name", [".git", ".git/config", ".git/HEAD", ".git/shallow"])
async def test_a_pipe_in_place_of_a_file_of_git_is_not_waited_for(
    strange: Strange, name: str
) -> None:
    """An archive can bring one; the files are found without git."""
    path = strange.folder / name
    if path.exists():
        path.rename(strange.folder.parent / "moved")
    os.mkfifo(path)
    with open_kit(strange.folder, PLUGINS, settings={"embedding.model": "none"}) as kit:
        kit.index()
        assert "def tide" in (await kit.assemble_context("tide")).markdown


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_pipe_in_place_of_a_submodule_s_settings_is_not_waited_for(strange: Strange) -> None:
    """Nor is a device read that never ends."""
    modules = strange.folder / ".git/modules/inner"
    for folder in (strange.folder / "inner", modules / "objects", modules / "refs"):
        folder.mkdir(parents=True)
    strange.write("inner/.git", "gitdir: ../.git/modules/inner")
    strange.write(".git/modules/inner/HEAD", "ref: refs/heads/main")
    os.mkfifo(modules / "config")
    assert place_of(strange.folder / "inner").repository is None


@pytest.mark.skipif(sys.platform != "linux", reason="processes are not shown as files there")
def test_git_ends_with_the_process_that_started_it(strange: Strange) -> None:
    """A thread that looks ahead may have started it, and is not waited for."""
    pipe = strange.folder / ".gitignore"
    os.mkfifo(pipe)
    program = """
import sys, threading
from contextkit.workspace import git
arguments = ("ls-files", "--others", "--exclude-standard")
threading.Thread(target=git.Git(sys.argv[1]).run, args=arguments, daemon=True).start()
while not git._running:
    pass
[process] = git._running
print(process.pid)
"""
    command = [sys.executable, "-c", program, str(strange.folder)]
    try:
        # Git waits until somebody writes to the pipe.
        ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
        wait_until(lambda: not _is_alive(int(ran.stdout)), "git's end")
    finally:
        os.close(os.open(pipe, os.O_RDWR))


def _is_alive(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


async def test_a_repository_whose_work_tree_is_elsewhere_shows_nothing_of_it(
    strange: Strange, tmp_path: Path
) -> None:
    """`core.worktree` may name any folder: neither names nor files of that one are seen."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "private_tide.py").write_text("private = 1\n")
    strange.git("config", "core.worktree", str(elsewhere))
    assert "private_tide.py" in strange.git("ls-files", "--others")
    text = await use(strange.folder)
    assert "private" not in text
    assert "a.py" in text
    assert workspace_facts(strange.folder).files == 3


# -- the module -----------------------------------------------------------------------------


def test_commands_that_write_are_refused(strange: Strange) -> None:
    """The error names those that are not."""
    git = SafeGit(strange.folder)
    for command in ("add", "checkout", "fetch", "blame", "-c"):
        with pytest.raises(
            ValueError, match=rf"reading git commands \(cat-file, .*got '{command}'"
        ):
            git.run(command)
    assert git.run("version").text.startswith("git version")


@pytest.mark.parametrize(
    "command",
    [
        ("diff",),
        ("diff", "HEAD"),
        ("diff-files", "-p"),
        ("grep", "--untracked", "-e", ""),
        ("grep", "-e", "", "HEAD"),
        ("ls-files", "-cm"),
        ("show", "HEAD"),
    ],
)
def test_what_a_plugin_asks_is_as_safe(strange: Strange, command: Sequence[str]) -> None:
    """Every command of the module, not only those that the sources of this project use."""
    strange.write(".gitattributes", "*.py filter=x diff=x\n")
    strange.configure(
        '[filter "x"]\nclean = PROGRAM\nrequired\n[diff]\nexternal = PROGRAM\n'
        '[diff "x"]\ncommand = PROGRAM\ntextconv = PROGRAM\n[core]\nfsmonitor = PROGRAM'
    )
    strange.git("commit", "-qm", "w", "--allow-empty")
    strange.canary.unlink(missing_ok=True)
    assert SafeGit(strange.folder).run(*command).code == 0
    assert not strange.canary.exists()


def test_each_command_is_tried(strange: Strange) -> None:
    """Git takes the options that each of them is given."""
    arguments = {
        "cat-file": ("-e", "HEAD"),
        "check-attr": ("filter", "a.py"),
        "check-ignore": ("-q", "a.py"),
        "config": ("--list",),
        "diff-index": ("HEAD",),
        "diff-tree": ("HEAD",),
        "grep": ("-e", "a"),
        "ls-tree": ("HEAD",),
        "merge-base": ("HEAD", "HEAD"),
        "rev-list": ("HEAD",),
        "rev-parse": ("HEAD",),
        "symbolic-ref": ("HEAD",),
    }
    for command in COMMANDS:
        assert SafeGit(strange.folder).run(
            command, *arguments.get(command, ()), check=False
        ).code in {0, 1}


def test_variables_that_name_a_repository_or_a_program_are_dropped(
    strange: Strange, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A hook of git sets some of them; where git finds its settings is kept."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND"):
        monkeypatch.setenv(name, str(strange.program))
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(strange.canary))
    git = SafeGit(strange.folder)
    assert git.run("diff").text.startswith("diff --git")
    assert git.run("status", "--short").text.splitlines() == [" M a.py", "?? new.py"]
    assert not strange.canary.exists()


def test_an_unchanged_file_with_a_filter_is_unchanged(strange: Strange) -> None:
    """One whose time is another may show as modified: its filter is not asked."""
    strange.write(".gitattributes", "*.txt filter=x\n")
    strange.configure('[filter "x"]\nclean = sed s/smudged/clean/\nsmudge = sed s/clean/smudged/')
    strange.write("b.txt", "smudged\n")
    strange.git("add", ".")
    strange.git("commit", "-qm", "b")
    old = 1_700_000_000
    os.utime(strange.folder / "b.txt", (old, old))
    strange.git("status")
    git = SafeGit(strange.folder)
    assert git.run("status", "--short").text == ""
    os.utime(strange.folder / "b.txt")
    assert git.run("status", "--short").text == " M b.txt\n"
    strange.git("status")


def test_no_other_module_runs_git() -> None:
    """None that begins a process, of the core or of a plugin, has the program's name in it."""
    root = Path(__file__).parents[2]
    starts = re.compile(r"subprocess\b|os\.(?:system|popen|spawn|exec|posix_spawn)|\bpty\b")
    found = set()
    for file in [*root.glob("contextkit/**/*.py"), *root.glob("plugins/*/src/**/*.py")]:
        text = file.read_text(encoding="utf-8")
        name = file.relative_to(root).as_posix()
        if starts.search(text) and not name.startswith("contextkit/testing/"):
            literals = (n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant))
            if any(re.match(r"git(\.exe)?( |$)", each) for each in literals if type(each) is str):
                found.add(name)
    assert found == {"contextkit/workspace/git.py"}
