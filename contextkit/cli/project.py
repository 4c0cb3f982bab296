"""`contextkit project`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from contextkit.cli.failures import ExitCode
from contextkit.cli.output import table
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.text.words import counted

if TYPE_CHECKING:
    from contextkit.config.project_files import Project
    from contextkit.config.projects import Identity
    from contextkit.config.settings import Config

_yes = click.option("--yes", is_flag=True, help="Do not ask.")


@click.group(epilog="Example: contextkit project show")
def project() -> None:
    """Show, link and move this folder's project.

    What people and agents write, such as memories, belongs to a project: to a git repository with
    all its work trees and your clones of it, to a folder without git, or to a name that your
    settings give. What is indexed, such as code, belongs to each checkout.
    """


@project.command(epilog="Example: contextkit project show")
@json_option
@pass_session
def show(session: Session, as_json: bool) -> None:
    """Show this folder's project and why."""
    from contextkit.cli.checks.owner import owner_findings
    from contextkit.config.project_files import read_project
    from contextkit.config.projects import identify
    from contextkit.models.record import USER_PREFIX

    origin = session.config.origin("project")
    found = identify(session.workspace, session.config, session.kit.project_records, claim=False)
    known = read_project(found.project)
    counts = session.kit.project_records.counts(found.project)
    owned = list(owner_findings(session.config, found.project))
    ownership = session.kit.pipeline.ownership
    project = ownership.project(found.project)
    why = _why(session.workspace, session.config, found, known)
    lines = [f"project: {project}", f"why: {why}"]
    lines += [f"folder: {member.root}" for member in known.members] if known else []
    lines += [f"took over the records of {folder}" for folder in known.adopted] if known else []
    if counts:
        lines.append(
            "stored records: " + ", ".join(f"{n:,} {source}" for source, n in counts.items())
        )
    lines += [f"{each.part}: {each.text}" for each in owned]
    lines += [text for text in (found.problem, found.remedy) if text]
    data = {
        "project": project,
        "why": why,
        "user": ownership.user.removeprefix(USER_PREFIX) or None,
        "name": session.config.project,
        "origin": str(origin),
        "folders": [member.root for member in known.members] if known else [],
        "adopted": list(known.adopted) if known else [],
        "records": counts,
        "problem": found.problem,
        "remedy": found.remedy,
    }
    session.emit(data, "\n".join(lines), as_json)


@project.command("list", epilog="Example: contextkit project list")
@json_option
@pass_session
def list_(session: Session, as_json: bool) -> None:
    """List your projects and their folders."""
    from contextkit.config.project_files import read_projects

    found = read_projects()
    rows = [
        [known.key, member.root + ("  (gone)" if member.is_gone else "")]
        for known in found
        for member in known.members
    ]
    text = table(["PROJECT", "FOLDER"], rows) if rows else ""
    session.emit([_as_dict(known) for known in found], text, as_json)


@project.command(epilog="Example: contextkit project link ~/src/ledger")
@click.argument("target", metavar="PROJECT")
@json_option
@pass_session
def link(session: Session, target: str, as_json: bool) -> None:
    """Link this folder to PROJECT.

    PROJECT is a folder, a project as `contextkit project list` prints it, or a name that this
    folder's contextkit.toml gives. The folder then reads and writes the project's records. If no
    other folder has the records that it had until now, they move along.
    """
    from contextkit.config.project_links import link as make_link

    named = session.config.project
    folder = Path(target).expanduser()
    is_folder = "/" in target and not target.startswith("git:")
    if is_folder and target != named:
        target = str(folder.absolute())
    elif target != named and not target.startswith("git:"):
        has = f"it names '{named}'" if named else "it names no project"
        raise click.UsageError(
            f"The settings of {session.workspace} do not name '{target}', {has}: "
            f'write project = "{target}" into its contextkit.toml, or give a folder.'
        )
    records = session.kit.project_records
    known = make_link(target, session.workspace, session.config, records)
    folders = "\n".join(f"  {member.root}" for member in known.members)
    session.emit(_as_dict(known), f"{known.key}:\n{folders}", as_json)


