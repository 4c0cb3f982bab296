"""Answer an agent's event with context new to its session.

A session starts with the newest records of the sources that you write to. Later answers leave
out items that the session has seen, before ranking. `answer_here` answers in the hook's own
process while no background server runs. If time runs out before anything is found, `answer_later`
makes the answer, and a later event of the session gets it.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from contextkit.agent.events import COMPACT, PROMPT, SHOWN, START, HookEvent
from contextkit.agent.given import note_given
from contextkit.agent.limits import cold_seconds, open_for_hooks, opened, seconds_for_sources
from contextkit.agent.sessions import (
    Session,
    Waiting,
    note,
    open_session,
    prune_sessions,
    read_session,
)
from contextkit.agent.shown import hide_shown, item_keys, shown_before
from contextkit.agent.start import start_context
from contextkit.errors import StoreBusyError, in_words
from contextkit.indexing.partial import PARTLY
from contextkit.kit import ContextKit
from contextkit.models.context import FormattedContext
from contextkit.pipeline.waiting import ending_by
from contextkit.text.clean import visible_values
from contextkit.text.secrets import redacted
from contextkit.workspace.find import find_workspace
from contextkit.workspace.listing import listed_once

_DOMAINS = {"test": ("testing", "debugging"), "build": ("build", "configuration", "debugging")}
"""Kind of failing command -> domains of a premortem; the first with results is shown."""

_MOST_PROMPT = 4000
_MOST_FURTHER = 40
_TRIES = 3
_MARGIN = 0.9

_ANSWERED = {"ok", "empty", "below_floor"}
_LATE = "late"
_MISSING = {"timed_out": _LATE, "cut_off": _LATE, "breaker_open": "skipped"}
"""State of a source that gave no answer -> how the log describes it; others failed."""

_LATER_SECONDS = 20.0
"""Time limit of an answer that a later event gets."""

_LOCK_SECONDS = 5.0
_PAUSE_SECONDS = 0.2

_Assemble = Callable[[int, float], Coroutine[Any, Any, FormattedContext]]
"""Assembles a context with a token budget and a time limit of its sources."""


def answer_event(kit: ContextKit, event: HookEvent, deadline: float) -> dict[str, Any]:
    """Answer an event.

    A source that is late is missing in the answer, and the log names it.

    Args:
        kit: the workspace's, prepared by `hide_shown`.
        event: the event.
        deadline: the time, by `time.monotonic`, at which the agent stops waiting.

    Returns:
        `context`, the text, `items`, the origin of each item, and `tokens`, the size of the text;
        empty if nothing relevant is new to the session. `late` is true if nothing was found
        because time ran out.

    Raises:
        TimeoutError: it took too long.
        ContextKitError: assembling failed.
    """
    began = time.monotonic()
    if event.name == COMPACT:
        return _forget(event)
    if not kit.config.hooks.enabled or event.name not in SHOWN:
        return {}
    if not event.session:
        return _answer(kit, event, Session(), deadline) if event.asks else {}
    if not (event.asks or read_session(event.session).waiting):
        return {}
    if event.name == START:
        prune_sessions()
        if kit.identity.problem:
            note("project_name_not_used", reason=kit.identity.problem, remedy=kit.identity.remedy)
    with open_session(event.session, deadline - time.monotonic()) as session:
        session.workspace = str(kit.workspace.root)
        if session.off:
            return {}
        if event.forgot:
            session.forget()
        found = _answer_once(kit, event, session, deadline)
        if time.monotonic() > deadline:
            # Nothing of it may count as shown.
            raise TimeoutError("the answer was ready after the time limit")
        if event.later:
            answer = _put_off(event, found, session)
        else:
            answer = found if found.get("context") else {**session.deliver(), **found}
        if answer.get("context"):
            took = time.monotonic() - began
            note_given(answer, event, session.workspace, took)
        return answer


def _put_off(event: HookEvent, found: dict[str, Any], session: Session) -> dict[str, Any]:
    """Keep an answer for the next event, because the agent does not read this one's."""
    if found.get("context"):
        session.drop_waiting()
        session.keep(Waiting.of(event.name, found))
        return {}
    return found


