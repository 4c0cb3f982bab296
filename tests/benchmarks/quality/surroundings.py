"""What a measurement stands on: this repository at a commit, a home folder of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click

from contextkit.config.load import HOME_VARIABLE
from tests.benchmarks.texts import ROOT

__all__ = ["clone_at", "home_in"]


def clone_at(commit: str, folder: Path, repository: Path = ROOT) -> Path:
    """Clone a repository, this one by default, into a folder, at a commit.

    Raises `ClickException` where it has no such commit, for instance because it is a
    shallow one.
    """
    for command in (
        ["clone", "--quiet", "--no-checkout", str(repository), str(folder)],
        ["-C", str(folder), "-c", "advice.detachedHead=false", "checkout", "--quiet", commit],
    ):
        done = subprocess.run(["git", *command], capture_output=True, text=True, check=False)
        if done.returncode:
            said = " ".join(done.stderr.split())
            what = "this repository" if repository == ROOT else repository
            raise click.ClickException(f"no clone of {what} at {commit[:7]}: {said}")
    return folder


@contextlib.contextmanager
def home_in(folder: Path) -> Iterator[None]:
    """Let contextkit keep its own files in a folder for as long as this lasts."""
    before = os.environ.get(HOME_VARIABLE)
    os.environ[HOME_VARIABLE] = str(folder.resolve())
    try:
        yield
    finally:
        del os.environ[HOME_VARIABLE]
        if before is not None:
            os.environ[HOME_VARIABLE] = before