@project.command(epilog="Example: contextkit project unlink ledger ~/old/ledger")
@click.argument("name", required=False)
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@json_option
@pass_session
def unlink(session: Session, name: str | None, folder: Path | None, as_json: bool) -> None:
    """Unlink this folder, or FOLDER, from its project, or from the project NAME.

    No record is deleted. The folder then has records of its own. A name without a folder belongs
    to the next folder that uses it.
    """
    from contextkit.config.project_links import unlink as take_link

    root = session.workspace if folder is None else folder.expanduser().absolute()
    done = take_link(name, root)
    from_name = f" to {name}" if name else ""
    text = f"{root} is no longer linked{from_name}" if done else f"{root} was not linked{from_name}"
    session.emit({"unlinked": done}, text, as_json)


@project.command(epilog="Example: contextkit project move ~/old/ledger")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO", required=False)
@json_option
@pass_session
def move(session: Session, source: str, target: str | None, as_json: bool) -> None:
    """Move the records of the project FROM to TO.

    TO is this folder's project unless given. Both are projects as `contextkit project list`
    prints them, or folders. Code and other indexed records do not move: each checkout has its own.
    """
    old = _existing(session, source)
    new = session.kit.project if target is None else _existing(session, target)
    if old == new:
        raise click.UsageError(f"FROM and TO are the same project, {old}.")
    count = session.kit.project_records.move(old, new)
    text = f"moved {counted(count, 'record')} from {old} to {new}"
    session.emit({"from": old, "to": new, "moved": count}, text, as_json)


@project.command(epilog="Example: contextkit project forget ~/old/ledger")
@click.argument("target", metavar="PROJECT")
@_yes
@json_option
@pass_session
def forget(session: Session, target: str, yes: bool, as_json: bool) -> None:
    """Delete the records of PROJECT and its links.

    PROJECT is a project as `contextkit project list` prints it, or a folder. This cannot be
    undone: `contextkit export` writes a copy first.
    """
    from contextkit.config.project_files import delete_project, projects_locked, read_project

    key = _existing(session, target)
    known = read_project(key)
    records = session.kit.project_records
    counts = records.counts(key)
    told = ", ".join(f"{n:,} {source}" for source, n in counts.items()) or "no records"
    if not yes:
        click.confirm(f"Delete {told} of {key}?", abort=True, err=True)
    for each in dict.fromkeys((key, *(member.root for member in (known.members if known else ())))):
        records.delete(each)
    with projects_locked():
        delete_project(key)
    session.emit({"project": key, "deleted": counts}, f"deleted {told} of {key}", as_json)


def _why(folder: Path, config: Config, found: Identity, known: Project | None) -> str:
    """Say what decides that a folder's records belong to a project."""
    from contextkit.workspace.repository import facts_of, place_of

    if config.project:
        used = f"the name in {config.origin('project')}"
        return "the folder's path, as its name is not used" if found.problem else used
    place = place_of(folder, isolate=config.store.isolate_worktrees)
    facts = facts_of(place)
    shared = {*facts.roots} & {*(known.facts.roots if known else ())}
    if found.project.startswith("git:") and (shared or found.project == facts.key):
        return "git's first commit" + (" and remote" if facts.has_address else "")
    if found.project not in (place.root, place.main):
        return "a link; `contextkit project unlink` removes it"
    if facts.roots:
        return "the folder's path, as it is not linked to its repository's project"
    in_git = place.repository is not None
    return f"the folder's path, as git {'shows no first commit' if in_git else 'does not track it'}"


class _UnknownProjectError(click.ClickException):
    exit_code = ExitCode.NOT_FOUND


def _existing(session: Session, given: str) -> str:
    """Return the key of a project that is a folder, or has folders or records."""
    from contextkit.config.project_files import read_project
    from contextkit.config.projects import project_key
    from contextkit.store.ownership import is_path

    key, ownership = project_key(given), session.kit.pipeline.ownership
    keys = [ownership.project(key), *([ownership.checkout(key)] if is_path(key) else [])]
    is_known = Path(key).is_dir() or read_project(key) or session.kit.store.count(None, keys, {})
    if not is_known:
        raise _UnknownProjectError(
            f"no project is called '{given}'; `contextkit project list` shows them"
        )
    return key


def _as_dict(known: Project) -> dict[str, object]:
    return {
        "project": known.key,
        "name": known.name,
        "folders": [member.root for member in known.members],
    }
