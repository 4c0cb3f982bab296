"""`contextkit init`."""

from __future__ import annotations

import click

from contextkit.cli.output import print_text
from contextkit.cli.session import Session, pass_session
from contextkit.errors import ConfigError, ContextKitError


@click.command(
    epilog="""\b
Examples:
  contextkit init
  contextkit init --print
"""
)
@click.option("--print", "only_print", is_flag=True, help="Print the file instead of writing it.")
@pass_session
def init(session: Session, only_print: bool) -> None:
    """Write a commented contextkit.toml.

    The file is at the workspace's root. It describes what was found there, and lists every
    setting as a comment, at its default or with an example, also those of installed sources.
    Nothing changes until you remove a #. An existing file is never overwritten.
    """
    from contextkit.cli.config_template import config_template
    from contextkit.workspace.facts import workspace_facts
    from contextkit.workspace.find import PROJECT_FILE

    root, present = session.workspace, session.found_workspace.config_file
    if present is not None and not only_print:
        raise ConfigError(
            "the project already has settings here; `contextkit init --print` prints what a "
            "new file would contain",
            file=present,
        )
    text = config_template(workspace_facts(root), session.registry, root)
    if only_print:
        print_text(text.rstrip("\n"))
        return
    file = root / PROJECT_FILE
    try:
        with file.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise ContextKitError(f"{file} cannot be written: {error.strerror or error}") from error
    print_text(f"{file} written; it changes nothing until you edit it")
