"""Merge a question's two searches: first line and whole text."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import evolve

from contextkit import Hit
from contextkit_code.ranking.files import RankedFile, by_score, file_of

_FIRST_LINE = 0.7
"""Weight of the first line; the whole text has 1."""


def joined(hits: Sequence[Hit], more: Sequence[Hit]) -> list[Hit]:
    """Join the hits, keeping the first of each record."""
    by_id: dict[str, Hit] = {}
    for hit in (*hits, *more):
        by_id.setdefault(hit.record.id, hit)
    return list(by_id.values())


def added(hits: Sequence[Hit], of_first_line: Sequence[Hit]) -> list[Hit]:
    """Add both searches' scaled relevances; return hits best first.

    The best is as relevant as the best of the whole text's search.
    """
    level = _most(hits) or _most(of_first_line)
    sums = {hit.record.id: hit.relevance / (_most(hits) or 1.0) for hit in hits}
    for hit in of_first_line:
        share = _FIRST_LINE * hit.relevance / (_most(of_first_line) or 1.0)
        sums[hit.record.id] = sums.get(hit.record.id, 0.0) + share
    best = max(sums.values(), default=0.0) or 1.0
    both = [
        evolve(hit, relevance=level * sums[hit.record.id] / best)
        for hit in joined(hits, of_first_line)
    ]
    return sorted(both, key=lambda hit: (-hit.relevance, hit.record.id))


def raised(hits: Sequence[Hit], ids: Collection[str], share: float) -> list[Hit]:
    """Raise some hits by a share of the best relevance."""
    by = share * _most(hits)
    lifted = [
        evolve(hit, relevance=hit.relevance + by) if hit.record.id in ids else hit for hit in hits
    ]
    return sorted(lifted, key=lambda hit: -hit.relevance)


def united(
    of_text: Sequence[RankedFile], of_first_line: Sequence[RankedFile], units: Sequence[Hit]
) -> list[RankedFile]:
    """Merge both rankings by adding their scores, best first.

    Args:
        of_text: the files as ranked by the whole text.
        of_first_line: the files as ranked by the first line.
        units: the units of both, best first.
    """
    of_file: dict[str, list[Hit]] = {}
    for hit in units:
        of_file.setdefault(file_of(hit), []).append(hit)
    scores = {file.path: file.score for file in of_text}
    for file in of_first_line:
        scores[file.path] = scores.get(file.path, 0.0) + _FIRST_LINE * file.score
    files = {file.path: file for file in (*of_first_line, *of_text)}
    return by_score(
        evolve(file, score=scores[path], units=of_file.get(path, ()))
        for path, file in files.items()
    )


def _most(hits: Sequence[Hit]) -> float:
    return max((hit.relevance for hit in hits), default=0.0)
