"""Whether the embedding models load and give vectors."""

from __future__ import annotations

from collections.abc import Iterator

from contextkit.config import Config
from contextkit.embedding import Embedder, Embedders
from contextkit.embedding.embedder import KeywordsOnly
from contextkit.errors import ConfigError
from contextkit.health.finding import Finding, fine, problem, warning
from contextkit.registry import SourceRegistry

__all__ = ["model_findings"]

PART = "models"
_TEXT = "how does it begin?"


def model_findings(
    embedders: Embedders, config: Config, registry: SourceRegistry
) -> Iterator[Finding]:
    """One finding for each model that a source's records are searched with."""
    users: dict[int, list[str]] = {}
    found: dict[int, Embedder] = {}
    for source in registry.sources:
        embedder = embedders.of(source)
        found[id(embedder)] = embedder
        users.setdefault(id(embedder), []).append(source)
    if not found:
        yield fine(PART, "no source that is on can be searched with one")
    chosen_by = config.origin("embedding.model").layer
    for key, embedder in found.items():
        yield _tried(embedder, ", ".join(users[key]), chosen_by)


def _tried(embedder: Embedder, users: str, chosen_by: str) -> Finding:
    if isinstance(embedder, KeywordsOnly):
        return fine(PART, f"keywords alone, as configured: {users}")
    try:
        vector = embedder.query(_TEXT)
    except ConfigError as error:
        return problem(PART, f"{error}: {users}", "install and switch on the plugin that has it")
    if vector is None:
        what = embedder.problem or "the model gives no vector"
        remedy = 'mend the model, or set embedding.model = "none"'
        make = warning if chosen_by == "default" else problem
        return make(PART, f"{what}: {users}", remedy)
    return fine(PART, f"{embedder.name}, {len(vector)} numbers a vector: {users}")
