"""Which files a first run reads first: those that may answer the question."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextkit.indexing.listing import FileListing
from contextkit.indexing.order import likely_first


def _ordered(folder: Path, files: dict[str, str], query: str) -> list[str]:
    listing = FileListing(folder)
    for path, text in files.items():
        (folder / path).write_text(text)
        listing.add(path)
    return [file.path for file in likely_first(listing.files, listing, query)]


def test_a_file_that_has_a_word_often_comes_first(tmp_path: Path) -> None:
    """As in BM25, a word says more where it is repeated, and less in a long file."""
    files = {
        "a.py": "harbour",
        "long.py": "estuary " + "x " * 500,
        "short.py": "estuary",
        "often.py": "estuary Estuary ESTUARY",
    }
    assert _ordered(tmp_path, files, "an estuary?") == ["often.py", "short.py", "long.py", "a.py"]


def test_words_of_three_letters_and_in_paths_count(tmp_path: Path) -> None:
    """A question about the git module finds it by its name."""
    files = {"a.py": "", "b.py": "", "use_git.py": "", "c.py": "git"}
    assert _ordered(tmp_path, files, "how is git called?")[:2] == ["use_git.py", "c.py"]


def test_a_word_of_every_file_says_nothing(tmp_path: Path) -> None:
    """A rare word once is worth more than a usual one ten times."""
    files = {"many.py": "the " * 10, "rare.py": "the tide", "other.py": "the"}
    assert _ordered(tmp_path, files, "the tide")[0] == "rare.py"


def test_files_named_in_the_question_are_read_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where time is short, a file that is not read is placed by its path."""
    monkeypatch.setattr("contextkit.indexing.order._READING_SECONDS", -1.0)
    files = {"a.py": "tide", "b.py": "", "tide_table.py": "tide", "tides.py": ""}
    assert _ordered(tmp_path, files, "tide")[0] == "tide_table.py"
