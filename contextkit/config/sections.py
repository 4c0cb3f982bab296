"""Every configuration section: each setting's values, default and help."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import Attribute, field, fields, frozen

from contextkit.models.options import (
    FILE,
    FOLDER,
    SWITCH,
    UNIT,
    WEIGHT,
    choice,
    integers,
    names,
    numbers,
    option,
    over_0,
    text,
)
from contextkit.models.request import RequestDefaults
from contextkit.models.strategy import Strategy

SOURCE_NAME = re.compile(r"[a-z][a-z0-9_-]*")
"""How a source may be named, and a strategy."""

STRATEGY_PARTS = tuple(part.name for part in fields(Strategy) if part.name != "name")
"""The settings of `[strategies.NAME]`."""

_EMBEDDING_MODEL = re.compile(r"wordllama|none|[a-z][a-z0-9_-]*:\S(.*\S)?")
"""How a model may be named; a plugin knows what stands before the colon."""

_SOURCE_MODEL = re.compile(rf"default|{_EMBEDDING_MODEL.pattern}")

_CACHE_URL = re.compile(r"memory|(rediss?|unix)://(?![^/@:]*+:[^/@]*+@)\S+")
"""Where a cache may be; a password does not stand in a setting, which is printed."""

_MODELS = "wordllama, none, or a plugin's PROVIDER:MODEL"
_VARIABLE = text("the name of an environment variable")
_SOURCES = names("a list of source names")
_COUNT = integers()
_SECONDS = over_0("seconds")
_ANY_SECONDS = over_0("seconds", infinite=True)
_DAYS = over_0("days")


@frozen(kw_only=True)
class AssembleSettings(RequestDefaults):
    """`[assemble]`: defaults of a request."""

    compress_timeout: float = option(
        5.0,
        "Time limit of all plugins that summarize; in hooks at most a quarter of `hooks.timeout`.",
        _SECONDS,
        "lower",
    )
    rerank_timeout: float = option(
        1.0,
        "Time limit of a plugin that reranks; in hooks at most a quarter of `hooks.timeout`.",
        _SECONDS,
        "lower",
    )
    order: Literal["match", "priority"] = option(
        "match",
        "Section order: the section with the best item first (`match`), or by the sources' "
        "priorities (`priority`).",
        choice("match", "priority"),
    )
    strategy: str = option("default", "Scoring strategy.", text("a strategy's name", SOURCE_NAME))
    concurrency: int = option(
        4,
        "Assemblies that run at once in one process. Waiting counts against no time limit.",
        _COUNT,
    )
    breaker_failures: int = option(
        3, "Consecutive failures after which a source is skipped for a while.", _COUNT
    )
    breaker_cooldown: float = option(
        30.0, "How long a source is skipped after repeated failures.", _ANY_SECONDS
    )
    concurrent_sources: int | None = option(
        None,
        "Sources to query at once; the others wait, within the deadline. Unset: all of them.",
        _COUNT,
    )


@frozen(kw_only=True)
class RankingSettings:
    """`[ranking]`: weights of a score, beside relevance, whose weight is 1."""

    salience: float = option(0.10, "Weight of salience: importance or confidence.", WEIGHT)
    recency: float = option(0.05, "Weight of recency.", WEIGHT)
    priority: float = option(0.02, "Weight of the source's priority.", WEIGHT)
    half_life_days: float = option(30.0, "Age at which an item's recency is one half.", _DAYS)
    neighbours: float = option(
        0.7, "Part of its match that an item passes on to its neighbours.", UNIT
    )


@frozen(kw_only=True)
class HistorySettings:
    """`[history]`: usage history, for strategies that score usage."""

    enabled: bool = option(True, "Record which items were used.", SWITCH, "off")
    half_life_days: float = option(30.0, "Age at which a use counts half.", _DAYS)
    max_items: int = option(
        10_000,
        "Items to remember per project; the least recently used go first.",
        _COUNT,
        "user",
    )


@frozen(kw_only=True)
class StoreSettings:
    """`[store]`: where records live."""

    path: Path | None = option(
        None, "Folder of the embedded store. Unset: `store` in the data folder.", FOLDER, "user"
    )
    url: str | None = option(
        None,
        "Qdrant server to use instead of the embedded store.",
        text("the address of a Qdrant server"),
        "user",
    )
    api_key_variable: str = option(
        "QDRANT_API_KEY", "Environment variable with the server's API key.", _VARIABLE, "user"
    )
    collection: str = option(
        "contextkit", "Collection on the server.", text("a collection's name"), "user"
    )
    timeout: float = option(
        10.0,
        "Time limit of one request to the server, and of a whole search.",
        _SECONDS,
        "user",
    )
    retry_timeout: float = option(
        60.0,
        "How long to repeat requests that an overloaded or restarting server does not answer. A "
        "search stops after `timeout`.",
        _SECONDS,
        "user",
    )
    ca_file: Path | None = option(
        None,
        "Certificates (PEM) that the server's certificate must come from. Unset: those of public "
        "authorities.",
        FILE,
        "user",
    )
    grpc_port: int | None = option(
        None,
        "Port of the server's gRPC interface, usually 6334. Unset: use HTTP.",
        integers(1, 65_535),
        "user",
    )
    replication_factor: int | None = option(
        None,
        "Copies of each shard. A change applies to the existing collection. Unset: as the server "
        "has it.",
        _COUNT,
        "user",
    )
    write_consistency_factor: int | None = option(
        None,
        "Copies that must confirm a write. A change applies to the existing collection. Unset: as "
        "the server has it.",
        _COUNT,
        "user",
    )
    shard_number: int | None = option(
        None,
        "Shards of a new collection; an existing one keeps its own. Unset: as the server has it.",
        _COUNT,
        "user",
    )
    vectors_on_disk: bool | None = option(
        None,
        "Keep the server's vectors on disk instead of in memory, which is slower. A change applies "
        "to the existing collection. Unset: as the server has it.",
        SWITCH,
        "user",
    )
    lock_timeout: float = option(
        10.0,
        "How long to wait for a process that uses the embedded store and makes no progress.",
        _ANY_SECONDS,
        "user",
    )
    user: str | None = option(
        None,
        "You, on a server: your global records are those of this user. The same name on a second "
        "machine shares them. Unset: an id in the data folder.",
        text("the name of a user", re.compile(r"\S(.*\S)?")),
        "user",
    )
    isolate_worktrees: bool = option(
        False, "Keep the memories of each linked git work tree apart.", SWITCH, "user"
    )


@frozen(kw_only=True)
class EmbeddingSettings:
    """`[embedding]`: the model of the dense vectors."""

    model: str = option(
        "wordllama",
        "Embedding model; `none` searches by keywords only.",
        text(_MODELS, _EMBEDDING_MODEL),
        "user",
    )
    timeout: float = option(
        1.0,
        "How long a search waits for a plugin's model before it uses keywords only.",
        _SECONDS,
        "user",
    )


@frozen(kw_only=True)
class CacheSettings:
    """`[cache]`: cache of contexts, sources' results and query vectors."""

    enabled: bool = option(False, "Use the cache.", SWITCH, "user")
    url: str = option(
        "memory",
        "Where to cache: in memory only, or also in Redis.",
        text(
            "memory, or redis://HOST:PORT/DB, rediss://… or unix://PATH without a password",
            _CACHE_URL,
        ),
        "user",
    )
    password_variable: str = option(
        "REDIS_PASSWORD", "Environment variable with the Redis password.", _VARIABLE, "user"
    )
    timeout: float = option(
        0.1,
        "Time limit of a Redis call. After a failure, Redis is skipped for at least 5 seconds.",
        _SECONDS,
        "user",
    )
    contexts_ttl: float = option(30.0, "Lifetime of a context in memory.", _SECONDS, "user")
    shared_contexts_ttl: float = option(3600.0, "Lifetime of a context in Redis.", _SECONDS, "user")
    results_ttl: float = option(300.0, "Lifetime of a source's results.", _SECONDS, "user")
    embeddings_ttl: float = option(
        86400.0, "Lifetime of a query vector in Redis.", _SECONDS, "user"
    )
    jitter: float = option(
        0.1, "Part of a lifetime that is cut at random, so that entries expire apart.", UNIT, "user"
    )
    cleanup_interval: float = option(
        300.0, "How often expired entries are removed from memory.", _SECONDS, "user"
    )
    contexts_size: int = option(100, "Most contexts in memory.", _COUNT, "user")
    results_size: int = option(500, "Most results of sources in memory.", _COUNT, "user")


