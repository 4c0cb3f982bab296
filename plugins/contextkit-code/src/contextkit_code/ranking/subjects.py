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
# `poetry lock --check`, "what does poetry lock do?", "run poetry lock", "a flag for poetry lock".
_COMMAND = re.compile(
    r"`(?P<quoted>[\w.-]++) (?P<of_quoted>[a-z][\w-]*+)(?: [^`\n]*+)?`"
    r"|(?<![-\w])(?P<before>(?:does|run|running|calling|(?:flag|option)s? (?:for|of|to))) "
    r"(?P<program>[\w.-]++) (?P<of_program>[a-z][\w-]*+)(?P<behind> do\b)?",
    re.IGNORECASE,
)


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


def with_command(query: str, project: str) -> str:
    """Ask for a command of the project's program, such as `poetry lock`, by its name.

    Args:
        query: the question.
        project: the name of the project, and so of its program; "" where it has none.
    """

    def named(found: re.Match[str]) -> str:
        if (found["quoted"] or found["program"]).lower() != project.lower():
            return found[0]
        if found["quoted"]:
            return f"{found['of_quoted']} command"
        if found["before"].lower() == "does" and not found["behind"]:
            return found[0]
        return f"{found['before']} {found['of_program']} command{found['behind'] or ''}"

    return _COMMAND.sub(named, query)
