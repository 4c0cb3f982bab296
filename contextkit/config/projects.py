"""Decide which project a workspace's records belong to.

A project is what git says it is. All work trees of a repository belong to it, also after its
folder was renamed, and so do clones with the same first commit and the same remote, or of each
other. A folder without git is a project by its path.

A clone could name any project, in its settings or by its history. So it joins only projects of
this user: those whose folders this user has used, and those that the user links it to. A name in
a workspace's file belongs to the workspace that used it first. A name that the user gives, in
`config.toml`, in the environment, by a flag or as a host, needs no link.
"""

from __future__ import annotations

import contextlib
import hashlib
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from attrs import evolve, frozen

from contextkit.config.installation import installation_id
from contextkit.config.origins import Origin
from contextkit.config.project_files import (
    Member,
    Project,
    ProjectsBusyError,
    delete_project,
    key_of_name,
    projects_locked,
    read_project,
    read_projects,
    shortened,
    write_project,
)
from contextkit.config.settings import Config
from contextkit.errors import ContextKitError, StoreBusyError, StoreError
from contextkit.models.record import CHECKOUT_PREFIX, FOLDER_PREFIX
from contextkit.text.words import counted
from contextkit.workspace.repository import Place, RepositoryFacts, as_text, facts_of, place_of

_MOST_NAMED = 3
_MAY_NAME_A_FOLDER = ("user", "environment")


@frozen
class Identity:
    """The project that a workspace's records belong to.

    Attributes:
        project: the project in the store: `name:NAME`, `git:FIRST-COMMIT/REMOTE`, or a path. The
            kinds never meet, so that no repository can name itself after another's path.
        problem: why the records are not those that the user may expect, or None.
        remedy: what to do about it.
        note: what was decided on this first use, or None.
    """

    project: str
    problem: str | None = None
    remedy: str | None = None
    note: str | None = None


class ProjectStore(Protocol):
    """The stored records of projects, as far as an identity needs them."""

    @property
    def is_shared(self) -> bool:
        """Whether other users and machines may use the store."""

    def has(self, project: str) -> bool:
        """Whether a project has records that people or agents wrote."""

    def move(self, old: str, new: str) -> int:
        """Move such records to another project; return their number."""


def identify(
    root: Path, config: Config, store: ProjectStore | None = None, *, claim: bool = True
) -> Identity:
    """Identify the project of a workspace's records.

    Where the data folder cannot be written, a workspace that is not known yet is a project by
    its path.

    Args:
        root: its root folder.
        config: has the project's name, and the name's origin.
        store: the records; those of a path move to the repository's project on first use.
        claim: whether the workspace's first use is recorded.
    """
    place = place_of(root, isolate=config.store.isolate_worktrees)
    name = config.project
    if not name:
        return _of_place(place, store, claim=claim)
    # A host may take its names from strangers, so there a name is never a folder.
    if config.origin("project").layer in _MAY_NAME_A_FOLDER and (known := _known(name)):
        return Identity(known)
    return _named(name, place, config, store, claim=claim)


# -- by place -------------------------------------------------------------------------------


def _of_place(place: Place, store: ProjectStore | None, *, claim: bool) -> Identity:
    known = project_at(place, read_projects(place))
    if known is not None and _is_recorded(known, place):
        return Identity(known.key)
    if place.repository is None:
        return Identity(place.root)
    if not claim:
        return _planned(place, store)
    try:
        with projects_locked():
            return _begin(place, store)
    except (ProjectsBusyError, StoreBusyError):
        # What this process writes must be where the one that is faster looks for it.
        with contextlib.suppress(StoreError):
            return _planned(place, store)
    except ContextKitError:
        # Whatever uses the store or the data folder next reports what is wrong with it.
        pass
    return Identity(place.root)


def _planned(place: Place, store: ProjectStore | None) -> Identity:
    planned, _ = planned_project(place, read_projects(), store)
    return Identity(planned.key)


def project_at(place: Place, projects: Iterable[Project]) -> Project | None:
    """The project that a place belongs to without a name."""
    having = [project for project in projects if project.name is None and project.has(place)]
    # A folder that was unlinked is a project by its own path.
    return min(having, key=lambda each: each.key != place.root, default=None)


def _is_recorded(project: Project, place: Place) -> bool:
    """Whether this folder was used before, with the same repository."""
    members = [member for member in project.members if member.root == place.root]
    if project.key == place.main and _may_have_got_roots(project, place):
        return False
    return any(m.repository is None or m.stamp == place.stamp for m in members)


