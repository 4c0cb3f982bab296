"""Whether git is there, and what it says of the workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from contextkit.health.finding import Finding, fine, problem, warning
from contextkit.workspace.git_program import run_git

__all__ = ["git_findings"]

PART = "git"
_WANTED = "install git, or put it on the PATH: history and ignored files are read with it"


def git_findings(root: Path) -> Iterator[Finding]:
    """The version of git, and the state of the repository at a workspace's root."""
    has_repository = (root / ".git").exists()
    try:
        version = run_git(root, "--version")
    except FileNotFoundError:
        what = "git is not on the PATH"
        yield problem(PART, what, _WANTED) if has_repository else warning(PART, what, _WANTED)
        return
    number = re.search(r"(?<!\d)\d++(?:\.\d++)+", version.stdout)
    yield fine(PART, f"version {number.group() if number else version.stdout.strip()}")
    yield from _repository(root, has_repository)


def _repository(root: Path, has_repository: bool) -> Iterator[Finding]:
    status = run_git(root, "status", "--porcelain=v2", "--branch", "--untracked-files=normal")
    if status.returncode:
        complaint = " ".join(status.stderr.split())
        if not has_repository and "not a git repository" in complaint:
            yield fine(PART, f"{root} is no repository: there are no commits to index")
        else:
            yield problem(PART, complaint, "`git status` there must work first")
        return
    lines = status.stdout.splitlines()
    heads = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# branch."))
    changed = sum(1 for line in lines if not line.startswith("#"))
    state = f"{changed} changed files" if changed else "nothing changed"
    if heads.get("branch.oid") == "(initial)":
        yield fine(PART, f"no commit yet; {state}")
        return
    yield fine(PART, f"on {heads.get('branch.head')} at {heads['branch.oid'][:7]}; {state}")
    if run_git(root, "rev-parse", "--is-shallow-repository").stdout.strip() == "true":
        yield warning(PART, "the clone is shallow: its history is cut off", "git fetch --unshallow")
