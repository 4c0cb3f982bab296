"""Running the `git` program for a look at a workspace's repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["run_git", "run_git_for_bytes"]

_SECONDS = 60
_SET = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
# Set where a git hook runs, they would point it at another repository.
_ELSEWHERE = {
    *("GIT_COMMON_DIR", "GIT_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY"),
    *("GIT_PREFIX", "GIT_WORK_TREE"),
}


def run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`run_git_for_bytes` with what it says as text; bytes that are not UTF-8 are replaced."""
    ran = run_git_for_bytes(folder, *arguments)
    said = (output.decode("utf-8", "replace") for output in (ran.stdout, ran.stderr))
    return subprocess.CompletedProcess(ran.args, ran.returncode, *said)


def run_git_for_bytes(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder; it asks nothing, locks nothing and starts no program of its settings.

    Raises `OSError` where there is no git, `subprocess.TimeoutExpired` after a minute.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    return subprocess.run(
        ["git", "-c", "core.fsmonitor=false", *arguments],
        cwd=folder,
        env={**inherited, **_SET},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=_SECONDS,
    )
