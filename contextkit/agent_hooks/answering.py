"""What an event is answered with: a context that is new to the session, or nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from contextkit.agent_hooks.events import START, HookEvent
from contextkit.agent_hooks.hiding import item_keys, shown_before
from contextkit.agent_hooks.journal import note
from contextkit.agent_hooks.sessions import Session, open_session, prune_sessions
from contextkit.agent_hooks.starting import start_context
from contextkit.asking.requests import default_limit
from contextkit.formatted import FormattedContext
from contextkit.invisible import visible_values
from contextkit.kit import ContextKit

__all__ = ["answer_event"]

_DOMAINS = {"test": ("testing", "debugging"), "build": ("build", "configuration", "debugging")}
"""Kind of failing command -> the domains of a premortem; the first that has any is shown."""

_MOST_PROMPT = 4000
_MOST_FURTHER = 40
_TRIES = 3
_MARGIN = 0.9

_Assemble = Callable[[int], Coroutine[Any, Any, FormattedContext]]


def answer_event(kit: ContextKit, event: HookEvent, deadline: float) -> dict[str, Any]:
    """The answer to an event, for an agent to be told.

    Args:
        kit: the workspace's, made ready by `hide_shown`.
        event: what happened.
        deadline: the time, by `time.monotonic`, after which nobody listens any more.

    Returns:
        `context`, the text, and `items`, where each of them comes from; empty where there is
        nothing relevant that the session has not been shown before.

    Raises:
        TimeoutError: it took too long.
        ContextKitError: what assembling raises.
    """
    if not (kit.config.hooks.enabled and event.asks):
        return {}
    if not event.session:
        return _as_answer(_context(kit, event, Session(), deadline))
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
        if event.failed in session.failures:
            return {}
        context = _context(kit, event, session, deadline)
        if event.failed:
            session.failures.add(event.failed)
        if context is not None:
            session.shown |= {key for item in context.items for key in item_keys(item)}
        return _as_answer(context)


def _context(
    kit: ContextKit, event: HookEvent, session: Session, deadline: float
) -> FormattedContext | None:
    async def within() -> FormattedContext | None:
        async with asyncio.timeout(deadline - time.monotonic()):
            for assemble in _ways(kit, event, session):
                context = await _short_enough(kit, assemble)
                if context is not None:
                    return context
        return None

    known = None if event.forgot else event.session.strip() or None
    with shown_before(frozenset(session.shown), known):
        return asyncio.run(within())


def _ways(kit: ContextKit, event: HookEvent, session: Session) -> list[_Assemble]:
    """How to assemble within so many tokens; the first way that finds anything counts."""
    if event.name == START:
        return [lambda tokens: start_context(kit, tokens, event.session.strip() or None)]
    if event.failed:
        return [_premortem(kit, domain) for domain in _DOMAINS[event.failed]]
    # What is left out because it was shown makes room for as much behind it.
    further = min(len(session.shown), _MOST_FURTHER)
    return [
        lambda tokens: kit.assemble_context(
            event.prompt[:_MOST_PROMPT],
            kit.config.hooks.sources,
            limit=default_limit(kit.config, tokens) + further,
            max_tokens=tokens,
            guard=True,
            session=event.session.strip() or None,
        )
    ]


def _premortem(kit: ContextKit, domain: str) -> _Assemble:
    return lambda tokens: kit.get_premortem_context(domain, max_tokens=tokens, guard=True)


async def _short_enough(kit: ContextKit, assemble: _Assemble) -> FormattedContext | None:
    """A context that its host will not cut, or None where there is none."""
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
    """How hosts count: in units of UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _as_answer(context: FormattedContext | None) -> dict[str, Any]:
    if context is None:
        return {}
    items = [
        {"source": s.source, "id": s.id, "title": s.name, "location": s.location}
        for s in context.sources
    ]
    return {"context": context.markdown, "items": visible_values(items)}
