"""The configuration: what can be set, and where each value came from.

Later beats earlier: defaults, the user's `config.toml`, the project's `contextkit.toml` or
`[tool.contextkit]`, the environment (`CONTEXTKIT_ASSEMBLE_MAX_TOKENS`,
`CONTEXTKIT_SOURCES_CODE_ENABLED`; an empty variable is not set), command-line flags, and
last the request itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from attrs import Attribute, Factory, field, fields, frozen
from attrs.validators import and_, ge, gt, in_, le, lt, matches_re, optional, or_

from contextkit.config.origins import Contested, Origin, Overruled
from contextkit.errors import ConfigError
from contextkit.models.items import (
    DETAILS,
    GROUPINGS,
    SHARES,
    STYLES,
    Detail,
    Grouping,
    Overflow,
    Shares,
    Style,
)
from contextkit.models.source import WorkspaceRule
from contextkit.models.strategy import Strategy

SOURCE_NAME = re.compile(r"[a-z][a-z0-9_-]*")
"""How a source may be named, and a strategy."""

STRATEGY_PARTS = tuple(part.name for part in fields(Strategy) if part.name != "name")
"""What `[strategies.NAME]` may say."""

_EMBEDDING_MODEL = re.compile(r"wordllama|none|[a-z][a-z0-9_-]*:\S(.*\S)?")
"""How a model may be named; what stands before the colon is a plugin's affair."""

_CACHE_URL = re.compile(r"memory|(rediss?|unix)://(?![^/@:]*+:[^/@]*+@)\S+")
"""Where a cache may be; a password does not stand in a setting, which is printed."""

_MODELS = "wordllama, none, or a plugin's PROVIDER:MODEL"

Validator = Any
_NO_SETTINGS: Mapping[str, Any] = {}


def _setting(
    default: Any,
    expected: str,
    validator: Validator | None = None,
    *,
    rule: WorkspaceRule,
) -> Any:
    metadata = {"expected": expected, "rule": rule}
    return field(default=default, validator=validator, metadata=metadata)


def _names(text: str) -> str:
    return f"a list of {text}"


@frozen(kw_only=True)
class AssembleSettings:
    """`[assemble]`: what a request is when it does not say otherwise."""

    max_tokens: int = _setting(2000, "a whole number of at least 1", ge(1), rule="free")
    limit: int | None = _setting(None, "a whole number of at least 1", optional(ge(1)), rule="free")
    sources: tuple[str, ...] | None = _setting(None, _names("source names"), rule="fewer")
    exclude_sources: tuple[str, ...] | None = _setting(None, _names("source names"), rule="more")
    source_timeout: float = _setting(0.3, "seconds, over 0", gt(0), rule="lower")
    deadline: float = _setting(0.5, "seconds, over 0", gt(0), rule="lower")
    tokens: str = _setting(
        "default", "what counts tokens: default, openai, claude, …", rule="plain"
    )
    style: Style = _setting("markdown", f"one of {', '.join(STYLES)}", in_(STYLES), rule="free")
    detail: Detail = _setting("full", f"one of {', '.join(DETAILS)}", in_(DETAILS), rule="free")
    group_by: Grouping = _setting(
        "source", f"one of {', '.join(GROUPINGS)}", in_(GROUPINGS), rule="free"
    )
    include_sources: bool = _setting(False, "true or false", rule="free")
    guard: bool = _setting(False, "true or false", rule="on")
    compress: bool = _setting(False, "true or false", rule="off")
    compress_timeout: float = _setting(
        5.0, "seconds, over 0", and_(gt(0), lt(math.inf)), rule="lower"
    )
    rerank_timeout: float = _setting(
        1.0, "seconds, over 0", and_(gt(0), lt(math.inf)), rule="lower"
    )
    overflow: Overflow = _setting("hard", "hard or soft", in_(("hard", "soft")), rule="free")
    shares: Shares = _setting("by_evidence", "by_evidence or fixed", in_(SHARES), rule="free")
    fill: bool = _setting(False, "true or false", rule="free")
    order: Literal["match", "priority"] = _setting(
        "match", "match or priority", in_(("match", "priority")), rule="free"
    )
    strategy: str = _setting("default", "a strategy's name", matches_re(SOURCE_NAME), rule="free")
    min_relevance: float = _setting(0.1, "a number within 0..1", and_(ge(0), le(1)), rule="free")
    diversity: float = _setting(0.0, "a number within 0..1", and_(ge(0), le(1)), rule="free")
    concurrency: int = _setting(4, "a whole number of at least 1", ge(1), rule="free")
    breaker_failures: int = _setting(3, "a whole number of at least 1", ge(1), rule="free")
    breaker_cooldown: float = _setting(30.0, "seconds, over 0", gt(0), rule="free")
    max_items: int = _setting(1000, "a whole number of at least 1", ge(1), rule="lower")


