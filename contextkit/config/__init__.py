"""The configuration: what can be set, where each value came from, and how its layers are read.

| module | what it knows |
|---|---|
| `model` | every setting, its type, bounds and default (`Config`) |
| `origins` | where a value came from, and what stands against one |
| `values`, `converters` | from a raw value to a checked one |
| `files` | one file's settings and the lines they stand on |
| `strategies` | the named strategies: contextkit's own and those of `[strategies.NAME]` |
| `workspace_rules` | what a workspace's file may change of what the user set |
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
    RankingSettings,
    SourceSettings,
    StoreSettings,
    normalized,
    one_name_twice,
)
from contextkit.config.origins import Contested, Origin, Overruled

__all__ = [
    "SECTIONS",
    "SOURCE_NAME",
    "STRATEGY_PARTS",
    "AssembleSettings",
    "CacheSettings",
    "Config",
    "Contested",
    "EmbeddingSettings",
    "HistorySettings",
    "HookSettings",
    "Origin",
    "Overruled",
    "RankingSettings",
    "SourceSettings",
    "StoreSettings",
    "normalized",
    "one_name_twice",
]
