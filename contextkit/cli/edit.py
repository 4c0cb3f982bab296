"""Change an entry in the user's editor."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import click

from contextkit.errors import ContextKitError
from contextkit.sources.book import Book

EDITED = """Options that are not given stay as they are. Without options, it opens in the editor
that VISUAL or EDITOR names. If the editor fails or nothing changes, nothing is written."""


def edit_in_editor(book: Book[Any], entry_id: str, warn: Callable[[str], None]) -> Any:
    """Let the user change an entry in an editor.

    Args:
        book: the entry's book.
        entry_id: its id.
        warn: called with the place of the user's text if that text is refused.

    Raises `click.ClickException` if the editor fails or has no terminal, and the errors of
    `Book.change`; nothing is changed then.
    """
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        params = click.get_current_context().command.params
        options = ", ".join(each.opts[-1] for each in params if each.name in book.editable())
        raise click.UsageError(f"An editor needs a terminal. Without one, use {options}.")
    known = book.get(entry_id)
    before = book.document(known)
    with _draft(before, warn) as file:
        click.edit(filename=str(file))
        after = file.read_text(encoding="utf-8", errors="surrogateescape")
        return book.change_document(known.id, before, after)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream of this process is a terminal."""
    return stream is not None and stream.isatty()


@contextlib.contextmanager
def _draft(text: str, warn: Callable[[str], None]) -> Iterator[Path]:
    """Make a file for the editor; it stays if its text is refused."""
    folder = Path(tempfile.mkdtemp(prefix="contextkit-"))
    file = folder / "entry.md"
    file.write_text(text, encoding="utf-8", newline="\n")
    kept = False
    try:
        yield file
    except ContextKitError:
        kept = True
        warn(f"nothing was changed; your text is in {file}")
        raise
    finally:
        if not kept:
            shutil.rmtree(folder)
