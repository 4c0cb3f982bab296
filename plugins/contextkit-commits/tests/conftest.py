"""What the tests of the commits source share: real git repositories and a real store."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

import contextkit_commits
from contextkit import ContextItem, IndexReport, Record, Records
from contextkit.models.indexer import Progress
from contextkit.testing import make_indexer, open_records, own_git

NOON = 1_700_000_000
SHA = "0123456789abcdef0123456789abcdef01234567"


@frozen
class Repo:
    """A git repository of a test; every commit is a minute after the one before."""

    path: Path

    def git(self, *arguments: str, given: bytes = b"", **environment: str) -> str:
        """Run git in it and return what it prints; fail the test where git fails."""
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments],
            input=given,
            capture_output=True,
            check=False,
            env={**os.environ, **environment},
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "replace").strip()

    def write(self, **files: str | bytes) -> None:
        """Write files and stage all changes; `a__b` stands for `a/b`, `_dot_` for a dot."""
        for name, content in files.items():
            self.write_path(name.replace("__", "/").replace("_dot_", "."), content)
        self.git("add", "-A")

    def write_path(self, name: str, content: str | bytes) -> None:
        """Write one file."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, message: str | bytes = "a change", *options: str, **files: str | bytes) -> str:
        """Write files and commit everything, with the message as it is; return the sha."""
        self.write(**files)
        when = f"{self.next_time()} +0000"
        given = message if isinstance(message, bytes) else message.encode()
        self.git(
            "commit",
            "--quiet",
            "--allow-empty",
            "--allow-empty-message",
            "--cleanup=verbatim",
            "--file=-",
            *options,
            given=given,
            GIT_AUTHOR_DATE=when,
            GIT_COMMITTER_DATE=when,
        )
        return self.head

    def commit_object(self, text: bytes) -> str:
        """Make the branch point at a commit object that is written byte by byte."""
        tree = self.git("write-tree").encode()
        parent = self.head.encode()
        raw = b"tree %s\nparent %s\n%s" % (tree, parent, text)
        sha = self.git("hash-object", "-t", "commit", "-w", "--stdin", given=raw)
        self.git("update-ref", "HEAD", sha)
        return sha

    def next_time(self) -> int:
        """A time a minute after the newest commit's."""
        newest = self.git("for-each-ref", "--format=%(committerdate:unix)").split()
        return max(map(int, newest), default=NOON) + 60

    @property
    def head(self) -> str:
        """The full sha of the current commit."""
        return self.git("rev-parse", "HEAD")


@pytest.fixture(autouse=True)
def _own_git_world(tmp_path: Path) -> Iterator[None]:
    """Isolate git from the machine's settings."""
    with own_git(tmp_path):
        yield


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[..., Repo]:
    """Makes an empty repository in a folder of the test's own."""

    def made(name: str = "repo", *options: str) -> Repo:
        repo = Repo(tmp_path / name)
        repo.path.mkdir()
        repo.git("init", "--quiet", "--initial-branch=main", *options)
        return repo

    return made


@pytest.fixture
def repo(make_repo: Callable[..., Repo]) -> Repo:
    """A repository without commits."""
    return make_repo()


@pytest.fixture
def clone(tmp_path: Path) -> Callable[..., Repo]:
    """Clones a repository through git's own transport, with options."""

    def cloned(origin: Repo, name: str, *options: str) -> Repo:
        target = tmp_path / name
        origin.git("clone", "--quiet", *options, origin.path.as_uri(), str(target))
        return Repo(target)

    return cloned


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The records of the source on a real store on disk."""
    with open_records(tmp_path / "store", "commits") as opened:
        yield opened


@pytest.fixture
def index(records: Records, tmp_path: Path) -> Callable[..., IndexReport]:
    """Indexes a workspace; the state is kept from call to call."""

    def indexed(
        workspace: Repo | Path,
        settings: Mapping[str, Any] | None = None,
        report: Callable[[Progress], None] | None = None,
        ends: float | None = None,
    ) -> IndexReport:
        folder = workspace.path if isinstance(workspace, Repo) else workspace
        known = {**contextkit_commits.contextkit_source().setting_defaults, **(settings or {})}
        indexer = make_indexer(records, folder, tmp_path / "state.json", settings=known)
        indexer = evolve(indexer, ends=ends)
        if report is not None:
            indexer = evolve(indexer, report=report)
        return contextkit_commits.contextkit_index(indexer)

    return indexed


@pytest.fixture
def stored(records: Records) -> Callable[[], dict[str, Record]]:
    """Looks up what is stored: subject -> record."""

    def found() -> dict[str, Record]:
        return {str(record.fields["subject"]): record for record in records.scan()}

    return found


@pytest.fixture
def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a shell script called `git` before the real one on the PATH."""

    def put(script: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return put


@pytest.fixture(scope="session")
def make_item() -> Callable[..., ContextItem]:
    """Makes a commit's item as the query does."""

    def made(message: str = "Fix it", **metadata: Any) -> ContextItem:
        known = {
            "sha": SHA,
            "author": "Ada Lovelace",
            "timestamp": "2026-01-02T03:04:05+00:00",
            "files_changed": ["a.py"],
        }
        return ContextItem(
            "commits", message, 0.5, id=SHA, text=message, metadata={**known, **metadata}
        )

    return made


@pytest.fixture
def long_history(make_repo: Callable[..., Repo]) -> Callable[[int], Repo]:
    """Makes a repository with a straight history of any length, in a moment."""

    def made(length: int) -> Repo:
        repo = make_repo("long")
        repo.git("fast-import", "--quiet", given=b"".join(_stream(length)))
        return repo

    return made


def _stream(length: int) -> Iterator[bytes]:
    body = b"It was wrong in a way that takes some words to explain. " * 8
    for number in range(length):
        message = b"Change number %d of the parser\n\n%s\n" % (number, body)
        content = b"line\n" * (number % 40) + b"%d\n" % number
        yield b"commit refs/heads/main\n"
        yield b"committer Ada Lovelace <ada@example.org> %d +0000\n" % (NOON + 60 * number)
        yield b"data %d\n%s" % (len(message), message)
        yield b"M 100644 inline src/module_%d/file_%d.py\n" % (number % 30, number % 300)
        yield b"data %d\n%s\n" % (len(content), content)
