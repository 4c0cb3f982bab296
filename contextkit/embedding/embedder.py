"""A dense model made safe: outputs checked, texts in batches, query vectors remembered.

A model that fails is not used for a while; searches go on by keywords alone.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from attrs import define, field, frozen

from contextkit.concurrency import Breaker, ForkLock
from contextkit.embedding.model import checked_dimensions, embedded_query, embedded_records
from contextkit.errors import ConfigError, ContextKitError, in_words
from contextkit.logs import get_logger
from contextkit.models.embedding import DenseModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


COOLDOWN_SECONDS = 30.0
"""How long a model that failed is not asked again."""

_log = get_logger(__name__)


@define(eq=False)
class ModelHealth:
    """Takes note of a model's answers and failures, from any thread.

    Attributes:
        model: what messages call it.
        clock: seconds that only grow.
    """

    model: str
    clock: Callable[[], float] = time.monotonic
    _breaker: Breaker = field(init=False)
    _lock: ForkLock = field(factory=ForkLock, init=False)
    _reason: str | None = field(default=None, init=False)

    @_breaker.default
    def _make_breaker(self) -> Breaker:
        return Breaker(failures_to_open=1, cooldown=COOLDOWN_SECONDS, clock=self.clock)

    @property
    def problem(self) -> str | None:
        """What is wrong with it, in words, or None."""
        reason = self._reason
        if reason is None:
            return None
        return f"the embedding model '{self.model}' fails ({reason}): search uses keywords alone"

    def allows(self) -> bool:
        """Whether it may be asked now; after a failure only the first asker may, later."""
        with self._lock:
            return self._breaker.allows()

    def succeeded(self) -> None:
        """Note an answer."""
        with self._lock:
            self._breaker.succeeded()
            recovered, self._reason = self._reason is not None, None
        if recovered:
            _log.info("dense_model_recovered", model=self.model)

    def failed(self, reason: str) -> None:
        """Note a failure; it is logged once, until the model works again."""
        with self._lock:
            self._breaker.failed()
            first, self._reason = self._reason is None, reason
        if first:
            _log.warning("dense_model_failed", model=self.model, reason=reason, fallback="bm25")

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what becomes of asking it; whatever it raises ends here.

        But for an interrupt, and for a `ConfigError`: that is the user's to mend.
        """
        try:
            yield
        except (KeyboardInterrupt, ConfigError):
            with self._lock:
                self._breaker.abandoned()
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin's model, a Rust panic included
            self.failed(str(error) if isinstance(error, ContextKitError) else in_words(error))
        else:
            self.succeeded()


_BATCH = 32
_CACHED_QUERIES = 1024
_LOADING_SECONDS = 60.0
"""How long the first answer of a model is waited for: it may have to be loaded."""

_HOW_TO_MEND = "run `contextkit reembed` once it works, for the records stored meanwhile"

_log = get_logger(__name__)

_Query = Future["list[float] | None"]


