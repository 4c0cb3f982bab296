"""Link workspaces to projects, and take them out again."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from contextkit.config.project_files import (
    Member,
    Project,
    delete_project,
    key_of_name,
    projects_locked,
    read_project,
    read_projects,
    write_project,
)
from contextkit.config.projects import ProjectStore, may_use, planned_project, project_at
from contextkit.config.settings import Config
from contextkit.errors import ContextKitError
from contextkit.workspace.repository import Place, as_text, place_of


def link(target: str, root: Path, config: Config, store: ProjectStore | None = None) -> Project:
    """Let a workspace use a project, with the workspaces that use it already.

    Where no other folder uses the project that the workspace had, its records move along.

    Args:
        target: a name, a project as `contextkit project list` shows it, or a folder.
        root: the workspace's root folder.
        config: its settings.
        store: the records.

    Raises `ContextKitError` where the link cannot be written.
    """
    place = place_of(root, isolate=config.store.isolate_worktrees)
    with projects_locked():
        project = _target(target, config)
        for left in read_projects():
            if left.name is None and left.key != project.key and left.has(place):
                _leave(left, place, project, store)
        linked = project if may_use(project, place) else project.with_member(place)
        write_project(linked)
    return linked


def _leave(left: Project, place: Place, joined: Project, store: ProjectStore | None) -> None:
    rest = left.without(place)
    if rest.members:
        write_project(rest)
        return
    if store is not None:
        store.move(left.key, joined.key)
    delete_project(left.key)


def _target(target: str, config: Config) -> Project:
    path = Path(target).expanduser()
    if target == config.project or not (target.startswith("git:") or path.is_absolute()):
        return _readable(key_of_name(target)) or Project(key_of_name(target), (), target)
    if target.startswith("git:"):
        return read_project(target) or Project(target)
    place = place_of(path.resolve()) if path.is_dir() else Place(as_text(path))
    found = project_at(place, read_projects())
    if found is not None:
        return found
    planned, _ = planned_project(place, (), None)
    return planned.with_member(place)


def _readable(key: str) -> Project | None:
    # A damaged file does not free its name; the user mends it by linking the folder again.
    try:
        return read_project(key)
    except ContextKitError:
        return None


def unlink(target: str | None, root: Path) -> bool:
    """Take a workspace out of a project.

    A name without any workspace belongs to the next one that uses it. A workspace that leaves
    its repository's project is a project by its path.

    Args:
        target: the project's name; None for the project that the workspace has without a name.
        root: the workspace's root folder.

    Returns:
        Whether the workspace was linked.

    Raises `ContextKitError` where the links cannot be read or written.
    """
    place = place_of(root) if root.is_dir() else Place(as_text(root))
    with projects_locked():
        if target is None:
            return _unlink_place(place)
        known = read_project(key_of_name(target))
        left = tuple(m for m in known.members if m.root != place.root) if known else ()
        if known is None or len(left) == len(known.members):
            return False
        if left:
            write_project(evolve(known, members=left))
        else:
            delete_project(known.key)
        return True


def _unlink_place(place: Place) -> bool:
    known = project_at(place, read_projects())
    if known is None or known.key == place.root:
        return False
    write_project(Project(place.root, (Member(place.root),)))
    return True
