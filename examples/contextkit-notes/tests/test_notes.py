"""The notes source: what contextkit expects of every source, and what this one does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import contextkit_notes
from contextkit_notes.database import FILE, add_note, find_notes
from contextkit_notes.tools import TOOLS

from contextkit.testing import SourceConformance, open_kit

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOTES = {
    "The pump is primed by hand": "pumps",
    "Then the pump runs for an hour\n\n*Listen to it.*": "pumps",
    "Tea is in the second drawer": "",
}


def write_notes(folder: Path) -> Path:
    """A database of three notes, a day apart."""
    file = folder / FILE
    for day, (text, notebook) in enumerate(NOTES.items()):
        add_note(file, text, notebook, at=MONDAY + timedelta(days=day))
    return file


class TestNotes(SourceConformance):
    """The suite, on a workspace with a database."""

    source = contextkit_notes
    name = "notes"
    timeout = 60.0
    query = "how is the pump primed by hand"

    def make_workspace(self, folder: Path) -> None:
        """Write the notes."""
        write_notes(folder)


def test_a_query_is_words_and_no_search_language(tmp_path: Path) -> None:
    """What the database's full-text search would read as operators is looked for as it is."""
    file = write_notes(tmp_path)
    assert [note.number for note in find_notes(file, 'pump" OR NOT (hand*', 5)] == [1, 2]
    assert find_notes(file, '"*()', 5) == []
    assert find_notes(tmp_path / "none.db", "pump", 5) == []
    assert list(tmp_path.iterdir()) == [file]


def test_notes_of_one_notebook_stand_beside_each_other(tmp_path: Path) -> None:
    """Their positions count from 0 in each notebook."""
    file = write_notes(tmp_path)
    found = {note.number: note for note in find_notes(file, "pump tea", 5)}
    assert [(found[n].notebook, found[n].position) for n in (1, 2, 3)] == [
        ("pumps", 0),
        ("pumps", 1),
        ("", 0),
    ]


def test_a_setting_names_the_file(tmp_path: Path) -> None:
    """The tool writes where the query reads."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "contextkit.toml").write_text('[sources.notes]\nfile = "docs/mine.db"\n')
    with open_kit(tmp_path, {"notes": contextkit_notes}) as kit:
        (tool,) = TOOLS
        assert tool.run(kit, "The pump is red") == {"number": 1}
        context = kit.assemble_context_sync("is the pump red?")
    assert "The pump is red" in context.markdown
    assert (tmp_path / "docs" / "mine.db").is_file()


def test_a_wrong_setting_is_named() -> None:
    """With what it has, and what was expected."""
    info = contextkit_notes.contextkit_source()
    assert list(info.setting_problems("notes", {"flie": "a", "file": 1})) == [
        "flie: the source notes has no such setting; it has file; did you mean file?",
        "file: must be a text, got 1",
    ]
