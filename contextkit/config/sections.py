"""Every section of the configuration: each setting's type, default, bounds and help."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import field, fields, frozen
from attrs.validators import and_, ge, gt, in_, le, lt, matches_re, optional, or_

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

_NO_SETTINGS: Mapping[str, Any] = {}


def setting(
    default: Any,
    about: str,
    expected: str,
    validator: Any = None,
    rule: WorkspaceRule = "free",
) -> Any:
    """Declare a setting.

    Args:
        default: its value where it is not set; None stays unset.
        about: what it does, for the reference.
        expected: which values are valid, for the reference and for errors.
        validator: an attrs validator.
        rule: what a workspace's file may change.
    """
    metadata = {"expected": expected, "rule": rule, "help": about}
    checked = optional(validator) if validator and default is None else validator
    return field(default=default, validator=checked, metadata=metadata)


def _flag(default: bool, about: str, rule: WorkspaceRule = "free") -> Any:
    return setting(default, about, "true or false", rule=rule)


def _count(default: int | None, about: str, rule: WorkspaceRule = "free") -> Any:
    return setting(default, about, "a whole number of at least 1", ge(1), rule)


def _unit(default: float | None, about: str, rule: WorkspaceRule = "free") -> Any:
    return setting(default, about, "a number within 0..1", and_(ge(0), le(1)), rule)


def _weight(default: float, about: str) -> Any:
    return setting(default, about, "a number of at least 0", and_(ge(0), lt(math.inf)))


def _time(default: float | None, about: str, rule: WorkspaceRule, unit: str = "seconds") -> Any:
    return setting(default, about, f"{unit}, over 0", and_(gt(0), lt(math.inf)), rule)


def _limit(default: float | None, about: str, rule: WorkspaceRule, unit: str = "seconds") -> Any:
    """Declare a time that may be infinite."""
    return setting(default, about, f"{unit}, over 0", gt(0), rule)


def _choice(default: str, values: Iterable[str], about: str) -> Any:
    known = tuple(values)
    return setting(default, about, f"one of {', '.join(known)}", in_(known))


def _sources(about: str, rule: WorkspaceRule) -> Any:
    return setting(None, about, "a list of source names", rule=rule)


@frozen(kw_only=True)
class AssembleSettings:
    """`[assemble]`: defaults of a request."""

    max_tokens: int = _count(2000, "Token budget of the whole context.")
    limit: int | None = _count(
        None,
        "Items to retrieve from each source. Unset: one for every 40 tokens of the budget, "
        "at least 50.",
    )
    sources: tuple[str, ...] | None = _sources(
        "Sources to query. Unset: every source that is on.", "fewer"
    )
    exclude_sources: tuple[str, ...] | None = _sources(
        "Sources to skip, unless a request names its sources.", "more"
    )
    source_timeout: float = _limit(
        0.3, "Time limit of one source. Commands and the MCP server use 2 if unset.", "lower"
    )
    deadline: float = _limit(
        0.5,
        "Time limit of all sources together. Commands and the MCP server use 3 if unset.",
        "lower",
    )
    tokens: str = setting(
        "default",
        "Token counter: an estimate (`default`, `openai`, `claude`), or one from a plugin.",
        "a token counter: default, openai, claude, …",
        rule="plain",
    )
    style: Style = _choice("markdown", STYLES, "Output format.")
    detail: Detail = _choice(
        "full",
        DETAILS,
        "`full`; `summary` omits code bodies and other long text; `compact` is one line an item.",
    )
    group_by: Grouping = _choice(
        "source",
        GROUPINGS,
        "Section headings: per source, or per type (code, documentation, conversation, other).",
    )
    include_sources: bool = _flag(
        False,
        "List the origin of up to ten items, if the list takes at most a quarter of the budget.",
    )
    guard: bool = _flag(
        False,
        "Put the text between delimiters that its content cannot close. Hooks and MCP always do.",
        "on",
    )
    # Off: in 2,000 tokens it leaves .660 of the answers readable, beside .695 (`mixed`).
    compress: bool = _flag(
        False,
        "Summarize items that do not fit to a third of their tokens, the weakest first, "
        "before shortening them.",
        "off",
    )
    compress_timeout: float = _time(
        5.0,
        "Time limit of all plugins that summarize. For agents, keep it well below `hooks.timeout`.",
        "lower",
    )
    overflow: Overflow = setting(
        "hard",
        "`hard` keeps to the budget; `soft` exceeds it instead of shortening items.",
        "hard or soft",
        in_(("hard", "soft")),
    )
    shares: Shares = setting(
        "by_evidence",
        "How to split the budget: by weight and match (`by_evidence`), or by weight (`fixed`).",
        "by_evidence or fixed",
        in_(SHARES),
    )
    fill: bool = _flag(False, "Use up the budget, even with weak items.")
    order: Literal["match", "priority"] = setting(
        "match",
        "Section order: the section with the best item first (`match`), or by the sources' "
        "priorities (`priority`).",
        "match or priority",
        in_(("match", "priority")),
    )
    strategy: str = setting(
        "default", "Scoring strategy.", "a strategy's name", matches_re(SOURCE_NAME)
    )
    min_relevance: float = _unit(
        0.1,
        'Drop items below this relevance. Above 0, small talk ("thanks!") and questions '
        "without a fair match get an empty context.",
    )
    diversity: float = _unit(0.0, "Penalty for resembling a higher-ranked item (MMR).")
    concurrency: int = _count(
        4, "Assemblies that run at once in one process. Waiting counts against no time limit."
    )
    breaker_failures: int = _count(
        3, "Consecutive failures after which a source is skipped for a while."
    )
    breaker_cooldown: float = _limit(30.0, "How long such a source is skipped.", "free")
    max_items: int = _count(
        1000, "Most items to compare with each other; the best of all results.", "lower"
    )


@frozen(kw_only=True)
class RankingSettings:
    """`[ranking]`: weights of a score, beside relevance, whose weight is 1."""

    salience: float = _weight(0.10, "Weight of salience: importance or confidence.")
    recency: float = _weight(0.05, "Weight of recency.")
    priority: float = _weight(0.02, "Weight of the source's priority.")
    half_life_days: float = _time(
        30.0, "Age at which an item's recency is one half.", "free", "days"
    )
    neighbours: float = _unit(0.7, "Part of its match that an item passes on to its neighbours.")


@frozen(kw_only=True)
class HistorySettings:
    """`[history]`: usage history, for strategies that score usage."""

    enabled: bool = _flag(True, "Record which items were used.", "off")
    half_life_days: float = _time(30.0, "Age at which a use counts half.", "free", "days")
    max_items: int = _count(
        10_000, "Items to remember per project; the least recently used go first.", "user"
    )


@frozen(kw_only=True)
class StoreSettings:
    """`[store]`: where records live."""

    path: Path | None = setting(
        None,
        "Folder of the embedded store. Unset: `store` in the data folder.",
        "a folder",
        rule="user",
    )
    url: str | None = setting(
        None,
        "Qdrant server to use instead of the embedded store.",
        "the address of a Qdrant server",
        rule="user",
    )
    api_key_variable: str = setting(
        "QDRANT_API_KEY",
        "Environment variable with the server's API key.",
        "the name of an environment variable",
        rule="user",
    )
    collection: str = setting(
        "contextkit", "Collection on the server.", "a collection's name", rule="user"
    )
    lock_timeout: float = _limit(
        10.0, "How long to wait for another process that uses the embedded store.", "user"
    )


@frozen(kw_only=True)
class EmbeddingSettings:
    """`[embedding]`: the model of the dense vectors."""

    model: str = setting(
        "wordllama",
        "Embedding model; `none` searches by keywords only.",
        _MODELS,
        matches_re(_EMBEDDING_MODEL),
        "user",
    )
    timeout: float = _time(
        1.0, "How long a search waits for a plugin's model before it uses keywords only.", "user"
    )


@frozen(kw_only=True)
class CacheSettings:
    """`[cache]`: cache of contexts, sources' results and query vectors."""

    enabled: bool = _flag(False, "Use the cache.", "user")
    url: str = setting(
        "memory",
        "Where to cache: in memory only, or also in Redis.",
        "memory, or redis://HOST:PORT/DB, rediss://… or unix://PATH without a password",
        matches_re(_CACHE_URL),
        "user",
    )
    password_variable: str = setting(
        "REDIS_PASSWORD",
        "Environment variable with the Redis password.",
        "the name of an environment variable",
        rule="user",
    )
    timeout: float = _time(
        0.1,
        "Time limit of a Redis call. After a failure, Redis is skipped for at least 5 seconds.",
        "user",
    )
    contexts_ttl: float = _time(30.0, "Lifetime of a context in memory.", "user")
    shared_contexts_ttl: float = _time(3600.0, "Lifetime of a context in Redis.", "user")
    results_ttl: float = _time(300.0, "Lifetime of a source's results.", "user")
    embeddings_ttl: float = _time(86400.0, "Lifetime of a query vector in Redis.", "user")
    jitter: float = _unit(
        0.1, "Part of a lifetime that is cut at random, so that entries expire apart.", "user"
    )
    contexts_size: int = _count(100, "Most contexts in memory.", "user")
    results_size: int = _count(500, "Most results of sources in memory.", "user")


