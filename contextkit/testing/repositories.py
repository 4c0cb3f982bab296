"""Run git in tests, independent of the machine's settings."""

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
            arguments: the arguments after `git`.
            folder: where it runs; default: the folder of this object.
            check: whether the test ends where git fails.

        Returns:
            Its output; bytes that are not UTF-8 are replaced.

        Raises:
            AssertionError: where git fails, with its error output.
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
    """Isolate git from configuration, also in started programs.

    Git reads only a repository's own settings, finds no repository around the folder, and commits
    as Ada. At the end the process's variables are restored.

    Args:
        folder: where it runs; it need not be a repository, and is not made one.
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
    """Record git commands that run here or in started programs.

    Args:
        folder: an existing folder for a wrapper of git, which is a shell script, and its notes.

    Yields:
        Returns the commands since the last call, such as `ls-files`, one for each process that
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