class Embedder(Protocol):
    """Makes the dense vectors of one model, or of none; never raises what the model does."""

    @property
    def name(self) -> str | None:
        """The model's name, which a store remembers; None while it cannot be found out."""

    @property
    def dimensions(self) -> int | None:
        """Numbers in each vector; None where there are none, or it cannot be found out."""

    @property
    def problem(self) -> str | None:
        """Why it makes no vectors although it should, in words, or None."""

    def dense(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """One unit vector per record's text; None where there is no model, or it fails.

        A text without a word gets the zero vector.
        """

    def query(self, text: str) -> list[float] | None:
        """A query's unit vector; None where there is none to search with."""


class KeptVectors(Protocol):
    """Queries' vectors that were made before, by this process or by others."""

    def get(self, model: str, dimensions: int, text: str) -> NDArray[np.float32] | None:
        """A query's vector of a model, or None."""

    def keep(self, model: str, text: str, vector: NDArray[np.float32]) -> None:
        """Keep a query's vector."""


@frozen
class KeywordsOnly:
    """The embedder that makes no dense vectors: search is BM25 alone."""

    name: str = "none"
    dimensions: None = None
    problem: None = None

    def dense(self, texts: Sequence[str]) -> None:
        """Make none, whatever the texts."""

    def query(self, text: str) -> None:
        """Make none, whatever the text."""


@frozen
class NotAsked:
    """Stands for models that are not loaded: search is by keywords, and nothing is known of them.

    For a process that only reads: what is written with it has no vectors.
    """

    name: None = None
    dimensions: None = None
    problem: None = None

    def dense(self, texts: Sequence[str]) -> None:
        """Make none, whatever the texts."""

    def query(self, text: str) -> None:
        """Make none, whatever the text."""


@define(eq=False)
class ModelEmbedder:
    """The embedder of a dense model.

    Attributes:
        label: what messages call the model: as the configuration does.
        find: gives the model; called until it does.
        batch: texts that the model gets at a time.
        patience: seconds that a search waits for a query's vector, but for the first, which
            may take longer; None for a model in this process that needs no watching.
        clock: seconds that only grow.
        kept: queries' vectors that were made before, or None.
    """

    label: str
    find: Callable[[], DenseModel]
    batch: int = _BATCH
    patience: float | None = 1.0
    clock: Callable[[], float] = time.monotonic
    kept: KeptVectors | None = None
    _health: ModelHealth = field(init=False)
    _model: DenseModel | None = field(default=None, init=False)
    _answered: bool = field(default=False, init=False)
    _queries: OrderedDict[str, _Query] = field(factory=OrderedDict, init=False)
    _lock: ForkLock = field(factory=ForkLock, init=False)
    _finding: ForkLock = field(factory=ForkLock, init=False)
    _lost: bool = field(default=False, init=False)

    @_health.default
    def _make_health(self) -> ModelHealth:
        return ModelHealth(self.label, self.clock)

    @property
    def name(self) -> str | None:
        """The model's name; None while nobody gives the model."""
        if self._model is None and self._health.allows():
            with self._health.noted():
                self._found()
        return None if self._model is None else self._model.name

    @property
    def dimensions(self) -> int | None:
        """Numbers in each vector; None while nobody can tell."""
        dimensions = None
        if self._health.allows():
            with self._health.noted():
                dimensions = checked_dimensions(self._found())
        return dimensions

    @property
    def problem(self) -> str | None:
        """Why there are no vectors, in words, or None."""
        problem = self._health.problem
        return f"{problem}; {_HOW_TO_MEND}" if problem and self._lost else problem

    def _found(self) -> DenseModel:
        with self._finding:
            if self._model is None:
                self._model = self.find()
            return self._model

    # -- records --------------------------------------------------------------------------

    def dense(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """One unit vector per text; None while the model fails."""
        vectors = None
        if self._health.allows():
            with self._health.noted():
                vectors = self._embedded(texts)
        if vectors is None and not self._lost:
            _log.warning("records_without_vectors", model=self.label, hint=_HOW_TO_MEND)
        self._lost = vectors is None
        return vectors

    def _embedded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        model = self._found()
        starts = range(0, max(len(texts), 1), self.batch)
        batches = [embedded_records(model, texts[at : at + self.batch]) for at in starts]
        return np.concatenate(batches)

    # -- queries --------------------------------------------------------------------------

    def query(self, text: str) -> list[float] | None:
        """A query's unit vector; asked for by several at once it is made once."""
        with self._lock:
            asked = self._queries.get(text)
            if asked is not None:
                self._queries.move_to_end(text)
        if asked is not None and (asked.done() or self.problem is None):
            return self._awaited(text, asked)
        if asked is not None or not self._health.allows():
            return None
        return self._awaited(text, self._ask(text))

    def _ask(self, text: str) -> _Query:
        asked: _Query = Future()
        self._remember(text, asked)
        if self.patience is None:
            self._answer(text, asked)
        else:
            threading.Thread(
                target=self._answer, args=(text, asked), name="contextkit-embedding", daemon=True
            ).start()
        return asked

    def _remember(self, text: str, asked: _Query) -> None:
        with self._lock:
            self._queries[text] = asked
            if len(self._queries) > _CACHED_QUERIES:
                self._queries.popitem(last=False)

    def _forget(self, text: str) -> None:
        with self._lock:
            self._queries.pop(text, None)

    def _answer(self, text: str, asked: _Query) -> None:
        """Make the vector; one that comes after all patience is there for the next time."""
        vector = None
        try:
            with self._health.noted():
                vector = self._query_vector(self._found(), text)
                self._answered = True
        except BaseException as error:  # noqa: BLE001 - handed to whoever asked
            self._forget(text)
            asked.set_exception(error)
            return
        if vector is None:
            self._forget(text)
        else:
            self._remember(text, asked)
        asked.set_result(vector.tolist() if vector is not None and vector.any() else None)

    def _query_vector(self, model: DenseModel, text: str) -> NDArray[np.float32]:
        if self.kept is None:
            return embedded_query(model, text)
        vector = self.kept.get(model.name, checked_dimensions(model), text)
        if vector is None:
            vector = embedded_query(model, text)
            self.kept.keep(model.name, text, vector)
        return vector

    def _awaited(self, text: str, asked: _Query) -> list[float] | None:
        seconds = self.patience if self._answered else _LOADING_SECONDS
        try:
            return asked.result(timeout=seconds)
        except TimeoutError:
            self._forget(text)
            self._health.failed(f"no answer within {seconds:g} s")
            return None
