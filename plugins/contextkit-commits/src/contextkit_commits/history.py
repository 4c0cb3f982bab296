"""Read a history from git: its commits and their contents."""

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
    # A merge is compared with its first parent: that is what it brought to the branch. A recent git
    # implies what `-m` adds; an old one does not.
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


def compare(git: Git, old: str, new: str) -> tuple[list[str], list[str]]:
    """Return the commits only in an old history, then those only in a new one.

    They are full shas, newest first. Raises `GitFailedError` where git no longer has `old`.
    """
    marked = _lines(git, "rev-list", "--left-right", f"{old}...{new}")
    gone, added = ([line[1:] for line in marked if line[0] == side] for side in "<>")
    return gone, added


@frozen
class Reachable:
    """The commits of a history.

    Attributes:
        shas: full shas, newest first.
        total: the number of commits, even where fewer were requested.
        missing: commits in the history but not in the repository: the history ends there.
        is_unscoped: True where git could not tell which commits changed the workspace's folder of a
            larger repository, so that all are included.
    """

    shas: list[str]
    total: int
    missing: int = 0
    is_unscoped: bool = False


def reachable(repository: Repository, most: int) -> Reachable:
    """Return at most `most` commits of the current history.

    With `most` 0, there is no limit.

    In a folder of a larger repository, only commits that changed something in that folder are
    returned. Where objects are missing, what can be reached without them is returned.
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
    """Follow the history one commit at a time.

    git itself stops where a commit is missing.
    """
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
    """Reads the contents of commits from git.

    Attributes:
        repository: the repository that has them.
        detail: `full`; `names`, where lines cannot be counted; `messages`, without files.
        reduced: commits that were read in less detail, as objects of theirs are missing.
    """

    repository: Repository
    detail: str = "full"
    reduced: int = 0

    def read(self, shas: Sequence[str]) -> Generator[Commit, None, None]:
        """Read the commits, in the order of their full shas.

        If git fails at a commit, it is read in less detail: its files without lines, as only the
        folders are needed for them, or its message. After consecutive failures, increasingly large
        groups are read this way at once, as a process for each would take long.
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
        # git may have failed at the next commit, so that the end of this one was not seen.
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
                    # Its parents are not here, so git attributes the whole tree to it.
                    commit.forget_files()
                yield commit


def _scope(repository: Repository) -> tuple[str, ...]:
    return ("--full-history", "--", ".") if repository.scope else ()


def _lines(git: Git, *arguments: str, given: bytes = b"") -> list[str]:
    with closing(git.stream(*arguments, given=given)) as chunks:
        return b"".join(chunks).decode("ascii").splitlines()
