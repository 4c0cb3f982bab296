"""Find the current workspace state that a request is about."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from attrs import evolve, frozen

from contextkit import ContextItem, ContextRequest, Record
from contextkit.concurrency import in_thread
from contextkit.sources import matches
from contextkit_workspace.edited_files import edited_by_hand
from contextkit_workspace.git_state import GitStatus, status_text
from contextkit_workspace.looking import Look, kept_look, look_at
from contextkit_workspace.open_files import in_workspace, known_open
from contextkit_workspace.question import PathIndex, Question, ask

_DAY = 86_400.0
_ASKED_FOR_CHANGES = 0.9
_ASKED_WHERE_CLEAN = 0.4
_ASKED_FOR_STRUCTURE = 0.5
_NAMED_IN_STRUCTURE = 0.3
_HALF_LIFE = _DAY
_MOST_LINES = 40
_CACHED = 2
"""Looks of which derived parts are kept, as those of consecutive questions."""


@frozen
class _State:
    """The workspace state of a request.

    Attributes:
        look: the workspace's files and git status.
        edited: path -> modification time of recently edited files.
        opened: the open files, in the order in which they were reported.
    """

    look: Look
    edited: Mapping[str, float]
    opened: Sequence[str]


async def find_in_workspace(request: ContextRequest) -> list[ContextItem]:
    """Return the status, files at work and structure that match."""
    root, question = request.workspace, ask(request.query)
    if root is None or not (question.words or question.changes or question.structure):
        return []
    # With many thousand files this takes long enough to block others.
    found = await in_thread(lambda: _found(root, request, question, _kept(root, question)))
    if found is None:
        look = await look_at(root)
        found = await in_thread(lambda: _found(root, request, question, look))
    return found or []


def _kept(root: Path, question: Question) -> Look | None:
    """Return the last look, if nothing has changed of what the question needs."""
    if question.changes or question.recent:
        return kept_look(root)
    # Of other files no item is made, whatever their times are.
    return kept_look(root, lambda look: _index(look).named_by(question))


@lru_cache(maxsize=_CACHED)
def _index(look: Look) -> PathIndex:
    return PathIndex.of(look.paths)


def _found(
    root: Path, request: ContextRequest, question: Question, look: Look | None
) -> list[ContextItem] | None:
    """Return the items that pass the request's filters, best first; None without a look."""
    if look is None:
        return None
    state = _state(root, request, look)
    depth = request.settings["depth"]
    found = [*_status_item(question, look.git), *_structure_item(question, look, depth)]
    items = [item for item in found if matches(_as_record(item), request.filters)]
    # An item is made of a file only while there is room for it.
    for relevance, path in _files_at_work(question, state):
        item = _file_item(path, relevance, state)
        if matches(_as_record(item), request.filters):
            items.append(item)
        if len(items) >= request.limit + len(found):
            break
    return sorted(items, key=lambda item: -item.relevance)[: request.limit]


def _state(root: Path, request: ContextRequest, look: Look) -> _State:
    settings, records = request.settings, request.records
    reported = (*settings["open_files"], *known_open(records))
    named = [in_workspace(root, path) for path in reported]
    since = time.time() - settings["days"] * _DAY
    return _State(
        look=look,
        edited={path: edited for path, edited in _by_hand(look).items() if edited >= since},
        opened=list(dict.fromkeys(path for path in named if path in look.times)),
    )


@lru_cache(maxsize=_CACHED)
def _by_hand(look: Look) -> dict[str, float]:
    return edited_by_hand(look.times)


def _status_item(question: Question, git: GitStatus | None) -> Iterator[ContextItem]:
    """Yield the status if requested.

    That of a clean tree scores less.
    """
    if git is not None and question.changes:
        yield ContextItem(
            source="workspace",
            content=status_text(git),
            relevance=_ASKED_FOR_CHANGES if git.dirty else _ASKED_WHERE_CLEAN,
            metadata={"kind": "status"},
            id="status",
            kind="status",
            title="Git status",
        )


