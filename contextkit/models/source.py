"""Declarations of a source: its constants, settings, commands, and tools for agents."""

from __future__ import annotations

import math
import pkgutil
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar, get_args

from attrs import Attribute, evolve, field, frozen
from attrs.validators import and_, deep_mapping, ge, gt, in_, le, lt, matches_re, optional

from contextkit.text.signals import TOPICS, Topic

WorkspaceRule = Literal[
    "free", "user", "stands", "off", "on", "lower", "capped", "fewer", "more", "plain"
]
"""What a workspace's file may change of a setting: see `contextkit.config.join`."""

WORKSPACE_RULES: tuple[WorkspaceRule, ...] = get_args(WorkspaceRule)

_ANOTHER_TOPIC = 0.05
"""How likely a source answers what it does not say that it answers."""

_OVER_ZERO = optional(and_(gt(0), lt(math.inf)))

_DEDUP_KEY = re.compile(r"([a-z][a-z0-9_-]*:)\{([A-Za-z_]\w*)\}")
_TARGET = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"


@frozen
class Setting:
    """One setting of a source, `[sources.NAME]`.

    ```python
    SourceInfo(settings={"harbour": "", "days": Setting(7, least=1, most=365, rule="free")})
    ```

    Attributes:
        default: its value where the user set none. Its type is the setting's type: true or
            false, a whole number, a number, a text, or a list of texts.
        least: the smallest number allowed.
        most: the largest number allowed.
        over: a number must be larger than this.
        rule: what a workspace's file may change of the user's value; see
            `contextkit.config.join`.
        check: `module:function` for what type and range cannot say. The function gets the
            setting's name and a value, and returns one text per problem, beginning with the
            name. It is imported when the setting is used.
    """

    default: Any
    least: float | None = field(default=None, kw_only=True)
    most: float | None = field(default=None, kw_only=True)
    over: float | None = field(default=None, kw_only=True)
    rule: WorkspaceRule = field(default="stands", kw_only=True, validator=in_(WORKSPACE_RULES))
    check: str = field(default="", kw_only=True, validator=matches_re(f"({_TARGET})?"))

    @property
    def expected(self) -> str:
        """The allowed values, as an error names them: `a whole number from 1 to 365`."""
        match self.default:
            case bool():
                return "true or false"
            case str():
                return "a text"
            case list() | tuple():
                return "a list of texts"
        kind = "a whole number" if isinstance(self.default, int) else "a number"
        limits = {"over": self.over, "from": self.least, "to": self.most}
        given = [f"{word} {limit:,}" for word, limit in limits.items() if limit is not None]
        return " ".join([kind, *given])

    def allows(self, value: Any) -> bool:
        """Whether a value has the type of the default and is within the range."""
        match self.default:
            case bool():
                return isinstance(value, bool)
            case str():
                return isinstance(value, str)
            case list() | tuple():
                is_list = isinstance(value, (list, tuple))
                return is_list and all(isinstance(each, str) for each in value)
        if isinstance(value, bool) or not isinstance(value, (int, type(self.default))):
            return False
        over, least, most = self.over, self.least, self.most
        return (
            (isinstance(value, int) or math.isfinite(value))
            and (over is None or value > over)
            and (least is None or value >= least)
            and (most is None or value <= most)
        )

    def problems(self, name: str, value: Any) -> Sequence[str]:
        """The problems with a value, each beginning with the setting's name."""
        if self.check:
            found: Sequence[str] = pkgutil.resolve_name(self.check)(name, value)
            return found
        if self.allows(value):
            return ()
        return (f"{name}: must be {self.expected}, got {value!r:.60}",)


def _known_beside(name: str, known: Collection[str]) -> str:
    if not known:
        return ""
    import difflib

    nearest = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    return f"; it has {', '.join(known)}{hint}"


