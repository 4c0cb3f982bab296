"""What is measured on: pieces of this repository, as real texts are, and near copies of them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from contextkit.models.items import ContextItem

__all__ = ["ROOT", "copied", "items_of", "locomo_texts", "prepared_items", "repository_texts"]

ROOT = Path(__file__).parents[2]
"""The repository."""

SOURCES = ("memories", "code", "experiences", "values", "commits")
_FOLDERS = ("contextkit", "plugins", "tests")
_BETWEEN_CHUNKS = re.compile(r"\n{3,}|\n(?=#+ )")
_LENGTHS = range(80, 1500)
_COPIES = 10
"""One item in so many says what an item of another source says, less a word."""


@cache
def repository_texts() -> tuple[str, ...]:
    """Functions, classes and paragraphs of this repository, shuffled in a fixed order."""
    files = sorted(
        file
        for folder in _FOLDERS
        for pattern in ("*.py", "*.md", "*.txt")
        for file in (ROOT / folder).rglob(pattern)
    )
    found = [
        chunk.strip()
        for file in files
        for chunk in _BETWEEN_CHUNKS.split(file.read_text(encoding="utf-8"))
        if len(chunk.strip()) in _LENGTHS
    ]
    texts = list(dict.fromkeys(found))
    random.Random(1).shuffle(texts)
    return tuple(texts)


def locomo_texts(data: Path) -> tuple[str, ...]:
    """The turns of the open conversations, in their order; none where they are not there."""
    file = data / "locomo" / "locomo_corpus.jsonl"
    if not file.is_file():
        return ()
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(json.loads(line)["text"] for line in lines)


def copied(text: str, rng: random.Random) -> str:
    """A text without one of its words."""
    words = text.split(" ")
    del words[rng.randrange(len(words))]
    return " ".join(words)


def items_of(texts: Sequence[str], sources: Sequence[str] = SOURCES) -> list[ContextItem]:
    """Texts as items, dealt out to sources, the first ones most relevant."""
    return [
        ContextItem(
            sources[number % len(sources)],
            text,
            1 - number / (2 * len(texts)),
            id=f"{number:05}",
            title=text.splitlines()[0][:60] if text else None,
            location=f"src/part{number % 7}.py:{number + 1}",
        )
        for number, text in enumerate(texts)
    ]


def prepared_items(
    number: int, sources: Sequence[str] = SOURCES, longest: int = _LENGTHS.stop
) -> dict[str, list[ContextItem]]:
    """So many items in all, by source, some of them near copies of another source's.

    Args:
        number: of items.
        sources: to deal them out to.
        longest: characters of the longest texts to take.
    """
    by_source: dict[str, list[ContextItem]] = {source: [] for source in sources}
    for item in items_of(list(_with_copies(number, longest)), sources):
        by_source[item.source].append(item)
    return by_source


def _with_copies(number: int, longest: int) -> Iterator[str]:
    rng = random.Random(number)
    known = [text for text in repository_texts() if len(text) <= longest]
    before = ""
    for place in range(number):
        text = known[place % len(known)]
        if place % _COPIES == 1:
            text = copied(before, rng)
        yield text
        before = text
