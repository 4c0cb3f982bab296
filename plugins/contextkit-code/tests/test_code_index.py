"""Index runs: what is indexed, what a second run costs, and how a crash heals."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from contextkit import Record
from contextkit.models.indexer import Progress
from contextkit_code import record_kinds
from contextkit_code.language_table import LANGUAGES

SAMPLES = Path(__file__).parent / "samples"
Stored = Callable[[], dict[str, Record]]


def _age(*paths: Path) -> None:
    """Let files look as if they were written a minute ago."""
    then = time.time_ns() - 60_000_000_000
    for path in paths:
        os.utime(path, ns=(then, then))


def _counts(report: Any) -> tuple[int, int, int, int]:
    return (report.added, report.updated, report.removed, report.unchanged)


def test_what_another_source_owns_is_left_to_it(
    workspace: Path, index: Callable[..., Any], stored: Stored
) -> None:
    """It goes with its records, comes back with the other source's end, or where a setting says."""
    for name in ("README.md", "guide.md", "shelf.py"):
        (workspace / name).write_text("x = 1\n")
    assert _counts(index()) == (3, 0, 0, 0)
    owned = ["README.md", "guide.md", "gone.md"]
    assert _counts(index(owned_elsewhere=owned)) == (0, 0, 2, 1)
    assert {record.fields["file_path"] for record in stored().values()} == {"shelf.py"}
    assert _counts(index(owned_elsewhere=owned, exclude=["!README.md"])) == (1, 0, 0, 1)
    assert _counts(index()) == (1, 0, 0, 2)


def test_a_record_has_what_a_context_needs(
    workspace: Path, index: Callable[..., Any], stored: Stored
) -> None:
    """Id, text, keywords and every field of a method and of a window."""
    (workspace / "lib").mkdir()
    (workspace / "lib" / "shelf.py").write_bytes((SAMPLES / "inventory.py").read_bytes())

    report = index()
    records = stored()
    record = records["lib/shelf.py::find_shelf"]

    assert _counts(report) == (1, 0, 0, 0)
    assert record.text.startswith("def find_shelf(name: str) -> Shelf:")
    assert "lib/shelf.py find_shelf" in record.keywords
    assert record.fields == {
        "kind": "unit",
        "file_path": "lib/shelf.py",
        "start_line": 35,
        "end_line": 41,
        "language": "python",
        "qualified_name": "find_shelf",
        "name": "find_shelf",
        "unit_type": "function",
        "signature": "def find_shelf(name: str) -> Shelf:",
        "docstring": "Return the shelf of that name.",
        "defines": ["find_shelf.matches"],
    }
    assert "lib/shelf.py::Shelf.restock" in records
    assert records["lib/shelf.py::shelf.py"].fields == {
        "kind": "unit",
        "file_path": "lib/shelf.py",
        "start_line": 1,
        "end_line": 7,
        "language": "python",
        "qualified_name": "shelf.py",
        "name": "shelf.py",
        "unit_type": "lines",
        "signature": "",
        "docstring": "",
    }


def test_every_sample_gives_records(index: Callable[..., Any], workspace: Path) -> None:
    """Nineteen languages in one run, none of them in a note."""
    for path in SAMPLES.iterdir():
        (workspace / path.name).write_bytes(path.read_bytes())

    report = index()

    assert list(report.notes) == []
    assert list(report.skipped) == []
    assert len(list(SAMPLES.iterdir())) == report.added


def test_definitions_of_one_name_have_ids_of_their_own(
    workspace: Path, index: Callable[..., Any], stored: Stored
) -> None:
    """The second one of a file has a number, and keeps it in the next run."""
    (workspace / "a.py").write_text("def f():\n    return 1\n\n\ndef f():\n    return 2\n")

    index()

    assert {"a.py::f", "a.py::f#2"} == stored().keys()


