"""The commits source does what contextkit expects of every source."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import contextkit_commits
from contextkit.testing import SourceConformance

MESSAGES = (
    "Split the token budget by weight\n\nWhat nobody uses:\n\n- is given on\n- by weight",
    "Count the tokens of headings",
    "Name what was left out of the token budget\n\nIt took a while to see that nothing said so.",
)


class TestCommits(SourceConformance):
    """A repository of three commits."""

    source = contextkit_commits
    query = "how is the token budget split"
    timeout = 60.0

    def make_workspace(self, folder: Path) -> None:
        """Commit a file three times, a day apart."""
        git(folder, "init", "--quiet", "--initial-branch=main")
        for day, message in enumerate(MESSAGES, start=1):
            (folder / "budget.py").write_text(f"SHARES = {day}\n")
            git(folder, "add", "--all")
            git(
                folder,
                "commit",
                "--quiet",
                f"--message={message}",
                when=f"2026-03-0{day}T09:00:00Z",
            )


def git(folder: Path, *arguments: str, when: str = "") -> None:
    """Run git in a folder, as nobody in particular."""
    identity = ("-c", "user.name=Ada Lovelace", "-c", "user.email=ada@example.org")
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when} if when else {}
    subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, env={**os.environ, **dates}
    )
