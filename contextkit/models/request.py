"""What is asked of contextkit: requests, and the recipes that they follow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import Attribute, field, frozen

from contextkit.models.items import Detail, Grouping, Overflow, Shares, Style
from contextkit.models.strategy import DEFAULT, Strategy
from contextkit.text.signals import QuerySignals

if TYPE_CHECKING:
    from contextkit.models.records import Records


def _over_zero(_: object, attribute: Attribute[Any], value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise ValueError(f"{attribute.name} must be over 0, got {value!r}")


@frozen(kw_only=True)
class ContextRequest:
    """What is asked of contextkit, and, bound to one source, what is asked of that source.

    A source's hooks get a copy that is its own: `query`, `limit` and `filters` are those
    of its section, and `records` and `settings` are its own.

    Attributes:
        query: what the context is needed for, in natural language.
        max_tokens: the budget of the whole rendered text, in tokens, at least 1.
        limit: items to retrieve per source, at least 1; where nothing is set it follows
            `max_tokens`: one for each 40 tokens, at least 50.
        sources: the sources to ask, or None for every one that is on.
        weights: source name -> weight in the budget, over what config and hooks say.
        filters: record field -> the value, the values, or the `Range` it must have.
        since: items that came to be before this are left out; aware. What has no time stays.
        kinds: the kinds that items may be of; none given: any. An item without a kind is of
            the kind that is its source's name.
        entity_types: likewise the types of entities, for items that are entities.
        exclude: ids of items that are left out, or `source:id`.
        exclude_sources: sources that are not asked.
        user: whose records are searched beside the project's, where a host has many users;
            None for the one user of this machine.
        additional_context: a text of the host's own that is shown as the last section; ""
            for none. It comes first in its claim on the budget.
        limits: source -> items to retrieve from it, over `limit` and its settings.
        timeouts: source -> seconds that it may take, over `source_timeout` and its settings.
        tokens: what counts tokens: `default`, `openai`, `claude`, or a name that a plugin's
            `contextkit_tokenizer` answers to.
        style: `markdown`, `xml` or `plain`.
        detail: `full`: items as their sources show them; `summary`: without code bodies and
            other long parts; `compact`: one line an item.
        group_by: `source`: a heading per section; `type`: code, documentation, conversation
            and other.
        include_sources: whether up to ten items are listed at the end, where that
            takes no more than a quarter of the budget.
        guard: whether the text is put between delimiters that its content cannot close.
        compress: whether items that do not fit whole are summarised, the weakest first,
            before any is shortened or left out; not with `soft` or `compact`.
        overflow: `hard` keeps to the budget; `soft` exceeds it rather than cut.
        shares: how the budget is split over the sections. `by_evidence`: by weight, and by how
            much of the question each section's items have; `fixed`: by weight alone.
        fill: whether the budget is used up with whatever was found. By default a context ends
            where the rest is not worth its tokens.
        source_timeout: seconds that one source may take.
        deadline: seconds that all sources together may take.
        min_relevance: items below this relevance are left out, 0..1.
        diversity: how much an item that resembles a better one loses by that, 0..1
            (maximal marginal relevance); 0 leaves the order to the scores.
        project: the project whose records are searched, beside the user's own.
        session: the session that asks, for sources that keep things by session, or None.
        strategy: what makes a score, and which part of the budget each source has.
        depth: how far a source follows what is related to what it found, at least 0; None
            leaves that to the source.
        record_use: whether what it shows counts as chosen, where the strategy counts that.
        workspace: the workspace's root folder, or None.
        recipe: the name of the recipe that is followed.
        cache: False to ask anew whatever a cache has kept, and to keep nothing of it.
        records: the asked source's records; set when the request reaches a source.
        settings: the asked source's own settings, `[sources.NAME]`, as far as somebody set
            them, without defaults; set likewise.
        neighbours: what an item lends of its match to those beside it in its sequence,
            as the strategy says; set likewise.
        signals: what the query says of itself; with what the plugins know when the request
            reaches a source.
    """

    query: str
    max_tokens: int = 2000
    limit: int = 20
    sources: tuple[str, ...] | None = None
    weights: Mapping[str, float] = field(factory=dict)
    filters: Mapping[str, Any] = field(factory=dict)
    since: datetime | None = None
    kinds: tuple[str, ...] = ()
    entity_types: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    exclude_sources: tuple[str, ...] = ()
    user: str | None = None
    additional_context: str = ""
    limits: Mapping[str, int] = field(factory=dict)
    timeouts: Mapping[str, float] = field(factory=dict)
    tokens: str = "default"
    style: Style = "markdown"
    detail: Detail = "full"
    group_by: Grouping = "source"
    include_sources: bool = False
    guard: bool = False
    compress: bool = False
    overflow: Overflow = "hard"
    shares: Shares = "by_evidence"
    fill: bool = False
    source_timeout: float = 0.3
    deadline: float = 0.5
    min_relevance: float = 0.1
    diversity: float = 0.0
    project: str = ""
    session: str | None = None
    strategy: Strategy = field(default=DEFAULT, repr=False)
    depth: int | None = None
    record_use: bool = True
    workspace: Path | None = None
    recipe: str = "context"
    cache: bool = True
    records: Records = field(default=None, repr=False, eq=False)
    settings: Mapping[str, Any] = field(factory=dict, eq=False)
    neighbours: float = 0.7
    signals: QuerySignals = field(eq=False, repr=False)

    @signals.default
    def _own_signals(self) -> QuerySignals:
        from contextkit.text.questions import signals_of

        return signals_of(self.query)


@frozen(kw_only=True)
class Section:
    """One part of a recipe: a question to one source, and its place in the text.

    Attributes:
        source: the source that is asked.
        key: unique within the recipe; default: the source's name.
        title: its heading; default: the source's title.
        query: what is asked; default: the request's query.
        filters: joined with the request's, and stronger than those.
        weight: its share of the budget; default: the source's weight.
        limit: items to retrieve; default: the request's limit.
        optional: True when the section is left out where its source is off, instead
            of being an error.
    """

    source: str
    key: str = field()
    title: str | None = None
    query: str | None = None
    filters: Mapping[str, Any] = field(factory=dict)
    weight: float | None = field(default=None, validator=_over_zero)
    limit: int | None = field(default=None, validator=_over_zero)
    optional: bool = False

    @key.default
    def _source_name(self) -> str:
        return self.source


@frozen(kw_only=True)
class Recipe:
    """An ordered list of sections under one title.

    Attributes:
        name: `context`, `premortem`, …
        title: the text's heading.
        sections: in the order in which they are rendered.
        footer: the last line, or "" for none, as the trace counts the items; `{items}`,
            `{sources}` and `{counts[NAME]}` (items of the source NAME) are filled in.
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
        build: makes the recipe from keyword arguments; raises `InvalidRequestError`
            for arguments that make no sense.
        max_tokens: the budget when the request names none, in tokens.
        limit: items per section when the request names none.
    """

    name: str
    description: str
    build: Callable[..., Recipe]
    max_tokens: int = 2000
    limit: int = 20
