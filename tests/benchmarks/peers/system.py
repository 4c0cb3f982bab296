"""What a measured system is, and the steps that have to be written by hand around most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.process import cdist

from contextkit.embedding.built_in import load_embedder
from contextkit.text.tokens import estimate_tokens
from tests.benchmarks.peers.corpus import SOURCES, Record
from tests.benchmarks.peers.edits import NEAR

__all__ = [
    "BUDGET",
    "BUDGETS",
    "CANDIDATES",
    "DIMENSIONS",
    "LIMIT",
    "WEIGHTS",
    "Answer",
    "Found",
    "Material",
    "System",
    "by_reciprocal_rank",
    "fitted",
    "in_turn",
    "query_vector",
    "without_near_duplicates",
]

BUDGET = 2000
"""Tokens of a timed context, by `contextkit.text.tokens.estimate_tokens` for every system."""

BUDGETS = (500, 1000, 2000, 4000, 8000)
"""The token budgets at which the share of answers found is measured."""

LIMIT = 20
"""Items that a source may offer."""

CANDIDATES = 2 * LIMIT
"""Hits that each side of a hybrid search gives, before the two are fused."""

WEIGHTS = {"memories": 1.0, "code": 2.0, "experiences": 3.0, "values": 1.0, "commits": 2.0}
"""Each source's part of the budget."""

DIMENSIONS = 256

_RANK_CONSTANT = 60
_TITLE = "# Context\n"

T = TypeVar("T")


@frozen
class Material:
    """What a system builds its store from.

    Attributes:
        records: source -> its records.
        vectors: source -> their vectors, in the same order, of unit length.
    """

    records: Mapping[str, Sequence[Record]]
    vectors: Mapping[str, NDArray[np.float32]]

    def by_text(self) -> dict[str, NDArray[np.float32]]:
        """Text -> its vector, for a system that asks for vectors by text."""
        return {
            record.text: vector
            for source in SOURCES
            for record, vector in zip(self.records[source], self.vectors[source], strict=True)
        }


@frozen
class Found:
    """A record that a system found."""

    id: str
    source: str
    text: str


@frozen
class Answer:
    """A context.

    Attributes:
        text: the whole of it.
        shown: the ids of the records in it.
    """

    text: str
    shown: Sequence[str]


class System(Protocol):
    """One system with its store.

    Attributes:
        packages: what it is made of; their versions are reported.
        own: the steps that are the system's own components.
        by_hand: the steps that had to be written around it.
    """

    packages: Sequence[str]
    own: str
    by_hand: str

    def build(self, material: Material, folder: Path) -> None:
        """Make a store of all records in an empty folder, so that another process opens it."""

    def open(self, folder: Path) -> None:
        """Load what was built there."""

    def answer(self, query: str, budget: int) -> Answer:
        """The context for a query, of at most so many tokens."""

    def close(self) -> None:
        """Let go of everything."""


@lru_cache(maxsize=1)
def query_vector(query: str) -> tuple[float, ...]:
    """A query's vector; asked for again for the same query, as five retrievers do, it is free."""
    return tuple(load_embedder().query(query) or [0.0] * DIMENSIONS)


def by_reciprocal_rank(rankings: Iterable[Sequence[T]]) -> list[T]:
    """Rankings fused by reciprocal rank, best first; at most `LIMIT`."""
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, each in enumerate(ranking, start=1):
            scores[each] = scores.get(each, 0.0) + 1 / (_RANK_CONSTANT + rank)
    return sorted(scores, key=scores.__getitem__, reverse=True)[:LIMIT]


def in_turn(rankings: Iterable[Sequence[Found]]) -> list[Found]:
    """All sources' first, then all sources' second, and so on."""
    return [each for row in zip_longest(*rankings) for each in row if each is not None]


def without_near_duplicates(found: Sequence[Found]) -> list[Found]:
    """Leave out what is like one that comes before it, by the ratio of their letters."""
    texts = [each.text for each in found]
    # The ratios of a list with itself are worked out once for each pair.
    ratios = cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=NEAR, dtype=np.uint8)
    kept: list[int] = []
    for place in range(len(found)):
        if not ratios[place, kept].any():
            kept.append(place)
    return [found[place] for place in kept]


def fitted(found: Sequence[Found], budget: int) -> Answer:
    """Best first within each source's part of the budget; what is left goes to whoever fits.

    What is too long is passed over, never cut.
    """
    tokens = {each.id: estimate_tokens(f"{each.text}\n\n") for each in found}
    headings = {source: f"## {source.capitalize()}\n\n" for source in SOURCES}
    overhead = estimate_tokens(_TITLE + "".join(headings.values()))
    left = budget - overhead
    whole = left
    chosen: list[Found] = []
    spent = dict.fromkeys(SOURCES, 0)
    for each in found:
        share = whole * WEIGHTS[each.source] / sum(WEIGHTS.values())
        if spent[each.source] + tokens[each.id] <= share:
            spent[each.source] += tokens[each.id]
            left -= tokens[each.id]
            chosen.append(each)
    taken = {each.id for each in chosen}
    for each in found:
        if each.id not in taken and tokens[each.id] <= left:
            left -= tokens[each.id]
            chosen.append(each)
    text = _rendered(chosen, headings)
    # A sum of estimates can be a token or two below the estimate of the sum.
    while estimate_tokens(text) > budget:
        chosen.pop()
        text = _rendered(chosen, headings)
    return Answer(text, [each.id for each in chosen])


def _rendered(chosen: Sequence[Found], headings: Mapping[str, str]) -> str:
    parts = [_TITLE]
    for source in SOURCES:
        own = [each.text for each in chosen if each.source == source]
        if own:
            parts.append(headings[source] + "\n\n".join(own) + "\n")
    return "\n".join(parts)
