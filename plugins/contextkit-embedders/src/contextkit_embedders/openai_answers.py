"""Parse the responses of an OpenAI-compatible endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contextkit_embedders.errors import EmbedderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def read_vectors(answer: Any, count: int, url: str) -> NDArray[np.float32]:
    """Return the vectors of a response, in the texts' order.

    Args:
        answer: `{"data": [{"index": 0, "embedding": [...]}, ...]}`; entries may stand in any
            order, and where none has an index they stand in that of the texts.
        count: the number of texts sent, at least one.
        url: the endpoint's URL, for the error.

    Returns:
        Shape (count, dimensions).

    Raises:
        EmbedderError: where the response does not have this form.
    """
    import numpy as np

    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise EmbedderError(f"{url} answered without a list of embeddings in 'data'")
    if len(data) != count:
        raise EmbedderError(f"{url} answered {len(data)} vectors for {count} texts")
    places = [entry.get("index", place) for place, entry in enumerate(data)]
    if {type(place) for place in places} != {int} or sorted(places) != list(range(count)):
        raise EmbedderError(f"{url} answered vectors whose 'index' is not that of the texts")
    placed = dict(zip(places, data, strict=True))
    vectors = [_vector(placed[place].get("embedding"), url) for place in range(count)]
    if len({len(vector) for vector in vectors}) > 1:
        raise EmbedderError(f"{url} answered vectors of different lengths")
    return np.stack(vectors)


def _vector(embedding: Any, url: str) -> NDArray[np.float32]:
    import numpy as np

    kinds = {type(number) for number in embedding} if isinstance(embedding, list) else set()
    if not kinds or not kinds <= {int, float}:
        raise EmbedderError(f"{url} answered an 'embedding' that is not a list of numbers")
    with np.errstate(over="ignore"):
        return np.asarray(embedding, dtype=np.float64).astype(np.float32)
