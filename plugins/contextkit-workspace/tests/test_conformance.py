"""The workspace source does what contextkit expects of every source."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import contextkit_workspace
from contextkit.testing import SourceConformance


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
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        for command in (["init", "-q", "-b", "main"], ["add", "shelf/items.py"]):
            subprocess.run(["git", *command], cwd=folder, env=environment, check=True)