@frozen(kw_only=True)
class RedactSettings:
    """`[redact]`: redaction of secrets."""

    enabled: bool = option(True, "Replace secrets before text is stored or shown.", SWITCH, "user")


@frozen(kw_only=True)
class HookSettings:
    """`[hooks]`: the hooks of coding agents."""

    enabled: bool = option(True, "Answer agents' hooks.", SWITCH, "off")
    timeout: float = option(
        1.0,
        "Time limit of a hook; all other limits within a hook derive from it. Unset, a prompt "
        "may take 2 seconds while no background server runs. A late answer comes with the next "
        "event.",
        numbers("a number of seconds over 0 and at most 30", lambda value: 0 < value <= 30),
        "lower",
    )
    max_characters: int = option(
        9500, "Longest answer of a hook, in characters.", integers(100, 9900), "lower"
    )
    max_tokens: int = option(1500, "Token budget of a hook's context.", _COUNT, "lower")
    sources: tuple[str, ...] | None = option(
        None, "Sources to query for a prompt. Unset: every source that is on.", _SOURCES, "fewer"
    )
    start_sources: tuple[str, ...] | None = option(
        None,
        "Sources to show when a session starts. Unset: sources you write to, such as memories.",
        _SOURCES,
        "fewer",
    )
    resident: bool = option(
        True, "Run a background server, so that hooks answer faster.", SWITCH, "off"
    )
    idle_minutes: float = option(
        15.0, "Idle time after which the background server exits.", over_0("minutes"), "user"
    )


