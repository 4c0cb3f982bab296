"""Questions about the project as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextkit import ContextKit

README = """\
# Jars

Jars keeps jam in jars.

## License

This project is what it is.

## Usage

Open a jar.
"""


@pytest.fixture
def workspace(workspace: Path) -> Path:
    """A README, and pages with the words of the questions."""
    (workspace / "docs").mkdir()
    (workspace / "README.md").write_text(README)
    (workspace / "docs" / "inside.md").write_text("# Architecture\n\nShelves hold jars.\n")
    (workspace / "docs" / "faq.md").write_text("# Questions\n\nWhat does this project do?\n")
    return workspace


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("what does this project do?", ["Jars", "Jars > Usage", "Architecture"]),
        ("what is workspace?", ["Jars", "Jars > Usage", "Architecture"]),
        ("what is the architecture of this project?", ["Architecture", "Jars", "Jars > Usage"]),
    ],
)
async def test_the_readme_and_what_tells_the_structure_answer(
    kit: ContextKit, question: str, titles: list[str]
) -> None:
    """In the order of the question, without pages that only have its words."""
    context = await kit.assemble_context(question)
    shown = sorted(context.items, key=lambda item: -item.relevance)
    assert [item.title for item in shown] == titles


async def test_without_such_pages_the_words_decide(kit: ContextKit, workspace: Path) -> None:
    """As for any other question."""
    (workspace / "README.md").unlink()
    (workspace / "docs" / "inside.md").unlink()
    kit.index()
    context = await kit.assemble_context("what does this project do?")
    assert [item.title for item in context.items] == ["Questions"]
