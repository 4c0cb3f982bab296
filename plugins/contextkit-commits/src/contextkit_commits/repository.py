"""Find a workspace's repository and determine its available history."""

from __future__ import annotations

import os
import re
from pathlib import Path

from attrs import frozen

from contextkit.errors import WorkspaceError
from contextkit.indexing import Answer, Folder, Git, GitError

_SHALLOW_BYTES = 10_000_000
_SHA = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@frozen(kw_only=True)
class Repository:
    """A repository as one index run sees it.

    Attributes:
        git: git, pointed at the workspace.
        head: the full sha of its current commit, or None before the first one.
        scope: the workspace's folder within the repository, `sub/folder/`; empty for the
            repository's own folder and for a bare repository.
        boundary: shas where a shallow clone's history was cut: their parents are not here.
    """

    git: Git
    head: str | None
    scope: str
    boundary: tuple[str, ...]


@frozen
class NoRepository:
    """The workspace is in no repository.

    Attributes:
        reason: the message from git.
    """

    reason: str


def find_repository(git: Git) -> Repository | NoRepository:
    """Inspect the workspace's repository, usually with one git process.

    Raises `WorkspaceError` where git refuses to read it, or cannot.
    """
    answer = git.run("rev-parse", "--is-shallow-repository", "HEAD", "--show-prefix", check=False)
    shallow, _, rest = answer.output.partition(b"\n")
    head, _, prefix = rest.partition(b"\n")
    if shallow not in {b"true", b"false"}:
        return _not_readable(git, answer)
    if answer.code != 0 or not _SHA.fullmatch(head):
        return _before_first_commit(git)
    return Repository(
        git=git,
        head=head.decode("ascii"),
        scope=os.fsdecode(prefix.removesuffix(b"\n")),
        boundary=_boundary(git) if shallow == b"true" else (),
    )


def _not_readable(git: Git, answer: Answer) -> NoRepository:
    if answer.code == 0:
        # An old git echoes options that it does not understand.
        git.require_version()
    if answer.complaint.startswith("not a git repository"):
        return NoRepository(answer.complaint)
    if re.search("dubious ownership|unsafe repository", answer.complaint):
        owned = re.search("'(.*)'", answer.complaint)
        folder = owned[1] if owned else git.folder
        raise WorkspaceError(
            f"git does not read {folder}, as another user owns it; if you trust it, run: "
            f'git config --global --add safe.directory "{folder}"'
        )
    raise WorkspaceError(f"git cannot read {git.folder}: {answer.complaint}")


def _before_first_commit(git: Git) -> Repository:
    # rev-parse does not distinguish an unborn branch from a damaged one; symbolic-ref does.
    branch = git.run("symbolic-ref", "-q", "HEAD", check=False)
    if branch.code != 0:
        raise WorkspaceError(
            f"the current commit of {git.folder} cannot be read: {branch.complaint}"
        )
    return Repository(git=git, head=None, scope="", boundary=())


def _boundary(git: Git) -> tuple[str, ...]:
    answer = git.run("rev-parse", "--git-path", "shallow")
    path = Path(git.folder, os.fsdecode(answer.output.removesuffix(b"\n")))
    try:
        content, _ = Folder(path.parent).read(path.name, _SHALLOW_BYTES)
        return tuple(sorted(content.decode("ascii").split()))
    except (OSError, ValueError) as error:
        raise WorkspaceError(f"the shallow clone's {path} cannot be read: {error}") from error


def read_detail(git: Git) -> str:
    """Return the available detail of commits: `full`, `names` or `messages`.

    A partial clone left file contents, and perhaps folders, on its server; to count lines
    git would fetch them one by one.
    """
    asked = ("--get-regexp", r"^remote\..*\.partialclonefilter$")
    filters = git.run("config", *asked, check=False)
    if filters.code not in {0, 1}:
        raise GitError(f"git config failed in {git.folder}: {filters.complaint}")
    if b"tree:" in filters.output:
        return "messages"
    return "names" if filters.output.strip() else "full"
