"""Users of one server, each with a data folder of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from unittest import mock

from attrs import define
from click.testing import Result
from qdrant_client import QdrantClient

from contextkit import ContextKit
from contextkit.testing import CommandLine, Git, printed_json


class HasUrl(Protocol):
    """A server with the client of its data."""

    url: str
    client: QdrantClient


@define
class Team:
    """Users of one server.

    Attributes:
        folder: has a folder for each user, and the repository.
        server: the server.
    """

    folder: Path
    server: HasUrl

    def settings(self, who: str) -> dict[str, str]:
        """The environment of a user."""
        return {
            "CONTEXTKIT_HOME": str(self.folder / who),
            "CONTEXTKIT_STORE_URL": self.server.url,
            "CONTEXTKIT_EMBEDDING_MODEL": "none",
            "CONTEXTKIT_ASSEMBLE_SOURCE_TIMEOUT": "60",
            "CONTEXTKIT_ASSEMBLE_DEADLINE": "60",
            "CONTEXTKIT_HOOKS_TIMEOUT": "30",
            "CONTEXTKIT_HOOKS_RESIDENT": "false",
        }

    @contextmanager
    def kit(self, who: str, root: Path, **variables: str) -> Iterator[ContextKit]:
        """Open a folder as a user."""
        settings = {**self.settings(who), **variables}
        with mock.patch.dict(os.environ, settings), ContextKit.open(root) as kit:
            yield kit

    def run(self, who: str, root: Path, *arguments: str, **variables: str) -> Result:
        """Run a command in a folder as a user."""
        return CommandLine(root)(*arguments, **{**self.settings(who), **variables})

    def hook(self, who: str, root: Path, prompt: str) -> str:
        """What an agent's hook answers a prompt of a user."""
        event = {"hook_event_name": "UserPromptSubmit", "session_id": "1", "cwd": str(root)}
        return subprocess.run(
            [sys.executable, "-m", "contextkit.cli", "hook", "--format", "text"],
            input=json.dumps({**event, "prompt": prompt}),
            env={**os.environ, **self.settings(who)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def json(self, who: str, root: Path, *arguments: str, **variables: str) -> Any:
        """What a command prints as JSON."""
        return printed_json(self.run(who, root, *arguments, "--json", **variables))

    def repository(self, name: str = "ledger") -> Path:
        """A repository with one commit, in which everybody works."""
        root = self.folder / name
        root.mkdir()
        git = Git(root)
        git("init", "--quiet")
        git("commit", "--quiet", "--allow-empty", "-m", "Begin")
        return root
