"""Embed texts, and survive a failing model.

Results are checked. A model that fails is not called again during a cool-down.
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
"""How long a failed model is not called again."""

_log = get_logger(__name__)

_BATCH = 32
_CACHED_QUERIES = 1024
_LOADING_SECONDS = 60.0
"""Time limit of a model's first answer, which may include loading it."""

_REMEDY = "run `contextkit reembed` once it works, for the records stored meanwhile"

_Query = Future["list[float] | None"]


@define(eq=False)
class ModelHealth:
    """Tracks a model's successes and failures, from any thread.

    Attributes:
        model: the model's name in messages.
        clock: a monotonic clock in seconds.
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
        """Describe the current failure, or None."""
        reason = self._reason
        if reason is None:
            return None
        return f"the embedding model '{self.model}' fails ({reason}): search uses keywords alone"

    def allows(self) -> bool:
        """Whether to call the model.

        After a failure one caller may retry, later.
        """
        with self._lock:
            return self._breaker.allows()

    def succeeded(self) -> None:
        """Record a success."""
        with self._lock:
            self._breaker.succeeded()
            recovered, self._reason = self._reason is not None, None
        if recovered:
            _log.info("dense_model_recovered", model=self.model)

    def failed(self, reason: str) -> None:
        """Record a failure.

        It is logged once until the model recovers.
        """
        with self._lock:
            self._breaker.failed()
            first, self._reason = self._reason is None, reason
        if first:
            _log.warning("dense_model_failed", model=self.model, reason=reason, fallback="bm25")

    @contextmanager
    def noted(self, *, proves: bool = True) -> Iterator[None]:
        """Record the outcome of a call, and suppress its exceptions.

        Interrupts and `ConfigError` are not suppressed; the user must fix the latter.

        Args:
            proves: whether a success shows that the model works.
        """
        try:
            yield
        except (KeyboardInterrupt, ConfigError):
            self._abandoned()
            raise
        except BaseException as error:  # noqa: BLE001 - any plugin's error, even a Rust panic
            self.failed(str(error) if isinstance(error, ContextKitError) else in_words(error))
        else:
            if proves:
                self.succeeded()
            else:
                self._abandoned()

    def _abandoned(self) -> None:
        with self._lock:
            self._breaker.abandoned()


class Embedder(Protocol):
    """Makes the dense vectors of one model, or none.

    It never raises the model's errors.
    """

    @property
    def name(self) -> str | None:
        """The model's name, as stores record it; None if unknown."""

    @property
    def dimensions(self) -> int | None:
        """The length of each vector.

        Returns None if there are none or it is unknown.
        """

    @property
    def problem(self) -> str | None:
        """Why it makes no vectors although it should, or None."""

    def dense(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return one unit vector per record.

        Returns None without a working model.

        A text without any word gets the zero vector.
        """

    def query(self, text: str) -> list[float] | None:
        """Return a query's unit vector, or None."""


class KeptVectors(Protocol):
    """A cache of query vectors, shared between processes."""

    def get(self, model: str, dimensions: int, text: str) -> NDArray[np.float32] | None:
        """Return the cached vector of a query, or None."""

    def keep(self, model: str, text: str, vector: NDArray[np.float32]) -> None:
        """Cache a query's vector."""


@frozen
class KeywordsOnly:
    """Makes no dense vectors: search uses BM25 alone."""

    name: str = "none"
    dimensions: None = None
    problem: None = None

    def dense(self, texts: Sequence[str]) -> None:
        """Return None."""

    def query(self, text: str) -> None:
        """Return None."""


@frozen
class NotAsked:
    """Stands in for models that are not loaded.

    It is for processes that only read: records written with it would have no vectors.
    """

    name: None = None
    dimensions: None = None
    problem: None = None

    def dense(self, texts: Sequence[str]) -> None:
        """Return None."""

    def query(self, text: str) -> None:
        """Return None."""


@define(eq=False)
class ModelEmbedder:
    """The embedder of a dense model.

    Attributes:
        label: the model's name in messages, as configured.
        find: returns the model; called until it succeeds.
        batch: the number of texts per call of the model.
        timeout: seconds to wait for a query's vector, except for the first one, which may
            take longer; None for a model in this process that needs no timeout.
        clock: a monotonic clock in seconds.
        kept: a cache of query vectors, or None.
    """

    label: str
    find: Callable[[], DenseModel]
    batch: int = _BATCH
    timeout: float | None = 1.0
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
        """The model's name; None until the model is found."""
        if self._model is None and self._health.allows():
            with self._health.noted():
                self._found()
        return None if self._model is None else self._model.name

    @property
    def dimensions(self) -> int | None:
        """The length of each vector; None if unknown."""
        dimensions = None
        if self._health.allows():
            # A model that was found before may still make no vectors.
            with self._health.noted(proves=self._model is None):
                dimensions = checked_dimensions(self._found())
        return dimensions

    @property
    def problem(self) -> str | None:
        """Why there are no vectors, or None."""
        problem = self._health.problem
        return f"{problem}; {_REMEDY}" if problem and self._lost else problem

    def _found(self) -> DenseModel:
        with self._finding:
            if self._model is None:
                self._model = self.find()
            return self._model

    # -- records --------------------------------------------------------------------------

    def dense(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return one unit vector per text.

        Returns None if the model fails.
        """
        vectors = None
        if self._health.allows():
            with self._health.noted():
                vectors = self._embedded(texts)
        if vectors is None and not self._lost:
            _log.warning("records_without_vectors", model=self.label, hint=_REMEDY)
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
        """Return a query's unit vector; concurrent calls compute it once."""
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
        if self.timeout is None:
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
        """Compute the vector.

        A late vector is cached for the next call.
        """
        vector = None
        try:
            with self._health.noted():
                vector = self._query_vector(self._found(), text)
                self._answered = True
        except BaseException as error:  # noqa: BLE001 - passed on to the callers
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
        seconds = self.timeout if self._answered else _LOADING_SECONDS
        try:
            return asked.result(timeout=seconds)
        except TimeoutError:
            self._forget(text)
            self._health.failed(f"no answer within {seconds:g} s")
            return None
