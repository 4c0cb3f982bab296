"""Answer an agent's event with a context that is new to its session.

At a session's start the answer is the latest records of the sources that people write to, such
as memories. At a prompt it is a context for that prompt. Items that the session has seen are left
out before anything is ranked. Where no background server runs, the hook's own process answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import re
import time
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from contextkit.agent.events import START, HookEvent
from contextkit.agent.sessions import Session, note, open_session, prune_sessions
from contextkit.concurrency import in_thread
from contextkit.errors import ContextKitError
from contextkit.kit import ContextKit
from contextkit.models.context import FormattedContext
from contextkit.models.items import ContextItem
from contextkit.models.record import Range, Record
from contextkit.models.request import Recipe, Section
from contextkit.pipeline.request import default_limit, make_request
from contextkit.plugin.spec import hookimpl
from contextkit.text.clean import visible_values

_NEWEST = 12
_WORDS = 8
_TITLE = "What this project remembers"
_WORD = re.compile(r"\w{2,}")


async def start_context(
    kit: ContextKit, max_tokens: int, session: str | None = None
) -> FormattedContext:
    """The newest records of the sources that are told things, as memories and experiences are.

    What is made from the workspace, code and commits, is left to questions, unless
    `hooks.start_sources` names it.

    Raises what `ContextKit.assemble_context` raises.
    """
    sections = await in_thread(lambda: _sections(kit))
    request = make_request(
        kit.config,
        _TITLE,
        project=kit.project,
        workspace=kit.workspace.root,
        max_tokens=max_tokens,
        limit=_NEWEST,
        min_relevance=0.0,
        guard=True,
        session=session,
        recipe="session",
    )
    recipe = Recipe(name="session", title=_TITLE, sections=tuple(sections))
    return await kit.pipeline.assemble(request, recipe)


def _sections(kit: ContextKit) -> list[Section]:
    named = kit.config.hooks.start_sources
    names = _told(kit) if named is None else list(named)
    sections = []
    for name in names:
        filters = kit.registry.info(name).count_filters if name in kit.registry.sources else {}
        newest = kit.records(name).newest(_NEWEST, filters)
        if newest:
            since = Range(gte=min(record.created_at for record in newest))
            sections.append(
                Section(source=name, query=_in_their_words(newest), filters={"created_at": since})
            )
    return sections


def _told(kit: ContextKit) -> list[str]:
    """The sources that are on and make no records of their own from the workspace."""
    registry = kit.registry
    return [s for s in registry.sources if not registry.implements(s, "contextkit_index")]


def _in_their_words(records: Sequence[Record]) -> str:
    """A question that each of the records answers, whatever makes vectors here."""
    return " ".join(word for r in records for word in _WORD.findall(r.text)[:_WORDS]) or _TITLE


_NAME = "shown-before"
_shown: ContextVar[tuple[Collection[str], str | None]] = ContextVar("contextkit_shown")


def item_keys(item: ContextItem) -> list[str]:
    """What an item is remembered by, and so are the duplicates that it stands for."""
    named = [(item.source, item.id), *((other.source, other.id) for other in item.also_in)]
    return [f"{source}:{record}" for source, record in named]


@contextlib.contextmanager
def shown_before(keys: Collection[str], session: str | None = None) -> Iterator[None]:
    """Leave items out of what is assembled here, for as long as this lasts.

    Args:
        keys: what was shown.
        session: the session that asks, which knows what is part of it; None where it has
            forgotten.
    """
    token = _shown.set((keys, session))
    try:
        yield
    finally:
        _shown.reset(token)


def hide_shown(kit: ContextKit) -> None:
    """Let a kit leave out what `shown_before` says."""
    kit.register(_HideShown(), _NAME)


class _HideShown:
    """Wraps every source's answers."""

    @hookimpl(wrapper=True)
    def contextkit_query(self) -> Generator[None, Any, Any]:
        found = yield
        keys, session = _shown.get(((), None))
        if not keys and session is None:
            return found
        if inspect.isawaitable(found):
            return _later(found, keys, session)
        return _without(found, keys, session)


async def _later(found: Awaitable[Any], keys: Collection[str], session: str | None) -> Any:
    return _without(await found, keys, session)


def _without(found: Any, keys: Collection[str], session: str | None) -> Any:
    # What is no list of items is refused later, as that of any source.
    if not isinstance(found, (list, tuple)):
        return found
    return [item for item in found if not _is_known(item, keys, session)]


def _is_known(item: Any, keys: Collection[str], session: str | None) -> bool:
    if not isinstance(item, ContextItem):
        return False
    return item_keys(item)[0] in keys or (session is not None and item.sequence == session)


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


def answer_here(
    event: Mapping[str, Any], started: float, heard: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """The answer to an event; the process is to end soon after.

    Nothing is closed: nothing was written, and closing takes longer than searching.

    Args:
        event: as the agent wrote it.
        started: when, by `time.monotonic`, the agent began to wait.
        heard: told how long the answer may take, and whether a resident process is wanted.

    Raises what `answer_event` and `ContextKit.open` raise.
    """
    asked = HookEvent.from_json(event)
    if not asked.asks:
        return {}
    # Keywords are enough for the one answer before a resident process is ready, and loading a
    # model would take a sixth of its time.
    kit = ContextKit.open(Path(asked.folder), environment=os.environ, models=False)
    hooks = kit.config.hooks
    heard({"limit": hooks.timeout, "resident": hooks.resident and hooks.enabled})
    if not hooks.enabled:
        return {}
    hide_shown(kit)
    with contextlib.suppress(ContextKitError):
        # Here and not beside the event loop: two threads that both hold the interpreter's lock
        # cost each other more than they gain. What is wrong is said where it is used.
        kit.store.prepare()
    return answer_event(kit, asked, started + hooks.timeout)
