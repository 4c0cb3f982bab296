"""Questions about releases: the notes of the newest, and of those that are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextkit import ContextKit
from contextkit_documents.document_records import records_of
from contextkit_documents.file_kinds import FileKind
from contextkit_documents.releases import release_fields

CHANGES = """\
# Changelog

## Unreleased

- The lamp can be dimmed.

## Shelf 3.0.0 (2026-05-01)

### Breaking changes

- Jars have a label.

### Fixes

- The door closes.

## 2.9.1

- Latest release of the changed hinge: what changed is new.

## 2.9.0

- Prices are in cents.

### 2.8.4

- The lock opens.
"""


@pytest.fixture
def workspace(workspace: Path) -> Path:
    """A list of changes, a guide, and pages about releasing and about a package."""
    (workspace / "docs").mkdir()
    (workspace / "packages").mkdir()
    (workspace / "CHANGELOG.md").write_text(CHANGES)
    (workspace / "docs" / "upgrading.md").write_text(
        "# Upgrading\n\n## From 2 to 3\n\nPut a label on each.\n\n## From 1 to 2\n\nBuy cents.\n"
    )
    (workspace / "RELEASING.md").write_text("# Release\n\nWhat changed in the latest release?\n")
    (workspace / "packages" / "CHANGELOG.md").write_text("# 9.0.0\n\n- A package of its own.\n")
    return workspace


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (
            "What changed in the latest release?",
            ["Jars have", "The door", "dimmed", "hinge"],
        ),
        ("what's new?", ["dimmed", "Jars have", "The door", "hinge"]),
        ("What changed in 2.9?", ["cents", "hinge"]),
        ("What changed in shelf 2.9.0?", ["Prices"]),
        ("Which breaking changes does 3.0 have?", ["Jars have", "The door", "Put a label"]),
        ("what changed between 2.8.4 and 2.9.1?", ["hinge", "cents"]),
        ("What was fixed in 2.8.4?", ["lock"]),
        ("what was fixed in 3.0.0?", ["The door", "Jars have", "Put a label"]),
        ("how do I upgrade to v2?", ["Buy cents", "lock", "cents", "hinge"]),
        ("How do I upgrade from shelf 2 to 3?", ["Put a label", "Jars have", "The door"]),
    ],
)
async def test_the_notes_of_the_releases_that_are_asked_for(
    kit: ContextKit, question: str, texts: list[str]
) -> None:
    """They come in the order of the question, and nothing else of the documentation beside them."""
    context = await kit.assemble_context(question)
    shown = sorted(context.items, key=lambda item: -item.relevance)
    assert len(shown) == len(texts)
    missing = [text for item, text in zip(shown, texts, strict=True) if text not in item.content]
    assert missing == []


async def test_since_a_release_means_all_behind_it(kit: ContextKit) -> None:
    """What breaks comes first, if that is asked for."""
    context = await kit.assemble_context("which breaking changes are there since 2.9.0?")
    best_first = sorted(context.items, key=lambda item: -item.relevance)
    assert "Jars have" in best_first[0].content
    shown = "".join(item.content for item in context.items)
    assert "hinge" in shown
    assert "cents" not in shown


async def test_a_subject_comes_first_among_the_notes_of_a_release(kit: ContextKit) -> None:
    """The rest of the release is less relevant."""
    context = await kit.assemble_context("what changed for the door in 3.0.0?")
    (door,) = [item for item in context.items if "door closes" in item.content]
    (jars,) = [item for item in context.items if "Jars have" in item.content]
    assert door.relevance > jars.relevance


async def test_the_guide_answers_how_to_upgrade_to_no_version_in_particular(
    kit: ContextKit, workspace: Path
) -> None:
    """Though another page has more words of the question."""
    (workspace / "RELEASING.md").write_text("# Tags\n\nA new version is a tag; upgrade it.\n")
    (workspace / "docs" / "upgrading.md").write_text(
        "# Guide\n\nTo upgrade to version 3, label it.\n"
    )
    kit.index()
    context = await kit.assemble_context("how do I upgrade to the new version?")
    assert context.items[0].title == "Guide"


async def test_a_package_with_the_name_of_the_repository_speaks_for_it(
    kit: ContextKit, workspace: Path
) -> None:
    """If the repository has no notes of its own, as in many of JavaScript."""
    (workspace / "CHANGELOG.md").unlink()
    (workspace / "packages" / "CHANGELOG.md").rename(workspace / "packages" / "z.md")
    for name, version in (("workspace", "3.1.0"), ("other", "9.0.0")):
        (workspace / "packages" / name).mkdir()
        page = workspace / "packages" / name / "CHANGELOG.md"
        page.write_text(f"# {version}\n\n- Of the package.\n")
    kit.index()
    context = await kit.assemble_context("what changed in the latest release?")
    assert [item.title for item in context.items] == ["3.1.0"]


async def test_a_list_in_plain_text_has_the_releases_of_its_lines(
    kit: ContextKit, workspace: Path
) -> None:
    """As Perl's distributions, and tmux, list them."""
    (workspace / "CHANGELOG.md").unlink()
    (workspace / "Changes").write_text(
        "2.0  2026-03-01\n  - Jars are round.\n\n1.9  2025-01-01\n  - Jars are square.\n"
    )
    kit.index()
    context = await kit.assemble_context("what changed in the latest release?")
    assert "round" in context.items[0].content
    assert "square" not in context.items[0].content


@pytest.mark.parametrize(
    ("path", "headings", "release", "coming"),
    [
        ("CHANGES.rst", ["Changes", "Version 3.2.0"], (3, 2, 0), False),
        ("NEWS.md", ["DataFrames.jl v1.8.2 Release Notes", "Bug fixes"], (1, 8, 2), False),
        ("CHANGELOG.md", ["[13.0.0] - 2022-12-30", "Fixed"], (13, 0, 0), False),
        ("CHANGELOG.md", ["5.0.0 - TBD"], (5, 0, 0), True),
        ("docs/UPGRADE-18.0.md", ["Upgrade from v17.x to v18.x"], (18, 0, 0), False),
        ("docs/releases/5.1.txt", ["What's new"], (5, 1, 0), False),
        ("UPGRADE-GUIDE.md", ["Rack 3 Upgrade Guide", "Responses"], (3, 0, 0), False),
    ],
)
def test_the_release_of_a_section(
    path: str, headings: list[str], release: tuple[int, int, int], coming: bool
) -> None:
    """It is in the nearest heading that has a version, or in the name of the file."""
    major, minor, patch = release
    number = (major * 10**5 + minor) * 10**5 + patch
    assert release_fields(path, headings) == {"release": number, "coming": coming}


@pytest.mark.parametrize(
    ("path", "headings"),
    [
        ("docs/api.md", ["Version 3.2.0"]),
        ("CHANGELOG.md", ["Changelog", "Format"]),
        ("CHANGELOG.md", ["2022-12-30"]),
        ("docs/migration.md", ["Vocabulary"]),
    ],
)
def test_other_sections_are_about_no_release(path: str, headings: list[str]) -> None:
    """Of other pages, and those without a version; a date is none."""
    assert release_fields(path, headings) == {}


def test_a_release_is_no_part_of_another_release() -> None:
    """Though its heading is on a lower level, as by a slip in marshmallow's list."""
    what = FileKind("documentation", "markdown")
    headings = [record.fields["headings"] for record in records_of("A.md", what, CHANGES.encode())]
    assert ["Changelog", "2.8.4"] in headings
    assert ["Changelog", "Shelf 3.0.0 (2026-05-01)", "Fixes"] in headings
