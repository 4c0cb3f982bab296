"""The notes of a vault: what contextkit expects of every source, and what this one does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import contextkit_vault

from contextkit import ContextItem
from contextkit.testing import SourceConformance, open_kit

OBSIDIAN = """---
aliases: [brewing, "pour over"]
tags:
  - coffee
---
Pour water at 95 degrees over the filter, see [[Beans|the beans]] and ![[Scale]].
"""
BASIC_MEMORY = """---
title: Authentication Design
type: decision
tags: auth, security
permalink: authentication-design
---

# Authentication Design

## Observations
- [decision] JWT tokens for stateless authentication #backend

## Relations
- depends_on [[User Schema]]
"""
NESTED = "---\nauthor:\n  name: Ada\n---\nTides are measured at the pier.\n"
LONG = "\n".join(f"## Day {n}\n\n{'We sailed on. ' * 60}" for n in range(5))


def write_notes(folder: Path) -> Path:
    """A vault with notes of both programs."""
    (folder / ".obsidian").mkdir(parents=True)
    (folder / ".obsidian" / "plugin.md").write_text("Tides in a hidden folder")
    (folder / "Coffee.md").write_text(OBSIDIAN)
    (folder / "specs").mkdir()
    (folder / "specs" / "auth.md").write_text(BASIC_MEMORY)
    (folder / "Tides.md").write_text(NESTED)
    (folder / "Log.md").write_text(LONG)
    (folder / "broken.md").write_bytes(b"\xff\xfe")
    return folder


def found(workspace: Path, folder: Path, query: str) -> list[ContextItem]:
    """What an indexed vault answers."""
    settings = {"embedding.model": "none", "sources.vault.folder": str(folder)}
    with open_kit(workspace, {"vault": contextkit_vault}, settings=settings) as kit:
        report = kit.index()["vault"].report
        assert report is not None
        assert (report.added, [path for path, _ in report.skipped]) == (4, ["broken.md"])
        again = kit.index()["vault"].report
        assert again is not None
        assert again.unchanged == 4
        return asyncio.run(kit.assemble_context(query)).items


class TestVault(SourceConformance):
    """The suite, on a workspace with a folder of notes."""

    source = contextkit_vault
    name = "vault"
    timeout = 60.0
    query = "water over the filter"

    def make_workspace(self, folder: Path) -> None:
        """Write the notes."""
        write_notes(folder / "notes")


def test_a_note_of_obsidian(tmp_path: Path) -> None:
    """It is found by its alias, and links are shown by their label."""
    notes = write_notes(tmp_path / "vault")
    (note,) = found(tmp_path / "workspace", notes, "how does pour over brewing work?")
    text = "Pour water at 95 degrees over the filter, see the beans and Scale."
    assert (note.title, note.content) == ("Coffee", text)
    assert note.metadata == {"tags": ["coffee"], "links": ["Beans", "Scale"]}


def test_a_note_of_basic_memory(tmp_path: Path) -> None:
    """Its permalink is its id, its type its kind; tags may be one text."""
    notes = write_notes(tmp_path / "vault")
    (note,) = found(tmp_path / "workspace", notes, "which tokens for authentication?")
    assert (note.id, note.kind) == ("authentication-design#0", "decision")
    assert note.title == "Authentication Design"
    assert note.metadata["tags"] == ["auth", "backend", "security"]
    assert "depends_on User Schema" in note.content


def test_front_matter_that_cannot_be_read_hides_no_note(tmp_path: Path) -> None:
    """And a hidden folder is not read."""
    notes = write_notes(tmp_path / "vault")
    (note,) = found(tmp_path / "workspace", notes, "where are tides measured?")
    assert (note.title, note.content) == ("Tides", "Tides are measured at the pier.")


def test_a_long_note_has_parts(tmp_path: Path) -> None:
    """Each is at most about 2,000 characters, and has its place."""
    notes = write_notes(tmp_path / "vault")
    parts = found(tmp_path / "workspace", notes, "we sailed on day 3")
    assert {part.sequence for part in parts} == {"Log.md"}
    assert all(len(part.content) <= 2_000 for part in parts)
