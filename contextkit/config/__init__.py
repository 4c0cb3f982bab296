"""The configuration: what can be set, where each value came from, and how its layers are read.

| module | what it knows |
|---|---|
| `model` | every setting, its type, bounds and default (`Config`) |
| `values`, `converters` | from a raw value to a checked one |
| `files` | one file's settings and the lines they stand on |
| `strategies` | the named strategies: contextkit's own and those of `[strategies.NAME]` |
| `layers` | which layers there are, and how they join (`load_config`) |
"""

from __future__ import annotations

from contextkit.config.model import (
    SECTIONS,
    SOURCE_NAME,
    STRATEGY_PARTS,
    AssembleSettings,
    CacheSettings,
    Config,
    EmbeddingSettings,
    HistorySettings,
    HookSettings,
    Origin,
    RankingSettings,
    SourceSettings,
    StoreSettings,
    normalized,
    one_name_twice,
)

__all__ = [
    "SECTIONS",
    "SOURCE_NAME",
    "STRATEGY_PARTS",
    "AssembleSettings",
    "CacheSettings",
    "Config",
    "EmbeddingSettings",
    "HistorySettings",
    "HookSettings",
    "Origin",
    "RankingSettings",
    "SourceSettings",
    "StoreSettings",
    "normalized",
    "one_name_twice",
]
