"""Embed with an endpoint compatible with OpenAI's `/v1/embeddings`."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import define, field

from contextkit.errors import ConfigError
from contextkit_embedders.endpoint import FOR_QUERY, FOR_RECORDS, KEY_VARIABLE, Endpoint, Patience
from contextkit_embedders.errors import EmbedderError, RefusedTextError
from contextkit_embedders.libraries import require_library
from contextkit_embedders.model_strings import KINDS, ModelString, Prefixes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A model's name may itself contain an @.
_TARGET = re.compile(r"(?P<model>.+?)@(?P<url>[a-z]+://.*)", re.IGNORECASE | re.DOTALL)
# The batch that a text-embeddings-inference server takes by default.
_BATCH = 32
# A shorter text is not refused for its length.
_LEAST_CHARACTERS = 250


@define(slots=False, eq=False)
class OpenAIModel:
    """A model behind an OpenAI-compatible endpoint.

    Attributes:
        name: the model and the URL: some endpoints serve one model, whatever name is requested.
        model: the model's name at the endpoint.
        endpoint: the endpoint.
        prefixes: the prefixes of texts.
    """

    name: str
    model: str
    endpoint: Endpoint
    prefixes: Prefixes
    _dimensions: int | None = field(default=None, init=False)
    _learning: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    @property
    def dimensions(self) -> int:
        """Return the length of a vector.

        The endpoint is requested once, unless it responded before.

        Raises `EmbedderError` where it cannot be asked.
        """
        return self._dimensions or len(self.embed_query("dimensions"))

    def embed_records(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text.

        Raises `EmbedderError` if there is no usable response.
        """
        import numpy as np

        prefixed = self.prefixes.of_records(texts)
        batches = [
            self._fitted(prefixed[start : start + _BATCH], FOR_RECORDS)
            for start in range(0, len(prefixed), _BATCH)
        ]
        if not batches:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.concatenate(batches)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the query's vector, with a short timeout.

        Raises `EmbedderError` if there is no usable response.
        """
        vector: NDArray[np.float32] = self._fitted([self.prefixes.of_query(text)], FOR_QUERY)[0]
        return vector

    def _fitted(self, texts: Sequence[str], patience: Patience) -> NDArray[np.float32]:
        """Return vectors of texts, shortened if the endpoint refuses them.

        Only the endpoint can count its model's tokens. Each text is halved separately, so that its
        vector does not depend on its neighbours.
        """
        import numpy as np

        try:
            return self._vectors(texts, patience)
        except RefusedTextError:
            if len(texts) > 1:
                return np.concatenate([self._fitted([text], patience) for text in texts])
            half = texts[0][: len(texts[0]) // 2]
            if len(half) < _LEAST_CHARACTERS:
                raise
        return self._fitted([half], patience)

    def _vectors(self, texts: Sequence[str], patience: Patience) -> NDArray[np.float32]:
        asked = {"model": self.model, "input": texts, "encoding_format": "float"}
        vectors = read_vectors(self.endpoint.post(asked, patience), len(texts), self.endpoint.url)
        self._learn(vectors.shape[1])
        return vectors

    def _learn(self, dimensions: int) -> None:
        with self._learning:
            if self._dimensions not in {None, dimensions}:
                raise EmbedderError(
                    f"{self.endpoint.url} gave vectors of {dimensions} numbers, "
                    f"and of {self._dimensions} before"
                )
            self._dimensions = dimensions


def openai_model(string: ModelString) -> OpenAIModel:
    """Return the model of `openai:MODEL@URL`, without a request.

    Raises:
        ConfigError: where the string has no model, or no URL that can be used.
        EmbedderError: where httpx is not installed.
    """
    found = _TARGET.fullmatch(string.target)
    if found is None:
        raise string.wrong(f"expected {KINDS['openai']}")
    url = _checked_url(string, found["url"])
    require_library("httpx", "openai")
    base = url.removesuffix("/").removesuffix("/embeddings")
    name = string.prefixes.in_name(f"openai:{found['model']}@{base}")
    return OpenAIModel(name, found["model"], Endpoint(f"{base}/embeddings"), string.prefixes)


def _checked_url(string: ModelString, url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError as error:
        raise string.wrong(f"{url} is not a URL: {error}") from error
    if not usable or any(character.isspace() for character in url):
        raise string.wrong(f"'{url}' is not a URL such as https://host/v1")
    if parts.username is not None or parts.password is not None:
        # Without the string, which would be shown twice.
        raise ConfigError(
            f"the URL of an embedding model has a password: a key belongs in {KEY_VARIABLE}"
        )
    if parts.fragment:
        raise string.wrong(f"a URL of an endpoint has no part '#{parts.fragment}'")
    return url


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
