"""`contextkit new-source`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from contextkit.cli.session import Session, json_option, pass_session


@click.command(
    name="new-source",
    epilog="""\b
Examples:
  contextkit new-source weather
  contextkit new-source --records recipes
  contextkit new-source weather --into ~/src && pip install -e ~/src/contextkit-weather
""",
)
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Parent folder of the new package; default: the current folder.",
)
@click.option(
    "--records",
    is_flag=True,
    help="Create a source that people and agents write to; default: one that indexes a file.",
)
@json_option
@pass_session
def new_source(session: Session, name: str, into: Path, records: bool, as_json: bool) -> None:
    """Create the package of a new source.

    The distribution contextkit-NAME has an entry point, a small working source, tests with
    contextkit's conformance suite, and a README. Its tests pass. Existing files are never
    overwritten.
    """
    from contextkit.cli.new_source_files import NewSource

    source = NewSource(name, records)
    source.check_name(plugin.name for plugin in session.registry.plugins)
    written = source.write(into.expanduser())
    folder = into.expanduser() / source.distribution
    lines = [
        *(str(path) for path in written),
        "",
        "Next:",
        f'  pip install -e "{os.fspath(folder.absolute())}[test]"',
        f'  cd "{os.fspath(folder.absolute())}" && pytest',
        "  contextkit sources",
    ]
    data = {"name": name, "folder": str(folder), "files": [str(path) for path in written]}
    session.emit(data, "\n".join(lines), as_json)