def _files_at_work(question: Question, state: _State) -> list[tuple[float, str]]:
    """Return matching files at work, best first.

    These are open, changed or recently edited files that the query names or asks for.
    """
    git, times = state.look.git, state.look.times
    changed = [] if git is None else git.uncommitted(times)
    at_work = {*state.opened, *state.edited, *changed}
    newest = max((times[path] for path in at_work), default=0.0)
    found = []
    for path in at_work:
        share = question.share(path)
        # Other sources show committed work, unless the query is about the file.
        is_done = git is not None and path not in changed and path not in state.opened
        if share <= (0.99 if is_done else 0.0) and not question.recent:
            continue
        # Relative to the newest file, not to the clock: the same files have the same relevance.
        recency = 0.5 ** ((newest - times[path]) / _HALF_LIFE)
        asked = 0.3 + 0.2 * (path in state.opened) if question.recent else 0.0
        found.append((min(1.0, max(0.7 * share, asked) + 0.2 * recency), path))
    return sorted(found, key=lambda scored: (-scored[0], scored[1]))


def _file_item(path: str, relevance: float, state: _State) -> ContextItem:
    git = state.look.git
    edited = datetime.fromtimestamp(state.look.times[path], UTC)
    said = [
        *(["open"] if path in state.opened else []),
        *([] if git is None else git.said_of(path)),
        f"edited {edited:%Y-%m-%d %H:%M} UTC",
    ]
    return ContextItem(
        source="workspace",
        content=f"{path}: {', '.join(said)}",
        relevance=relevance,
        metadata={"kind": "file", "file_path": path, "open": path in state.opened},
        id=f"file:{path}",
        kind="file",
        title=path,
        created_at=edited,
        location=path,
    )


def _structure_item(question: Question, look: Look, depth: int) -> Iterator[ContextItem]:
    """Yield the structure if the query needs it.

    The query may ask for it, or name a folder.

    It must have the words of a folder's name.
    """
    folders, text = _structure(look, depth)
    share = max(map(question.share, folders), default=0.0)
    relevance = _NAMED_IN_STRUCTURE * share
    if question.structure:
        relevance += _ASKED_FOR_STRUCTURE
    if look.paths and relevance:
        yield ContextItem(
            source="workspace",
            content=text,
            relevance=relevance,
            metadata={"kind": "structure"},
            id="structure",
            kind="structure",
            title="Project structure",
        )


@lru_cache(maxsize=_CACHED)
def _structure(look: Look, depth: int) -> tuple[Counter[str], str]:
    return folders_of(look.paths, depth), structure_text(look.paths, depth)


def _as_record(item: ContextItem) -> Record:
    """Return the item as a record for the filters."""
    record = Record(id=item.id, text=item.content, fields=dict(item.metadata))
    return record if item.created_at is None else evolve(record, created_at=item.created_at)


def folders_of(paths: Sequence[str], depth: int) -> Counter[str]:
    """Count the files of each folder, down to a depth.

    Files in subfolders are included.
    """
    counted: Counter[str] = Counter()
    for path in paths:
        parts = path.split("/")[:-1][:depth]
        for level in range(1, len(parts) + 1):
            counted["/".join(parts[:level])] += 1
    return counted


def structure_text(paths: Sequence[str], depth: int) -> str:
    """Return the folders as a tree of lines.

    If there are too many, those with most files come first.
    """
    folders = folders_of(paths, depth)
    ranked = sorted(folders, key=lambda folder: (folder.count("/"), -folders[folder], folder))
    lines = [
        f"{'  ' * folder.count('/')}{folder.rpartition('/')[2]}/ ({_files(folders[folder])})"
        for folder in sorted(ranked[:_MOST_LINES], key=lambda folder: folder.split("/"))
    ]
    at_root = sum("/" not in path for path in paths)
    lines.insert(0, f"{_files(len(paths))}, {at_root} of them at the root")
    if len(ranked) > _MOST_LINES:
        lines.append(f"... and {len(ranked) - _MOST_LINES} more folders")
    return "\n".join(lines)


def _files(number: int) -> str:
    return f"{number:,} file{'' if number == 1 else 's'}"