@frozen(kw_only=True)
class RedactSettings:
    """`[redact]`: redaction of secrets."""

    enabled: bool = _flag(True, "Replace secrets before text is stored or shown.", "user")


@frozen(kw_only=True)
class HookSettings:
    """`[hooks]`: the hooks of coding agents."""

    enabled: bool = _flag(True, "Answer agents' hooks.", "off")
    timeout: float = setting(
        1.0,
        "Time limit of a hook. A hook that takes longer prints nothing.",
        "seconds, over 0 and at most 30",
        and_(gt(0), le(30)),
        "lower",
    )
    max_characters: int = setting(
        9500,
        "Longest answer of a hook, in characters.",
        "a whole number within 100..9900",
        and_(ge(100), le(9900)),
        "lower",
    )
    max_tokens: int = _count(1500, "Token budget of a hook's context.", "lower")
    sources: tuple[str, ...] | None = _sources(
        "Sources to query for a prompt. Unset: every source that is on.", "fewer"
    )
    start_sources: tuple[str, ...] | None = _sources(
        "Sources to show when a session starts. Unset: sources you write to, such as memories.",
        "fewer",
    )
    resident: bool = _flag(True, "Run a background server, so that hooks answer faster.", "off")
    idle_minutes: float = _time(
        15.0, "Idle time after which the background server exits.", "user", "minutes"
    )