def _forget(event: HookEvent) -> dict[str, Any]:
    """Start a session's counting over, because its agent is about to lose its context."""
    if event.session:
        with open_session(event.session, _LOCK_SECONDS) as session:
            session.forget()
    return {}


def _answer_once(
    kit: ContextKit, event: HookEvent, session: Session, deadline: float
) -> dict[str, Any]:
    """Answer an event unless its session was answered this before."""
    if not event.asks or event.failed in session.failures:
        return {}
    if event.name == PROMPT:
        session.turn_to_prompt()
    found = _answer(kit, event, session, deadline)
    if event.failed and not found.get("late"):
        session.failures.add(event.failed)
    return found


def answer_later(kit: ContextKit, event: HookEvent) -> None:
    """Make the answer of an event that got none in time.

    A later event of its session gets it, unless the user has turned to something else. Errors
    are logged.
    """
    if not (kit.config.hooks.enabled and event.asks and event.session):
        return
    began, session = time.time(), read_session(event.session)
    if session.off or event.failed in session.failures:
        return
    known = frozenset(session.shown)
    try:
        found = _with_retries(kit, event, session)
        if found.get("context"):
            keep_for_later(event, found, began, known)
    except Exception as error:  # noqa: BLE001 - agents never see errors
        note("late_answer_failed", session=event.session, reason=in_words(error))


def _with_retries(kit: ContextKit, event: HookEvent, session: Session) -> dict[str, Any]:
    deadline = time.monotonic() + _LATER_SECONDS
    while True:
        try:
            return _answer(kit, event, session, deadline)
        except StoreBusyError:
            # Hooks wait for the store for a part of their time limit only.
            if time.monotonic() + _PAUSE_SECONDS > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)


def keep_for_later(
    event: HookEvent,
    found: Mapping[str, Any],
    began: float,
    known: frozenset[str] | None = None,
) -> None:
    """Keep an answer for a later event of its session.

    Args:
        event: the event that it answers.
        found: the answer.
        began: the time, by `time.time`, after which a prompt makes the answer useless.
        known: the items that the session had been shown when the answer was made; None if the
            answer's own items count as shown already.
    """
    with open_session(event.session, _LOCK_SECONDS) as session:
        turned_away = event.name == PROMPT and session.prompted > began
        repeats = known is not None and (session.shown - known) & {*Waiting.keys_of(found["items"])}
        if session.off or turned_away or repeats:
            return
        session.drop_waiting()
        session.keep(Waiting.of(event.name, found))
        if event.failed:
            session.failures.add(event.failed)


def _answer(kit: ContextKit, event: HookEvent, session: Session, deadline: float) -> dict[str, Any]:
    """Assemble an answer and mark its items as shown."""
    missing: dict[str, str] = {}

    async def in_time(assemble: _Assemble, tokens: int) -> FormattedContext:
        seconds = seconds_for_sources(deadline)
        # A busy machine may extend the time of the sources, by half of the rest at most.
        with ending_by((time.monotonic() + seconds + deadline) / 2):
            context = await assemble(tokens, seconds)
        traces = context.trace.sources
        failed = [trace for trace in traces if trace.state not in _ANSWERED]
        missing.update((trace.source, _MISSING.get(trace.state, "failed")) for trace in failed)
        return context

    async def within() -> FormattedContext | None:
        limit = asyncio.timeout(deadline - time.monotonic())
        # The time limit of the sources counts from when the store is open.
        async with limit, opened(kit.store, deadline):
            for assemble in _ways(kit, event, session):
                context = await _short_enough(kit, partial(in_time, assemble))
                if context is not None:
                    return context
        return None

    known = None if event.forgot else event.session.strip() or None
    with shown_before(frozenset(session.shown), known):
        context = asyncio.run(within())
    if missing:
        got = "nothing" if context is None else "less"
        note("sources_missing", hook=event.name, session=event.session, got=got, sources=missing)
    for told in context.trace.notes if context else ():
        if told.startswith(PARTLY):
            note("index_incomplete", hook=event.name, session=event.session, reason=told)
    if context is None:
        return {"late": True} if _LATE in missing.values() else {}
    session.shown |= {key for item in context.items for key in item_keys(item)}
    return _as_answer(context)


