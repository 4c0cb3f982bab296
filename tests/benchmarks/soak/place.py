"""The folders of a soak: two homes, one store, and two git repositories that change."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from tests.benchmarks.starting import as_for_most

__all__ = ["Place"]

_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "Soak"), ("EMAIL", "soak@example.org"))
    },
}


@frozen
class Place:
    """Where a soak runs; everything that it makes is below one folder.

    Attributes:
        folder: that folder.
        python: the interpreter of the environment that is tried.
        files: the number of source files of each repository.
    """

    folder: Path
    python: Path
    files: int

    @property
    def store(self) -> Path:
        """The folder of the one store."""
        return self.folder / "store"

    @property
    def temporary(self) -> Path:
        """The folder for temporary files of all processes."""
        return self.folder / "tmp"

    def repository(self, name: str) -> Path:
        """The folder of a repository."""
        return self.folder / f"repository-{name}"

    def home(self, name: str) -> Path:
        """The folder of settings and state of a user."""
        return self.folder / f"home-{name}"

    def environment(self, name: str) -> Mapping[str, str]:
        """The variables of one user's processes."""
        return {
            **as_for_most(),
            "CONTEXTKIT_HOME": str(self.home(name)),
            "CONTEXTKIT_STORE_PATH": str(self.store),
            "XDG_RUNTIME_DIR": str(self.folder),
            "TMPDIR": str(self.temporary),
        }

    def script(self, name: str) -> str:
        """A command of the environment."""
        return str(self.python.with_name(name))

    def make(self) -> None:
        """Create the folders and the repositories."""
        self.temporary.mkdir(mode=0o700)
        for name in ("a", "b"):
            repository = self.repository(name)
            repository.mkdir()
            self.git(name, "init", "-q", "-b", "main")
            for number in range(self.files):
                self.write(name, number, 0)
            self.commit(name, "Add everything")

    def write(self, name: str, number: int, version: int) -> None:
        """Write one version of a source file and of its page."""
        module = f"part_{number}"
        lines = [f'"""Part {number} of {name}, version {version}."""']
        for each in range(4):
            lines += [
                "",
                "",
                f"def shard_{number}_{each}(cache):",
                f'    """Warm the cache of shard {number}, step {each}."""',
                f"    return cache.get({number * 10 + each}, default={version})",
            ]
        folder = self.repository(name)
        (folder / f"{module}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
        if number % 5 == 0:
            page = f"# Part {number}\n\nVersion {version} warms the cache of shard {number}.\n"
            (folder / f"{module}.md").write_text(page, encoding="utf-8")

    def commit(self, name: str, subject: str) -> None:
        """Commit every change of a repository."""
        self.git(name, "add", "-A")
        self.git(name, "commit", "-q", "--allow-empty", "-m", subject)

    def git(self, name: str, *arguments: str) -> str:
        """Run git in a repository; raises `CalledProcessError` if it fails."""
        return subprocess.run(
            ["git", *arguments],
            cwd=self.repository(name),
            env={**os.environ, **_GIT},
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def run(
        self, name: str, command: Sequence[str], given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a repository to its end."""
        return subprocess.run(
            command,
            cwd=self.repository(name),
            env=self.environment(name),
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
