"""`contextkit memories search` and `edit`: find and change memories by hand."""

from __future__ import annotations

from typing import Any

import click

from contextkit.cli import Session, edit_command, emit_found, json_option, pass_session
from contextkit_memories.book import MemoryBook


@click.command()
@click.argument("query")
@click.option("-c", "--category", help="Only this category, in singular or plural.")
@click.option("-t", "--tag", help="Only memories with this tag.")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True)
@json_option
@pass_session
def search(session: Session, /, query: str, as_json: bool, **wanted: Any) -> None:
    """List the memories that match QUERY, best first.

    The first column is the relevance, 0 to 1.

    \b
    Example: contextkit memories search "how do we deploy?" --category decisions
    """
    found = MemoryBook.of(session.kit).search(query, **wanted)
    emit_found(session, MemoryBook, found, as_json)


edit = edit_command(
    MemoryBook,
    """Change the memory with this ID, or its beginning.

    Without options, it opens in the editor that VISUAL or EDITOR names. If the editor fails or
    nothing changes, nothing is written.

    \b
    Example: contextkit memories edit mem_1m80dw4m --importance 0.9 --tag style
    """,
)