def _ways(kit: ContextKit, event: HookEvent, session: Session) -> list[_Assemble]:
    """Return the ways to assemble an answer.

    The first with results is used.
    """
    known = event.session.strip() or None
    if event.name == START:
        return [lambda tokens, seconds: start_context(kit, tokens, known, seconds)]
    if event.failed:
        return [_premortem(kit, domain) for domain in _DOMAINS[event.failed]]
    prompt = event.prompt
    if len(prompt) > _MOST_PROMPT:
        # Half of a secret is not found.
        prompt = redacted(prompt)[:_MOST_PROMPT]
    # Search for as many items more as will be left out.
    further = min(len(session.shown), _MOST_FURTHER)
    return [
        lambda tokens, seconds: kit.assemble_context(
            prompt,
            kit.config.hooks.sources,
            further=further,
            max_tokens=tokens,
            guard=True,
            session=known,
            source_timeout=seconds,
            deadline=seconds,
        )
    ]


def _premortem(kit: ContextKit, domain: str) -> _Assemble:
    return lambda tokens, seconds: kit.get_premortem_context(
        domain, max_tokens=tokens, guard=True, source_timeout=seconds, deadline=seconds
    )


async def _short_enough(
    kit: ContextKit, assemble: Callable[[int], Awaitable[FormattedContext]]
) -> FormattedContext | None:
    """Assemble a context short enough for the agent, or None."""
    tokens, most = kit.config.hooks.max_tokens, kit.config.hooks.max_characters
    for _ in range(_TRIES):
        context = await assemble(tokens)
        if not context.items:
            return None
        size = _characters(context.markdown)
        if size <= most:
            return context
        tokens = max(1, int(tokens * most / size * _MARGIN))
    return None


def _characters(text: str) -> int:
    """Count UTF-16 code units, as agents do."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _as_answer(context: FormattedContext) -> dict[str, Any]:
    items = [
        {"source": s.source, "id": s.id, "title": s.name, "location": s.location}
        for s in context.sources
    ]
    return {
        "context": context.markdown,
        "items": visible_values(items),
        "tokens": context.token_count,
    }


def answer_here(
    event: Mapping[str, Any], started: float, on_limits: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Answer an event in this process, which ends soon after.

    Nothing is closed: nothing was written, and closing takes longer than searching.

    Args:
        event: the event as the agent wrote it.
        started: when the agent began to wait, by `time.monotonic`.
        on_limits: receives the time limit, and whether a background server is wanted.

    Raises what `answer_event` and `ContextKit.open` raise.
    """
    asked = HookEvent.from_json(event)
    if asked.name == COMPACT:
        return _forget(asked)
    if not (asked.asks or read_session(asked.session).waiting):
        return {}
    # Keywords are enough for one answer before the background server is ready, and loading
    # a model would take a sixth of the time.
    kit = open_for_hooks(find_workspace(Path(asked.folder)), os.environ, models=False)
    hooks = kit.config.hooks
    limit = cold_seconds(kit.config, asked.name)
    on_limits({"limit": limit, "resident": hooks.resident and hooks.enabled})
    if not hooks.enabled:
        return {}
    hide_shown(kit)
    with listed_once(kit.workspace.root if asked.name == PROMPT else None, with_status=True):
        return answer_event(kit, asked, started + limit)
