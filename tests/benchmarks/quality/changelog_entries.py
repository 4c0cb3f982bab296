"""Changelog entries and the commits that they tell of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

__all__ = ["OWN_COMMIT", "OWN_ENTRIES", "Entry", "EntrySet", "read_entry_sets"]

_KIND = "changelog"


@frozen
class Entry:
    """An entry, and the beginnings of the shas of the commits that it tells of."""

    text: str
    shas: Sequence[str]


@frozen
class EntrySet:
    """A repository's entries."""

    name: str
    entries: Sequence[Entry]


def read_entry_sets(data: Path, most: int = 300) -> list[EntrySet]:
    """The sets of a folder, one for each `NAME_commit_queries.jsonl` with changelog entries.

    Args:
        data: a folder with what `commit_localise.py` wrote.
        most: entries of a repository at most: its first ones.
    """
    found = []
    for file in sorted(data.glob("*_commit_queries.jsonl")):
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        entries = [Entry(row["question"], row["evidence"]) for row in rows if row["kind"] == _KIND]
        if entries:
            found.append(EntrySet(file.name.removesuffix("_commit_queries.jsonl"), entries[:most]))
    return found


OWN_COMMIT = "103e93a5917be25f1a8f9be03cca73275f30e5d9"

_OWN = {
    "ed43ab2": "Five packages and a store that lives in the process, with hooks and models",
    "09684ad": "A question now gets a whole context, from configuration to command line",
    "7432a14": "Memories can be kept and found again; a weather plugin shows how to add yours",
    "b258c82": "Premortem warnings from past experiences, and values that they have in common",
    "c08e896": "Token counts without a tokenizer; near duplicates are recognised",
    "552f775": "Functions and classes of nineteen languages are found",
    "6d3c8e6": "Several processes may use one store, also on a server; export as JSON lines",
    "d650a0d": "The README tells how to use the command line",
    "aec2e31": "Sources that are registered later can be filtered, too",
    "92964d8": "Parsing of hopeless files is given up after a while",
    "f6581fb": "The history of the repository is a source",
    "8d122a2": "Searches stay fast after the first large index run",
    "1e33958": "Very long texts no longer slow the embedding down",
    "33f8694": "Token counts for OpenAI's models are a little more careful",
}
OWN_ENTRIES = tuple(Entry(text, [sha]) for sha, text in _OWN.items())
"""What a changelog of this repository might say of its own commits up to `OWN_COMMIT`."""
