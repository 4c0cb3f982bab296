"""The output styles: each is one class, and an unknown one is Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from contextkit import ContextItem
from contextkit.models.items import STYLES
from contextkit.pipeline.format import pieces_for
from contextkit.pipeline.looks import Look
from contextkit.pipeline.render import Document, RenderedSection, render
from contextkit.plugin.manager import SourceRegistry
from contextkit.text import TEXT_STYLES, one_line, style_of
from contextkit.text.styles import ListedSource, Markdown
from contextkit.text.tokens import counter_for
from tests.making import make_candidate

ROOT = Path(__file__).parents[2]
CODE = ContextItem(
    "code",
    "def retry():\n    return 3",
    0.9,
    {"file_path": "a.py", "start_line": 3, "qualified_name": "retry", "unit_type": "function"},
    location="a.py:3",
)
VALUE = ContextItem("values", "Retry `once`", 0.9, {"axis": "strategy"})


class Org(Markdown):
    """Emacs' Org mode, as far as it is not Markdown: all that a style needs."""

    def place(self, text: str) -> str:
        """A path between equals signs."""
        return f"={one_line(text)}="

    def code_block(self, text: str, language: str = "") -> str:
        """A source block."""
        return f"#+begin_src {language}\n{text}\n#+end_src"

    def note(self, note: str) -> str:
        """A remark in italics."""
        return f"/({note})/"

    def heading(self, title: str) -> str:
        """A heading of the second level."""
        return f"** {one_line(title)}"

    def source_list(self, sources: Sequence[ListedSource]) -> str:
        """A list of places."""
        return "\n".join(f"- {self.place(each.location or each.name)}" for each in sources)


CANDIDATES = [make_candidate(item) for item in (CODE, VALUE)]


def test_the_names_are_those_that_a_request_may_have() -> None:
    """A style that is added is added to both."""
    assert tuple(TEXT_STYLES) == STYLES


def test_an_unknown_style_is_markdown() -> None:
    """In the core and in the plugins, as they all ask in one place."""
    assert style_of("runes") is style_of("markdown")
    registry = SourceRegistry()
    looks = [Look("runes"), Look("markdown")]  # type: ignore[arg-type]
    count = counter_for("default")
    runes, markdown = (
        [piece.text for piece in pieces_for(registry, CANDIDATES, look, count)] for look in looks
    )
    assert runes == markdown


def test_a_further_style_is_one_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources, notes, headings and the list of sources are written in it; no plugin knows it."""
    monkeypatch.setitem(TEXT_STYLES, "org", Org())
    look = Look("org")  # type: ignore[arg-type]
    code, value = pieces_for(SourceRegistry(), CANDIDATES, look, counter_for("default"))
    assert code.text == "**Function** `retry` in `a.py:3`\n#+begin_src \n" + (
        "def retry():\n    return 3\n#+end_src"
    )
    assert value.text == "**Value** (strategy):\nRetry `once`"
    document = Document(title="T", sections=[RenderedSection("Code", [code.text])], footer="")
    assert render(document, "org").startswith("# T\n\n** Code\n\n**Function**")  # type: ignore[arg-type]


def test_only_this_module_knows_the_styles_by_name() -> None:
    """A branch on a style's name elsewhere would be missed by the next style."""
    branches = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("contextkit", "plugins")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\bstyle (?:==|!=) |\bstyle in \(", line) and "/tests/" not in str(path)
    ]
    assert branches == []
