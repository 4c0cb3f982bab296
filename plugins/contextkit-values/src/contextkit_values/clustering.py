"""Clusters of vectors, by HDBSCAN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextkit_values.hdbscan import hdbscan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


MIN_CLUSTER_SIZE = 3
"""Vectors that make a cluster, at least."""

MIN_SIMILARITY = 0.2
"""What a vector must have in common with the rest of its cluster: the mean of its cosines."""

_DECIMALS = 6


def clusters(
    vectors: Vectors,
    *,
    min_cluster_size: int = MIN_CLUSTER_SIZE,
    min_similarity: float = MIN_SIMILARITY,
) -> list[list[int]]:
    """The clusters among unit vectors, as lists of rows; the largest first.

    HDBSCAN looks for two clusters or more. Among few vectors it draws stray ones in: those
    that have too little in common with the rest of their cluster are left out again. Where
    no cluster remains it is asked for a single one, so that a project with one theme has
    its value. The same vectors in the same order give the same clusters.

    Args:
        vectors: one unit vector per row.
        min_cluster_size: rows that make a cluster, from 2.
        min_similarity: the mean cosine that each row must have with the others, 0..1.
    """
    if len(vectors) < min_cluster_size:
        return []
    # Euclidean distance orders unit vectors as the cosine does.
    exact = vectors.astype("float64")
    for single in (False, True):
        found = [
            _without_strays(vectors, sorted(rows), min_similarity)
            for rows in hdbscan(exact, min_cluster_size, single=single)
        ]
        found = [rows for rows in found if len(rows) >= min_cluster_size]
        if found:
            return sorted(found, key=lambda rows: (-len(rows), rows))
    return []


def _without_strays(vectors: Vectors, rows: Sequence[int], min_similarity: float) -> list[int]:
    """The rows that have enough in common with the others; the strayest goes first."""
    import numpy as np

    kept = list(rows)
    while len(kept) > 1:
        members = vectors[kept].astype(np.float64)
        # With unit vectors the sum has every cosine in it; each one's with itself is 1.
        means = (members @ members.sum(axis=0) - 1) / (len(kept) - 1)
        strayest = int(means.argmin())
        if means[strayest] >= min_similarity:
            break
        del kept[strayest]
    return kept


def centroid_similarities(vectors: Vectors, rows: Sequence[int]) -> list[float]:
    """The cosine of each of these rows with their centroid, 0..1, to six decimals."""
    import numpy as np

    members = vectors[list(rows)].astype(np.float64)
    centroid = members.mean(axis=0)
    cosines = members @ (centroid / np.linalg.norm(centroid))
    return [round(float(cosine), _DECIMALS) for cosine in np.clip(cosines, 0.0, 1.0)]
