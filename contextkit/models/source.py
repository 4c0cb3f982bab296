"""What a source says of itself.

Tools: what an agent can do with a source, beyond asking for context.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, Literal, TypeVar, get_args

from attrs import Attribute, field, frozen
from attrs.validators import and_, deep_mapping, ge, gt, in_, le, lt, optional

from contextkit.text.signals import TOPICS, Topic

WorkspaceRule = Literal[
    "free", "user", "stands", "off", "on", "lower", "capped", "fewer", "more", "plain"
]
"""What a workspace's file may change of a setting: see `contextkit.config.join`."""

WORKSPACE_RULES: tuple[WorkspaceRule, ...] = get_args(WorkspaceRule)

_ANOTHER_TOPIC = 0.05
"""How likely a source answers what it does not say that it answers."""

_OVER_ZERO = optional(and_(gt(0), lt(math.inf)))


@frozen(kw_only=True)
class SourceInfo:
    """What a source says of itself, from `contextkit_source`.

    Attributes:
        title: its heading in a context; default: its name, capitalised.
        description: one line for lists and for tool descriptions.
        priority: 1..100; sources are asked by it, highest first, and shown so with
            `assemble.order` "priority"; it is a small part of an item's score.
        scale: what its items' relevance means. `ranked`: nothing but their order within
            the source, so that they are ranked against other sources' items by their
            place; `calibrated`: how much of the query an item answers, as the store's
            `Hit.relevance` says it, so that it can stand beside other sources'.
        embedder: the model of its records' dense vectors: `default` for `embedding.model`,
            `none` for keyword search (BM25) alone, or another as the configuration names
            it; `[sources.NAME] embedder` is stronger.
        updates: whether a newer item replaces an older one that says otherwise of the same
            thing, as a note does and a piece of history does not. The older one is then
            shown behind the newer one and marked.
        cacheable: whether its answers, and what its other hooks make of them, depend on
            nothing but its records and these fields of the request: `query`, `limit`,
            `filters`, `project`, `session`, `workspace` (as a name), `recipe`, `settings`,
            `neighbours`, `min_relevance` and whatever else says what is asked rather than how
            it is shown or how much room there is. The clock may matter a little: what is kept
            may be some minutes old. A plugin that wraps others' hooks says so of its wrapping.
            False: nothing of it is kept by a cache.
        count_filters: which records count as one for a person, where one thing is
            stored as several records.
        records_of: the source that keeps the records which it shows, where that is not itself:
            `contextkit sources` counts them there.
        indexed_fields: record fields that its filters use, so that the store indexes them once the
            source has many records.
        keep_days: records that came to be longer ago than so many days are not kept, over 0;
            None keeps them all. `[sources.NAME] keep_days` is stronger. A source that has
            `contextkit_index` deletes its records by itself: it is never pruned.
        keep_records: of a project's records so many are kept, the newest; likewise.
        kind_field: the record field that has its items' kind, so that the store searches
            those of the `kinds` that a request wants; "" where there is none.
        entity_type_field: the record field, and the key of its items' metadata, that has the
            type of entity, for `entity_types`; "" for a source whose items are no entities.
        dated: whether its items' `created_at` is that of their records, so that the store
            searches those of the time that a request wants.
        settings: its own settings, `[sources.NAME]`, and their defaults, for `contextkit init`
            to write: strings, numbers, truths, and lists of those.
        reads: the sources whose records it reads beside its own (`records.others`), in index
            runs or for questions. It is indexed after those, and after all that read none.
        answers: what its items answer: topic (`QuerySignals.topics`) -> how likely, 0..1. Its
            part of the budget is multiplied by the largest of the question's topics. A topic
            that is not named counts 0.05; with no topic named it answers all of them.
        notes: whether its items are short texts that somebody wrote down to be remembered.
            Those that match well are shown whole, before the budget is split, and stand first
            where one of them answers.
        owns_files: whether it is made for the files that it indexes (`contextkit.indexing`),
            so that sources that take files of every kind leave these to it
            (`Indexer.owned_elsewhere`). It is indexed before those.
    """

    title: str = ""
    description: str = ""
    priority: int = field(default=50)
    scale: Literal["ranked", "calibrated"] = field(
        default="ranked", validator=in_(("ranked", "calibrated"))
    )
    embedder: str = "default"
    updates: bool = False
    cacheable: bool = False
    count_filters: Mapping[str, Any] = field(factory=dict)
    records_of: str = ""
    indexed_fields: tuple[str, ...] = ()
    keep_days: float | None = field(default=None, validator=_OVER_ZERO)
    keep_records: int | None = field(default=None, validator=_OVER_ZERO)
    kind_field: str = ""
    entity_type_field: str = ""
    dated: bool = False
    settings: Mapping[str, Any] = field(factory=dict)
    workspace_rules: Mapping[str, WorkspaceRule] = field(factory=dict)
    reads: tuple[str, ...] = ()
    answers: Mapping[Topic, float] = field(
        factory=dict, validator=deep_mapping(in_(TOPICS), and_(ge(0), le(1)))
    )
    notes: bool = False
    owns_files: bool = False

    def likely_answers(self, topics: Collection[Topic]) -> float:
        """How likely its items answer a question about these topics, 0..1."""
        if not self.answers or not topics:
            return 1.0
        return max(self.answers.get(topic, _ANOTHER_TOPIC) for topic in topics)

    @priority.validator
    def _within_range(self, _: Attribute[int], value: int) -> None:
        if not 1 <= value <= 100:
            raise ValueError(f"priority must be within 1..100, got {value!r}")


T = TypeVar("T")


@frozen(kw_only=True)
class Tool:
    """A tool that a plugin offers to agents, from `contextkit_tools`.

    ```python
    class Report(TypedDict):
        station: str
        metres: float


    def report_tide(
        kit: ContextKit,
        station: Annotated[str, "the station's name"],
        metres: Annotated[float, "how high the water stands"] = 0.0,
    ) -> Report:
        kit.records("tide").put([Record(id=station, text=f"{station}: {metres} m")])
        return {"station": station, "metres": metres}


    Tool(name="report_tide", description="Note how high the water stands.", run=report_tide)
    ```

    Attributes:
        name: what an agent calls it by: lower-case letters, digits and `_`.
        description: what it does and when to use it, for an agent that sees nothing else.
        run: what does it, sync (it may block) or async. Its first parameter gets the
            `ContextKit`; each other is a parameter of the tool, whose type becomes its schema
            and whose text in `Annotated[T, "…"]` its description. One that is called
            `progress` is none: it gets a function that takes a `Progress`. The type of its
            result is a `TypedDict`, a mapping, a class with `as_dict`, or a `ToolResult` of
            one of these. A `ContextKitError` tells the agent in one line what was wrong.
        read_only: True where it changes nothing.
        destructive: True where it deletes or overwrites.
    """

    name: str
    description: str
    run: Callable[..., Any]
    read_only: bool = False
    destructive: bool = False


@frozen
class ToolResult(Generic[T]):
    """What a tool gives, where its text is not just its data as JSON.

    Attributes:
        data: the result for a program: JSON values, or what has `as_dict`.
        text: the same for an agent to read.
    """

    data: T
    text: str
