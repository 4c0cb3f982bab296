"""Running the `git` program for a look at a workspace's repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["run_git"]

_SECONDS = 60
_SET = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
# Set where a git hook runs, they would point it at another repository.
_ELSEWHERE = ("COMMON_DIR", "DIR", "INDEX_FILE", "NAMESPACE", "OBJECT_DIRECTORY", "WORK_TREE")


def run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git in a folder; it asks nothing, locks nothing and starts no program of its settings.

    Raises `OSError` where there is no git, `subprocess.TimeoutExpired` after a minute.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name.removeprefix("GIT_") not in _ELSEWHERE or not name.startswith("GIT_")
    }
    return subprocess.run(
        ["git", "-c", "core.fsmonitor=false", *arguments],
        cwd=folder,
        env={**inherited, **_SET},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
        timeout=_SECONDS,
    )
