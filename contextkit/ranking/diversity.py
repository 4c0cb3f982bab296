"""An optional step: of two items that resemble each other, the worse one waits.

Maximal marginal relevance (Carbonell and Goldstein, 1998): the next item is the one with
the best `(1 - diversity) * score - diversity * redundancy`, redundancy being its greatest
likeness to an item that was taken before it. Likeness is the cosine of two texts' words.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from contextkit.ranking.candidate import Candidate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["diversify"]

# Words are hashed into so many buckets: two texts of a few hundred words share few by chance.
_BUCKETS = 4096
_WORD = re.compile(r"\w+")


def diversify(candidates: Sequence[Candidate], diversity: float) -> list[Candidate]:
    """Order candidates anew by their score and by how little they repeat better ones.

    Args:
        candidates: best first.
        diversity: what repetition costs, 0..1; 0 changes nothing.

    Returns:
        The same candidates, best first, with `redundancy` in their scores.
    """
    if diversity == 0 or not candidates:
        return list(candidates)
    import numpy as np

    likeness = _likeness([candidate.item.own_text for candidate in candidates])
    scores = np.array([candidate.scores.score for candidate in candidates])
    redundancy = np.zeros(len(candidates))
    waiting = np.ones(len(candidates), dtype=bool)
    ordered = []
    for _ in candidates:
        gain = np.where(waiting, (1 - diversity) * scores - diversity * redundancy, -np.inf)
        taken = int(gain.argmax())
        waiting[taken] = False
        ordered.append(_marked(candidates[taken], float(redundancy[taken]), diversity))
        np.maximum(redundancy, likeness[taken], out=redundancy, where=waiting)
    return ordered


def _likeness(texts: Sequence[str]) -> NDArray[np.float32]:
    """The cosine of every two texts' words, 0..1."""
    import numpy as np

    counts = np.zeros((len(texts), _BUCKETS), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in _WORD.findall(text.casefold()):
            counts[row, zlib.crc32(word.encode("utf-8", "replace")) % _BUCKETS] += 1
    norms = np.linalg.norm(counts, axis=1, keepdims=True)
    np.divide(counts, norms, out=counts, where=norms > 0)
    # Rounding must not make two equal texts more than equal.
    likeness: NDArray[np.float32] = np.clip(counts @ counts.T, 0.0, 1.0)
    return likeness


def _marked(candidate: Candidate, redundancy: float, diversity: float) -> Candidate:
    scores = evolve(candidate.scores, redundancy=redundancy, diversity=diversity)
    return evolve(candidate, scores=scores)
