"""Assemble the context that a session of an agent starts with."""

from __future__ import annotations

import re
from collections.abc import Sequence

from contextkit.concurrency import in_thread
from contextkit.kit import ContextKit
from contextkit.models.context import FormattedContext
from contextkit.models.record import Range, Record
from contextkit.models.request import Recipe, Section
from contextkit.pipeline.request import make_request

_NEWEST = 12
_WORDS = 8
_TITLE = "What this project remembers"
_WORD = re.compile(r"\w{2,}")


async def start_context(
    kit: ContextKit, max_tokens: int, session: str | None = None, seconds: float | None = None
) -> FormattedContext:
    """Assemble the newest records of sources such as memories.

    Sources indexed from the workspace, such as code and commits, are only included if
    `hooks.start_sources` names them.

    Args:
        kit: the workspace's.
        max_tokens: the token budget.
        session: the agent's session.
        seconds: the time limit of the sources; default: the configured.

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
        source_timeout=seconds,
        deadline=seconds,
    )
    recipe = Recipe(name="session", title=_TITLE, sections=tuple(sections))
    return await kit.pipeline.assemble(request, recipe)


def _sections(kit: ContextKit) -> list[Section]:
    named = kit.config.hooks.start_sources
    names = _sources_without_index(kit) if named is None else list(named)
    sections = []
    for name in names:
        filters = kit.registry.info(name).count_filters if name in kit.registry.sources else {}
        newest = kit.records(name).newest(_NEWEST, filters)
        if newest:
            since = Range(gte=min(record.created_at for record in newest))
            sections.append(
                Section(source=name, query=_query_matching(newest), filters={"created_at": since})
            )
    return sections


def _sources_without_index(kit: ContextKit) -> list[str]:
    """The enabled sources that index nothing from the workspace."""
    registry = kit.registry
    return [s for s in registry.sources if not registry.implements(s, "contextkit_index")]


def _query_matching(records: Sequence[Record]) -> str:
    """Build a query that matches every record, with any model."""
    return " ".join(word for r in records for word in _WORD.findall(r.text)[:_WORDS]) or _TITLE
