"""A term, and the book that keeps terms."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import frozen

from contextkit.sources import Book, Entry, add_tool, checks, list_tool, part, remove_tool


@frozen(kw_only=True)
class Term(Entry):
    """A word, and what it means in this project."""

    noun = "term"
    shown = ("id", "word", "meaning", "also", "scope", "created_at")

    word: str = part(checks.line("a word", 60), about="the word")
    meaning: str = part(checks.text("a meaning", 1_000), about="what it means here")
    also: tuple[str, ...] = part(
        checks.several("other words", checks.line("a word", 60)), (), about="other words for it"
    )

    @property
    def text(self) -> str:
        """What is searched and shown."""
        return f"{self.word}: {self.meaning}"

    @property
    def search_words(self) -> str:
        """What finds it although its text lacks it."""
        return " ".join(self.also)

    @classmethod
    def new_id(cls, given: Mapping[str, Any], created_at: datetime) -> str:  # noqa: ARG003
        """The word itself: adding it again changes what is there."""
        return "-".join(str(given["word"]).casefold().split())


class TermBook(Book[Term]):
    """Keeps terms; the word makes the id, so it stays."""

    source, entry = "terms", Term
    fixed = ("word",)


TOOLS = (
    add_tool(TermBook, "Store what a word means in this project; again, to change it."),
    list_tool(TermBook, "List the project's words, newest first."),
    remove_tool(TermBook, "Delete a word that is no longer used.", asks_for="the word's id"),
)
