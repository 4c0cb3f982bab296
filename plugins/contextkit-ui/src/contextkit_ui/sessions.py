"""What agents' sessions were given, and what they used, for the page."""

from __future__ import annotations

import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import frozen

from contextkit import ContextKit
from contextkit.agent import Given, Touched, Use, given_stamp, read_given, use_of
from contextkit.sources import shortened_line
from contextkit_ui.pages import render
from contextkit_ui.project import Project

_MOST_SESSIONS = 20
_MOST_EVENTS = 200
_DAYS = 30
_DAY_SECONDS = 86_400.0
_TITLE = 90
_PROMPT = 160
_PROMPT_SECONDS = 30.0
"""A prompt is stored after its answer, within this time."""

_EVENTS = "events"
_MOMENTS: Mapping[str, str] = {
    "SessionStart": "At the start",
    "UserPromptSubmit": "With a prompt",
    "PostToolUse": "After a failed command",
    "PostToolUseFailure": "After a failed command",
}


@frozen(kw_only=True)
class GivenView:
    """An item that a session was given.

    Attributes:
        source, id, path: its own; see `contextkit.agent.Given`.
        hue: the number of its source's colour.
        title: its first words, or empty.
        used: whether the agent read or changed its file afterwards.
    """

    source: str
    id: str
    path: str | None
    hue: int
    title: str
    used: bool


@frozen(kw_only=True)
class Moment:
    """A context that a session got, or files that its agent then read or changed.

    Attributes:
        at: the time, local.
        name: the moment in words; empty for files.
        prompt: the beginning of the prompt, where it is known.
        tokens, milliseconds: those of the context.
        items: what it was made of.
        counts: its items by source, with the numbers of their colours.
        files: the files, and whether each was in an earlier context.
    """

    at: datetime
    name: str = ""
    prompt: str = ""
    tokens: int = 0
    milliseconds: float = 0.0
    items: Sequence[GivenView] = ()
    counts: Sequence[tuple[str, int, int]] = ()
    files: Sequence[tuple[str, bool]] = ()


@frozen(kw_only=True)
class SessionView:
    """One session.

    Attributes:
        id: the agent's.
        agent: the agent's name, or "".
        first, last: the times of its first and its last moment, local.
        use: its figures.
        moments: oldest first.
    """

    id: str
    agent: str
    first: datetime
    last: datetime
    use: Use
    moments: Sequence[Moment]


@frozen(eq=False)
class SessionPages:
    """Answers the page's requests about sessions; every method blocks.

    Attributes:
        project: whose sessions they are.
    """

    project: Project

    def stamp(self) -> str:
        """Return a text that changes when a session gets a context."""
        return given_stamp()

    def show(self) -> dict[str, Any]:
        """Return the latest sessions as HTML, with the newest context in words."""
        entries = recent(self.project.kit)
        use = use_of(entries)
        views = list(self._views(entries))
        newest = next((e for e in reversed(entries) if isinstance(e, Given)), None)
        html = render(
            "sessions.html",
            sessions=views,
            more=use.sessions - len(views),
            days=_DAYS,
            hues=self.project.hues,
            **figures(use),
        )
        return {"html": html, "newest": newest.at if newest else 0, "words": _in_words(newest)}

    def _views(self, entries: Sequence[Given | Touched]) -> Iterator[SessionView]:
        sessions: defaultdict[str, list[Given | Touched]] = defaultdict(list)
        for entry in entries:
            sessions[entry.session].append(entry)
        given = {each: of for each, of in sessions.items() if any(isinstance(e, Given) for e in of)}
        latest = sorted(given.values(), key=lambda of: of[-1].at, reverse=True)[:_MOST_SESSIONS]
        titles = _titles(self.project.kit, (entry for of in latest for entry in of))
        for of in latest:
            prompts = _prompts(self.project.kit, of[0].session)
            yield SessionView(
                id=of[0].session,
                agent=next(e.agent for e in reversed(of) if isinstance(e, Given)),
                first=_local(of[0].at),
                last=_local(of[-1].at),
                use=use_of(of),
                moments=list(self._moments(of, titles, prompts)),
            )

    def _moments(
        self,
        entries: Sequence[Given | Touched],
        titles: Mapping[tuple[str, str], str],
        prompts: Sequence[tuple[float, str]],
    ) -> Iterator[Moment]:
        files: list[tuple[str, bool]] = []
        begun, known = 0.0, set[str | None]()
        for position, entry in enumerate(entries):
            if isinstance(entry, Touched):
                begun = begun if files else entry.at
                files.append((entry.path, entry.path in known))
                continue
            if files:
                yield Moment(at=_local(begun), files=list(dict.fromkeys(files)))
                files = []
            later = {e.path for e in entries[position:] if isinstance(e, Touched)}
            known |= {item.path for item in entry.items}
            yield self._given(entry, later, titles, prompts)
        if files:
            yield Moment(at=_local(begun), files=list(dict.fromkeys(files)))

    def _given(
        self,
        entry: Given,
        later: set[str],
        titles: Mapping[tuple[str, str], str],
        prompts: Sequence[tuple[float, str]],
    ) -> Moment:
        counts = Counter(item.source for item in entry.items)
        return Moment(
            at=_local(entry.at),
            name=_MOMENTS.get(entry.event, entry.event),
            prompt=_prompt_at(entry, prompts),
            tokens=entry.tokens,
            milliseconds=entry.seconds * 1000,
            items=[
                GivenView(
                    source=item.source,
                    id=item.id,
                    path=item.path,
                    hue=self.project.hues[item.source],
                    title=titles.get((item.source, item.id), ""),
                    used=item.path in later,
                )
                for item in entry.items
            ],
            counts=[
                (source, count, self.project.hues[source]) for source, count in counts.most_common()
            ],
        )