@frozen(kw_only=True)
class SourceInfo:
    """The description of a source, returned by `contextkit_source`.

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
        item_tokens: how many tokens a typical item takes, over 0. If no limit is set, the source
            is asked for as many items as fill the budget, or 2,000 tokens if that is more.
        kind_field: the record field that has its items' kind, so that the store searches
            those of the `kinds` that a request wants; "" where there is none.
        entity_type_field: the record field, and the key of its items' metadata, that has the
            type of entity, for `entity_types`; "" for a source whose items are no entities.
        dated: whether its items' `created_at` is that of their records, so that the store
            searches those of the time that a request wants.
        settings: its own settings, `[sources.NAME]`: name -> default, or a `Setting` where
            more than the type is to be checked; `{}` for none. `contextkit init` writes them.
            Where the source has no `contextkit_check_settings`, other names and wrong values
            are refused. None: it takes any settings, unchecked.
        weight: its share of the token budget beside other sources' shares, over 0;
            `contextkit_weight` is for one that depends on the request.
        dedup_key: what names the thing that an item shows, whichever source finds it: a kind,
            a colon and `{id}` or a key of the item's metadata, such as `memory:{id}` or
            `file:{file_path}`. `contextkit_dedup_keys` is for items with other keys.
        commands: commands that it adds to the command line: name -> (`module:attribute` of
            a click command, its line in the help). The module is imported when the command runs.
        tools: `module:attribute` of its tools for agents, a sequence of `Tool`, imported
            when they are listed.
        book: `module:Class` of the `contextkit.sources.Book` with its records, for a page on which
            people list, search and edit them; imported when that is shown.
        imports: `module:function` that keeps a past session of an agent: it gets an
            `ImportedSession` and a `Kit`, and returns an `Imported`.
        prune_filters: which records `keep_days` and `keep_records` limit, by fields with lists
            of values; default: all.
        reads: the sources whose records it reads beside its own (`records.others`), in index
            runs or for questions. It is indexed after those, and after all that read none.
        answers: what its items answer: topic (`QuerySignals.topics`) -> how likely, 0..1. Its
            part of the budget is multiplied by the largest of the question's topics. A topic
            that is not named counts 0.05; with no topic named it answers all of them. A source
            with less than a tenth of the most likely source's number is asked for fewer items.
            One with `usage` of 1 also explains: where a title of its best items names the
            subject of "how does it work?", it counts 0.5.
        by_hand: which of its records people and agents wrote, where its index run makes the
            others. Those belong to the project, with all its work trees and clones; records of
            an index run belong to the checkout. A source without `contextkit_index` needs no
            value: all its records are the project's.
        notes: whether its items are short texts that a person wrote down to be remembered.
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
    item_tokens: int = field(default=40, validator=gt(0))
    kind_field: str = ""
    entity_type_field: str = ""
    dated: bool = False
    settings: Mapping[str, Any] | None = None
    weight: float = field(default=1.0, validator=[gt(0), lt(math.inf)])
    dedup_key: str = field(default="", validator=matches_re(f"({_DEDUP_KEY.pattern})?"))
    commands: Mapping[str, tuple[str, str]] = field(factory=dict)
    tools: str = field(default="", validator=matches_re(f"({_TARGET})?"))
    book: str = field(default="", validator=matches_re(f"({_TARGET})?"))
    imports: str = field(default="", validator=matches_re(f"({_TARGET})?"))
    prune_filters: Mapping[str, Any] = field(factory=dict)
    reads: tuple[str, ...] = ()
    answers: Mapping[Topic, float] = field(
        factory=dict, validator=deep_mapping(in_(TOPICS), and_(ge(0), le(1)))
    )
    by_hand: Mapping[str, Any] | None = None
    notes: bool = False
    owns_files: bool = False

    @property
    def setting_defaults(self) -> dict[str, Any]:
        """Its own settings and their defaults."""
        return {name: self.setting(name).default for name in self.settings or ()}

    def completed(self, name: str, priority: int | None) -> SourceInfo:
        """The same with a title made from the source's name, and the configured priority."""
        title = self.title or name.replace("-", " ").replace("_", " ").capitalize()
        return evolve(self, title=title, priority=priority or self.priority)

    def setting(self, name: str) -> Setting:
        """One of its own settings; any other name is one that may be anything."""
        declared = (self.settings or {}).get(name)
        return declared if isinstance(declared, Setting) else Setting(declared)

    def setting_problems(self, source: str, given: Mapping[str, Any]) -> Iterator[str]:
        """What is wrong with own settings, each text beginning with the setting's name.

        Args:
            source: the source's name.
            given: the settings.
        """
        if self.settings is None:
            return
        for name, value in given.items():
            if name in self.settings:
                yield from self.setting(name).problems(name, value)
            else:
                beside = _known_beside(name, self.settings)
                yield f"{name}: the source {source} has no such setting{beside}"

    def dedup_keys(self, item_id: str, metadata: Mapping[str, Any]) -> tuple[str, ...]:
        """The keys of an item by `dedup_key`; none where it lacks what that names."""
        found = _DEDUP_KEY.fullmatch(self.dedup_key)
        if found is None:
            return ()
        value = item_id if found[2] == "id" else metadata.get(found[2])
        return (f"{found[1]}{value}",) if value else ()

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