def _may_have_got_roots(project: Project, place: Place) -> bool:
    """Whether git may know a repository's first commits by now, as after a full fetch."""
    if project.facts.roots or not any(member.repository for member in project.members):
        return False
    return place.repository is not None and not (Path(place.repository) / "shallow").exists()


def _begin(place: Place, store: ProjectStore | None) -> Identity:
    """Record a place's first use, or its use by another repository than before."""
    projects = read_projects()
    project, was = planned_project(place, projects, store)
    moved = _moved_to(project.key, place, store)
    for left in projects:
        if left.name is not None or left.key == project.key or not left.has(place):
            continue
        if left.key == place.main:
            # Its records have moved, so the folders that were linked to it go with them.
            project = evolve(project, members=(*project.members, *left.members))
            delete_project(left.key)
        else:
            write_project(left.without(place))
    if project.facts == RepositoryFacts():
        # A repository without a commit has nothing yet that another one could share.
        return Identity(project.key)
    adopted = tuple(dict.fromkeys((*project.adopted, *moved)))
    write_project(evolve(project.with_member(place), adopted=adopted))
    if was is not None and was.has(place):
        return Identity(project.key)
    return _decided(project, was, projects, moved)


def _moved_to(key: str, place: Place, store: ProjectStore | None) -> dict[str, int]:
    """Move the records of a place's own paths; return their numbers."""
    paths = [path for path in dict.fromkeys((place.main, place.root)) if path != key]
    if store is None:
        return {}
    return {path: store.move(path, key) for path in paths if store.has(path)}


def _decided(
    project: Project, was: Project | None, projects: Sequence[Project], moved: Mapping[str, int]
) -> Identity:
    if was is not None and was.members:
        note = (
            f"this folder shares the records of {folders_of(was)}, the same repository; "
            f"`contextkit project unlink` keeps them apart"
        )
        return Identity(project.key, note=note)
    if "~" in project.key:
        key = project.key.rpartition("~")[0]
        other = next((each for each in projects if each.key == key), None)
        where = "another computer or user" if other is None else folders_of(other)
        return Identity(
            project.key,
            note=f"{where} has records of a repository with the same first commit, and this "
            f"folder has its own; `contextkit project link {shlex.quote(key)}` shares them",
        )
    same = [each for each in projects if each.facts.remote == project.facts.remote is not None]
    if same and not project.facts.roots:
        return Identity(
            project.key,
            note=f"{folders_of(same[0])} has the same remote, but the first commit of this shallow "
            f"clone is not known; `contextkit project link {shlex.quote(same[0].key)}` shares the "
            f"records",
        )
    count = sum(moved.values())
    note = (
        f"{counted(count, 'record')} of this folder moved to the project of its repository, which "
        f"its work trees share"
    )
    return Identity(project.key, note=note if count else None)


def planned_project(
    place: Place, projects: Sequence[Project], store: ProjectStore | None
) -> tuple[Project, Project | None]:
    """The project that a place would belong to.

    Returns:
        The project, and it as it was, where it exists.
    """
    facts = facts_of(place)
    unnamed = [project for project in projects if project.name is None]
    for known in unnamed:
        # A path without first commits is no project for those that have some.
        if (known.facts.roots or not facts.roots) and _is_same(known, place, facts):
            roots = tuple(dict.fromkeys((*known.facts.roots, *facts.roots)))
            remote = known.facts.remote or (facts.remote if facts.has_address else None)
            return evolve(known, facts=RepositoryFacts(roots, remote)), known
    key = facts.key
    if key is None:
        return Project(place.main, facts=facts), None
    if place.within:
        key = f"{key}#{place.within}"
    is_elsewhere = store is not None and store.is_shared and store.has(key)
    if is_elsewhere or any(known.key == key for known in unnamed):
        # Others on a server may have the same path, as in containers.
        unique = f"{installation_id() if is_elsewhere else ''}{place.repository}"
        digest = hashlib.sha256(unique.encode()).hexdigest()
        key = f"{key}~{digest[:8]}"
    return Project(key, facts=facts), None


