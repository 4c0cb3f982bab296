"""Change an entry in the user's editor."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from contextkit.errors import ContextKitError
from contextkit.sources.book import Book
from contextkit.sources.document import read_document, text_parts, write_document
from contextkit.sources.entry import Entry, as_json

EDITED = """Without options, it opens in the editor that VISUAL or EDITOR names. If the editor
fails or nothing changes, nothing is written."""


def edit_in_editor(book: Book[Any], entry_id: str, warn: Callable[[str], None]) -> Any:
    """Let the user change an entry in an editor.

    Args:
        book: the entry's book.
        entry_id: its id.
        warn: called with the place of the user's text if that text is refused.

    Raises `click.ClickException` if the editor fails, and the errors of `Book.change`; nothing is
    changed then.
    """
    known = book.get(entry_id)
    before = {name: as_json(getattr(known, name)) for name in book.editable()}
    above = {name: value for name, value in before.items() if name != "text"}
    about = f"{known.id}, {known.scope}, {known.created_at:%Y-%m-%d}; parts without a line stay"
    with _draft(write_document(above, before.get("text", ""), about), warn) as file:
        click.edit(filename=str(file))
        given = _read(type(known), file.read_text(encoding="utf-8", errors="surrogateescape"))
        changed = {name: value for name, value in given.items() if value != before.get(name)}
        return book.change(known.id, **changed)


def _read(entry: type[Entry], content: str) -> dict[str, Any]:
    given, text = read_document(content, text_parts(entry))
    if "text" in entry.parts():
        given["text"] = text
    elif text:
        raise entry.invalid(f"a {entry.noun} has no text below its parts: delete {text[:60]!r}")
    return given


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
