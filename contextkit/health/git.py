"""Whether git is there, and what it says of the workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from contextkit.health.finding import Finding, fine, problem, warning
from contextkit.workspace.git import Git, GitError, GitFailedError, GitMissingError

__all__ = ["git_findings"]

PART = "git"
_PARTIAL = r"^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$"
_WANTED = "install git, or put it on the PATH: history and ignored files are read with it"


def git_findings(root: Path) -> Iterator[Finding]:
    """The version of git, and the state of the repository at a workspace's root."""
    has_repository = (root / ".git").exists()
    git = Git(root)
    try:
        version = git.run("version").text.strip()
    except GitMissingError:
        what = "git is not on the PATH"
        yield problem(PART, what, _WANTED) if has_repository else warning(PART, what, _WANTED)
        return
    except GitError as error:
        yield problem(PART, str(error), "`git version` must work first")
        return
    number = re.search(r"(?<!\d)\d++(?:\.\d++)+", version)
    yield fine(PART, f"version {number.group() if number else version}")
    try:
        yield from _repository(git)
    except GitFailedError as error:
        if not has_repository and "not a git repository" in error.complaint:
            yield fine(PART, f"{root} is no repository: there are no commits to index")
        else:
            yield problem(PART, error.complaint, "`git status` there must work first")
    except GitError as error:
        yield problem(PART, str(error), "`git status` there must work first")


def _repository(git: Git) -> Iterator[Finding]:
    options = ("--porcelain=v2", "--branch", "--untracked-files=normal")
    lines = git.run("status", *options, "--", git.here).text.splitlines()
    heads = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# branch."))
    changed = sum(1 for line in lines if not line.startswith("#"))
    state = f"{changed} changed files" if changed else "nothing changed"
    if heads.get("branch.oid") == "(initial)":
        yield fine(PART, f"no commit yet; {state}")
        return
    yield fine(PART, f"on {heads.get('branch.head')} at {heads['branch.oid'][:7]}; {state}")
    if git.run("rev-parse", "--is-shallow-repository").text.strip() == "true":
        yield warning(PART, "the clone is shallow: its history is cut off", "git fetch --unshallow")
    yield from _missing(git)


def _missing(git: Git) -> Iterator[Finding]:
    """What of the history is not on this machine; nothing is fetched."""
    partial = git.run("config", "--get-regexp", _PARTIAL, check=False)
    if partial.output.strip():
        what = "a partial clone: commits are indexed without what it left on its server"
        yield warning(PART, what, "git fetch --refetch --no-filter")
    try:
        git.run("rev-list", "--count", "HEAD")
    except GitFailedError as error:
        yield warning(PART, f"the history is not whole: {error.complaint}", "git fsck")
