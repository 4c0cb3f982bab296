"""Cluster vectors with HDBSCAN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextkit_values.hdbscan import hdbscan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


MIN_CLUSTER_SIZE = 3
"""Fewest vectors of a cluster."""

MIN_SIMILARITY = 0.2
"""Least similarity of a vector to its cluster.

It is the mean of the cosines with the other members.
"""

_DECIMALS = 6


def clusters(
    vectors: Vectors,
    *,
    min_cluster_size: int = MIN_CLUSTER_SIZE,
    min_similarity: float = MIN_SIMILARITY,
) -> list[list[int]]:
    """Cluster unit vectors; return lists of rows, the largest first.

    HDBSCAN looks for two clusters or more. Among few vectors it includes outliers: those that are
    too dissimilar to the rest of their cluster are removed again. Where no cluster remains, a
    single one is searched for, so that a project with one theme has its value. The same vectors in
    the same order give the same clusters.

    Args:
        vectors: one unit vector per row.
        min_cluster_size: the fewest rows of a cluster, from 2.
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
    """Drop outliers, the most dissimilar row first."""
    import numpy as np

    kept = list(rows)
    while len(kept) > 1:
        members = vectors[kept].astype(np.float64)
        # For unit vectors the sum contains every cosine; each one's with itself is 1.
        means = (members @ members.sum(axis=0) - 1) / (len(kept) - 1)
        strayest = int(means.argmin())
        if means[strayest] >= min_similarity:
            break
        del kept[strayest]
    return kept


def centroid_similarities(vectors: Vectors, rows: Sequence[int]) -> list[float]:
    """Return each row's cosine with the centroid.

    The cosines are 0..1, to six decimals.
    """
    import numpy as np

    members = vectors[list(rows)].astype(np.float64)
    centroid = members.mean(axis=0)
    cosines = members @ (centroid / np.linalg.norm(centroid))
    return [round(float(cosine), _DECIMALS) for cosine in np.clip(cosines, 0.0, 1.0)]