@frozen(kw_only=True)
class RankingSettings:
    """`[ranking]`: what else than relevance, whose weight is 1, makes a score.

    `neighbours` is what an item lends of its match to those beside it; 0 for nothing.
    """

    salience: float = _setting(
        0.10, "a number of at least 0", and_(ge(0), lt(math.inf)), rule="free"
    )
    recency: float = _setting(
        0.05, "a number of at least 0", and_(ge(0), lt(math.inf)), rule="free"
    )
    priority: float = _setting(
        0.02, "a number of at least 0", and_(ge(0), lt(math.inf)), rule="free"
    )
    half_life_days: float = _setting(30.0, "days, over 0", and_(gt(0), lt(math.inf)), rule="free")
    neighbours: float = _setting(0.7, "a number within 0..1", and_(ge(0), le(1)), rule="free")


@frozen(kw_only=True)
class HistorySettings:
    """`[history]`: what is kept of which items were chosen, for strategies that count it."""

    enabled: bool = _setting(True, "true or false", rule="off")
    half_life_days: float = _setting(30.0, "days, over 0", and_(gt(0), lt(math.inf)), rule="free")
    max_items: int = _setting(10_000, "a whole number of at least 1", ge(1), rule="user")


@frozen(kw_only=True)
class StoreSettings:
    """`[store]`: where records live."""

    path: Path | None = _setting(None, "a folder", rule="user")
    url: str | None = _setting(None, "the address of a Qdrant server", rule="user")
    api_key_variable: str = _setting(
        "QDRANT_API_KEY", "the name of an environment variable", rule="user"
    )
    collection: str = _setting("contextkit", "a collection's name", rule="user")
    lock_timeout: float = _setting(10.0, "seconds, over 0", gt(0), rule="user")


@frozen(kw_only=True)
class EmbeddingSettings:
    """`[embedding]`: what makes the dense vectors."""

    model: str = _setting("wordllama", _MODELS, matches_re(_EMBEDDING_MODEL), rule="user")
    timeout: float = _setting(1.0, "seconds, over 0", and_(gt(0), lt(math.inf)), rule="user")


@frozen(kw_only=True)
class CacheSettings:
    """`[cache]`: whether contexts, sources' answers and queries' vectors are kept for a while."""

    enabled: bool = _setting(False, "true or false", rule="user")
    url: str = _setting(
        "memory",
        "memory, or redis://HOST:PORT/DB, rediss://… or unix://PATH without a password",
        matches_re(_CACHE_URL),
        rule="user",
    )
    password_variable: str = _setting(
        "REDIS_PASSWORD", "the name of an environment variable", rule="user"
    )
    timeout: float = _setting(0.1, "seconds, over 0", and_(gt(0), lt(math.inf)), rule="user")
    contexts_ttl: float = _setting(30.0, "seconds, over 0", and_(gt(0), lt(math.inf)), rule="user")
    shared_contexts_ttl: float = _setting(
        3600.0, "seconds, over 0", and_(gt(0), lt(math.inf)), rule="user"
    )
    results_ttl: float = _setting(300.0, "seconds, over 0", and_(gt(0), lt(math.inf)), rule="user")
    embeddings_ttl: float = _setting(
        86400.0, "seconds, over 0", and_(gt(0), lt(math.inf)), rule="user"
    )
    jitter: float = _setting(0.1, "a number within 0..1", and_(ge(0), le(1)), rule="user")
    contexts_size: int = _setting(100, "a whole number of at least 1", ge(1), rule="user")
    results_size: int = _setting(500, "a whole number of at least 1", ge(1), rule="user")


@frozen(kw_only=True)
class RedactSettings:
    """`[redact]`: whether secrets are replaced before a text is stored or shown."""

    enabled: bool = _setting(True, "true or false", rule="user")


