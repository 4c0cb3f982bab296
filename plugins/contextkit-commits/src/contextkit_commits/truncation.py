"""Shortening a formatted commit, keeping what matters most."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from contextkit.markup import markdown_text
from contextkit.models import ContextItem, Style
from contextkit_commits.commit_records import SHORT_SHA

__all__ = ["truncate_commit"]

_FILES_LINE = {"markdown": "*Files: ", "xml": "<files>", "plain": "Files: "}
_CLOSING_TAG = "</entity>"
_AUTHOR = " by "

Fits = Callable[[str], bool]


def truncate_commit(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str | None:
    """The commit in at most `max_tokens`; None, or "" in Markdown, where that says nothing.

    The heading comes first, then the subject, which XML and plain text have in the
    heading, the files, and as much of the body as there is room for; a note says how to
    see the rest. Where there is no room for the subject, author and date go.

    Args:
        item: the commit, formatted in the style.
        style: `markdown`, `xml` or `plain`.
        max_tokens: what the result may take, in tokens of `count`.
        count: text -> tokens; called a logarithmic number of times.
    """

    def fits(text: str) -> bool:
        return count(text) <= max_tokens

    if fits(item.content):
        return item.content
    parts = _take_apart(item, style)
    bare = evolve(parts, files=[])
    subject = parts.body[: parts.subject_lines]
    if len(subject) < parts.subject_lines:
        return None
    for candidate in (parts, bare):
        if fits(candidate.joined(subject)):
            return _with_most_body(candidate, fits)
    if not subject:
        return None
    named = evolve(bare, head=bare.head.partition(_AUTHOR)[0])
    if fits(named.joined(subject)):
        return named.joined(subject)
    # A commit without a word of its subject is no news.
    return (
        _with_most_words(named, [], subject[0], fits) if _has_a_word(named, subject, fits) else ""
    )


def _has_a_word(parts: _Parts, subject: Sequence[str], fits: Fits) -> bool:
    return fits(parts.joined([parts.cut(subject[0].partition(" ")[0])]))


@frozen
class _Parts:
    """A formatted commit: the lines that are kept, and those that may go.

    Attributes:
        style: how it is formatted.
        head: the first line.
        body: the lines of the message below it.
        files: the line of the files, where there is one.
        note: the lines that say how to see the rest.
        end: the last lines.
    """

    style: Style
    head: str
    body: Sequence[str]
    files: Sequence[str]
    note: str
    end: Sequence[str]

    @property
    def subject_lines(self) -> int:
        """How many lines of the body are the subject."""
        return 1 if self.style == "markdown" else 0

    def joined(self, body: Sequence[str]) -> str:
        kept = "\n".join([self.head, *body]).rstrip("\n")
        return "\n".join([kept, *self.files, "", self.note, *self.end])

    def cut(self, start: str) -> str:
        """The beginning of a line, as it is shown; it may end within a code span."""
        return f"{markdown_text(start) if self.style == 'markdown' else start}..."


def _take_apart(item: ContextItem, style: Style) -> _Parts:
    head, *rest = item.content.split("\n")
    end = [rest.pop()] if rest and style == "xml" and rest[-1] == _CLOSING_TAG else []
    files = [rest.pop()] if rest and rest[-1].startswith(_FILES_LINE[style]) else []
    command = f"git show {item.id[:SHORT_SHA]}"
    note = f"(truncated, in full: {command})"
    if style == "markdown":
        note = f"*(truncated, in full: `{command}`)*"
    return _Parts(style, head, rest, files, note, end)


def _with_most_body(parts: _Parts, fits: Fits) -> str:
    whole = _most(len(parts.body), lambda lines: fits(parts.joined(parts.body[:lines])))
    kept = list(parts.body[:whole])
    if whole == len(parts.body):
        return parts.joined(kept)
    return _with_most_words(parts, kept, parts.body[whole], fits)


def _with_most_words(parts: _Parts, kept: list[str], line: str, fits: Fits) -> str:
    words = line.split(" ")

    def text(number: int) -> str:
        start = " ".join(words[:number]).rstrip()
        return parts.joined([*kept, parts.cut(start)] if start else kept)

    return text(_most(len(words) - 1, lambda number: fits(text(number))))


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """The greatest number up to `limit` that fits; 0 where none does."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
