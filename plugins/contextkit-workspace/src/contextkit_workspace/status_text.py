"""Format the git status in a few lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from contextkit.text import one_line
from contextkit_workspace.git_state import GitStatus

_MOST_PATHS = 20


def status_text(status: GitStatus) -> str:
    """Return branch, conflicts, staged, changed and untracked files, by line."""
    lines = [
        _branch(status),
        *_listed("in conflict", status.conflicts),
        *_listed("staged", _with_what(status.staged)),
        *_listed("changed, not staged", _with_what(status.changed)),
        *_listed("untracked", status.untracked),
    ]
    return "\n".join(lines if status.dirty else [*lines, "nothing to commit"])


def _branch(status: GitStatus) -> str:
    line = f"branch {one_line(status.branch)}"
    if status.upstream:
        line += f", follows {one_line(status.upstream)}"
    counts = [(status.ahead, "ahead"), (status.behind, "behind")]
    return ", ".join([line, *(f"{number} {where}" for number, where in counts if number)])


def _with_what(paths: Mapping[str, str]) -> list[str]:
    return [path if what == "modified" else f"{path} ({what})" for path, what in paths.items()]


def _listed(what: str, paths: Iterable[str]) -> list[str]:
    ordered = [one_line(path) for path in sorted(paths)]
    if not ordered:
        return []
    more = len(ordered) - _MOST_PATHS
    rest = [f"and {more} more"] if more > 0 else []
    return [f"{what} ({len(ordered)}): {', '.join([*ordered[:_MOST_PATHS], *rest])}"]