def test_other_text_is_indexed_in_windows(
    workspace: Path, index: Callable[..., Any], stored: Stored
) -> None:
    """Prose as sections, the rest as lines, each with its language."""
    (workspace / "README.md").write_text("# Title\n\nWords.\n")
    (workspace / "conf.toml").write_text("a = 1\n")

    index()

    assert {i: (r.fields["unit_type"], r.fields["language"]) for i, r in stored().items()} == {
        "README.md::README.md": ("section", "markdown"),
        "conf.toml::conf.toml": ("lines", "toml"),
    }


def test_a_changed_file_has_its_new_records_and_no_others(
    workspace: Path, index: Callable[..., Any], stored: Stored
) -> None:
    """What was deleted from a file, renamed in it or moved within it leaves nothing behind."""
    path = workspace / "a.py"
    path.write_text("def f():\n    return 1\n\n\ndef g():\n    return 2\n")
    (workspace / "b.py").write_text("def f():\n    return 3\n")
    index()
    path.write_text("LIMIT = 3\n\n\ndef g():\n    return 22\n\n\ndef h():\n    return 4\n")

    report = index()
    records = stored()

    assert _counts(report) == (0, 1, 0, 1)
    assert {"a.py::a.py", "a.py::g", "a.py::h", "b.py::f"} == records.keys()
    assert (
        records["a.py::g"].fields["start_line"],
        records["a.py::g"].text,
    ) == (4, "def g():\n    return 22")


