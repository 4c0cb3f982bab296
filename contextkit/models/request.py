"""Requests for a context: their options, and the recipes that they follow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import Attribute, Factory, field, fields_dict, frozen

from contextkit.models.items import (
    DETAILS,
    GROUPINGS,
    OVERFLOWS,
    SHARES,
    STYLES,
    Detail,
    Grouping,
    Overflow,
    Shares,
    Style,
)
from contextkit.models.options import (
    ANYTHING,
    SWITCH,
    TIME,
    UNIT,
    WORDS,
    Affects,
    choice,
    integers,
    names,
    numbers,
    option,
    over_0,
    table,
    text,
)
from contextkit.models.strategy import DEFAULT, Strategy

if TYPE_CHECKING:
    from contextkit.models.records import Records
    from contextkit.text.signals import QuerySignals


def _over_zero(_: object, attribute: Attribute[Any], value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise ValueError(f"{attribute.name} must be over 0, got {value!r}")


_SOURCES = names("a list of source names")
_BY_SOURCE = "a table of numbers by source"


@frozen(kw_only=True)
class RequestDefaults:
    """Options of a request that have a default in `[assemble]`."""

    max_tokens: int = option(
        2000, "Token budget of the whole context.", integers(), affects="context", common=True
    )
    limit: int | None = option(
        None,
        "Items to retrieve from each source. Unset: as many as the budget and the question need.",
        integers(),
        common=True,
    )
    sources: tuple[str, ...] | None = option(
        None,
        "Sources to query, as in a,b. Unset: every source that is on.",
        _SOURCES,
        "fewer",
        affects="context",
        common=True,
        flags=("--sources", "-s"),
    )
    exclude_sources: tuple[str, ...] = option(
        (), "Sources to skip. A setting holds for requests that name no sources.", _SOURCES, "more"
    )
    source_timeout: float = option(
        0.3,
        "Time limit of one source, in seconds. Commands and the MCP server use 2 if unset; "
        "hooks derive it from `hooks.timeout`.",
        over_0("seconds", infinite=True),
        "lower",
        affects="context",
    )
    deadline: float = option(
        0.5,
        "Time limit of all sources together, in seconds. Commands and the MCP server use 3 if "
        "unset; hooks derive it from `hooks.timeout`.",
        over_0("seconds", infinite=True),
        "lower",
        affects="context",
    )
    tokens: str = option(
        "default",
        "Token counter: an estimate (`default`, `openai`, `claude`), or one from a plugin.",
        text("a token counter: default, openai, claude or a plugin's"),
        "plain",
        affects="context",
        host_only=True,
    )
    style: Style = option(
        "markdown", "Output format.", choice(*STYLES), affects="context", common=True
    )
    detail: Detail = option(
        "full",
        "`full`; `summary` omits code bodies and other long text; `compact` is one line an item.",
        choice(*DETAILS),
        affects="context",
    )
    group_by: Grouping = option(
        "source",
        "Section headings: per source, or per type (code, documentation, conversation, other).",
        choice(*GROUPINGS),
        affects="context",
    )
    include_sources: bool = option(
        False,
        "List the origin of up to ten items, if the list takes at most a quarter of the budget.",
        SWITCH,
        affects="context",
    )
    guard: bool = option(
        False,
        "Put the text between delimiters that its content cannot close. Hooks and MCP always do.",
        SWITCH,
        "on",
        affects="context",
        host_only=True,
    )
    # Off: in 2,000 tokens it leaves .660 of the answers readable, beside .695 (`mixed`).
    compress: bool = option(
        False,
        "Summarize items that do not fit to a third of their tokens, the weakest first, "
        "before shortening them. Not with `soft` or `compact`.",
        SWITCH,
        "off",
    )
    overflow: Overflow = option(
        "hard",
        "`hard` keeps to the budget; `soft` exceeds it instead of shortening items.",
        choice(*OVERFLOWS),
        affects="context",
    )
    shares: Shares = option(
        "by_evidence",
        "How to split the budget: by weight and match (`by_evidence`), or by weight (`fixed`).",
        choice(*SHARES),
        affects="context",
    )
    fill: bool = option(
        False, "Use up the budget, even with weak items.", SWITCH, affects="context"
    )
    min_relevance: float = option(
        0.1,
        'Drop items below this relevance. Above 0, small talk ("thanks!") and questions '
        "without a fair match get an empty context.",
        UNIT,
    )
    diversity: float = option(
        0.0, "Penalty for resembling a higher-ranked item (MMR).", UNIT, affects="context"
    )
    dedup: bool = option(
        True,
        "Merge items that say the same. Without, only a record that is found twice is merged.",
        SWITCH,
        affects="context",
    )
    dedup_threshold: float = option(
        0.9,
        "Likeness from which two texts are duplicates; at 1 they differ in case, punctuation "
        "and white space at most.",
        numbers("a number over 0 and at most 1", lambda value: 0 < value <= 1),
        affects="context",
    )
    max_items: int = option(
        1000,
        "Most items in the context, the best of all sources.",
        integers(),
        "lower",
        affects="context",
    )
    min_sources: int = option(
        1,
        "Sources that the context shows items of at least, if as many found some: their best "
        "items are placed first.",
        integers(),
        affects="context",
    )
    reserve: int = option(
        0,
        "Tokens of `max_tokens` to leave free for the answer. A setting holds for requests that "
        "do not set `max_tokens`.",
        integers(least=0),
        affects="context",
    )


def _same_option(name: str, default: Any) -> Any:
    """Declare an option of `RequestDefaults` once more, with another default."""
    return field(default=default, metadata=fields_dict(RequestDefaults)[name].metadata)


def _set_later(about: str, default: Any, affects: Affects = "answers", **more: Any) -> Any:
    """Declare a field that hosts do not set."""
    return field(default=default, metadata={"help": about, "affects": affects}, **more)


@frozen(kw_only=True)
class ContextRequest(RequestDefaults):
    """A request for a context, or for one source's part of it.

    A source's hooks get a copy of their own: `query`, `limit` and `filters` are those of its
    section, and `records` and `settings` are the source's.
    """

    query: str = field(metadata={"help": "The question, in natural language."})
    limit: int = _same_option("limit", 20)
    strategy: Strategy = option(
        DEFAULT,
        "Scoring strategy, such as default, balanced, recent or matching.",
        ANYTHING,
        common=True,
        repr=False,
    )
    since: datetime | None = option(
        None,
        "Drop items that are older, as in 7d, 12h or 2026-05-01. Items without a time stay.",
        TIME,
        common=True,
    )
    as_of: datetime | None = option(
        None,
        "Show what was valid at this time, as in 30d or 2026-03-01: items made later or ended "
        "before are dropped. Unset: what is valid now.",
        TIME,
    )
    kinds: tuple[str, ...] = option(
        (),
        "Keep only items of these kinds. An item without a kind has its source's name.",
        names(),
    )
    entity_types: tuple[str, ...] = option(
        (), "Of entities, keep only those of these types.", names()
    )
    exclude: tuple[str, ...] = option((), "Items to drop, by id or `source:id`.", names())
    filters: Mapping[str, Any] = option(
        Factory(dict),
        "Keep only records whose fields have these values.",
        table("a table of values by record field", ANYTHING),
    )
    weights: Mapping[str, float] = option(
        Factory(dict),
        "Weights of sources when the budget is split, as in code=2,commits=1.",
        table(_BY_SOURCE, over_0()),
        affects="context",
    )
    limits: Mapping[str, int] = option(
        Factory(dict),
        "Items to retrieve, by source. Others: `limit`.",
        table(_BY_SOURCE, integers()),
        affects="context",
    )
    timeouts: Mapping[str, float] = option(
        Factory(dict),
        "Time limits in seconds, by source. Others: `source_timeout`.",
        table(_BY_SOURCE, over_0("seconds")),
        affects="context",
    )
    depth: int | None = option(
        None,
        "How many steps a source follows related items. Unset: the source decides.",
        integers(least=0),
    )
    session: str | None = option(
        None,
        "Session that asks, for sources with records of sessions.",
        text("the name of a session"),
        host_only=True,
    )
    user: str | None = option(
        None,
        "User whose records are searched beside the project's. Unset: this machine's user.",
        text("the name of a user"),
        host_only=True,
    )
    additional_context: str = option(
        "",
        "Text of your own for the last section, within the budget. On the command line "
        "@FILE reads a file, and @- standard input.",
        WORDS,
    )
    further: int = option(
        0, "Items to retrieve beyond the limits.", integers(least=0), host_only=True
    )
    record_use: bool = option(True, "Record which items were used.", SWITCH, host_only=True)
    cache: bool = option(True, "Use the cache, if there is one.", SWITCH, affects="nothing")
    recipe: str = _set_later("Name of the recipe.", "context")
    project: str = _set_later("Project whose records are searched.", "")
    workspace: Path | None = _set_later("Root folder of the workspace.", None)
    records: Records = _set_later("The source's records.", None, "nothing", repr=False, eq=False)
    settings: Mapping[str, Any] = _set_later(
        "The source's own settings: those that are set in `[sources.NAME]`.",
        Factory(dict),
        eq=False,
    )
    limit_by_source: bool = _set_later("Whether the limit depends on the source, too.", False)
    neighbours: float = _set_later(
        "Part of its match that an item passes on to those beside it, 0..1.", 0.7
    )
    signals: QuerySignals = field(
        eq=False, repr=False, metadata={"help": "What the query says: intent, names and keywords."}
    )

    @signals.default
    def _own_signals(self) -> QuerySignals:
        from contextkit.text.questions import signals_of

        return signals_of(self.query)

    @property
    def answer_seconds(self) -> float:
        """When a source should return what it has: four fifths of `source_timeout`."""
        return 0.8 * self.source_timeout

    @property
    def project_name(self) -> str:
        """The project as people call it: the name of the workspace's folder, or ""."""
        return "" if self.workspace is None else self.workspace.name


