"""The workspace source does what contextkit expects of every source."""

from __future__ import annotations

from pathlib import Path

import contextkit_workspace
from contextkit.testing import SourceConformance, own_git


class TestWorkspace(SourceConformance):
    """A repository with changes, in folders."""

    source = contextkit_workspace
    query = "what am I working on in the shelf folder?"
    timeout = 60.0

    def make_workspace(self, folder: Path) -> None:
        """Make it."""
        (folder / "shelf").mkdir(parents=True)
        (folder / "shelf" / "items.py").write_text("ITEMS = []\n")
        (folder / "shelf" / "lamp.py").write_text("LAMP = 1\n")
        with own_git(folder) as git:
            git("init", "-q", "-b", "main")
            git("add", "shelf/items.py")
