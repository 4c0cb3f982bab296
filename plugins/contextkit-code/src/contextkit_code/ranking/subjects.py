"""Tell questions that no code answers, and those that mean other words than they have."""

from __future__ import annotations

import re

from contextkit import ContextRequest
from contextkit.text import changes_subject

_ENTRY_POINT = re.compile(
    r"\b(?:where|what|which) (?:is|are) the (?:\w+ )?entry[ -]?points?\b"
    r"|\bentry[ -]?points? (?:of|for|to|into) (?:this|the) ",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"entry[ -]?points?", re.IGNORECASE)


def is_about_no_code(request: ContextRequest) -> bool:
    """Return whether a question is about the project as a whole, or about all that changed."""
    topics, query = {*request.signals.topics}, request.query
    if topics == {"overview"}:
        return True
    if "code" in topics or topics.isdisjoint({"history", "releases"}) or "\n" in query.strip():
        return False
    return not changes_subject(query, request.project_name)


def with_main(query: str) -> str:
    """Ask for `main` where a question asks what a program starts with."""
    return _ENTRY.sub("main", query) if _ENTRY_POINT.search(query) else query
