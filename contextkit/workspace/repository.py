"""Identify the repository of a workspace: its git folder, first commits and remote.

`place_of` reads a few small files and runs on every use. `facts_of` runs git, and is needed only
for a place that is not known yet.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import frozen

from contextkit.workspace.find import repository_of
from contextkit.workspace.folder import Folder
from contextkit.workspace.git_folders import find_git_folders, is_bare

if TYPE_CHECKING:
    from contextkit.workspace.git import Git

_SECONDS = 30.0
"""For git, which is only asked once. On a busy machine even that can take seconds."""
_MODULES = ("modules", "worktrees")
_POINTER_BYTES = 8192
_SETTINGS_BYTES = 65536
_WORK_TREE = r"^[ \t]*worktree[ \t]*=[ \t]*(\S[^\n]*)$"


@frozen
class Place:
    """A workspace's place in its repository.

    Attributes:
        root: the workspace's root folder.
        repository: the git folder that all work trees of the repository share; None where the
            workspace is in none.
        within: the workspace's path inside the repository, such as `services/billing` in a
            repository of several projects; empty for the repository's root.
    """

    root: str
    repository: str | None = None
    within: str = ""

    @property
    def main(self) -> str:
        """The workspace's folder in the repository's main work tree."""
        if self.repository is None:
            return self.root
        folder = Path(self.repository)
        if folder.name != ".git":
            return self.root
        return as_text(folder.parent / self.within)

    @property
    def stamp(self) -> str | None:
        """A value that changes when another repository takes the git folder's path."""
        if self.repository is None:
            return None
        try:
            return f"{Path(self.repository).stat().st_ino}:{_written(Path(self.repository))}"
        except OSError:
            return None


def _written(repository: Path) -> int:
    # Git writes this file once, when it creates the repository.
    try:
        return (repository / "description").stat().st_mtime_ns
    except OSError:
        return 0


@frozen
class RepositoryFacts:
    """What a repository has in common with its clones.

    Attributes:
        roots: its first commits, the oldest first; empty where they are not known, as in a
            shallow clone.
        remote: the normalised address of its remote, or None.
    """

    roots: tuple[str, ...] = ()
    remote: str | None = None

    @property
    def key(self) -> str | None:
        """The project of the repository on every machine; None without a first commit."""
        if not self.roots:
            return None
        key = f"git:{self.roots[0][:12]}"
        return f"{key}/{self.remote}" if self.has_address else key

    @property
    def has_address(self) -> bool:
        """Whether the remote is known under the same address on every machine."""
        return self.remote is not None and not Path(self.remote).is_absolute()


def as_text(value: object) -> str:
    """A path or name as text that a store can hold."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def place_of(root: Path, *, isolate: bool = False) -> Place:
    """Find a workspace's place in its repository, without running git.

    A submodule has a repository of its own. A bare repository inside a work tree has none: it
    may have come with a clone.

    Args:
        root: the workspace's root folder, resolved.
        isolate: whether a linked work tree is a place of its own.
    """
    alone = Place(as_text(root))
    folders = find_git_folders(root)
    if folders.work_tree is None:
        return Place(as_text(root), as_text(root)) if is_bare(root) else alone
    if folders.bare is not None:
        return alone
    tree = folders.work_tree
    repository = repository_of(tree) or _submodule(tree)
    if repository is None or (isolate and repository.parent != tree):
        return alone
    within = root.relative_to(tree).as_posix()
    return Place(as_text(root), as_text(repository), "" if within == "." else within)


def _submodule(tree: Path) -> Path | None:
    """The git folder of a submodule, if its superproject has it; else None.

    A `.git` file can name any folder. So the folder must be inside the superproject's, and its
    settings must name this work tree.
    """
    above = find_git_folders(tree.parent).work_tree
    outer = above and (repository_of(above) or _submodule(above))
    if outer is None:
        return None
    try:
        pointer, _ = Folder(tree).read(".git", _POINTER_BYTES)
        if not pointer.startswith(b"gitdir: "):
            return None
        named = pointer.removeprefix(b"gitdir: ").rstrip(b"\r\n").decode()
        folder = (tree / named).resolve(strict=True)
        content, _ = Folder(folder).read("config", _SETTINGS_BYTES)
        found = re.search(_WORK_TREE, content.decode("utf-8"), re.MULTILINE)
        points_back = found is not None and (folder / found[1].strip()).resolve() == tree
    except (OSError, ValueError, RuntimeError):
        return None
    is_inside = any(folder.is_relative_to(outer / part) for part in _MODULES)
    return folder if points_back and is_inside else None


def facts_of(place: Place) -> RepositoryFacts:
    """Ask git for a repository's first commits and remote; what git does not say is unknown."""
    if place.repository is None:
        return RepositoryFacts()
    # A place that is known needs no git.
    from contextkit.workspace.git import Git

    git = Git(Path(place.root), timeout=_SECONDS)
    return RepositoryFacts(_roots(git), _remote(git, Path(place.root)))


def _roots(git: Git) -> tuple[str, ...]:
    from contextkit.workspace.git import GitError

    try:
        if git.run("rev-parse", "--is-shallow-repository").text.strip() != "false":
            return ()
        listed = git.run("rev-list", "--max-parents=0", "HEAD").text.split()
    except GitError:
        return ()
    return tuple(reversed(listed))


def _remote(git: Git, root: Path) -> str | None:
    from contextkit.workspace.git import GitError

    try:
        answer = git.run("config", "-z", "--get-regexp", r"^remote\..*\.url$", check=False)
    except GitError:
        return None
    found: dict[str, str] = {}
    for entry in answer.output.decode("utf-8", "replace").split("\0"):
        key, _, address = entry.partition("\n")
        if address:
            found.setdefault(key.removeprefix("remote.").removesuffix(".url"), address)
    if not found:
        return None
    return normalised_remote(found.get("origin") or next(iter(found.values())), root)


def normalised_remote(address: str, root: Path) -> str:
    """Reduce a remote's address to host and path, in lower case.

    All addresses of one repository give the same: `git@example.org:acme/Ledger.git` and
    `https://user:secret@example.org/acme/ledger` give `example.org/acme/ledger`. A local path
    gives an absolute path.

    Args:
        address: the address.
        root: the work tree, for relative paths.
    """
    if "://" in address and not address.startswith("file://"):
        try:
            parts = urlsplit(address)
        except ValueError:
            return as_text(address)
        return _joined(parts.hostname or "", parts.path)
    local = address.removeprefix("file://")
    host, colon, path = local.partition(":")
    # As for git, what has a slash before its first colon is a path.
    if local == address and colon and "/" not in host and len(host) > 1:
        return _joined(host.rpartition("@")[2], path)
    return as_text((root / local).resolve())


def _joined(host: str, path: str) -> str:
    return f"{host}/{path.strip('/').removesuffix('.git').rstrip('/')}".lower()
