"""What a session begins with: what was last told to the sources that people tell things."""

from __future__ import annotations

import re
from collections.abc import Sequence

from contextkit.asking.requests import make_request
from contextkit.background import in_thread
from contextkit.formatted import FormattedContext
from contextkit.kit import ContextKit
from contextkit.records import Range, Record
from contextkit.request import Recipe, Section

__all__ = ["start_context"]

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
