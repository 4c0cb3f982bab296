"""State of a git work tree: branch, changes and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from attrs import define, field

from contextkit.indexing import Git, GitError, git_status_text
from contextkit.text import one_line

_LETTERS = {
    "A": "added",
    "C": "copied",
    "D": "deleted",
    "M": "modified",
    "R": "renamed",
    "T": "type changed",
}
_MOST_PATHS = 20


@define
class GitStatus:
    """The state of a work tree.

    Paths are relative to the workspace, with `/`.

    Attributes:
        branch: the current branch; `(detached)` if there is none.
        upstream: the branch that it follows, or empty.
        ahead: the number of commits that the upstream lacks.
        behind: the number of upstream commits that are not here.
        staged: path -> its change, in the index.
        changed: path -> its change, in the work tree.
        untracked: files and, with a `/` at the end, folders of them.
        conflicts: files with both sides' changes.
        watched: files and folders outside the listed ones; a change of the status that changes
            no file or folder of the workspace changes one of them.
    """

    branch: str = ""
    upstream: str = ""
    ahead: int = 0
    behind: int = 0
    staged: dict[str, str] = field(factory=dict)
    changed: dict[str, str] = field(factory=dict)
    untracked: list[str] = field(factory=list)
    conflicts: list[str] = field(factory=list)
    watched: list[str] = field(factory=list)

    @property
    def dirty(self) -> bool:
        """Return whether anything is not committed."""
        return bool(self.staged or self.changed or self.untracked or self.conflicts)

    def uncommitted(self, paths: Iterable[str]) -> list[str]:
        """Return the paths that are staged, changed, untracked or conflicting."""
        named = {*self.staged, *self.changed, *self.untracked, *self.conflicts}
        if not named:
            return []
        folders = tuple(path for path in self.untracked if path.endswith("/"))
        return [path for path in paths if path in named or path.startswith(folders)]

    def said_of(self, path: str) -> list[str]:
        """Return the states of a file."""
        said = []
        if path in self.conflicts:
            said.append("in conflict")
        if path in self.staged:
            said.append(f"{self.staged[path]}, staged")
        if path in self.changed:
            said.append(f"{self.changed[path]}, not staged")
        folders = tuple(new for new in self.untracked if new.endswith("/"))
        if path in self.untracked or path.startswith(folders):
            said.append("untracked")
        return said


def git_status(root: Path) -> GitStatus | None:
    """Return the state of a folder's work tree.

    Only paths below the folder are included.

    Returns None without git, without a work tree, and where git fails.
    """
    git = Git(root)
    try:
        printed = git_status_text(root)
        own, common, prefix = _places(git)
    except GitError:
        return None
    status = GitStatus()
    entries = iter(printed.split("\0"))
    for entry in entries:
        _read(status, entry, entries, prefix)
    status.watched = _watched(git.folder, status, own, common, prefix)
    return status


def _places(git: Git) -> tuple[Path, Path, str]:
    """Return git's folder, the one that its work trees share, and the path in the work tree.

    The path ends in `/` unless it is empty.
    """
    plain = git.folder / ".git"
    if plain.is_dir():
        return plain, plain, ""
    asked = ("--git-dir", "--git-common-dir", "--show-prefix")
    own, common, prefix = git.run("rev-parse", *asked).text.split("\n", 2)
    return git.folder / own, git.folder / common, prefix.removesuffix("\n")


def _watched(folder: Path, status: GitStatus, own: Path, common: Path, prefix: str) -> list[str]:
    names = ("config", "info/exclude", "packed-refs", "reftable/tables.list")
    files = [own / "HEAD", own / "index", *(common / name for name in names)]
    # Git writes a reference by renaming a file, which changes the time of its folder.
    refs = (f"heads/{status.branch}", f"heads/{status.upstream}", f"remotes/{status.upstream}")
    files += [(common / "refs" / ref).parent for ref in refs]
    files += [parent / ".gitignore" for parent in folder.parents[: prefix.count("/")]]
    return list(map(str, files))


def _read(status: GitStatus, entry: str, following: Iterator[str], prefix: str) -> None:
    """Parse one entry of `git status --porcelain=v2 -z`."""
    kind, _, rest = entry.partition(" ")
    if kind == "#":
        _read_branch(status, rest)
    elif kind == "?":
        status.untracked.append(rest.removeprefix(prefix))
    elif kind == "u":
        status.conflicts.append(rest.split(" ", 9)[9].removeprefix(prefix))
    elif kind in {"1", "2"}:
        path = rest.split(" ", 7 if kind == "1" else 8)[-1].removeprefix(prefix)
        if kind == "2":
            # The path that it had before.
            next(following, "")
        for letter, where in zip(rest[:2], (status.staged, status.changed), strict=True):
            if letter in _LETTERS:
                where[path] = _LETTERS[letter]


def _read_branch(status: GitStatus, rest: str) -> None:
    name, _, value = rest.partition(" ")
    if name == "branch.head":
        status.branch = value
    elif name == "branch.upstream":
        status.upstream = value
    elif name == "branch.ab":
        ahead, behind = value.split(" ")
        status.ahead, status.behind = int(ahead), -int(behind)


def status_text(status: GitStatus) -> str:
    """Return branch, conflicts, staged, changed and untracked files, by line."""
    lines = [
        _branch(status),
        *_listed("in conflict", status.conflicts),
        *_listed("staged", _with_what(status.staged)),
        *_listed("changed, not staged", _with_what(status.changed)),
        *_listed("untracked", status.untracked),
    ]
    return "\n".join(lines if status.dirty else [*lines, "nothing to commit"])


def _branch(status: GitStatus) -> str:
    line = f"branch {one_line(status.branch)}"
    if status.upstream:
        line += f", follows {one_line(status.upstream)}"
    counts = [(status.ahead, "ahead"), (status.behind, "behind")]
    return ", ".join([line, *(f"{number} {where}" for number, where in counts if number)])


def _with_what(paths: Mapping[str, str]) -> list[str]:
    return [path if what == "modified" else f"{path} ({what})" for path, what in paths.items()]


def _listed(what: str, paths: Iterable[str]) -> list[str]:
    ordered = [one_line(path) for path in sorted(paths)]
    if not ordered:
        return []
    more = len(ordered) - _MOST_PATHS
    rest = [f"and {more} more"] if more > 0 else []
    return [f"{what} ({len(ordered)}): {', '.join([*ordered[:_MOST_PATHS], *rest])}"]