def _is_same(project: Project, place: Place, facts: RepositoryFacts) -> bool:
    """Whether a repository is one of a project's, or a clone of one."""
    members = [member for member in project.members if member.within == place.within]
    known, shares = project.facts, _shares(project.facts, facts)
    same_remote = facts.remote is not None and facts.remote == known.remote
    if not members or not (shares or same_remote):
        return False
    if any(member.is_at(place) for member in members):
        return True
    # Since its first use it may have got a remote, or its history may have been rewritten.
    known = _present_facts(members) or known
    if facts.remote is not None and facts.remote == known.remote:
        # An address alone is no proof: anyone can guess it.
        return _shares(known, facts)
    folders = {folder for member in members for folder in _folders_of(member)}
    return shares and (facts.remote in folders or _has_moved(members, place, facts, known))


def _has_moved(
    members: Sequence[Member], place: Place, facts: RepositoryFacts, known: RepositoryFacts
) -> bool:
    """Whether a folder with the same history is one that was renamed."""
    gone = [member for member in members if member.is_gone]
    if any(member.stamp == place.stamp is not None for member in gone):
        return True
    return len(gone) == len(members) and facts.remote == known.remote


def _shares(one: RepositoryFacts, other: RepositoryFacts) -> bool:
    return not set(one.roots).isdisjoint(other.roots)


def _present_facts(members: Iterable[Member]) -> RepositoryFacts | None:
    for member in members:
        if not member.is_gone and Path(member.root).is_dir():
            return facts_of(place_of(Path(member.root)))
    return None


def _folders_of(member: Member) -> tuple[str, ...]:
    if member.repository is None:
        return (member.root,)
    return member.root, member.repository, as_text(Path(member.repository).parent)


# -- by name --------------------------------------------------------------------------------


def _known(given: str) -> str | None:
    """The project that a user's own setting names by its key or by a folder's path."""
    projects = read_projects()
    if any(project.key == given and project.name is None for project in projects):
        return given
    path = Path(given)
    if not path.is_absolute():
        return None
    place = place_of(path.resolve()) if path.is_dir() else Place(as_text(path))
    found = project_at(place, projects) or next(
        (each for each in projects if any(m.root == place.root for m in each.members)), None
    )
    return found.key if found else place.root


def project_key(given: str) -> str:
    """The project that a key, a folder or a name means."""
    if given.startswith((FOLDER_PREFIX, CHECKOUT_PREFIX)):
        return given
    path = Path(given).expanduser()
    return _known(str(path)) or _known(given) or key_of_name(given)


def _named(
    name: str, place: Place, config: Config, store: ProjectStore | None, *, claim: bool
) -> Identity:
    named, origin, problem = Identity(key_of_name(name)), config.origin("project"), None
    try:
        known = read_project(named.project)
        if known is None and _is_anothers(named.project, origin, store):
            return _refused(name, place, origin, "another computer or user has records of it")
        if (known is None and claim) or (known is not None and not may_use(known, place)):
            known = _claimed(name, place, claim=claim)
        if known is None or may_use(known, place):
            return named
        problem = f"it belongs to {folders_of(known)}"
    except ContextKitError as error:
        problem = str(error)
    return named if origin.layer != "project" else _refused(name, place, origin, problem)


def _is_anothers(key: str, origin: Origin, store: ProjectStore | None) -> bool:
    """Whether a name that came with a workspace has records on a server already."""
    if origin.layer != "project" or store is None:
        return False
    return store.is_shared and store.has(key)


def _refused(name: str, place: Place, origin: Origin, problem: str) -> Identity:
    return Identity(
        place.root,
        problem=f"{origin}: the project '{shortened(name)}' is not used here: {problem}. "
        f"This folder's records are its own",
        remedy=f"`contextkit project link {shlex.quote(name)}` links this folder to that project",
    )


def may_use(project: Project, place: Place) -> bool:
    """Whether a place, by its folder or its repository, is one of a project's."""
    return any(member.root == place.root or member.is_at(place) for member in project.members)


def _claimed(name: str, place: Place, *, claim: bool) -> Project | None:
    """Give an unused name to a place, and a used one to a clone of the repository that has it."""
    facts = facts_of(place)
    known = read_project(key_of_name(name))
    if known is not None and not _is_same(known, place, facts):
        return known
    if not claim:
        return known and known.with_member(place)
    with projects_locked():
        known = read_project(key_of_name(name)) or Project(key_of_name(name), (), name, facts)
        if not known.members or _is_same(known, place, facts):
            known = known.with_member(place)
            write_project(known)
    return known


def folders_of(project: Project) -> str:
    """A project's folders, as a message names them."""
    roots = [member.root for member in project.members[:_MOST_NAMED]]
    further = len(project.members) - _MOST_NAMED
    return ", ".join([*roots, *([f"{further} more"] if further > 0 else [])]) or "no folder"
