"""`contextkit project`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from attrs import asdict

from contextkit.cli.output import table
from contextkit.cli.session import Session, json_option, pass_session

if TYPE_CHECKING:
    from contextkit.config.projects import Project


@click.group(epilog="Example: contextkit project show")
def project() -> None:
    """Show this folder's project, or link folders to projects.

    Folders whose files name the same project share its records. Because a cloned repository can
    name any project, a name belongs to the folder that used it first, and to folders that you
    link.
    """


@project.command(epilog="Example: contextkit project show")
@json_option
@pass_session
def show(session: Session, as_json: bool) -> None:
    """Show the project of this folder, and why."""
    from contextkit.config.projects import identify

    found = identify(session.workspace, session.config, claim=False)
    origin = session.config.origin("project")
    lines = [f"project: {found.project}"]
    if session.config.project is not None:
        lines.append(f"name: {session.config.project} ({origin})")
    lines += [f"{text}" for text in (found.problem, found.remedy) if text]
    session.emit(
        {**asdict(found), "name": session.config.project, "origin": str(origin)},
        "\n".join(lines),
        as_json,
    )


@project.command("list", epilog="Example: contextkit project list")
@json_option
@pass_session
def list_(session: Session, as_json: bool) -> None:
    """List the project names in use, with their folders."""
    from contextkit.config.projects import linked_projects

    found = linked_projects()
    rows = [[known.name, member.root] for known in found for member in known.members]
    text = table(["NAME", "FOLDER"], rows) if rows else ""
    session.emit([_as_dict(known) for known in found], text, as_json)


@project.command(epilog="Example: contextkit project link ledger")
@click.argument("name")
@json_option
@pass_session
def link(session: Session, name: str, as_json: bool) -> None:
    """Link this folder to the project NAME.

    The folder's contextkit.toml must name that project.

    The folder then reads and writes that project's records.
    """
    from contextkit.config.projects import link as make_link

    named = session.config.project
    if name != named:
        has = f"it names '{named}'" if named else "it names no project"
        raise click.UsageError(
            f"The settings of {session.workspace} do not name '{name}', {has}: "
            f'write project = "{name}" into its contextkit.toml first.'
        )
    known = make_link(name, session.workspace)
    folders = "\n".join(f"  {member.root}" for member in known.members)
    session.emit(_as_dict(known), f"project {name}:\n{folders}", as_json)


@project.command(epilog="Example: contextkit project unlink ledger ~/old/ledger")
@click.argument("name")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@json_option
@pass_session
def unlink(session: Session, name: str, folder: Path | None, as_json: bool) -> None:
    """Remove this folder's, or FOLDER's, link to the project NAME.

    No record is deleted. A name without folders belongs to the next folder that uses it.
    """
    from contextkit.config.projects import unlink as take_link

    root = session.workspace if folder is None else folder.expanduser().absolute()
    done = take_link(name, root)
    text = f"{root} is no longer linked to {name}" if done else f"{root} was not linked to {name}"
    session.emit({"unlinked": done}, text, as_json)


def _as_dict(known: Project) -> dict[str, object]:
    return {"name": known.name, "folders": [member.root for member in known.members]}