@frozen(kw_only=True)
class SourceSettings:
    """`[sources.NAME]`: settings that every source has, and the source's own."""

    enabled: bool = _flag(True, "Use the source.", "off")
    weight: float | None = setting(
        None,
        "Weight when the budget is split. Unset: the source's own, 0.5 to 3.",
        "a number over 0",
        and_(gt(0), lt(math.inf)),
    )
    priority: int | None = setting(
        None,
        'Counts in scores, and orders sections with `order = "priority"`. Unset: the '
        "source's own.",
        "a whole number within 1..100",
        and_(ge(1), le(100)),
    )
    timeout: float | None = _limit(None, "Time limit. Unset: `assemble.source_timeout`.", "lower")
    limit: int | None = _count(None, "Items to retrieve. Unset: `assemble.limit`.")
    min_relevance: float | None = _unit(
        None, "Drop items below this relevance. Unset: `assemble.min_relevance`."
    )
    embedder: str | None = setting(
        None,
        "Embedding model. Unset: the source's own choice; `default`: `embedding.model`.",
        f"default, {_MODELS}",
        or_(in_(("default",)), matches_re(_EMBEDDING_MODEL)),
        "user",
    )
    keep_days: float | None = _limit(
        None,
        "Delete records older than this. Unset: 90 days for events, never for others.",
        "user",
        "days",
    )
    keep_records: int | None = _count(
        None,
        "Most records to keep per project, the newest. Unset: 10,000 events, all of others.",
        "user",
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
