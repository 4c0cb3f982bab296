"""Asking git for a history: which commits there are, and what is in them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

from attrs import frozen

from contextkit_commits.git import Git
from contextkit_commits.log_parser import LOG_FORMAT, Commit, parse_log, split_tokens
from contextkit_commits.repository import Repository

__all__ = ["Difference", "compare", "count_reachable", "reachable", "read_commits"]

_LOG = (
    "log",
    "-z",
    "--stdin",
    "--no-walk=unsorted",
    f"--format={LOG_FORMAT}",
    "--encoding=UTF-8",
    "--no-color",
    "--no-ext-diff",
    "--no-show-signature",
    "--no-textconv",
    "--diff-algorithm=default",
    "--ignore-submodules=none",
    # A merge is compared with its first parent: that is what it brought to the branch. What
    # `-m` adds goes without saying for a git that is not old.
    "-m",
    "--first-parent",
)
_DETAIL = {
    "full": ("--numstat", "--find-renames", "-l1000"),
    "names": ("--raw", "--no-renames"),
    "messages": ("--no-patch",),
}


@frozen
class Difference:
    """What has to be done to get from one commit's history to another's; full shas."""

    gone: list[str]
    new: list[str]


def compare(git: Git, old: str, new: str) -> Difference:
    """The commits that only one of two histories has, newest first.

    Raises `GitFailedError` where git no longer has `old`.
    """
    marked = _lines(git, "rev-list", "--left-right", f"{old}...{new}")
    return Difference(
        gone=[line[1:] for line in marked if line.startswith("<")],
        new=[line[1:] for line in marked if line.startswith(">")],
    )


def reachable(repository: Repository, most: int) -> list[str]:
    """The commits of the current history, newest first; at most `most`, unless that is 0.

    In a folder of a larger repository: those that changed something in that folder.
    """
    if repository.head is None:
        return []
    return _lines(
        repository.git,
        "rev-list",
        *([f"--max-count={most}"] if most else []),
        repository.head,
        *_scope(repository),
    )


def count_reachable(repository: Repository) -> int:
    """How many commits the current history has."""
    if repository.head is None:
        return 0
    counted = _lines(repository.git, "rev-list", "--count", repository.head, *_scope(repository))
    return int(counted[0])


def read_commits(
    repository: Repository, shas: Sequence[str], detail: str = "full"
) -> Generator[Commit, None, None]:
    """What is in these commits, in their order, read as git writes it.

    Args:
        repository: where they are.
        shas: full shas.
        detail: `full`; `names`, where lines cannot be counted; `messages`, without files.
    """
    if not shas:
        return
    command = [*_LOG, *_DETAIL[detail], *(["--relative"] if repository.scope else [])]
    boundary = frozenset(repository.boundary)
    given = "".join(f"{sha}\n" for sha in shas).encode("ascii")
    with closing(repository.git.stream(*command, given=given)) as chunks:
        for commit in parse_log(split_tokens(chunks)):
            if commit.sha in boundary:
                # Its parents are not here: git lists the whole tree as its doing.
                commit.forget_files()
            yield commit


def _scope(repository: Repository) -> tuple[str, ...]:
    return ("--full-history", "--", ".") if repository.scope else ()


def _lines(git: Git, *arguments: str) -> list[str]:
    with closing(git.stream(*arguments)) as chunks:
        return b"".join(chunks).decode("ascii").split()
