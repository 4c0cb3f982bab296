"""Shortening a formatted commit, keeping what matters most."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from contextkit.models import ContextItem
from contextkit_commits.commit_records import SHORT_SHA

__all__ = ["truncate_commit"]

_FILES_LINE = "*Files: "


def truncate_commit(item: ContextItem, max_tokens: int, count: Callable[[str], int]) -> str | None:
    """The commit in at most `max_tokens`, or None where its heading and the note do not fit.

    The heading comes first, then the subject, the files, and as much of the body as there
    is room for; a note says how to see the rest.

    Args:
        item: the commit, formatted as Markdown.
        max_tokens: what the result may take, in tokens of `count`.
        count: text -> tokens; called a logarithmic number of times.
    """

    def fits(text: str) -> bool:
        return count(text) <= max_tokens

    if fits(item.content):
        return item.content
    parts = _take_apart(item)
    bare = evolve(parts, files=[])
    for candidate in (parts, bare):
        if parts.body and fits(candidate.joined(parts.body[:1])):
            return _with_most_body(candidate, fits)
    if not parts.body or not fits(bare.joined([])):
        return None
    return _with_most_words(bare, [], bare.body[0], fits)


@frozen
class _Parts:
    """A formatted commit: the lines that are kept, and those that may go."""

    head: str
    body: Sequence[str]
    files: Sequence[str]
    note: str

    def joined(self, body: Sequence[str]) -> str:
        kept = "\n".join([self.head, *body]).rstrip("\n")
        return "\n".join([kept, *self.files, "", self.note])


def _take_apart(item: ContextItem) -> _Parts:
    head, *rest = item.content.split("\n")
    files = [rest.pop()] if rest and rest[-1].startswith(_FILES_LINE) else []
    note = f"*(truncated, in full: `git show {item.id[:SHORT_SHA]}`)*"
    return _Parts(head, rest, files, note)


def _with_most_body(parts: _Parts, fits: Callable[[str], bool]) -> str:
    whole = _most(len(parts.body), lambda lines: fits(parts.joined(parts.body[:lines])))
    kept = list(parts.body[:whole])
    if whole == len(parts.body):
        return parts.joined(kept)
    return _with_most_words(parts, kept, parts.body[whole], fits)


def _with_most_words(parts: _Parts, kept: list[str], line: str, fits: Callable[[str], bool]) -> str:
    words = line.split(" ")

    def text(number: int) -> str:
        start = " ".join(words[:number]).rstrip()
        return parts.joined([*kept, f"{start}..."] if start else kept)

    return text(_most(len(words) - 1, lambda number: fits(text(number))))


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """The greatest number up to `limit` that fits; 0 where none does."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
