"""`own_git`: a real git that nobody has configured."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from contextkit.testing import Git, own_git


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in somebody's repository."""
    Git(tmp_path)("init", "-q")
    made = tmp_path / "folder"
    made.mkdir()
    return made


def test_nobodys_settings_and_no_repository_around_it_count(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for programs that the test runs; commits have an author."""
    settings = folder / "settings"
    settings.write_text("[user]\nname = Somebody\n[init]\ndefaultBranch = theirs\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
    with own_git(folder) as git:
        assert git("rev-parse", "--git-dir", check=False) == ""
        git("init", "-q", "-b", "main")
        git("commit", "-q", "--allow-empty", "-m", "Begin")
        ran = subprocess.run(
            ["git", "-C", str(folder), "log", "--format=%an %ae %cn"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert ran.stdout == "Ada ada@example.org Ada\n"
        assert git("config", "--get", "user.name", check=False) == ""


def test_a_failure_ends_the_test_with_gits_complaint(folder: Path) -> None:
    """Unless the test wants to see it."""
    with own_git(folder) as git:
        with pytest.raises(AssertionError, match="git checkout lost: fatal: not a git repository"):
            git("checkout", "lost")
        assert git("checkout", "lost", check=False) == ""


def test_the_process_has_its_variables_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test has set within is gone."""
    monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
    before = dict(os.environ)
    with own_git(folder):
        os.environ["GIT_AUTHOR_DATE"] = "2026-11-02T09:30:00Z"
        assert "GIT_DIR" not in os.environ
    assert dict(os.environ) == before
