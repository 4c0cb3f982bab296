"""The commits source does what contextkit expects of every source."""

from __future__ import annotations

from pathlib import Path

import contextkit_commits
from contextkit.testing import SourceConformance, own_git

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
        """Commit a file three times."""
        with own_git(folder) as git:
            git("init", "-q", "-b", "main")
            for share, message in enumerate(MESSAGES):
                (folder / "budget.py").write_text(f"SHARES = {share}\n")
                git("add", ".")
                git("commit", "-qm", message)
