"""The terms source: what contextkit expects of every source, and what this one does."""

from __future__ import annotations

import json
from pathlib import Path

import contextkit_terms
import pytest
from click.testing import CliRunner
from contextkit_terms.book import TOOLS, TermBook

from contextkit import ContextKit
from contextkit.agent import offer_tool
from contextkit.cli import cli
from contextkit.sources import InvalidEntryError
from contextkit.testing import SourceConformance, open_kit


class TestTerms(SourceConformance):
    """The suite, on three terms."""

    source = contextkit_terms
    name = "terms"
    timeout = 60.0
    query = "where does a ship lie"

    def prepare(self, kit: ContextKit) -> None:
        """Write them as a person would."""
        book = TermBook.of(kit)
        book.add("berth", "Where a ship lies in the harbour.", also=["mooring"])
        book.add("lee", "The side of a ship away from the wind.\n\n*Go there.*")
        book.add("knot", "How fast a ship goes.", shared=True)


def test_a_word_has_one_meaning(tmp_path: Path) -> None:
    """Adding it again changes what is given, and keeps the rest."""
    with open_kit(tmp_path, {"terms": contextkit_terms}) as kit:
        book = TermBook.of(kit)
        assert book.add("Lee shore", "A shore to leeward.", also=["coast"]).outcome == "stored"
        changed = book.add("Lee shore", "A shore that the wind blows to.")
        assert (changed.id, changed.outcome, changed.also) == ("lee-shore", "updated", ("coast",))
        assert book.add("Lee shore", "A shore that the wind blows to.").outcome == "unchanged"
        with pytest.raises(InvalidEntryError, match="a word has 1 to 60 characters"):
            book.add("x" * 61, "too long")
        assert book.count() == 1


def test_commands_are_those_of_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first part is the argument, a list is an option that may be repeated."""
    monkeypatch.setenv("CONTEXTKIT_HOME", str(tmp_path / "home"))

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(cli, ["-C", str(tmp_path), "terms", *arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    added = run("add", "berth", "--meaning", "A place.", "--also", "dock", "--also", "quay")
    assert added == "Added berth (this project)\n"
    (listed,) = json.loads(run("list", "--json"))
    assert (listed["word"], listed["also"]) == ("berth", ["dock", "quay"])
    assert "berth: A place." in run("list")
    assert run("remove", "berth") == "Removed berth\n"


def test_tools_are_those_of_its_parts() -> None:
    """With the types and the help of the class."""
    add, shown, remove = (offer_tool("terms", tool) for tool in TOOLS)
    assert [add.tool.name, shown.tool.name, remove.tool.name] == [
        "add_term",
        "list_terms",
        "remove_term",
    ]
    assert add.input_schema["required"] == ["word", "meaning"]
    assert add.input_schema["properties"]["also"] == {
        "type": "array",
        "items": {"type": "string"},
        "description": "other words for it",
    }
    assert list(remove.output_schema["properties"]) == list(TermBook.entry.shown)
