"""The database: notes in a full-text table, added one by one, found by their words."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from attrs import frozen

__all__ = ["FILE", "Note", "add_note", "find_notes"]

FILE = "notes.db"

_TABLE = """
CREATE VIRTUAL TABLE IF NOT EXISTS notes
USING fts5(text, notebook UNINDEXED, position UNINDEXED, created_at UNINDEXED)
"""
_FIND = """
SELECT rowid, text, notebook, position, created_at FROM notes
WHERE notes MATCH ? ORDER BY rank, rowid LIMIT ?
"""
_MOST_WORDS = 50
_CANDIDATES = 200
_WORD = re.compile(r"\w+")


@frozen(kw_only=True)
class Note:
    """A note that was found.

    Attributes:
        number: its own, from 1.
        text: what it says.
        notebook: what it belongs to; empty where it stands alone.
        position: its place in the notebook, from 0.
        created_at: when it was written.
        relevance: the part of the query's words that it has, 0..1.
    """

    number: int
    text: str
    notebook: str
    position: int
    created_at: datetime
    relevance: float


def add_note(file: Path, text: str, notebook: str = "", at: datetime | None = None) -> int:
    """Write a note, in a database that is made where there is none; return its number."""
    when = (at or datetime.now(UTC)).isoformat()
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(_TABLE)
        (position,) = database.execute(
            "SELECT count(*) FROM notes WHERE notebook = ?", [notebook]
        ).fetchone()
        row = database.execute(
            "INSERT INTO notes VALUES (?, ?, ?, ?)", [text, notebook, position, when]
        )
        return row.lastrowid or 0


def find_notes(file: Path, query: str, limit: int) -> Sequence[Note]:
    """The notes that share words with a query, best first; none where there is no file."""
    words = list(dict.fromkeys(_WORD.findall(query.lower())))[:_MOST_WORDS]
    if not words or not file.is_file():
        return []
    # Each word is quoted: a query is words, and no language for searching.
    match = " OR ".join(f'"{word}"' for word in words)
    # A connection of its own, which cannot write: queries come at the same time.
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute(_FIND, [match, max(limit, _CANDIDATES)]).fetchall()
    notes = [_note(row, set(words)) for row in rows]
    # Sorting keeps the database's order among those that have as many of the words.
    return sorted(notes, key=lambda note: -note.relevance)[:limit]


def _note(row: tuple[int, str, str, int, str], words: set[str]) -> Note:
    number, text, notebook, position, created_at = row
    shared = words & set(_WORD.findall(text.lower()))
    return Note(
        number=number,
        text=text,
        notebook=notebook,
        position=position,
        created_at=datetime.fromisoformat(created_at),
        relevance=len(shared) / len(words),
    )
