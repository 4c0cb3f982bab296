"""A git for tests that ignores the settings of the machine."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import frozen

from contextkit.testing.surroundings import own_variables

_FRONT = """#!/bin/sh
command=
skip=
for word; do
    if [ -n "$skip" ]; then skip=; continue; fi
    case "$word" in
        -c|-C) skip=yes ;;
        -*) ;;
        *) command=$word; break ;;
    esac
done
echo "$command" >> {log}
exec {real} "$@"
"""
"""Notes the first word that is no option of git itself."""

_WHO = {"NAME": "Ada", "EMAIL": "ada@example.org"}


@frozen(eq=False)
class Git:
    """Runs git: `git("commit", "-qm", "Begin")`.

    Attributes:
        folder: where it runs.
    """

    folder: Path

    def __call__(self, *arguments: str, folder: Path | None = None, check: bool = True) -> str:
        """Run one command to its end.

        Args:
            arguments: what stands behind `git`.
            folder: where; default: the folder of this one.
            check: whether the test ends where git fails.

        Returns:
            What it prints; bytes that are not UTF-8 are replaced.

        Raises:
            AssertionError: where git fails, with its complaint.
        """
        ran = subprocess.run(
            # A test's submodules are folders beside it.
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=folder or self.folder,
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
        if check and ran.returncode:
            raise AssertionError(f"git {' '.join(arguments)}: {ran.stderr.strip()}")
        return ran.stdout


@contextlib.contextmanager
def own_git(folder: Path) -> Iterator[Git]:
    """Git without configuration, here and in the programs that a test runs.

    It knows no settings but a repository's own, finds no repository around the folder, and commits
    as Ada. At the end the process has the variables again that it had.

    Args:
        folder: where it runs; it need be no repository, and is not made one.
    """
    settings = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        **{f"GIT_{whose}_{key}": _WHO[key] for whose in ("AUTHOR", "COMMITTER") for key in _WHO},
    }
    with own_variables("GIT_", settings):
        yield Git(folder)


@contextlib.contextmanager
def watched_git(folder: Path) -> Iterator[Callable[[], list[str]]]:
    """Record the git commands that run here, also those of programs that a test runs.

    Args:
        folder: one that is there, for a front of git, which is a shell script, and its notes.

    Yields:
        Gives the commands since it was last asked, such as `ls-files`, one for each process that
        `contextkit.workspace.git` ran.
    """
    front, log = folder / "front", folder / "asked"
    front.mkdir()
    log.touch()
    program = front / "git"
    real = shlex.quote(str(shutil.which("git")))
    program.write_text(_FRONT.format(log=shlex.quote(str(log)), real=real))
    program.chmod(0o755)

    def asked() -> list[str]:
        commands = log.read_text(encoding="utf-8").split()
        log.write_text("", encoding="utf-8")
        return commands

    path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = f"{front}{os.pathsep}{path}"
    try:
        yield asked
    finally:
        os.environ["PATH"] = path
