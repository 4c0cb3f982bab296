"""Decide which workspaces may use a project's name.

Workspaces that name the same project share its records. A name may stand in the file of a cloned
repository, so such a file claims nothing. A name belongs to the workspace that used it first, and
to those that the user links to it. A name that the user gives, in `config.toml`, in the
environment, by a flag or as a host, needs no link.

The links are in the folder `projects` of the data folder, one JSON file for each name.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import asdict, evolve, frozen

from contextkit.config.load import data_folder
from contextkit.config.settings import Config
from contextkit.errors import ContextKitError, in_words
from contextkit.files import write_atomically
from contextkit.workspace.find import repository_of

_LOCK_SECONDS = 5.0
_MOST_NAMED = 3
_LONGEST_NAME = 60


@frozen
class Identity:
    """The project that a workspace's records belong to.

    Attributes:
        project: the name of it in the store: `name:NAME`, or the workspace's path. The two never
            meet, so no repository can name itself after another's path.
        problem: why the name in the workspace's file is not used, or None.
        remedy: what to do about it.
    """

    project: str
    problem: str | None = None
    remedy: str | None = None


@frozen
class Member:
    """A workspace that may use a name.

    Attributes:
        root: its root folder.
        repository: the git folder that its work trees share, where it is one of them.
    """

    root: str
    repository: str | None = None

    @classmethod
    def of(cls, root: Path) -> Member:
        """Create the member for a workspace's root folder."""
        repository = repository_of(root)
        return cls(_as_text(root), _as_text(repository) if repository else None)


@frozen
class Project:
    """A name, and the workspaces that may use it.

    Attributes:
        name: the name.
        members: the first is the one that used it first.
    """

    name: str
    members: tuple[Member, ...]

    def has(self, root: Path) -> bool:
        """Check whether a workspace may use the name.

        It may if it, or another work tree of its repository, is a member.
        """
        if any(member.root == _as_text(root) for member in self.members):
            return True
        mine = Member.of(root).repository
        return mine is not None and any(member.repository == mine for member in self.members)


def identify(root: Path, config: Config, *, claim: bool = True) -> Identity:
    """Identify the project of a workspace's records.

    Where the data folder cannot be written, a name in a workspace's file is not used.

    Args:
        root: its root folder.
        config: has the project's name, and the name's origin.
        claim: whether a name that no workspace has used becomes this one's.
    """
    name, place = config.project, Identity(_as_text(root))
    if not name:
        return place
    named = Identity(_as_text(f"name:{name}"))
    origin = config.origin("project")
    problem = None
    try:
        known = _read(name)
        if known is None and claim:
            known = _add(name, root, only_first=True)
        if known is None or known.has(root):
            return named
        problem = f"it belongs to {_folders(known)}"
    except ContextKitError as error:
        problem = str(error)
    if origin.layer != "project":
        return named
    return evolve(
        place,
        problem=f"{origin}: the project '{_shortened(name)}' is not used here: {problem}. "
        f"This folder's records are its own",
        remedy=f"`contextkit project link {shlex.quote(name)}` links this folder to that project",
    )


def linked_projects() -> list[Project]:
    """List every name in use, sorted; unreadable files are skipped."""
    found = []
    with contextlib.suppress(OSError):
        for file in _folder().glob("*.json"):
            with contextlib.suppress(ContextKitError):
                found.append(_parsed(file))
    return sorted(filter(None, found), key=lambda project: project.name)


def link(name: str, root: Path) -> Project:
    """Let another workspace use a name.

    The workspaces that use it already keep it.

    Raises `ContextKitError` where the link cannot be written.
    """
    return _add(name, root, only_first=False)


def unlink(name: str, root: Path) -> bool:
    """Remove a workspace's right to a name.

    A name without any workspace belongs to the next one that uses it.

    Returns:
        Whether the workspace was linked.

    Raises `ContextKitError` where the links cannot be read or written.
    """
    with _locked(name):
        known = _read(name)
        left = tuple(m for m in known.members if m.root != _as_text(root)) if known else ()
        if known is None or len(left) == len(known.members):
            return False
        if left:
            _write(evolve(known, members=left))
        else:
            _file_of(name).unlink()
        return True


# -- the files ------------------------------------------------------------------------------


def _folder() -> Path:
    return data_folder() / "projects"


def _file_of(name: str) -> Path:
    # A name may be longer than a file name can be, and may have any characters.
    digest = hashlib.sha256(_as_text(name).encode()).hexdigest()[:32]
    return _folder() / f"{digest}.json"


def _read(name: str) -> Project | None:
    """Read a name's links; None for an unused name."""
    return _parsed(_file_of(name))


def _parsed(file: Path) -> Project | None:
    try:
        data = json.loads(file.read_bytes())
        members = (Member(str(m["root"]), m["repository"]) for m in data["members"])
        return Project(str(data["name"]), tuple(members))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        # A damaged file does not free its name: the user links it again.
        raise ContextKitError(f"{file} cannot be read ({in_words(error)})") from error


def _add(name: str, root: Path, *, only_first: bool) -> Project:
    with _locked(name):
        try:
            known = _read(name)
        except ContextKitError:
            if only_first:
                raise
            known = None
        if known is not None and (only_first or known.has(root)):
            return known
        members = (*(known.members if known else ()), Member.of(root))
        made = Project(_as_text(name), members)
        _write(made)
        return made


def _write(project: Project) -> None:
    write_atomically(_file_of(project.name), json.dumps(asdict(project), indent=1))


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    # Most runs find the name linked, and need no lock.
    from filelock import FileLock, Timeout

    folder = _folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(folder / "projects.lock", mode=0o600).acquire(timeout=_LOCK_SECONDS):
            yield
    except (OSError, Timeout) as error:
        raise ContextKitError(
            f"the link of '{_shortened(name)}' cannot be written at {folder} ({in_words(error)})"
        ) from error


def _as_text(value: object) -> str:
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def _folders(project: Project) -> str:
    roots: Iterable[str] = (member.root for member in project.members[:_MOST_NAMED])
    further = len(project.members) - _MOST_NAMED
    return ", ".join([*roots, *([f"{further} more"] if further > 0 else [])]) or "no folder"


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
