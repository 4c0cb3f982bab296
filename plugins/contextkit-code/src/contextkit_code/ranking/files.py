"""Rank files by their units, outlines and names, and as the question names them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from attrs import evolve, frozen

from contextkit import Hit
from contextkit.sources import older_versions
from contextkit.text import first_line, is_traceback
from contextkit_code.ranking.definitions import named, spelled
from contextkit_code.ranking.mentions import Mention
from contextkit_code.ranking.paths import PathWords, penalty
from contextkit_code.ranking.question import Question

_BEST_UNITS = (1.0, 0.7, 0.5, 0.35, 0.25)
"""Weights of a file's best, second best, … unit."""
_FIRST_LINE = 0.7
"""Weight of the first line; the whole text has 1."""
_MENTIONED = 0.3
"""Score added for named files; the best file has 1."""

_PATH = 1.0
_BARE_NAME = 0.7
_MODULE = 0.5
_FRAME = 0.5
_LAST_FRAME = 0.5
"""Extra weight of the innermost frame."""

_IN_FIRST_LINE = 1.5
_PASTED = 4.0
"""Weight of frames where a traceback is the question."""

_OLDER = 0.7
"""Factor for a file of a version that a newer one replaces."""

_MOST_MEANT = 3
"""Most files that an unambiguous name may match."""


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
        # Named one by one: this is computed for a hundred files of each question.
        products = (
            self.best * weights.best,
            self.together * weights.together,
            self.outline * weights.outline,
            self.named * weights.named,
            self.spelled * weights.spelled,
            self.stem * weights.stem,
            self.folders * weights.folders,
            self.is_identifier * weights.is_identifier,
        )
        return float(sum(products))


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
    older = older_versions(paths, question.line)
    penalties = {
        path: penalty(path, question) * (_OLDER if path in older else 1.0) for path in paths
    }
    fields_in = {path: [hit.record.fields for hit in hits] for path, hits in of_file.items()}
    scores = {
        path: penalties[path]
        * _Signals(
            named=max([named(hit, question) for hit in of_file.get(path, ())], default=0.0),
            spelled=max([spelled(each, question) for each in fields_in.get(path, ())], default=0.0),
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
    scaled = [
        RankedFile(path, scores[path], file.weight, file.units) for path, file in of_path.items()
    ]
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


def _together(hits: Sequence[Hit]) -> float:
    return sum(share * hit.relevance for share, hit in zip(_BEST_UNITS, hits, strict=False))


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    """Scale scores to shares of the best."""
    most = max(scores.values(), default=0.0)
    return {path: score / most for path, score in scores.items()} if most > 0 else dict(scores)


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


def named_worth(found: Mapping[Mention, Sequence[str]], query: str) -> dict[str, float]:
    """Score how clearly each file is named.

    About 0..1, and more where the query consists of frames.

    Args:
        found: the files that each mention may mean, in the query's order.
        query: the whole query; names in its first line count more.
    """
    first = len(first_line(query))
    frames_count = _PASTED if is_traceback(query) else 1.0
    worth: dict[str, float] = {}
    frames = [mention for mention in found if mention.line]
    for mention, paths in found.items():
        if len(paths) > _MOST_MEANT:
            continue
        value = _value(mention, frames) * (_IN_FIRST_LINE if mention.place < first else 1.0)
        value *= frames_count if mention.line else 1.0
        for path in paths:
            worth[path] = max(worth.get(path, 0.0), value / len(paths))
    return worth


def _value(mention: Mention, frames: Sequence[Mention]) -> float:
    if mention.line:
        return _FRAME + _LAST_FRAME * (frames.index(mention) + 1) / len(frames)
    if not mention.ending:
        return _MODULE
    return _PATH if len(mention.parts) > 1 else _BARE_NAME


def with_named(
    files: Iterable[RankedFile], worth: Mapping[str, float], question: Question
) -> list[RankedFile]:
    """Raise the named files; add those not found otherwise.

    Files are returned best first.
    """
    known = {file.path: file for file in files}
    for path, value in worth.items():
        weight = penalty(path, question)
        file = known.get(path) or RankedFile(path, 0.0, weight, ())
        known[path] = evolve(file, score=file.score + _MENTIONED * weight * value)
    return by_score(known.values())


def in_frames(frames: Mapping[Mention, Sequence[str]], units: Sequence[Hit]) -> set[str]:
    """Return the ids of the units that frames lead to.

    The line may be from another version: a unit of the file with the name of the frame's function
    is preferred, and of several the one that has the line.
    """
    found: set[str] = set()
    for frame, paths in frames.items():
        own = [hit for hit in units if file_of(hit) in paths]
        by_name = [hit for hit in own if frame.function and _name(hit) == frame.function]
        by_line = [hit for hit in by_name or own if _holds(hit, frame.line or 0)]
        found |= {hit.record.id for hit in by_line or by_name}
    return found


def _name(hit: Hit) -> str:
    return str(hit.record.fields.get("name"))


def _holds(hit: Hit, line: int) -> bool:
    fields = hit.record.fields
    return bool(fields.get("start_line", 0) <= line <= fields.get("end_line", 0))