@frozen(kw_only=True)
class Section:
    """One part of a recipe: a question to one source, and its place in the text.

    Attributes:
        source: the source that is asked.
        key: unique within the recipe; default: the source's name.
        title: its heading; default: the source's title.
        query: the question; default: the request's query.
        filters: joined with the request's, and stronger than those.
        weight: its share of the budget; default: the source's weight.
        limit: items to retrieve; default: the request's limit.
        optional: whether it is left out where its source is off, which is an error otherwise.
    """

    source: str
    key: str = field(default=Factory(lambda self: self.source, takes_self=True))
    title: str | None = None
    query: str | None = None
    filters: Mapping[str, Any] = field(factory=dict)
    weight: float | None = field(default=None, validator=_over_zero)
    limit: int | None = field(default=None, validator=_over_zero)
    optional: bool = False


@frozen(kw_only=True)
class Recipe:
    """An ordered list of sections under one title.

    Attributes:
        name: `context`, `premortem`, …
        title: the text's heading.
        sections: in the order in which they are rendered.
        footer: the last line, or ""; `{items}`, `{sources}` and `{counts[NAME]}` are filled in,
            and `{s[NAME]}` as the "s" of a plural.
        best_first: whether sections are rendered by their best items instead, the best first.
    """

    name: str
    title: str
    sections: tuple[Section, ...]
    footer: str = ""
    best_first: bool = False


@frozen(kw_only=True)
class RecipeTemplate:
    """A recipe that a plugin offers, from `contextkit_recipes`.

    Attributes:
        name: what it is asked for by.
        description: one line.
        build: makes the recipe from keyword arguments; raises `InvalidRequestError` for wrong ones.
        max_tokens: the budget when the request names none, in tokens.
        limit: items per section when the request names none.
    """

    name: str
    description: str
    build: Callable[..., Recipe]
    max_tokens: int = 2000
    limit: int = 20
