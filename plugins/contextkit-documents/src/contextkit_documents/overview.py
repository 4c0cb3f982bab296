"""Find the pages that say what a project is, and how it is organized."""

from __future__ import annotations

import re
from collections.abc import Collection

from contextkit import ContextRequest, Record
from contextkit.concurrency import in_thread

_README = (
    *("README.md", "readme.md", "Readme.md", "README.rst", "README.adoc", "README.txt", "README"),
    *("docs/README.md", "docs/index.md", "docs/index.rst", "docs/source/index.rst"),
)
"""Where a project says what it is, the best place first."""

_WHAT_IS = re.compile(r"\s*what(?:'s| is| does) (?P<name>[\w.-]+)(?: do| about| for)?\s*+\??+\s*+")
_ASKS_FOR_STRUCTURE = re.compile(r"architect|structur|layout|organi[sz]|laid out", re.IGNORECASE)
_STRUCTURE = re.compile(
    r"architect|structure|organi[sz]ation|internals|\bdesign|how it works", re.IGNORECASE
)
_SEARCHED = "architecture structure internals design"
_MOST_FOLDERS = 2
"""Folders that such a page is in at most: deeper ones are about a part."""

_FOUND = 20
_SECTIONS = 5
_BESIDE = re.compile(
    r"change ?log|communit|contribut|demo|download|install|licen[cs]e|maintainer|release|screenshot"
    r"|sponsor|support|table of contents",
    re.IGNORECASE,
)
"""Headings of a README that say nothing of what the project is."""

_STEP = 0.05
_SECOND = 0.8
"""Relevance of the first section of the structure where the purpose is asked for, and the other
way round."""


def asks_for_overview(query: str, topics: Collection[str], project: str) -> bool:
    """Return whether a question is about the project as a whole.

    Args:
        query: the question.
        topics: its topics.
        project: the project's name.
    """
    named = _WHAT_IS.fullmatch(query.lower())
    return "overview" in topics or (named is not None and named["name"] == project.lower())


async def overview_sections(request: ContextRequest) -> dict[str, tuple[Record, float]]:
    """Return the first sections of the README, and those about the structure.

    Returns:
        Each with its relevance, 0..1, by its id.
    """
    readme = await in_thread(lambda: _readme(request))
    hits = await request.records.search(_SEARCHED, limit=_FOUND, filters=request.filters)
    structure = [hit.record for hit in hits if _is_about_structure(hit.record)][:_SECTIONS]
    wants_structure = _ASKS_FOR_STRUCTURE.search(request.query) is not None
    found: dict[str, tuple[Record, float]] = {}
    for records, level in (
        (structure, 1.0 if wants_structure else _SECOND),
        (readme, _SECOND if wants_structure else 1.0),
    ):
        for place, record in enumerate(records):
            found.setdefault(record.id, (record, level - _STEP * place))
    return found


def _readme(request: ContextRequest) -> list[Record]:
    of_path: dict[str, list[Record]] = {}
    for record in request.records.scan({**request.filters, "file_path": list(_README)}):
        of_path.setdefault(record.fields["file_path"], []).append(record)
    own = next((of_path[path] for path in _README if path in of_path), [])
    own = [record for record in own if not _BESIDE.search(_heading(record))]
    return sorted(own, key=lambda record: int(record.fields.get("position") or 0))[:_SECTIONS]


def _heading(record: Record) -> str:
    return str((record.fields.get("headings") or [""])[-1])


def _is_about_structure(record: Record) -> bool:
    path = str(record.fields.get("file_path") or "")
    if record.fields.get("kind") != "documentation" or path.count("/") > _MOST_FOLDERS:
        return False
    headings = map(str, record.fields.get("headings") or ())
    return any(map(_STRUCTURE.search, (path.rpartition("/")[2], *headings)))
