"""Keep which folders belong to which project, one JSON file for each project.

The files are in the folder `projects` of the data folder. They are this user's own: nothing that
comes with a clone writes them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, frozen

from contextkit.config.load import data_folder
from contextkit.errors import ContextKitError, in_words
from contextkit.files import write_atomically
from contextkit.workspace.repository import Place, RepositoryFacts, as_text

_LOCK_SECONDS = 5.0
_LONGEST_NAME = 60


@frozen
class Member:
    """A place that belongs to a project.

    Attributes:
        root: its root folder when it joined.
        repository: the git folder that its work trees share, or None.
        within: its path inside the repository.
        stamp: of the git folder; another one means that another repository may be there now.
    """

    root: str
    repository: str | None = None
    within: str = ""
    stamp: str | None = None

    @classmethod
    def of(cls, place: Place) -> Member:
        """Create the member for a place."""
        return cls(place.root, place.repository, place.within, place.stamp)

    def is_at(self, place: Place) -> bool:
        """Whether this is the place, or another work tree of its repository."""
        if self.repository is None:
            return self.root == place.root
        return (self.repository, self.within) == (place.repository, place.within)

    def is_like(self, place: Place) -> bool:
        """Whether this is the same folder, or an earlier repository at its path."""
        return self.root == place.root or self.stamp != place.stamp

    @property
    def is_gone(self) -> bool:
        """Whether its folder no longer exists."""
        return not Path(self.repository or self.root).exists()


@frozen
class Project:
    """A project, and the places that belong to it.

    Attributes:
        key: the project in the store.
        members: the first is the one that used it first.
        name: its name, where settings name it.
        facts: of its repository.
        adopted: the folders whose records it took over.
    """

    key: str
    members: tuple[Member, ...] = ()
    name: str | None = None
    facts: RepositoryFacts = RepositoryFacts()
    adopted: tuple[str, ...] = ()

    def has(self, place: Place) -> bool:
        """Whether a place belongs to the project."""
        return any(member.is_at(place) for member in self.members)

    def with_member(self, place: Place) -> Project:
        """Return the project with a further place, or with another repository at one."""
        kept = [m for m in self.members if not (m.is_at(place) and m.is_like(place))]
        return evolve(self, members=(*kept, Member.of(place)))

    def without(self, place: Place) -> Project:
        """Return the project without a place."""
        return evolve(self, members=tuple(m for m in self.members if not m.is_at(place)))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Project:
        """Read a project; raises `LookupError`, `TypeError` and the like where it is damaged."""
        name = None if data.get("name") is None else str(data["name"])
        key = data.get("key") or f"name:{data['name']}"
        facts = data.get("facts") or {"roots": (), "remote": None}
        members = tuple(Member(**{k: m[k] for k in _MEMBER if k in m}) for m in data["members"])
        return cls(
            as_text(key),
            members,
            name,
            RepositoryFacts(tuple(facts["roots"]), facts["remote"]),
            tuple(data.get("adopted", ())),
        )


_MEMBER = ("root", "repository", "within", "stamp")


def projects_stamp() -> object:
    """A value that changes when a project is written or deleted."""
    try:
        return _folder().stat().st_mtime_ns
    except OSError:
        return None


def key_of_name(name: str) -> str:
    """The project that a name names; it never is another's path or repository."""
    return as_text(f"name:{name}")


def read_project(key: str) -> Project | None:
    """Read a project's file; None where there is none.

    Raises `ContextKitError` for a damaged file, which does not free its name.
    """
    return _parsed(_file_of(key))


def read_projects(at: Place | None = None) -> list[Project]:
    """Read projects, sorted by key; damaged files are skipped.

    Args:
        at: read only those that may have this place; default: all.
    """
    found = []
    named = [] if at is None else [json.dumps(f).encode() for f in (at.root, at.repository) if f]
    with contextlib.suppress(OSError):
        for file in _folder().glob("*.json"):
            with contextlib.suppress(ContextKitError):
                found.append(_parsed(file, named))
    return sorted(filter(None, found), key=lambda project: project.key)


def write_project(project: Project) -> None:
    """Write a project's file."""
    write_atomically(_file_of(project.key), json.dumps(asdict(project), indent=1))


def delete_project(key: str) -> None:
    """Delete a project's file, if there is one."""
    _file_of(key).unlink(missing_ok=True)


class ProjectsBusyError(ContextKitError):
    """Another process is writing the projects."""


@contextlib.contextmanager
def projects_locked() -> Iterator[None]:
    """Keep other processes from writing.

    Raises:
        ProjectsBusyError: another process has been writing for five seconds.
        ContextKitError: the folder cannot be written.
    """
    # Most runs find their project, and need no lock.
    from filelock import FileLock, Timeout

    folder = _folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(folder / "projects.lock", mode=0o600).acquire(timeout=_LOCK_SECONDS):
            yield
    except Timeout as error:
        raise ProjectsBusyError(f"another process is writing the projects at {folder}") from error
    except OSError as error:
        raise ContextKitError(
            f"the projects cannot be written at {folder} ({in_words(error)})"
        ) from error


def shortened(name: str) -> str:
    """A name as a message shows it."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _folder() -> Path:
    return data_folder() / "projects"


def _file_of(key: str) -> Path:
    # A key may be longer than a file name can be, and may have any characters.
    named = key.removeprefix("name:") if key.startswith("name:") else f"\0{key}"
    return _folder() / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.json"


def _parsed(file: Path, named: Collection[bytes] = ()) -> Project | None:
    """Read a file; None where there is none, or where it has none of the names."""
    try:
        text = file.read_bytes()
        if named and not any(name in text for name in named):
            return None
        return Project.from_json(json.loads(text))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ContextKitError(f"{file} cannot be read ({in_words(error)})") from error
