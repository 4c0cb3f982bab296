"""The hooks that a plugin may implement, and nothing else.

A plugin is a module or an object whose functions carry `hookimpl`, named in the
entry-point group `contextkit`; the entry point's name is the source's name:

```toml
[project.entry-points.contextkit]
weather = "my_weather"
```

A source hook is called once per source and batch, never per item. A hook that returns
`None` leaves the answer to the default. What a hook raises costs that source alone. A
function is named like its hook, and only `contextkit_query` may be `async`. Time is limited
for that one and for `contextkit_compress`; those that weigh, format, shorten, give keys or
signals run in the event loop, where everybody waits for them: look nothing up there.

A plugin without `contextkit_query` is no source: its own hooks answer for no source, but
with `hookimpl(wrapper=True)` they wrap those of every source, to redact or to trace.
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

    Called once for each section that asks the source, at the same time as the other
    sources. A plain function runs in a thread, an `async def` in the event loop; either
    is given up on after `request.source_timeout` seconds. A source that fails too often is
    skipped for a while; an `InvalidRequestError`, for a filter that makes no sense to it,
    does not count.

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
    """Give each item the text that is shown, in the same order and of the same length.

    Called once per source with everything that survived deduplication. `detail` is `full`,
    `summary` (without what is long and can be looked up) or `compact` (one line an item).
    `None`: each item's `content` is shown, escaped as the style needs, and for `compact` on
    one line.

    ```python
    @hookimpl
    def contextkit_format(items, style):
        return [f"**Weather**: {item.content}" for item in items]
    ```
    """


@hookspec(firstresult=True)
def contextkit_weight(request: ContextRequest) -> float | None:
    """The source's weight in the token budget, over 0. `None`: that of its `SourceInfo`.

    Called once for each section that asks the source, with the request as
    `contextkit_query` got it. Configuration (`[sources.NAME] weight`) and the host beat it.

    ```python
    @hookimpl
    def contextkit_weight(request):
        return 2.0
    ```
    """


@hookspec(firstresult=True)
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> Sequence[Sequence[str]] | None:
    """Per item the keys that name the same thing in any source, such as `ghap:…` or `sha:…`.

    Called once per assembly, with all the relevant items of the source. Items of different
    sources that share a key are duplicates, and so are items of one source that share an id.
    `None`: no keys beyond the item's own id. `SourceInfo.dedup_key` does for most sources.

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

    Called only for an item that does not fit, with its text in that style in
    `item.content`; `count` gives a text's tokens, and `query` is what was asked. Not called
    for the one line of `compact`. A result that is still too long is not used. Return an
    `Excerpt` where what is left out does not break what is shown, such as a function's
    signature with the statements that match: the trace then tells it from a cut text;
    `contextkit.text.passages.excerpt` makes one of prose. `None`: the default, which keeps the
    sentences that match the query, with `...` where some are left out, else the beginning; it
    cuts no fence, table or element.

    ```python
    @hookimpl
    def contextkit_truncate(item, style, max_tokens, count):
        headline = item.content.splitlines()[0]
        return headline if count(headline) <= max_tokens else None
    ```
    """


@hookspec(firstresult=True)
def contextkit_compress(
    query: str,
    items: Sequence[ContextItem],
    targets: Sequence[int],
    count: Callable[[str], int],
) -> Sequence[str | None] | None:
    """Summarise items, each within so many tokens: per item a text, or None to leave it.

    Called only where `compress` is on and not everything fits whole: for a source with its own
    items, then, for a plugin that is no source, with every item that still has no summary.
    `item.content` is the text to summarise, as it was formatted (redacted, too);
    `item.must_keep` are texts that stay word for word; `count` gives a text's tokens. It runs
    in a thread and may be slow: `[assemble] compress_timeout` is for all of them together. An
    answer that is empty, too long, or lacks what must stay is not used. `None`: the next one
    is asked, and at last the default, which picks sentences.

    ```python
    @hookimpl
    def contextkit_compress(query, items, targets):
        return model.summaries(query, [item.content for item in items], targets)
    ```
    """


@hookspec(firstresult=True)
def contextkit_source() -> SourceInfo | None:
    """What the source says of itself: title, description, priority. `None`: from its name.

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

    Called by `contextkit index`, and by `contextkit assemble` before it assembles. An
    unchanged workspace must cost next to nothing: keep in `indexer.state` what tells, or let
    `contextkit.indexing` do that for files.

    ```python
    @hookimpl
    def contextkit_index(indexer):
        indexer.records.put([Record(id="berlin", text="Berlin: rain")])
        return IndexReport(added=1)
    ```
    """


@hookspec
def contextkit_recipes() -> Sequence[RecipeTemplate] | None:
    """Recipes that the plugin offers beside `context`. `None`: none.

    Called when a host asks for a recipe by name. Two plugins may not offer one name.

    ```python
    @hookimpl
    def contextkit_recipes():
        return [RecipeTemplate(name="outlook", description="tomorrow", build=build_outlook)]
    ```
    """


@hookspec
def contextkit_tools() -> Sequence[Tool] | None:
    """What an agent can do with this source, beyond asking for context. `None`: nothing.

    Called when an agent's host lists the tools or calls one. Two plugins may not offer one
    name. `Tool` says how its parameters and its result are described. `SourceInfo.tools`
    does without this hook.

    ```python
    @hookimpl
    def contextkit_tools():
        def count_reports(kit) -> dict[str, int]:
            return {"reports": kit.records("weather").count()}

        what = "How many weather reports there are."
        return [Tool(name="count_reports", description=what, run=count_reports, read_only=True)]
    ```
    """


@hookspec
def contextkit_commands(cli: click.Group) -> None:
    """Add commands to the `contextkit` command line.

    Called when the command line starts: import what a command needs inside it, or name it in
    `SourceInfo.commands`.

    ```python
    @hookimpl
    def contextkit_commands(cli):
        cli.add_command(weather)
    ```
    """


@hookspec(firstresult=True)
def contextkit_tokenizer(name: str) -> Callable[[str], int] | None:
    """Count tokens exactly, for a tokenizer or a model of that name; any plugin may.

    Called when a request names in `tokens` what the core does not know. The result takes a
    text and gives its tokens; it is called many times, from any thread. `None`: not one
    of this plugin's.

    ```python
    @hookimpl
    def contextkit_tokenizer(name):
        return count_words if name == "words" else None
    ```
    """


@hookspec(firstresult=True)
def contextkit_check_settings(settings: Mapping[str, Any]) -> Sequence[str] | None:
    """Say what is wrong with the source's own settings, `[sources.NAME]`.

    Called with the keys that are not the core's (`enabled`, `weight`, `priority`,
    `timeout`, `limit`, `min_relevance`, `embedder`, `keep_days`, `keep_records`). Each text
    begins with the key. `None` or empty: nothing is. Without this hook they are checked by
    `SourceInfo.settings`.

    ```python
    @hookimpl
    def contextkit_check_settings(settings):
        return [f"{key}: not a setting of weather" for key in settings if key != "station"]
    ```
    """


@hookspec(firstresult=True)
def contextkit_embedder(model: str) -> DenseModel | None:
    """The dense model of that name, `PROVIDER:REST` as it stands in the configuration.

    Called when `embedding.model` or a source's `embedder` names what the core does not
    have: once, before the model's first use, and again after a while where this raises. Any
    plugin that is on may answer. Load what is large when the model is used, not here.
    `None`: not one of this plugin's.

    ```python
    @hookimpl
    def contextkit_embedder(model):
        provider, _, rest = model.partition(":")
        return MyModel(rest) if provider == "mine" else None
    ```
    """


@hookspec
def contextkit_agent_event(event: Mapping[str, Any], kit: Kit) -> None:
    """Hear of what a coding agent's hook reports: a prompt, a tool that was used, an end.

    Called after the event was answered, in a detached process, for every
    plugin that is on; not where hooks are off, for all or for this session. `event` is what
    the agent wrote, in the fields of Claude Code (`hook_event_name`, `session_id`, `cwd`,
    `prompt`, `tool_name`, `tool_input`, `tool_response`, …), its long texts cut. It may
    hold secrets. What a listener raises is noted in `hooks/hooks.log`, and costs nothing else.

    ```python
    @hookimpl
    def contextkit_agent_event(event, kit):
        if event["hook_event_name"] == "UserPromptSubmit":
            kit.records("weather").put([Record(id=event["session_id"], text=event["prompt"])])
    ```
    """


@hookspec
def contextkit_signals(query: str, signals: QuerySignals) -> QuerySignals | None:
    """Say what else a query says of itself, such as the kinds of items that matter for it.

    Called once per assembly and query, for every plugin that is on, before any source is
    asked; `signals` is what the core found. All results are united, and every source gets
    them as `request.signals`. It runs in the event loop: look nothing up. `None`: nothing
    to add.

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
    """Score the items of all sources together: per item a number within 0..1, in their order.

    Called once per assembly, for the plugins that are on, by name, until one gives scores.
    `items` are those of all sources, best first, after deduplication and without what is below
    the relevance floor. Items are then ordered by these scores, and the trace shows each as
    `rerank`; the budget of a source still follows its own matches. The hook runs in a thread
    and may take `[assemble] rerank_timeout` seconds. A late or bad answer is logged, and the
    order stays. `None`: the order by the core's scores stays.

    ```python
    @hookimpl
    def contextkit_rerank(request, items):
        return cross_encoder.scores(request.query, [item.own_text for item in items])
    ```
    """


