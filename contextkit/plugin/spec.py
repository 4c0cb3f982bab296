"""The hooks that a plugin may implement.

A plugin is a module or an object whose functions carry `hookimpl`, named in the
entry-point group `contextkit`; the entry point's name is the source's name:

```toml
[project.entry-points.contextkit]
weather = "my_weather"
```

A source hook is called once per source and batch, never per item. A hook that returns `None`
leaves the answer to the default. An exception in a hook affects that plugin alone. A function has
the name of its hook, and only `contextkit_query` may be `async`. Hooks for weights, formats, short
forms, keys and signals run in the event loop, where all sources wait for them: do not read files
or ask services there.

A plugin without `contextkit_query` is not a source. With `hookimpl(wrapper=True)` its hooks wrap
those of every source, to redact or to trace.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    import click

    from contextkit.models.context import FormattedContext
    from contextkit.models.embedding import DenseModel
    from contextkit.models.health import HealthFinding
    from contextkit.models.indexer import Indexer
    from contextkit.models.items import ContextItem, Detail, IndexReport, Style
    from contextkit.models.kit import Kit
    from contextkit.models.request import ContextRequest, RecipeTemplate
    from contextkit.models.source import SourceInfo, Tool
    from contextkit.text.secrets import SecretSpan
    from contextkit.text.signals import QuerySignals

ENTRY_POINT_GROUP = "contextkit"
hookspec = pluggy.HookspecMarker("contextkit")
hookimpl = pluggy.HookimplMarker("contextkit")


@hookspec(firstresult=True)
def contextkit_query(
    request: ContextRequest,
) -> Sequence[ContextItem] | Awaitable[Sequence[ContextItem]] | None:
    """Find items for a request, best first. A plugin with this hook is a source.

    Called once for each section that asks the source, at the same time as the other sources. A
    plain function runs in a thread, an `async def` in the event loop; either has
    `request.source_timeout` seconds. A source that keeps failing or blocks the loop is skipped for
    a while. Raise `InvalidRequestError` for a filter value that is not allowed: that is no failure.

    ```python
    @hookimpl
    async def contextkit_query(request):
        hits = await request.records.search(request.query, limit=request.limit)
        return [ContextItem("weather", h.record.text, h.relevance, id=h.record.id) for h in hits]
    ```
    """


@hookspec(firstresult=True)
def contextkit_format(
    items: Sequence[ContextItem], style: Style, detail: Detail
) -> Sequence[str] | None:
    """Format the source's items: one text per item, in the same order.

    Called once per source with its items that are no duplicates; those that better ones leave no
    room for are left out. `detail` is `full`, `summary` (without long parts that can be looked up)
    or `compact` (one line per item). `contextkit.text.style_of(style)` writes texts in each style.
    `None`: each item's `content` is shown, escaped for the style, and for `compact` on one line.

    ```python
    @hookimpl
    def contextkit_format(items, style):
        return [f"**Weather**: {item.content}" for item in items]
    ```
    """


@hookspec(firstresult=True)
def contextkit_weight(request: ContextRequest) -> float | None:
    """Weigh the source in the token budget, over 0. `None`: that of its `SourceInfo`.

    Called once for each section that asks the source, with the request as `contextkit_query` got
    it. The request's `weights` and `[sources.NAME] weight` override it.

    ```python
    @hookimpl
    def contextkit_weight(request):
        return 2.0
    ```
    """


@hookspec(firstresult=True)
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> Sequence[Sequence[str]] | None:
    """Name the thing that each item shows, by keys such as `ghap:…` or `sha:…`.

    Called with the relevant items of the source that the budget may have room for; returns the
    keys of each. Items of different sources that share a key are duplicates, and so are items of
    one source that share an id. `None`: no keys beyond the item's own id; see also
    `SourceInfo.dedup_key`.

    ```python
    @hookimpl
    def contextkit_dedup_keys(items):
        return [[f"station:{item.metadata['station']}"] for item in items]
    ```
    """


@hookspec(firstresult=True)
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str | None:
    """Shorten one formatted item to `max_tokens`, keeping what matters most.

    Called only for an item that does not fit, with its formatted text in `item.content`, and never
    for `compact`. `count` counts the tokens of a text; `query` is the request's. A result that is
    still too long is not used. Return an `Excerpt` for a selection, such as a function's signature
    with the statements that match; `contextkit.text.excerpt` makes one of prose. `None`: the
    default keeps the sentences that match the query, with `...` for gaps, else the beginning.

    ```python
    @hookimpl
    def contextkit_truncate(item, style, max_tokens, count):
        headline = item.content.splitlines()[0]
        return headline if count(headline) <= max_tokens else None
    ```
    """


@hookspec(firstresult=True)
def contextkit_compress(
    query: str, items: Sequence[ContextItem], targets: Sequence[int], count: Callable[[str], int]
) -> Sequence[str | None] | None:
    """Summarise items: per item a text within its target, or None for no summary.

    Called only where `compress` is on and not all items fit whole: for a source with its own items,
    then, for a plugin that is not a source, with all items that still have no summary.
    `item.content` is the formatted and redacted text; `item.must_keep` are words that the summary
    must contain; `count` counts the tokens of a text. It runs in a thread; all summaries of an
    assembly together have `[assemble] compress_timeout` seconds. A summary that is empty, too long,
    or lacks words to keep is not used. `None`: the next plugin is asked, and then the default,
    which selects sentences.

    ```python
    @hookimpl
    def contextkit_compress(query, items, targets):
        return model.summaries(query, [item.content for item in items], targets)
    ```
    """


@hookspec(firstresult=True)
def contextkit_source() -> SourceInfo | None:
    """Describe the source: title, description, priority, settings. `None`: all defaults.

    Called once, when the plugin is loaded.

    ```python
    @hookimpl
    def contextkit_source():
        return SourceInfo(title="Weather", description="reports of nearby stations")
    ```
    """


@hookspec(firstresult=True)
def contextkit_index(indexer: Indexer) -> IndexReport | None:
    """Bring the source's records up to date with the workspace; blocking.

    Called by `contextkit index`, and by `contextkit assemble` before it assembles. Make a run
    without changes cheap by means of `indexer.state`; for files, `contextkit.indexing` does that.

    ```python
    @hookimpl
    def contextkit_index(indexer):
        indexer.records.put([Record(id="berlin", text="Berlin: rain")])
        return IndexReport(added=1)
    ```
    """


@hookspec
def contextkit_recipes() -> Sequence[RecipeTemplate] | None:
    """Offer recipes beside `context`. `None`: none.

    Called when a host asks for a recipe by name. Two plugins may not offer the same name.

    ```python
    @hookimpl
    def contextkit_recipes():
        return [RecipeTemplate(name="outlook", description="tomorrow", build=build_outlook)]
    ```
    """


@hookspec
def contextkit_tools() -> Sequence[Tool] | None:
    """Offer tools for agents, beyond asking for context. `None`: none.

    Called when an agent's host lists the tools or calls one. Two plugins may not offer the same
    name. `Tool` says how parameters and results are described.

    ```python
    @hookimpl
    def contextkit_tools():
        def count_reports(kit) -> dict[str, int]:
            return {"reports": kit.records("weather").count()}

        return [Tool(name="count_reports", description="Count the reports.", run=count_reports)]
    ```
    """


@hookspec
def contextkit_commands(cli: click.Group) -> None:
    """Add commands to the `contextkit` command line.

    Called when the command line starts: import what a command needs inside it.

    ```python
    @hookimpl
    def contextkit_commands(cli):
        cli.add_command(weather)
    ```
    """


@hookspec(firstresult=True)
def contextkit_tokenizer(name: str) -> Callable[[str], int] | None:
    """Count tokens by the tokenizer or model of this name; any plugin may.

    Called when a request names in `tokens` a counter that the core does not have. Return a function
    of a text, which is called many times, from any thread. `None`: not one of this plugin's.

    ```python
    @hookimpl
    def contextkit_tokenizer(name):
        return count_words if name == "words" else None
    ```
    """


@hookspec(firstresult=True)
def contextkit_check_settings(settings: Mapping[str, Any]) -> Sequence[str] | None:
    """Find problems in the source's own settings, `[sources.NAME]`.

    Called with the keys that are not the core's (`enabled`, `weight`, `priority`, `timeout`,
    `limit`, `min_relevance`, `embedder`, `keep_days`, `keep_records`). Each text begins with the
    key. `None` or empty: no problem.

    ```python
    @hookimpl
    def contextkit_check_settings(settings):
        return [f"{key}: not a setting of weather" for key in settings if key != "station"]
    ```
    """


@hookspec(firstresult=True)
def contextkit_embedder(model: str) -> DenseModel | None:
    """Provide the dense model of this name, `PROVIDER:REST` as in the configuration.

    Called when `embedding.model` or a source's `embedder` names a model that the core does not
    have: once, before its first use, and again after a while if this raises. Any plugin that is on
    may answer. Load large files when the model is used, not here. `None`: not one of this plugin's.

    ```python
    @hookimpl
    def contextkit_embedder(model):
        provider, _, rest = model.partition(":")
        return MyModel(rest) if provider == "mine" else None
    ```
    """


@hookspec
def contextkit_signals(query: str, signals: QuerySignals) -> QuerySignals | None:
    """Add to the signals of a query, such as the kinds of items that matter for it.

    Called once per assembly and query, for every plugin that is on, before any source is asked;
    `signals` are the core's. All results are united, and every source gets them as
    `request.signals`. It runs in the event loop. `None`: nothing to add.

    ```python
    @hookimpl
    def contextkit_signals(query, signals):
        return QuerySignals(kinds=["storm"]) if "wind" in signals.keywords else None
    ```
    """


@hookspec(firstresult=True)
def contextkit_rerank(
    request: ContextRequest, items: Sequence[ContextItem]
) -> Sequence[float] | None:
    """Score the items of all sources together: one number within 0..1 per item.

    Called once per assembly, for the plugins that are on, by name, until one gives scores. `items`
    are the relevant ones of all sources, best first, without duplicates. These scores order them;
    the trace shows them as `rerank`. A source's share of the budget follows its own matches. The
    hook runs in a thread, for `[assemble] rerank_timeout` seconds. `None`: the core's order stays.

    ```python
    @hookimpl
    def contextkit_rerank(request, items):
        return cross_encoder.scores(request.query, [item.own_text for item in items])
    ```
    """


@hookspec
def contextkit_assembled(context: FormattedContext) -> None:
    """Observe a context after it was made, for instance to measure or to log it.

    Called after the context was returned, in a thread of the plugin's own, for every plugin that is
    on, and in the order of the contexts; also for one out of the cache (`context.trace.cache.state`
    is `hit`). It changes no context. A process that ends waits two seconds for its observers.

    ```python
    @hookimpl
    def contextkit_assembled(context):
        tokens_per_context.observe(context.token_count)
    ```
    """


@hookspec
def contextkit_health(kit: Kit) -> Sequence[HealthFinding] | None:
    """Report findings of the plugin about itself, such as a server that does not answer.

    Called by `contextkit doctor`, for every plugin that is on, in a thread, for ten seconds at
    most. Each finding is a line of its report, under the plugin's name; a `problem` makes its exit
    code 1. Change nothing here. `None` or empty: nothing is reported.

    ```python
    @hookimpl
    def contextkit_health(kit):
        if not kit.records("weather").count():
            return [HealthFinding("warning", "no reports are stored", "run `contextkit index`")]
    ```
    """


@hookspec
def contextkit_redact(texts: Sequence[str]) -> Sequence[Sequence[SecretSpan]] | None:
    """Find secrets that the core does not know: per text, the spans of its secrets.

    Called for every plugin that is on, once per batch of texts: before records are stored, and for
    items of all sources that do not come from the store. The core replaces each span by a mark such
    as `[secret: badge]`; of overlapping spans the core's stays. Not called where `redact.enabled`
    is off. For a context it runs in a thread: if it is late, the items are left out. `None`:
    nothing to add.

    ```python
    @hookimpl
    def contextkit_redact(texts):
        return [[SecretSpan(*m.span(), "badge") for m in BADGE.finditer(text)] for text in texts]
    ```
    """
