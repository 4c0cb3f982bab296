"""Density-based clustering with HDBSCAN in NumPy.

This avoids the 200 MB of scikit-learn and SciPy.

After Campello, Moulavi and Sander (2013), with `min_samples = 2` and selection by excess of mass.
With two samples, a row's core distance is the distance to its nearest neighbour, which no other
distance of that row is below. So the mutual reachability distance is the plain distance.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from attrs import evolve, frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float64]


# Vectors nearer than this count as equal, so that their density stays finite.
_LEAST_DISTANCE = 1e-6


@frozen
class _Group:
    """Rows connected at some density, which is 1 / distance.

    Attributes:
        rows: the rows.
        core: the rows that stay together up to the highest density.
        core_density: that density.
        mass: the sum over the rows of the density at which each leaves the group.
        inner: the best clusters of the parts that the group splits into.
        inner_stability: the sum of their stabilities.
    """

    rows: list[int]
    core: list[int]
    core_density: float = 0.0
    mass: float = 0.0
    inner: tuple[list[int], ...] = ()
    inner_stability: float = 0.0

    def best(self, density: float) -> tuple[tuple[list[int], ...], float]:
        """Return the group or its inner clusters, with their stability.

        The stability is measured down to a density.
        """
        stability = self.mass - len(self.rows) * density
        if self.inner_stability > stability:
            return self.inner, self.inner_stability
        return (self.rows,), stability


def hdbscan(vectors: Vectors, min_cluster_size: int, *, single: bool) -> list[list[int]]:
    """Cluster vectors by density.

    Args:
        vectors: one vector per row; two rows or more.
        min_cluster_size: the fewest rows of a cluster, from 2.
        single: whether a single cluster is allowed, the densest part of the whole.

    Returns:
        The rows of each cluster. Rows in none are noise.
    """
    groups = [_Group([row], [row]) for row in range(len(vectors))]
    for distance, first, second in _spanning_tree(vectors):
        merged = _merged(groups[first], groups[second], 1 / distance, min_cluster_size)
        for row in merged.rows:
            groups[row] = merged
    whole = groups[0]
    if single and whole.mass >= whole.inner_stability:
        return [whole.core]
    return list(whole.inner)


def _merged(first: _Group, second: _Group, density: float, min_cluster_size: int) -> _Group:
    rows = first.rows + second.rows
    large = [group for group in (first, second) if len(group.rows) >= min_cluster_size]
    if len(large) == 1:
        (group,) = large
        leaving = len(rows) - len(group.rows)
        # Rows that join at the same distance leave together.
        core = rows if density == group.core_density else group.core
        return evolve(group, rows=rows, core=core, mass=group.mass + leaving * density)
    best = [group.best(density) for group in large]
    return _Group(
        rows=rows,
        core=rows,
        core_density=density,
        mass=len(rows) * density,
        inner=tuple(chain.from_iterable(clusters for clusters, _ in best)),
        inner_stability=sum(stability for _, stability in best),
    )


def _spanning_tree(vectors: Vectors) -> list[tuple[float, int, int]]:
    """Return the minimum spanning tree's edges (Prim), the shortest first."""
    import numpy as np

    squares = np.einsum("ij,ij->i", vectors, vectors)
    outside = np.full(len(vectors), fill_value=True)
    nearest = np.full(len(vectors), np.inf)
    source = np.zeros(len(vectors), dtype=np.intp)
    edges = []
    row = 0
    for _ in range(len(vectors) - 1):
        outside[row] = False
        squared = squares + squares[row] - 2 * (vectors @ vectors[row])
        closer = squared < nearest
        nearest[closer] = squared[closer]
        source[closer] = row
        row = int(np.where(outside, nearest, np.inf).argmin())
        distance = float(np.sqrt(max(nearest[row], 0.0)))
        edges.append((max(distance, _LEAST_DISTANCE), int(source[row]), row))
    return sorted(edges)