@hookspec
def contextkit_assembled(context: FormattedContext) -> None:
    """Observe a context after it was made, for instance to measure or to log it.

    Called after the context was returned, in a thread of the plugin's own, for every plugin
    that is on, and in the order of the contexts; also for one out of the cache, whose
    `context.trace.cache.state` is `hit`. The hook delays and changes no context. A failure is
    logged with the plugin's name. A process that ends waits two seconds for its observers.

    ```python
    @hookimpl
    def contextkit_assembled(context):
        tokens_per_context.observe(context.token_count)
    ```
    """


@hookspec
def contextkit_health(kit: Kit) -> Sequence[HealthFinding] | None:
    """Report findings of the plugin about itself, such as a server that does not answer.

    Called by `contextkit doctor`, for every plugin that is on, in a thread that may take ten
    seconds. Each finding is a line of its report, under the plugin's name; a `problem` makes
    its exit code 1. Change nothing here. `None` or empty: nothing is reported.

    ```python
    @hookimpl
    def contextkit_health(kit):
        if kit.records("weather").count():
            return [HealthFinding("ok", "reports are stored")]
        return [HealthFinding("warning", "no reports are stored", "run `contextkit index`")]
    ```
    """


@hookspec
def contextkit_redact(texts: Sequence[str]) -> Sequence[Sequence[SecretSpan]] | None:
    """Find secrets that the core does not know: per text the parts that are some.

    Called for every plugin that is on, once per batch of texts: before records are stored, and
    for items that do not come from the store. The core replaces each part by a mark such as
    `[secret: staff badge]`; of overlapping parts the core's stays. Not called where
    `redact.enabled` is off. `None`: nothing to add.

    ```python
    @hookimpl
    def contextkit_redact(texts):
        def badges(text):
            return [SecretSpan(*found.span(), "staff badge") for found in BADGE.finditer(text)]

        return [badges(text) for text in texts]
    ```
    """
