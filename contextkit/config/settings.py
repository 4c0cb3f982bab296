"""The effective configuration, with the origin of each value.

Later layers override earlier ones: defaults, the user's `config.toml`, the project's
`contextkit.toml` or `[tool.contextkit]`, the environment (`CONTEXTKIT_ASSEMBLE_MAX_TOKENS`,
`CONTEXTKIT_SOURCES_CODE_ENABLED`; an empty variable counts as unset), command-line flags, and last
the request itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import Factory, field, frozen

from contextkit.config.origins import Contested, Origin, Overruled
from contextkit.config.sections import (
    SECTIONS,
    AssembleSettings,
    CacheSettings,
    EmbeddingSettings,
    HistorySettings,
    HookSettings,
    RankingSettings,
    RedactSettings,
    SourceSettings,
    StoreSettings,
    settings_of,
)
from contextkit.errors import ConfigError
from contextkit.models.options import fitting, option


def normalized(name: str) -> str:
    """Normalize a source's or strategy's name for lookups.

    The result is in lower case and without underscores, so that the environment can spell it.
    """
    return name.lower().replace("_", "-")


def one_name_twice(names: Iterable[str]) -> tuple[str, str] | None:
    """Find the first two names that are equal when normalized.

    Returns None where there are none.
    """
    seen: dict[str, str] = {}
    for name in names:
        first = seen.setdefault(normalized(name), name)
        if first != name:
            return first, name
    return None


def section_about(kind: type) -> str:
    """Describe a section in a sentence.

    The sentence is the first line of its class's docstring.
    """
    text = inspect.getdoc(kind) or ""
    about = text.splitlines()[0].rpartition("`: ")[2]
    return f"{about[:1].upper()}{about[1:]}"


_NOT_CONFIGURED = SourceSettings()


@frozen(kw_only=True)
class Config:
    """The effective configuration.

    Attributes:
        project: the project's name, or None for the workspace's path.
        assemble, ranking, history, store, embedding, cache, hooks, redact: the sections.
        sources: normalized source name -> its settings.
        strategies: normalized strategy name -> the parts of it that are set.
        origins: dotted key -> where its value came from; defaults are not in it.
        overruled: dotted key -> the workspace's value that the user's choice overrules.
        contested: dotted key of a source's own setting -> both values, until the source is
            loaded and its rule is known; until then the user's counts.
    """

    project: str | None = option(
        None,
        "Project that the workspace's records belong to. Unset: the folder.",
        fitting("a name", lambda value: isinstance(value, str)),
    )
    assemble: AssembleSettings = Factory(AssembleSettings)
    ranking: RankingSettings = Factory(RankingSettings)
    history: HistorySettings = Factory(HistorySettings)
    store: StoreSettings = Factory(StoreSettings)
    embedding: EmbeddingSettings = Factory(EmbeddingSettings)
    cache: CacheSettings = Factory(CacheSettings)
    hooks: HookSettings = Factory(HookSettings)
    redact: RedactSettings = Factory(RedactSettings)
    sources: Mapping[str, SourceSettings] = field(factory=dict)
    strategies: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    origins: Mapping[str, Origin] = field(factory=dict)
    overruled: Mapping[str, Overruled] = field(factory=dict)
    contested: Mapping[str, Contested] = field(factory=dict)

    def source(self, name: str) -> SourceSettings:
        """Return a source's settings, configured or default."""
        return self.sources.get(normalized(name), _NOT_CONFIGURED)

    def origin(self, key: str) -> Origin:
        """Return the origin of a dotted key's value."""
        return self.origins.get(key, Origin("default", "default"))

    def refusal(self, key: str, expected: str, origin: Origin | None = None) -> ConfigError:
        """Create the error for an invalid value, with its origin.

        Args:
            key: its dotted key.
            expected: a description of valid values.
            origin: the value's origin; default: the result of `origin`.
        """
        origin = origin or self.origin(key)
        in_file = origin.layer in {"user", "project"}
        return ConfigError(
            expected, key=key, file=Path(origin.label) if in_file else None, line=origin.line
        )

    def described(self) -> list[tuple[str, Any, Origin]]:
        """List every setting as dotted key, value and origin.

        The list is sorted by key.
        """
        rows: list[tuple[str, Any]] = [("project", self.project)]
        for section in SECTIONS:
            values = getattr(self, section)
            rows += [
                (f"{section}.{a.name}", getattr(values, a.name)) for a in settings_of(type(values))
            ]
        for name, settings in self.sources.items():
            rows += [
                (f"sources.{name}.{a.name}", getattr(settings, a.name))
                for a in settings_of(SourceSettings)
                if f"sources.{name}.{a.name}" in self.origins
            ]
            rows += [(f"sources.{name}.{key}", value) for key, value in settings.own.items()]
        for name, parts in self.strategies.items():
            rows += [(f"strategies.{name}.{key}", value) for key, value in parts.items()]
        return [(key, value, self.origin(key)) for key, value in sorted(rows)]