def test_a_touched_file_is_read_and_not_parsed(
    workspace: Path, index: Callable[..., Any], stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The content decides: a checkout back and forth costs a look."""
    path = workspace / "a.py"
    path.write_text("def f():\n    return 1\n")
    index()
    before = stored()
    _age(path)
    monkeypatch.setattr("contextkit_code.grammars.Grammar.matches", None)

    report = index()

    assert _counts(report) == (0, 0, 0, 1)
    assert before["a.py::f"].created_at == stored()["a.py::f"].created_at


def test_settings_take_effect_at_once(
    workspace: Path, index: Callable[..., Any], stored: Stored
) -> None:
    """An exclusion removes records, its end brings them back; so does a smaller size."""
    (workspace / "a.py").write_text("def f():\n    return 1\n")
    (workspace / "gen").mkdir()
    (workspace / "gen" / "b.py").write_text("def g():\n    return 1\n" + "# more\n" * 100)
    index()

    excluded = index(exclude=["gen/"])
    assert _counts(excluded) == (0, 0, 1, 1)
    assert {"a.py::f"} == stored().keys()

    back = index()
    assert _counts(back) == (1, 0, 0, 1)

    smaller = index(max_file_bytes=100)
    assert _counts(smaller) == (0, 0, 1, 1)
    assert list(smaller.skipped) == [("gen/b.py", "722 bytes, over max_file_bytes (100)")]


def test_bad_files_are_skipped_with_a_reason_in_every_run(
    workspace: Path, index: Callable[..., Any], stored: Stored
) -> None:
    """Binary content with a source's suffix, generated and minified code."""
    (workspace / "binary.py").write_bytes(b"\x00\x01\x02")
    (workspace / "gen.go").write_text("// Code generated by x. DO NOT EDIT.\npackage p\n")
    (workspace / "mini.js").write_text("a=1;" * 3000)
    (workspace / "empty.py").write_text("")
    expected = [
        ("binary.py", "it is binary"),
        ("gen.go", "it says that it is generated"),
        ("mini.js", "it is minified"),
    ]

    first, second = index(), index()

    assert expected == list(first.skipped) == list(second.skipped)
    assert (_counts(first), _counts(second)) == ((1, 0, 0, 0), (0, 0, 0, 1))
    assert stored() == {}


def test_odd_names_and_encodings_are_indexed(
    workspace: Path, index: Callable[..., Any], stored: Stored
) -> None:
    """Their records are valid text, and they are found again in the next run."""
    raw = os.fsencode(workspace)
    for name in (b"a b.py", b"new\nline.py", b"\xff.py"):
        Path(os.fsdecode(raw + b"/" + name)).write_bytes(b"# caf\xe9\ndef f(): pass\n")

    first, second = index(), index()

    assert (_counts(first), _counts(second)) == ((3, 0, 0, 0), (0, 0, 0, 3))
    assert {"a b.py::f", "new\nline.py::f", "\\xff.py::f"} == stored().keys()
    assert all("café" in record.text for record in stored().values())


def test_progress_is_told_per_file(workspace: Path, index: Callable[..., Any]) -> None:
    """It counts up to the number of files, in every run."""
    for number in range(5):
        (workspace / f"{number}.py").write_text("x = 1\n")
    progress: list[Progress] = []

    index(progress=progress)

    assert [step.done for step in progress] == [0, 1, 2, 3, 4, 5]
    assert {(5, "files", "code")} == {(s.total, s.label, s.source) for s in progress}


def test_another_version_indexes_everything_anew(
    workspace: Path,
    index: Callable[..., Any],
    stored: Stored,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once."""
    (workspace / "a.py").write_text("def f():\n    return 1\n")
    index()
    before = stored()["a.py::f"].created_at
    monkeypatch.setattr("contextkit_code.index_run.INDEX_VERSION", 1_000)

    first, second = index(), index()

    assert (_counts(first), _counts(second)) == ((1, 0, 0, 0), (0, 0, 0, 1))
    assert stored()["a.py::f"].created_at > before


class TestGrammars:
    """A grammar that does not load costs the structure of its language's files."""

    def test_files_are_indexed_by_lines_until_the_grammar_is_there(
        self,
        workspace: Path,
        index: Callable[..., Any],
        stored: Stored,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """With one note; once it loads, they are parsed although they have not changed."""
        (workspace / "a.go").write_text("package p\n\nfunc f() {}\n")
        (workspace / "b.go").write_text("package p\n\nfunc g() {}\n")
        (workspace / "c.py").write_text("def h():\n    return 1\n")
        table = [
            evolve(language, grammar="tree_sitter_missing") if language.name == "go" else language
            for language in LANGUAGES
        ]
        from contextkit_code import text_files

        def use(languages: Any) -> None:
            monkeypatch.setattr(text_files, "LANGUAGES", languages)
            text_files._by_suffix.cache_clear()
            text_files._by_name.cache_clear()

        use(table)
        first, second = index(), index()
        by_lines = stored()
        use(LANGUAGES)
        third, fourth = index(), index()

        (note,) = first.notes
        assert note.startswith("go: its grammar does not load (ModuleNotFoundError")
        assert [note] == list(second.notes)
        assert {"a.go::a.go", "b.go::b.go", "c.py::h"} == by_lines.keys()
        assert _counts(third) == (0, 2, 0, 1)
        assert {"a.go::f", "b.go::g"} < stored().keys()
        assert (tuple(fourth.notes), _counts(fourth)) == ((), (0, 0, 0, 3))

    @pytest.mark.parametrize("unparsed", [3, "go", None, {"go": 1}, [3, ["go"]]])
    def test_a_damaged_list_of_them_is_an_empty_one(
        self, workspace: Path, index: Callable[..., Any], state_path: Path, unparsed: object
    ) -> None:
        """What is indexed is left as it is."""
        (workspace / "a.go").write_text("package p\n\nfunc f() {}\n")
        index()
        state = json.loads(state_path.read_text())
        assert state["kept"] == {"unparsed": []}
        state["kept"] = {"unparsed": unparsed}
        state_path.write_text(json.dumps(state))

        assert _counts(index()) == (0, 0, 0, 1)

    def test_a_hopeless_file_is_indexed_by_lines(
        self, workspace: Path, index: Callable[..., Any], stored: Stored
    ) -> None:
        """With a note, once."""
        (workspace / "a.py").write_text("/*\n" * 300 + "words\n")

        first, second = index(), index()

        assert list(first.notes) == ["a.py: it took too long to parse; it is indexed by lines"]
        assert list(second.notes) == []
        assert {"lines"} == {record.fields["unit_type"] for record in stored().values()}


def test_the_index_version_is_part_of_the_state(
    workspace: Path, index: Callable[..., Any], state_path: Path
) -> None:
    """That is how another version is noticed."""
    index()

    assert json.loads(state_path.read_text())["version"] == record_kinds.INDEX_VERSION
