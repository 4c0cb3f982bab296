"""Asking git for a history: which commits there are, and what is in them."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from contextlib import closing
from heapq import heappop, heappush

from attrs import define, evolve, frozen

from contextkit.indexing import Git, GitFailedError
from contextkit_commits.log_parser import LOG_FORMAT, Commit, parse_log, split_tokens
from contextkit_commits.repository import Repository

_LOG = (
    "log",
    "-z",
    "--stdin",
    "--no-walk=unsorted",
    f"--format={LOG_FORMAT}",
    "--encoding=UTF-8",
    "--no-color",
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
_LESS = {"full": ("names", "messages"), "names": ("messages",), "messages": ()}
_MOST_AT_ONCE = 1_000
_FAILURES_IN_A_ROW = 8


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


@frozen
class Reachable:
    """The commits of a history.

    Attributes:
        shas: full shas, newest first.
        total: how many there are, also where fewer were asked for.
        missing: commits that the history has and the repository has not: it ends there.
        is_unscoped: True where git could not tell which commits changed the workspace's folder
            of a larger repository, so that all are here.
    """

    shas: list[str]
    total: int
    missing: int = 0
    is_unscoped: bool = False


def reachable(repository: Repository, most: int) -> Reachable:
    """The commits of the current history; at most `most`, unless that is 0.

    In a folder of a larger repository: those that changed something in that folder. Where objects
    are missing: what can be reached without them.
    """
    if repository.head is None:
        return Reachable([], 0)
    try:
        return _listed(repository.git, repository.head, most, *_scope(repository))
    except GitFailedError as error:
        failure = error
    if repository.scope:
        with contextlib.suppress(GitFailedError):
            found = _listed(repository.git, repository.head, most)
            return evolve(found, is_unscoped=True)
    found = _without_the_missing(repository.git, repository.head, most)
    if not found.shas:
        raise failure
    return evolve(found, is_unscoped=bool(repository.scope))


def _listed(git: Git, head: str, most: int, *scope: str) -> Reachable:
    limit = [f"--max-count={most}"] if most else []
    shas = _lines(git, "rev-list", *limit, head, *scope)
    if len(shas) < most or not most:
        return Reachable(shas, len(shas))
    (counted,) = _lines(git, "rev-list", "--count", head, *scope)
    return Reachable(shas, int(counted))


def _without_the_missing(git: Git, head: str, most: int) -> Reachable:
    """Follow the history from commit to commit, as git itself ends where one is missing."""
    objects = ("--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname)")
    listed = _lines(git, "cat-file", *objects)
    given = "".join(f"{line[7:]}\n" for line in listed if line.startswith("commit "))
    logged = ("log", "--stdin", "--no-walk=unsorted", "--no-patch", "--format=%ct %H %P")
    commits = {}
    for line in _lines(git, *logged, given=given.encode("ascii")):
        time, sha, *parents = line.split()
        commits[sha] = (int(time), parents)
    found, missing, seen = [], 0, {head}
    ahead = [(-commits[head][0], head)] if head in commits else []
    while ahead:
        _, sha = heappop(ahead)
        found.append(sha)
        for parent in commits[sha][1]:
            if parent not in seen:
                seen.add(parent)
                if parent in commits:
                    heappush(ahead, (-commits[parent][0], parent))
                else:
                    missing += 1
    return Reachable(found[:most] if most else found, len(found), missing)


@define
class CommitReader:
    """Reads what is in commits, as git writes it.

    Attributes:
        repository: where they are.
        detail: `full`; `names`, where lines cannot be counted; `messages`, without files.
        reduced: commits that were read with less, as objects of theirs are missing.
    """

    repository: Repository
    detail: str = "full"
    reduced: int = 0

    def read(self, shas: Sequence[str]) -> Generator[Commit, None, None]:
        """The commits, in the order of their full shas.

        Where git fails at one, that one is read with less: its files without lines, as only the
        folders are needed for them, or its message. Where one after the other fails, more and
        more are read so at once, as a process for each would take long.
        """
        position, window, failures = 0, len(shas), 0
        while position < len(shas):
            begun = position
            try:
                for commit in self._logged(shas[position : position + window], self.detail):
                    position += 1
                    yield commit
            except GitFailedError as error:
                window = _MOST_AT_ONCE
                failures = 0 if position > begun else failures + 1
                span = min(2 ** max(0, failures - _FAILURES_IN_A_ROW), _MOST_AT_ONCE)
                for commit in self._read_less(shas[position : position + span], error):
                    position += 1
                    yield commit

    def _read_less(self, shas: Sequence[str], failure: GitFailedError) -> list[Commit]:
        # It may be the next commit that git failed at: this one's end was then not seen.
        for detail in (self.detail, *_LESS[self.detail]):
            with contextlib.suppress(GitFailedError):
                found = list(self._logged(shas, detail))
                self.reduced += len(found) if detail != self.detail else 0
                return found
        raise failure

    def _logged(self, shas: Sequence[str], detail: str) -> Generator[Commit, None, None]:
        scope = ["--relative"] if self.repository.scope else []
        command = [*_LOG, *_DETAIL[detail], *scope]
        boundary = frozenset(self.repository.boundary)
        given = "".join(f"{sha}\n" for sha in shas).encode("ascii")
        with closing(self.repository.git.stream(*command, given=given)) as chunks:
            for commit in parse_log(split_tokens(chunks)):
                if commit.sha in boundary:
                    # Its parents are not here: git lists the whole tree as its doing.
                    commit.forget_files()
                yield commit


def _scope(repository: Repository) -> tuple[str, ...]:
    return ("--full-history", "--", ".") if repository.scope else ()


def _lines(git: Git, *arguments: str, given: bytes = b"") -> list[str]:
    with closing(git.stream(*arguments, given=given)) as chunks:
        return b"".join(chunks).decode("ascii").splitlines()
