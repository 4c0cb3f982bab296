"""Clusters of vectors: themes are found, chance is not, and the same goes in as comes out."""

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from contextkit.embedding.built_in import load_embedder
from contextkit_values.clustering import centroid_similarities, clusters
from contextkit_values.hdbscan import hdbscan

pytestmark = pytest.mark.one_python

Vectors = NDArray[np.float32]


def around(*centres: int, count: int = 5, spread: float = 0.05, seed: int = 7) -> Vectors:
    """Unit vectors around some axes of the space, `count` around each."""
    random = np.random.default_rng(seed)
    rows = [np.eye(32)[c] + random.normal(0, spread, 32) for c in centres for _ in range(count)]
    vectors = np.array(rows, dtype=np.float32).reshape(-1, 32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def test_themes_are_found_and_noise_is_left_out() -> None:
    """Two themes are two clusters, and what belongs to neither is in none."""
    vectors = np.concatenate([around(0, 1), around(2, 3, 4, count=1, seed=1)])

    assert clusters(vectors) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_the_largest_comes_first() -> None:
    """Clusters are in the order of their size."""
    vectors = np.concatenate([around(0, count=4), around(1, count=7)])

    assert [len(rows) for rows in clusters(vectors)] == [7, 4]


def test_a_single_theme_is_found() -> None:
    """A project with one theme has its cluster, with and without others around."""
    alone = around(0, count=4)
    among = np.concatenate([around(0, count=4), around(1, 2, 3, count=1)])

    assert len(clusters(alone)) == len(clusters(among)) == 1
    assert set(clusters(among)[0]) <= {0, 1, 2, 3}


def test_what_has_nothing_in_common_is_no_cluster() -> None:
    """Vectors that are merely all equally far from each other make no value."""
    assert clusters(np.eye(12, 32, dtype=np.float32)) == []
    assert clusters(around(*range(12), count=1)) == []


def test_a_stray_that_was_drawn_in_is_left_out() -> None:
    """A vector that hardly resembles the rest of its cluster is not of it."""
    vectors = np.concatenate([around(0, 1), around(2, 3, 4, count=1, seed=1)])
    drawn_in = {row for rows in clusters(vectors, min_similarity=-1.0) for row in rows if row > 9}

    assert drawn_in
    assert not drawn_in & {row for rows in clusters(vectors) for row in rows}


def test_how_much_must_be_in_common_can_be_said() -> None:
    """`min_similarity` is the mean cosine of each one with the others."""
    vectors = around(0, 1, spread=0.15)
    loose = clusters(vectors, min_similarity=0.3)

    assert loose
    assert clusters(vectors, min_similarity=0.99) == []


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_are_no_cluster(count: int) -> None:
    """Fewer vectors than make a cluster are not even looked at."""
    assert clusters(around(0, count=count)) == []


def test_the_size_of_a_cluster_can_be_said() -> None:
    """`min_cluster_size` is the least that counts, down to two."""
    vectors = around(0, 1, 2, count=2)

    assert sorted(clusters(vectors, min_cluster_size=2)) == [[0, 1], [2, 3], [4, 5]]
    assert clusters(around(0, 1, count=4), min_cluster_size=5, min_similarity=0.5) == []


def test_equal_vectors_are_a_cluster() -> None:
    """The same text over and over is one theme, and no arithmetic fails on it."""
    vectors = np.repeat(around(0, 1, count=1), 4, axis=0)

    assert clusters(vectors) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert centroid_similarities(vectors, [0, 1, 2, 3]) == [1.0] * 4


def test_it_is_the_same_every_time() -> None:
    """The same vectors give the same clusters."""
    vectors = around(0, 1, 2, 3, spread=0.2)

    assert len({str(clusters(vectors)) for _ in range(5)}) == 1


def test_similarity_to_the_centroid() -> None:
    """The member in the middle is nearest; all lie within 0..1."""
    vectors = np.array([[1, 0, 0], [0.8, 0.6, 0], [0.6, 0.8, 0]], dtype=np.float32)

    similarities = centroid_similarities(vectors, [0, 1, 2])

    assert max(similarities) == similarities[1]
    assert all(0 <= similarity <= 1 for similarity in similarities)


def test_the_clusters_are_those_of_scikit_learn() -> None:
    """On random vectors of many shapes, ours and scikit-learn's HDBSCAN agree on every row."""
    sklearn = pytest.importorskip("sklearn.cluster")
    random = np.random.default_rng(3)
    for _ in range(60):
        themes = random.normal(size=(random.integers(1, 8), random.integers(2, 40)))
        rows = themes[random.integers(0, len(themes), random.integers(6, 90))]
        vectors = rows + random.normal(0, random.uniform(0.02, 0.6), rows.shape)
        size = int(random.integers(2, 7))
        for single in (False, True):
            theirs = sklearn.HDBSCAN(
                min_cluster_size=size, min_samples=2, allow_single_cluster=single, copy=True
            ).fit_predict(vectors)
            expected = [np.flatnonzero(theirs == each).tolist() for each in range(theirs.max() + 1)]
            found = hdbscan(vectors, size, single=single)
            assert sorted(map(sorted, found)) == sorted(expected)


def test_real_sentences_fall_into_their_themes() -> None:
    """With the packaged model, what three themes say is told apart, mostly and purely."""
    themes = {
        "lock": [
            "A lock was held across a network retry",
            "The mutex was held while waiting for the database",
            "Deadlock: two threads took the locks in opposite order",
            "The file lock was never released after the exception",
            "Holding the lock during slow I/O blocked all workers",
        ],
        "cache": [
            "The cache returned a stale value after the update",
            "Cache invalidation was missing for deleted keys",
            "The cached response was keyed without the user id",
            "A stale cache entry survived the deploy",
            "The cache key ignored the query parameters",
        ],
        "test": [
            "The test depended on the order of execution",
            "A test shared a global fixture with another test",
            "The test slept instead of waiting for the event",
            "Random seed was not fixed in the test",
        ],
    }
    labelled = [(theme, text) for theme, texts in themes.items() for text in texts]
    vectors = load_embedder().dense([text for _, text in labelled])
    assert vectors is not None

    found = clusters(vectors)

    majorities = [Counter(labelled[row][0] for row in rows).most_common(1)[0] for rows in found]
    assert sorted(theme for theme, _ in majorities) == ["cache", "lock", "test"]
    joined = sum(map(len, found))
    assert joined >= 12
    assert sum(count for _, count in majorities) >= 0.9 * joined