@frozen(kw_only=True)
class HookSettings:
    """`[hooks]`: what a coding agent is told by its hooks, and how long that may take."""

    enabled: bool = _setting(True, "true or false", rule="off")
    timeout: float = _setting(
        1.0, "seconds, over 0 and at most 30", and_(gt(0), le(30)), rule="lower"
    )
    max_characters: int = _setting(
        9500, "a whole number within 100..9900", and_(ge(100), le(9900)), rule="lower"
    )
    max_tokens: int = _setting(1500, "a whole number of at least 1", ge(1), rule="lower")
    sources: tuple[str, ...] | None = _setting(None, _names("source names"), rule="fewer")
    start_sources: tuple[str, ...] | None = _setting(None, _names("source names"), rule="fewer")
    resident: bool = _setting(True, "true or false", rule="off")
    idle_minutes: float = _setting(15.0, "minutes, over 0", and_(gt(0), lt(math.inf)), rule="user")


@frozen(kw_only=True)
class SourceSettings:
    """`[sources.NAME]`: the core's settings of one source, and the source's own."""

    enabled: bool = _setting(True, "true or false", rule="off")
    weight: float | None = _setting(
        None, "a number over 0", optional(and_(gt(0), lt(math.inf))), rule="free"
    )
    priority: int | None = _setting(
        None, "a whole number within 1..100", optional(and_(ge(1), le(100))), rule="free"
    )
    timeout: float | None = _setting(None, "seconds, over 0", optional(gt(0)), rule="lower")
    limit: int | None = _setting(None, "a whole number of at least 1", optional(ge(1)), rule="free")
    min_relevance: float | None = _setting(
        None, "a number within 0..1", optional(and_(ge(0), le(1))), rule="free"
    )
    embedder: str | None = _setting(
        None,
        f"default, {_MODELS}",
        optional(or_(in_(("default",)), matches_re(_EMBEDDING_MODEL))),
        rule="user",
    )
    keep_days: float | None = _setting(None, "days, over 0", optional(gt(0)), rule="user")
    keep_records: int | None = _setting(
        None, "a whole number of at least 1", optional(ge(1)), rule="user"
    )
    own: Mapping[str, Any] = field(default=_NO_SETTINGS)


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


def normalized(name: str) -> str:
    """A source's or strategy's name as the environment can spell it: lower case, no underscores."""
    return name.lower().replace("_", "-")


def one_name_twice(names: Iterable[str]) -> tuple[str, str] | None:
    """The first two of some names that are one name to everything that looks them up, if any."""
    seen: dict[str, str] = {}
    for name in names:
        first = seen.setdefault(normalized(name), name)
        if first != name:
            return first, name
    return None


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
        overruled: dotted key -> what a workspace's file says against the user's choice.
        contested: dotted key of a source's own setting -> both values, until the source is
            loaded and its rule is known; until then the user's counts.
    """

    project: str | None = _setting(None, "a name", rule="free")
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
        """The settings of a source, whether it was configured or not."""
        return self.sources.get(normalized(name), _NOT_CONFIGURED)

    def origin(self, key: str) -> Origin:
        """Where the value of a dotted key came from."""
        return self.origins.get(key, Origin("default", "default"))

    def refusal(self, key: str, expected: str, origin: Origin | None = None) -> ConfigError:
        """The error for a value that makes no sense, with where it was set.

        Args:
            key: its dotted key.
            expected: what would be right.
            origin: where it was set; default: what `origin` says.
        """
        origin = origin or self.origin(key)
        in_file = origin.layer in {"user", "project"}
        return ConfigError(
            expected, key=key, file=Path(origin.label) if in_file else None, line=origin.line
        )

    def described(self) -> list[tuple[str, Any, Origin]]:
        """Every setting: dotted key, value, origin; sorted by key."""
        rows: list[tuple[str, Any]] = [("project", self.project)]
        for section in SECTIONS:
            values = getattr(self, section)
            rows += [(f"{section}.{a.name}", getattr(values, a.name)) for a in _fields(values)]
        for name, settings in self.sources.items():
            rows += [
                (f"sources.{name}.{a.name}", getattr(settings, a.name))
                for a in _fields(settings)
                if a.name != "own" and f"sources.{name}.{a.name}" in self.origins
            ]
            rows += [(f"sources.{name}.{key}", value) for key, value in settings.own.items()]
        for name, parts in self.strategies.items():
            rows += [(f"strategies.{name}.{key}", value) for key, value in parts.items()]
        return [(key, value, self.origin(key)) for key, value in sorted(rows)]


def _fields(values: object) -> tuple[Attribute[Any], ...]:
    return cast("tuple[Attribute[Any], ...]", fields(cast("Any", type(values))))
