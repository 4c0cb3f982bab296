"""Rank files by their units, outlines and names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, frozen

from contextkit import Hit
from contextkit_code.ranking.definitions import named, spelled
from contextkit_code.ranking.paths import PathWords, penalty
from contextkit_code.ranking.question import Question

_BEST_UNITS = (1.0, 0.7, 0.5, 0.35, 0.25)
"""Weights of a file's best, second best, … unit."""


@frozen(kw_only=True)
class _Signals:
    """A file's signals, each 0..1, or the weights of these.

    Attributes:
        best: the relevance of its best unit.
        together: the relevances of its five best units, combined.
        outline: the relevance of its outline.
        named: whether the question names one of its definitions.
        spelled: how much of the question spells the name of one of them.
        stem: the share of its name that the question has.
        folders: the share of its folders' names that the question has.
        is_identifier: whether its name is the whole question.
    """

    best: float = 0.0
    together: float = 0.0
    outline: float = 0.0
    named: float = 0.0
    spelled: float = 0.0
    stem: float = 0.0
    folders: float = 0.0
    is_identifier: float = 0.0

    def weighed(self, weights: _Signals) -> float:
        """Return the weighted sum."""
        return (
            self.best * weights.best
            + self.together * weights.together
            + self.outline * weights.outline
            + self.named * weights.named
            + self.spelled * weights.spelled
            + self.stem * weights.stem
            + self.folders * weights.folders
            + self.is_identifier * weights.is_identifier
        )


_FOR_QUESTIONS = _Signals(
    best=0.75, together=1, outline=1, named=2, spelled=1.5, stem=1, folders=0.75
)
_FOR_TEXTS = evolve(_FOR_QUESTIONS, folders=0.3)
"""Weights for multi-line text, which matches many folder names."""

_FOR_IDENTIFIERS = _Signals(best=1, together=1, outline=1, named=3, stem=1, is_identifier=2)


@frozen
class RankedFile:
    """A file and the units found in it.

    Attributes:
        path: its path.
        score: as a share of the best file's, over 0 and up to 1.
        weight: the factor of its units' scores, over 0 and up to 1 (see `penalty`).
        units: its units found by keywords, best first; empty where only its outline was found.
    """

    path: str
    score: float
    weight: float
    units: Sequence[Hit]


def rank_files(
    question: Question, units: Sequence[Hit], outlines: Sequence[Hit]
) -> list[RankedFile]:
    """Rank the hits' files, best first; ties by path.

    Args:
        question: the question.
        units: the units that the store found, best first.
        outlines: the outlines that the store found.
    """
    of_file: dict[str, list[Hit]] = {}
    for hit in units:
        of_file.setdefault(file_of(hit), []).append(hit)
    outline = _scaled({file_of(hit): hit.relevance for hit in outlines})
    paths = sorted({*of_file, *outline})
    words = PathWords.of(paths, question)
    best = _scaled({path: hits[0].relevance for path, hits in of_file.items()})
    together = _scaled({path: _together(hits) for path, hits in of_file.items()})
    weights = _weights(question)
    penalties = {path: penalty(path, question) for path in paths}
    scores = {
        path: penalties[path]
        * evolve(
            _by_names(of_file.get(path, ()), question),
            best=best.get(path, 0.0),
            together=together.get(path, 0.0),
            outline=outline.get(path, 0.0),
            stem=words[path].stem,
            folders=words[path].folders,
            is_identifier=float(words[path].is_identifier),
        ).weighed(weights)
        for path in paths
    }
    ranked = [
        RankedFile(path, score, penalties[path], of_file.get(path, ()))
        for path, score in scores.items()
    ]
    return by_score(ranked)


def by_score(files: Iterable[RankedFile]) -> list[RankedFile]:
    """Sort files by score and rescale; ties by path.

    Scores become shares of the best.
    """
    of_path = {file.path: file for file in files}
    scores = _scaled({path: file.score for path, file in of_path.items()})
    scaled = [evolve(file, score=scores[path]) for path, file in of_path.items()]
    return sorted(scaled, key=lambda file: (-file.score, file.path))


def file_of(hit: Hit) -> str:
    """Return the file of a hit.

    A record without one is a file of its own.
    """
    return str(hit.record.fields.get("file_path") or hit.record.id)


def _weights(question: Question) -> _Signals:
    if question.identifier:
        return _FOR_IDENTIFIERS
    return _FOR_TEXTS if question.has_lines else _FOR_QUESTIONS


def _by_names(hits: Sequence[Hit], question: Question) -> _Signals:
    return _Signals(
        named=max((named(hit.record.fields, question) for hit in hits), default=0.0),
        spelled=max((spelled(hit.record.fields, question) for hit in hits), default=0.0),
    )


def _together(hits: Sequence[Hit]) -> float:
    return sum(share * hit.relevance for share, hit in zip(_BEST_UNITS, hits, strict=False))


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    """Scale scores to shares of the best."""
    most = max(scores.values(), default=0.0)
    return {path: score / most for path, score in scores.items()} if most > 0 else dict(scores)