@frozen(kw_only=True)
class SourceSettings:
    """`[sources.NAME]`: settings that every source has, and the source's own."""

    enabled: bool = option(True, "Use the source.", SWITCH, "off")
    weight: float | None = option(
        None, "Weight when the budget is split. Unset: the source's own, 0.5 to 3.", over_0()
    )
    priority: int | None = option(
        None,
        'Counts in scores, and orders sections with `order = "priority"`. Unset: the '
        "source's own.",
        integers(1, 100),
    )
    timeout: float | None = option(
        None, "Time limit. Unset: `assemble.source_timeout`.", _ANY_SECONDS, "lower"
    )
    limit: int | None = option(None, "Items to retrieve. Unset: `assemble.limit`.", _COUNT)
    min_relevance: float | None = option(
        None, "Drop items below this relevance. Unset: `assemble.min_relevance`.", UNIT
    )
    embedder: str | None = option(
        None,
        "Embedding model. Unset: the source's own choice; `default`: `embedding.model`.",
        text(f"default, {_MODELS}", _SOURCE_MODEL),
        "user",
    )
    keep_days: float | None = option(
        None,
        "Delete records older than this. Unset: 90 days for events, never for others.",
        over_0("days", infinite=True),
        "user",
    )
    keep_records: int | None = option(
        None,
        "Most records to keep per project, the newest. Unset: 10,000 events, all of others.",
        _COUNT,
        "user",
    )
    own: Mapping[str, Any] = field(factory=dict)


SECTIONS: Mapping[str, type] = {
    "assemble": AssembleSettings,
    "ranking": RankingSettings,
    "history": HistorySettings,
    "store": StoreSettings,
    "embedding": EmbeddingSettings,
    "cache": CacheSettings,
    "hooks": HookSettings,
    "redact": RedactSettings,
}


def settings_of(section: type) -> tuple[Attribute[Any], ...]:
    """List a section class's settings, in order.

    For a source these are the core's settings.
    """
    return tuple(each for each in fields(section) if "values" in each.metadata)
