"""Input and output types of the built-in tools.

The tools' schemas are made of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypedDict

from contextkit.models import Progress

Report = Callable[[Progress], None]


class Origin(TypedDict):
    """Where an item comes from."""

    source: str
    id: str
    name: str
    type: str
    location: Annotated[str | None, "where the whole of it is, such as path:line"]
    relevance: float


class Context(TypedDict):
    """A context, or a premortem."""

    context: Annotated[str, "the text"]
    token_count: int
    sources_used: Annotated[dict[str, int], "source -> items in the text"]
    sources: Annotated[list[Origin], "where each item comes from, in the order of the text"]
    truncated: Annotated[bool, "whether an item was shortened"]
    summary: Annotated[str | None, "what was shortened and left out to hold the budget"]
    notes: Annotated[list[str], "what went wrong, such as a source that gave no answer"]


class Source(TypedDict):
    """One plugin."""

    name: str
    state: Annotated[str, "on, off or broken"]
    reason: Annotated[str | None, "what switched it off, or why it is broken"]
    source: Annotated[bool | None, "false for a plugin that offers no items"]
    distribution: str
    version: str
    weight: Annotated[float | None, "its weight in the budget"]
    priority: int | None
    records: Annotated[int | None, "how many records there are"]
    title: str | None
    description: str | None
    left_alone: Annotated[str | None, "for how long it is not asked, as it keeps failing, and why"]


class Overview(TypedDict):
    """The sources of a workspace."""

    workspace: str
    sources: list[Source]
    notes: list[str]


class Candidate(TypedDict):
    """What became of an item that was found."""

    id: str
    source: str
    title: str
    location: str | None
    verdict: Annotated[
        str,
        "kept, excerpt, truncated, compressed, duplicate, below_floor, weak, over_limit, "
        "over_budget or filtered",
    ]
    reason: str
    scores: dict[str, float]
    tokens: int


class Asked(TypedDict):
    """What a source that was asked gave."""

    source: str
    state: str
    reason: str | None
    candidates: int
    share: Annotated[int, "tokens of the budget that were its"]
    used: Annotated[int, "tokens its items take"]


class Explanation(TypedDict):
    """What became of the item that was asked about."""

    outcome: str
    words: str
    source: str | None
    id: str | None


class Explained(TypedDict):
    """Why a context is as it is."""

    token_count: int
    max_tokens: int
    strategy: Annotated[str, "by which the candidates were scored"]
    sources: list[Asked]
    candidates: Annotated[list[Candidate], "best first; none where an item was asked about"]
    more: Annotated[int, "candidates that are not listed"]
    explanations: Annotated[list[Explanation], "what became of the item that was asked about"]
    notes: list[str]


class Indexed(TypedDict):
    """What was done for one source."""

    added: int
    updated: int
    removed: int
    unchanged: int
    skipped: int
    notes: list[str]
    problem: str | None


class IndexedSources(TypedDict):
    """What an index run did."""

    sources: dict[str, Indexed]
