"""Answer an agent's event with context new to its session.

A session starts with the newest records of the sources that you write to. Later answers leave
out items that the session has seen, before ranking. `answer_here` answers in the hook's own
process while no background server runs.
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

_NAME = "shown-before"
_shown: ContextVar[tuple[Collection[str], str | None]] = ContextVar("contextkit_shown")

_DOMAINS = {"test": ("testing", "debugging"), "build": ("build", "configuration", "debugging")}
"""Kind of failing command -> domains of a premortem; the first with results is shown."""

_MOST_PROMPT = 4000
_MOST_FURTHER = 40
_TRIES = 3
_MARGIN = 0.9

_Assemble = Callable[[int], Coroutine[Any, Any, FormattedContext]]


async def start_context(
    kit: ContextKit, max_tokens: int, session: str | None = None
) -> FormattedContext:
    """Assemble the newest records of sources such as memories.

    Sources indexed from the workspace, such as code and commits, are only included if
    `hooks.start_sources` names them.

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
    """The enabled sources that index nothing from the workspace."""
    registry = kit.registry
    return [s for s in registry.sources if not registry.implements(s, "contextkit_index")]


def _in_their_words(records: Sequence[Record]) -> str:
    """Build a query that matches every record, with any model."""
    return " ".join(word for r in records for word in _WORD.findall(r.text)[:_WORDS]) or _TITLE


def item_keys(item: ContextItem) -> list[str]:
    """Keys that identify an item and its merged duplicates."""
    named = [(item.source, item.id), *((other.source, other.id) for other in item.also_in)]
    return [f"{source}:{record}" for source, record in named]


@contextlib.contextmanager
def shown_before(keys: Collection[str], session: str | None = None) -> Iterator[None]:
    """Leave items out of contexts assembled in this block.

    Args:
        keys: the items that were shown.
        session: the agent's session, whose own records are left out too; None if the agent
            has lost its memory of it.
    """
    token = _shown.set((keys, session))
    try:
        yield
    finally:
        _shown.reset(token)


def hide_shown(kit: ContextKit) -> None:
    """Make a kit leave out the items of `shown_before`."""
    kit.register(_HideShown(), _NAME)


class _HideShown:
    """Filters the items of every source."""

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
    # A value that is not a list of items is refused later, as for any source.
    if not isinstance(found, (list, tuple)):
        return found
    return [item for item in found if not _is_known(item, keys, session)]


def _is_known(item: Any, keys: Collection[str], session: str | None) -> bool:
    if not isinstance(item, ContextItem):
        return False
    return item_keys(item)[0] in keys or (session is not None and item.sequence == session)


def answer_event(kit: ContextKit, event: HookEvent, deadline: float) -> dict[str, Any]:
    """Answer an event.

    Args:
        kit: the workspace's, prepared by `hide_shown`.
        event: the event.
        deadline: the time, by `time.monotonic`, at which the agent stops waiting.

    Returns:
        `context`, the text, and `items`, the origin of each item; empty if nothing relevant is
        new to the session.

    Raises:
        TimeoutError: it took too long.
        ContextKitError: assembling failed.
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
    """Return the ways to assemble an answer.

    The first with results is used.
    """
    if event.name == START:
        return [lambda tokens: start_context(kit, tokens, event.session.strip() or None)]
    if event.failed:
        return [_premortem(kit, domain) for domain in _DOMAINS[event.failed]]
    # Search for as many items more as will be left out.
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
    """Answer an event in this process, which ends soon after.

    Nothing is closed: nothing was written, and closing takes longer than searching.

    Args:
        event: the event as the agent wrote it.
        started: when the agent began to wait, by `time.monotonic`.
        heard: receives the time limit, and whether a background server is wanted.

    Raises what `answer_event` and `ContextKit.open` raise.
    """
    asked = HookEvent.from_json(event)
    if not asked.asks:
        return {}
    # Keywords are enough for one answer before the background server is ready, and loading
    # a model would take a sixth of the time.
    kit = ContextKit.open(Path(asked.folder), environment=os.environ, models=False)
    hooks = kit.config.hooks
    heard({"limit": hooks.timeout, "resident": hooks.resident and hooks.enabled})
    if not hooks.enabled:
        return {}
    hide_shown(kit)
    with contextlib.suppress(ContextKitError):
        # Not in a thread: two threads that compete for the interpreter's lock would take longer.
        # The search reports an error of the store.
        kit.store.prepare()
    return answer_event(kit, asked, started + hooks.timeout)
