"""`contextkit note`."""

from __future__ import annotations

import click

from contextkit.cli.session import Session, pass_session
from contextkit_notes.database import add_note

__all__ = ["note"]


@click.command(
    epilog="""\b
Examples:
  contextkit note "The pump is primed by hand"
  contextkit note "Then it runs for an hour" --notebook pumps
"""
)
@click.argument("text")
@click.option("--notebook", default="", help="What it belongs to.")
@pass_session
def note(session: Session, text: str, notebook: str) -> None:
    """Write TEXT down in the workspace's notes."""
    file = session.workspace / session.registry.settings("notes")["file"]
    number = add_note(file, text, notebook)
    session.emit({"number": number}, f"note {number}", as_json=False)
