"""Choose the embedding model of each source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from attrs import define, field, frozen

from contextkit.concurrency import ForkLock
from contextkit.config.settings import Config
from contextkit.embedding.built_in import BUILT_IN, load_embedder
from contextkit.embedding.embedder import Embedder, KeptVectors, ModelEmbedder
from contextkit.embedding.model import ModelError, checked_model
from contextkit.errors import ConfigError, InvalidContextTypeError, SourceError
from contextkit.models.embedding import DenseModel
from contextkit.models.record import CHECKOUTS

if TYPE_CHECKING:
    from contextkit.plugin.manager import SourceRegistry

_HOOK = "contextkit_embedder"


class Embedders(Protocol):
    """The embedders of a store, by source."""

    def of(self, source: str) -> Embedder:
        """The embedder of a source's records."""

    def known(self, source: str) -> Embedder | None:
        """The embedder, if known without importing anything."""

    def in_use(self) -> Sequence[Embedder]:
        """The embedders of the enabled sources, without duplicates."""

    @property
    def problem(self) -> str | None:
        """Describe the failures of the used embedders, or None."""


@frozen
class OneEmbedder:
    """One embedder for all sources."""

    embedder: Embedder

    def of(self, source: str) -> Embedder:  # noqa: ARG002 - the same for each source
        """The embedder."""
        return self.embedder

    known = of

    def in_use(self) -> Sequence[Embedder]:
        """The embedder."""
        return [self.embedder]

    @property
    def problem(self) -> str | None:
        """Describe the embedder's failure, or None."""
        return self.embedder.problem


@define(eq=False)
class PluginEmbedders:
    """The embedders that the configuration and the sources choose.

    `[sources.NAME] embedder` takes precedence over the source's own choice; `default` stands
    for `embedding.model`. A model is looked up when it is first needed.

    Attributes:
        config: the configuration.
        registry: the plugins.
        vectors: caches query vectors of plugins' models for other processes, or None.
    """

    config: Config
    registry: SourceRegistry
    vectors: KeptVectors | None = None
    _made: dict[str, Embedder] = field(factory=dict, init=False)
    _lock: ForkLock = field(factory=ForkLock, init=False)

    def of(self, source: str) -> Embedder:
        """The embedder of a source's records.

        The default for an unknown source.

        Raises `ConfigError` for a misspelt built-in model. An unknown model of a plugin is
        reported by its embedder on first use.
        """
        try:
            self.registry.require(source)
        except InvalidContextTypeError:
            return self.known(source) or self._embedder("default")
        return self._embedder(self._configured(source) or self.registry.info(source).embedder)

    def known(self, source: str) -> Embedder | None:
        """The embedder of an enabled or configured source, else None."""
        chosen = self._configured(source)
        if chosen is None and source in self.registry.sources:
            chosen = self.registry.info(source).embedder
        return None if chosen is None else self._embedder(chosen)

    def in_use(self) -> Sequence[Embedder]:
        """The embedders of the enabled sources, without duplicates."""
        return list({id(e): e for e in map(self.of, self.registry.sources)}.values())

    @property
    def problem(self) -> str | None:
        """Describe the failures of the used embedders, or None."""
        with self._lock:
            made = list(self._made.values())
        return "; ".join(sorted({each.problem for each in made if each.problem})) or None

    def _configured(self, source: str) -> str | None:
        return "none" if source == CHECKOUTS else self.config.source(source).embedder

    def _embedder(self, chosen: str) -> Embedder:
        model = self.config.embedding.model if chosen == "default" else chosen
        with self._lock:
            if model not in self._made:
                self._made[model] = self._make(model)
            return self._made[model]

    def _make(self, model: str) -> Embedder:
        if model in BUILT_IN:
            return load_embedder(model)
        return ModelEmbedder(
            model,
            lambda: self._ask_plugins(model),
            timeout=self.config.embedding.timeout,
            kept=self.vectors,
        )

    def _ask_plugins(self, model: str) -> DenseModel:
        """Return the model from the first plugin that has it.

        A plugin's error is raised only if no other plugin has the model. A `ConfigError` is
        raised at once: the plugin recognised the name as its own, and as malformed.
        """
        failure: SourceError | None = None
        plugins = self.registry.on_with(_HOOK)
        for plugin in plugins:
            try:
                answer = self.registry.call(plugin, _HOOK, model=model)
            except SourceError as error:
                if isinstance(error.__cause__, ConfigError):
                    raise error.__cause__ from error
                failure = failure or error
                continue
            if answer is not None:
                return _checked(plugin, answer)
        if failure is not None:
            raise ModelError(_by_plugin(failure.source, failure.reason)) from failure
        raise self._unknown(model, plugins)

    def _unknown(self, model: str, plugins: Sequence[str]) -> ConfigError:
        offers = (
            f" and the models of {', '.join(plugins)}"
            if plugins
            else "; for others, pip install contextkit-embedders"
        )
        settings = ("embedding.model", *(f"sources.{s}.embedder" for s in self.config.sources))
        values = {key: value for key, value, _ in self.config.described()}
        key = next((key for key in settings if values.get(key) == model), None)
        origin = self.config.origin(key or "")
        return ConfigError(
            f"no enabled plugin has the embedding model '{model}'; "
            f"available: {', '.join(BUILT_IN)}{offers}",
            key=key,
            file=Path(origin.label) if origin.layer == "user" else None,
            line=origin.line,
        )


def _checked(plugin: str, answer: object) -> DenseModel:
    try:
        return checked_model(answer)
    except ModelError as error:
        raise ModelError(_by_plugin(plugin, str(error))) from error


def _by_plugin(plugin: str, reason: str) -> str:
    return f"plugin '{plugin}' in {_HOOK}: {reason}"
