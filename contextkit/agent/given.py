"""The record of what agents were given, and of the files that they used.

`hooks/given.jsonl` beside the store has a line for each context that a session got, and for each
file that the agent then read or changed. It has ids, places and numbers, and no texts.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen

from contextkit.agent.adapters import PATHS
from contextkit.agent.sessions import append_line, log_folder

if TYPE_CHECKING:
    from contextkit.agent.events import HookEvent
    from contextkit.kit import ContextKit

_MOST_BYTES = 4 << 20
_LINES = re.compile(r":\d+(?:-\d+)?$")


@frozen(kw_only=True)
class GivenItem:
    """An item of a context.

    Attributes:
        source: its source.
        id: its id there.
        path: its file, relative to the workspace; None for one without a file.
    """

    source: str
    id: str
    path: str | None

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> GivenItem:
        """Read an item of an answer."""
        location = str(item["location"] or "")
        path = _LINES.sub("", location)
        # Other sources have a sha, an address or words in this place.
        is_file = "://" not in path and (path != location or "/" in path or "." in path)
        return cls(source=item["source"], id=item["id"], path=path if is_file else None)


@frozen(kw_only=True)
class Given:
    """A context that a session got.

    Attributes:
        at: the time, by `time.time`.
        session: the agent's session.
        workspace: its root folder.
        event: the name of the agent's event.
        agent: the agent's name, or "".
        tokens: the context's tokens.
        seconds: how long the answer took.
        items: what it was made of.
    """

    at: float
    session: str
    workspace: str
    event: str
    tokens: int
    seconds: float
    items: tuple[GivenItem, ...]
    agent: str = ""


@frozen(kw_only=True)
class Touched:
    """A file that an agent read or changed.

    Attributes:
        at: the time, by `time.time`.
        session: the agent's session.
        workspace: its root folder.
        path: the file, relative to the workspace.
    """

    at: float
    session: str
    workspace: str
    path: str


def journal_of_given() -> Path:
    """The file of the record. The previous one ends in `.1`."""
    return log_folder() / "given.jsonl"


def note_given(answer: Mapping[str, Any], event: HookEvent, workspace: str, seconds: float) -> None:
    """Note a context that a session gets; errors are ignored.

    Args:
        answer: the answer, with `items` and `tokens`.
        event: the agent's event.
        workspace: the root folder of its session.
        seconds: how long the answer took.
    """
    given = Given(
        at=time.time(),
        session=event.session,
        workspace=workspace,
        event=event.name,
        agent=event.agent,
        tokens=answer["tokens"],
        seconds=round(seconds, 3),
        items=tuple(GivenItem.of(item) for item in answer["items"]),
    )
    append_line(journal_of_given(), asdict(given), _MOST_BYTES)


def note_touched(kit: ContextKit, event: Mapping[str, Any]) -> None:
    """Note the file that a tool read or changed, if it is in the workspace.

    Where the history of usage is on, the items of that file that the session was given count as
    used.
    """
    path = _touched_path(event, kit.workspace.root)
    if path is None:
        return
    session, workspace = str(event.get("session_id") or ""), str(kit.workspace.root)
    touched = Touched(at=time.time(), session=session, workspace=workspace, path=path)
    append_line(journal_of_given(), asdict(touched), _MOST_BYTES)
    if kit.config.history.enabled:
        entries = (e for e in read_given(session) if e.workspace == workspace)
        given = [item for e in entries if isinstance(e, Given) for item in e.items]
        kit.mark_used({(item.source, item.id) for item in given if item.path == path})


def _touched_path(event: Mapping[str, Any], root: Path) -> str | None:
    tool = event.get("tool_input")
    if event.get("hook_event_name") != "PostToolUse" or not isinstance(tool, Mapping):
        return None
    named = (tool.get(name) for name in PATHS)
    path = next((each for each in named if isinstance(each, str) and each), None)
    if path is None:
        return None
    with contextlib.suppress(OSError, ValueError):
        file = (Path(str(event.get("cwd") or root)) / path).resolve()
        if file.is_file():
            return file.relative_to(root.resolve()).as_posix()
    return None


def given_stamp() -> str:
    """Return a text that changes when the record does."""
    file = journal_of_given()
    states = []
    for part in (file.with_suffix(".jsonl.1"), file):
        with contextlib.suppress(OSError):
            state = part.stat()
            states.append(f"{state.st_ino:x}.{state.st_size:x}.{state.st_mtime_ns:x}")
    return "-".join(states)


def read_given(session: str | None = None) -> Iterator[Given | Touched]:
    """Read the record, oldest first. Lines that cannot be read are left out.

    Args:
        session: the agent's session; default: all.
    """
    file = journal_of_given()
    # Few lines are of one session; to parse them all would take several times as long.
    sought = "" if session is None else json.dumps(session)
    for part in (file.with_suffix(".jsonl.1"), file):
        with contextlib.suppress(OSError):
            lines = part.read_text(encoding="utf-8", errors="replace").splitlines()
            entries = entries_of(line for line in lines if sought in line)
            yield from (entry for entry in entries if session in (None, entry.session))


def entries_of(lines: Iterable[str]) -> Iterator[Given | Touched]:
    """Read lines of the record."""
    for line in lines:
        with contextlib.suppress(ValueError, TypeError, LookupError):
            data = json.loads(line)
            if "path" in data:
                yield Touched(**data)
            else:
                items = tuple(GivenItem(**item) for item in data["items"])
                yield Given(**{**data, "items": items})


@frozen(kw_only=True)
class SourceUse:
    """What became of a source's items.

    Attributes:
        source: the source.
        items: how many items it gave, each counted once per session and workspace.
        with_file: how many of them are of a file.
        used: of how many of those the agent read or changed the file afterwards.
    """

    source: str
    items: int
    with_file: int
    used: int


@frozen(kw_only=True)
class Use:
    """What agents were given, and what they used.

    Attributes:
        sessions: the number of sessions that got a context.
        contexts: the number of contexts.
        tokens: their tokens.
        seconds: how long each answer took, ascending.
        touched: the files that agents read or changed, each counted once per session and
            workspace.
        touched_after: how many of those an earlier context of the session had an item of.
        sources: by source, most items first.
    """

    sessions: int
    contexts: int
    tokens: int
    seconds: Sequence[float]
    touched: int
    touched_after: int
    sources: Sequence[SourceUse]


_Place = tuple[str, str]
"""A session and its workspace: one session may be in several."""


def use_of(entries: Iterable[Given | Touched]) -> Use:
    """Count what was given and used afterwards, in the order of time."""
    contexts: list[Given] = []
    items: dict[tuple[_Place, str, str], str | None] = {}
    of_file: defaultdict[tuple[_Place, str | None], set[tuple[_Place, str, str]]]
    of_file = defaultdict(set)
    touched: set[tuple[_Place, str]] = set()
    used: set[tuple[_Place, str, str]] = set()
    for entry in entries:
        place = (entry.session, entry.workspace)
        if isinstance(entry, Given):
            contexts.append(entry)
            for item in entry.items:
                key = (place, item.source, item.id)
                items[key] = item.path
                of_file[place, item.path].add(key)
            continue
        touched.add((place, entry.path))
        used |= of_file[place, entry.path]
    filed = {key for key, path in items.items() if path is not None}
    counts, counts_filed, counts_used = (
        Counter(source for _, source, _ in keys) for keys in (items, filed, used)
    )
    return Use(
        sessions=len({context.session for context in contexts}),
        contexts=len(contexts),
        tokens=sum(context.tokens for context in contexts),
        seconds=sorted(context.seconds for context in contexts),
        touched=len(touched),
        touched_after=len({(key[0], items[key]) for key in used}),
        sources=[
            SourceUse(
                source=source,
                items=count,
                with_file=counts_filed[source],
                used=counts_used[source],
            )
            for source, count in counts.most_common()
        ],
    )