def recent(kit: ContextKit) -> list[Given | Touched]:
    """Return what a workspace's sessions were given lately, and what they used."""
    since, workspace = time.time() - _DAYS * _DAY_SECONDS, str(kit.workspace.root)
    return [e for e in read_given() if e.at >= since and e.workspace == workspace]


def figures(use: Use) -> dict[str, Any]:
    """Return the figures of `contextkit stats` for a template."""
    seconds = use.seconds
    return {
        "use": use,
        "median": statistics.median(seconds) * 1000 if seconds else 0.0,
        "slow": seconds[int(len(seconds) * 0.95)] * 1000 if seconds else 0.0,
    }


def _titles(kit: ContextKit, entries: Iterable[Given | Touched]) -> dict[tuple[str, str], str]:
    """Map items that are records to their first words."""
    ids: defaultdict[str, set[str]] = defaultdict(set)
    for entry in entries:
        for item in entry.items if isinstance(entry, Given) else ():
            ids[item.source].add(item.id)
    found = {}
    for source, wanted in ids.items():
        if source in kit.registry.sources:
            for record in kit.records(source).get(*sorted(wanted)):
                found[source, record.id] = shortened_line(record.text, _TITLE)
    return found


def _prompts(kit: ContextKit, session: str) -> list[tuple[float, str]]:
    """Return a session's recorded prompts with their times."""
    if not session or _EVENTS not in kit.registry.sources:
        return []
    wanted = {"session": session, "kind": "turn"}
    return [
        (record.created_at.timestamp(), shortened_line(record.text, _PROMPT))
        for record in kit.records(_EVENTS).newest(_MOST_EVENTS, wanted)
        if record.fields.get("role") == "user"
    ]


def _prompt_at(entry: Given, prompts: Sequence[tuple[float, str]]) -> str:
    if entry.event != "UserPromptSubmit":
        return ""
    near = [(abs(at - entry.at), text) for at, text in prompts]
    return min((each for each in near if each[0] <= _PROMPT_SECONDS), default=(0.0, ""))[1]


def _local(at: float) -> datetime:
    return datetime.fromtimestamp(at).astimezone()


def _in_words(entry: Given | None) -> str:
    if entry is None:
        return "No agent was given a context yet"
    moment = _MOMENTS.get(entry.event, entry.event).lower()
    return f"New context: {entry.tokens:,} tokens, {len(entry.items)} items, {moment}"
