"""Check dense models and their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from contextkit.errors import ContextKitError
from contextkit.models.embedding import DenseModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_NAME_CHARACTERS = 200
_MOST_DIMENSIONS = 65_536


class ModelError(ContextKitError):
    """A model cannot make vectors, or makes invalid ones."""


def checked_model(model: object) -> DenseModel:
    """Check a plugin's model as far as possible; raises `ModelError`."""
    name = getattr(model, "name", None)
    methods = (getattr(model, method, None) for method in ("embed_records", "embed_query"))
    if not all(map(callable, methods)):
        raise ModelError(f"expected a DenseModel, got a {type(model).__name__}")
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= _NAME_CHARACTERS:
        raise ModelError(
            f"name of a {type(model).__name__}: expected one line of at most {_NAME_CHARACTERS} "
            f"characters, got {name!r:.80}"
        )
    return cast("DenseModel", model)


def embedded_records(model: DenseModel, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return one unit vector per text.

    The zero vector for one without words.

    Raises `ModelError` for invalid vectors, and what the model raises.
    """
    import numpy as np

    rows = [row for row, text in enumerate(texts) if text.strip()]
    result = model.embed_records([texts[row] for row in rows]) if rows else None
    vectors = np.zeros((len(texts), checked_dimensions(model)), dtype=np.float32)
    if rows:
        vectors[rows] = _unit_vectors(result, (len(rows), vectors.shape[1]), "embed_records")
    return vectors


def embedded_query(model: DenseModel, text: str) -> NDArray[np.float32]:
    """Return a query's unit vector.

    A query without words gets the zero vector. Raises what `embedded_records` raises.
    """
    import numpy as np

    if not text.strip():
        return np.zeros(checked_dimensions(model), dtype=np.float32)
    # A prompt may contain half a surrogate pair, which no model can read.
    result = model.embed_query(text.encode("utf-8", "replace").decode("utf-8"))
    return _unit_vectors(result, (checked_dimensions(model),), "embed_query")


def checked_dimensions(model: DenseModel) -> int:
    """Return a model's number of dimensions; raises `ModelError` if invalid."""
    dimensions = model.dimensions
    if type(dimensions) is not int or not 1 <= dimensions <= _MOST_DIMENSIONS:
        raise ModelError(f"dimensions: expected 1 to {_MOST_DIMENSIONS}, got {dimensions!r:.80}")
    return dimensions


def _unit_vectors(result: object, shape: tuple[int, ...], method: str) -> NDArray[np.float32]:
    import numpy as np

    try:
        # Checked as float64: numbers too large for the store's float32 would overflow.
        vectors = np.asarray(result, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{method} gave a {type(result).__name__}, expected an array") from error
    if vectors.shape != shape:
        raise ModelError(f"{method} gave the shape {vectors.shape}, expected {shape}")
    if not np.isfinite(vectors).all():
        raise ModelError(f"{method} gave a number that is not finite")
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: NDArray[np.float32] = np.zeros(shape, dtype=np.float32)
    np.divide(vectors, norms, out=unit, where=norms > 0, casting="same_kind")
    return unit
