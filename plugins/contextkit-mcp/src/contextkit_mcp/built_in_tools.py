"""Tools of every server.

They cover contexts, premortems, sources, explanations and indexing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, cast

from contextkit import ContextKit
from contextkit.agent import OfferedTool, check_excluded, index_for, offer_tool, offered_recipes
from contextkit.concurrency import in_thread
from contextkit.errors import ContextKitError, PluginError
from contextkit.indexing import IndexOutcome
from contextkit.models import FormattedContext, IndexReport, RequestOptions, Tool, ToolResult
from contextkit_mcp.request_parameters import request_parameters
from contextkit_mcp.tool_types import (
    Asked,
    Candidate,
    Context,
    Explained,
    Indexed,
    IndexedSources,
    Overview,
    Report,
    Source,
)

OWNER = "mcp"
"""The plugin that offers these tools."""

_ANSWERED = {"ok", "empty", "below_floor"}
_PREMORTEM = "premortem"
_SKIPPED_SHOWN = 5


def shows_all(kit: ContextKit) -> bool:
    """Return whether `[sources.mcp] tools` is `all`.

    Raises `ConfigError` for an invalid value.
    """
    chosen = kit.registry.settings(OWNER).get("tools", "usual")
    if chosen not in {"usual", "all"}:
        raise kit.config.refusal(f"sources.{OWNER}.tools", f"expected usual or all, got {chosen!r}")
    return bool(chosen == "all")


def built_in_tools(
    kit: ContextKit, notes: Sequence[str] = (), *, in_full: bool = False
) -> Iterator[OfferedTool]:
    """Yield the built-in tools, described for a kit's sources.

    Args:
        kit: the kit whose sources the descriptions name.
        notes: further notes of `list_sources`, read when it is called.
        in_full: whether the descriptions include what each source knows.
    """
    names = kit.registry.sources
    if in_full:
        named = "; ".join(f"{name}: {_described(kit, name)}" for name in names)
    else:
        named = ", ".join(names)
    asked = f"Sources: {named}." if named else "No source is on."
    yield _offered(
        "assemble_context",
        "Get what is known about a question from all sources, ranked, within a token budget. Call "
        f"it before you begin to work on something. {asked}",
        _assemble_context,
    )
    if _has_premortem(kit):
        yield _offered(
            "get_premortem_context",
            "Get warnings from past experiences before you begin with a kind of work.",
            _get_premortem_context,
        )

    def list_sources(kit: ContextKit) -> ToolResult[Overview]:
        return _list_sources(kit, list(notes))

    yield _offered("list_sources", "List the sources of context and their state.", list_sources)
    yield _offered(
        "explain",
        "Show why a context is as it is: what each source gave, and which candidates got in; or "
        "why one item did or did not.",
        _explain,
    )
    yield _offered(
        "index",
        "Update the records of the workspace: its code and history. assemble_context does this by "
        "itself; call it after large changes.",
        _index,
        read_only=False,
    )


def _offered(
    name: str, description: str, run: Callable[..., Any], *, read_only: bool = True
) -> OfferedTool:
    tool = Tool(name=name, description=description, run=run, read_only=read_only)
    return offer_tool(OWNER, tool)


def _has_premortem(kit: ContextKit) -> bool:
    try:
        return _PREMORTEM in offered_recipes(kit.registry)
    except PluginError:
        # The error tells the tool's caller which plugins conflict.
        return True


def _described(kit: ContextKit, name: str) -> str:
    info = kit.registry.info(name)
    return info.description or info.title


# -- contexts -------------------------------------------------------------------------------


@request_parameters("sources", "max_tokens", "since")
async def _assemble_context(
    kit: ContextKit,
    query: Annotated[str, "What you are about to do or want to know."],
    progress: Report,
    options: RequestOptions,
    index: Annotated[bool, "Look for changes in the workspace first."] = True,
) -> ToolResult[Context]:
    asked = _asked_sources(kit, options.pop("sources", None), options.pop("exclude_sources", None))
    indexed = await in_thread(lambda: index_for(kit, query, asked, progress)) if index else {}
    options["guard"] = True
    context = await kit.assemble_context(query, asked, **options)
    return _as_result(context, "Nothing relevant was found.", list(_notes_of(indexed)))


def _asked_sources(
    kit: ContextKit, sources: Sequence[str] | None, excluded: Collection[str] | None
) -> list[str] | None:
    """Return the sources to index and query.

    None for the configured ones.
    """
    for name in sources or ():
        kit.registry.require(name)
    excluded = excluded or kit.config.assemble.exclude_sources if sources is None else excluded
    if not excluded:
        return None if sources is None else list(sources)
    check_excluded(kit.registry, excluded)
    named = sources or kit.config.assemble.sources or kit.registry.sources
    return [name for name in named if name not in excluded]


@request_parameters("max_tokens", others=False)
async def _get_premortem_context(
    kit: ContextKit,
    domain: Annotated[str, "The kind of work, in one word, such as debugging."],
    options: RequestOptions,
    strategy: Annotated[str | None, "How you want to go about it, in one word."] = None,
) -> ToolResult[Context]:
    options["guard"] = True
    arguments = {"domain": domain, "strategy": strategy}
    context = await kit.assemble_recipe("premortem", arguments, **options)
    return _as_result(context, f"No experience of {domain} yet.", [])


def _as_result(context: FormattedContext, nothing: str, notes: list[str]) -> ToolResult[Context]:
    whole = context.as_dict()
    failed = [
        f"{source.section}: {source.reason}"
        for source in context.trace.sources
        if source.state not in _ANSWERED
    ]
    data = {
        "context": context.markdown,
        **{key: whole[key] for key in ("token_count", "sources_used", "sources")},
        **{key: whole[key] for key in ("truncated", "summary")},
        "notes": [*failed, *context.trace.notes, *notes],
    }
    missing = [f"Not complete: {problem}" for problem in failed]
    text = "\n\n".join([context.markdown or nothing, *missing])
    return ToolResult(cast("Context", data), text)


def _notes_of(outcomes: Mapping[str, IndexOutcome]) -> Iterator[str]:
    for source, outcome in outcomes.items():
        if outcome.problem:
            yield f"{source} was not indexed: {outcome.problem}"
        for note in outcome.report.notes if outcome.report else ():
            yield f"{source}: {note}"


# -- sources --------------------------------------------------------------------------------


def _list_sources(kit: ContextKit, notes: list[str]) -> ToolResult[Overview]:
    rows = [source.as_dict() for source in kit.sources()]
    data: Overview = {
        "workspace": str(kit.workspace.root),
        "sources": cast("list[Source]", rows),
        "notes": notes,
    }
    return ToolResult(data, "\n".join([*map(_source_line, rows), *notes]))


def _source_line(row: Mapping[str, Any]) -> str:
    count = "" if row["records"] is None else f", {row['records']} records"
    about = row["reason"] or row["left_alone"] or row["description"] or ""
    what = "" if row["source"] is not False else ", no source"
    return f"{row['name']}: {row['state']}{what}{count}{f' - {about}' if about else ''}"


# -- explanations ---------------------------------------------------------------------------


@request_parameters("sources", "max_tokens")
async def _explain(
    kit: ContextKit,
    query: Annotated[str, "The query whose context is explained."],
    options: RequestOptions,
    item: Annotated[str | None, "Only this item: its id, title or location."] = None,
    most: Annotated[int, "Candidates to list, at most."] = 20,
) -> ToolResult[Explained]:
    options["guard"] = True
    options["record_use"] = False
    context = await kit.assemble_context(query, **options)
    trace = context.as_dict()["trace"]
    listed = [] if item is not None else trace["items"][: max(most, 0)]
    found = [] if item is None else await kit.explain_item(item, query, **options)
    data: Explained = {
        "token_count": context.token_count,
        "max_tokens": trace["max_tokens"],
        "strategy": trace["strategy"]["name"],
        "sources": [_picked(row, Asked) for row in trace["sources"]],
        "candidates": [_picked(row, Candidate) for row in listed],
        "more": len(trace["items"]) - len(listed),
        "explanations": [
            {"outcome": each.outcome, "words": each.words, "source": each.source, "id": each.id}
            for each in found
        ],
        "notes": trace["notes"],
    }
    return ToolResult(data, "\n".join(_explained_lines(data)))


def _picked(row: Mapping[str, Any], kind: Any) -> Any:
    return {key: row[key] for key in kind.__annotations__}


def _explained_lines(data: Explained) -> Iterator[str]:
    for explanation in data["explanations"]:
        whose = f"{explanation['source']} {explanation['id']}: " if explanation["id"] else ""
        yield f"{whose}{explanation['words']}"
    if data["explanations"]:
        return
    yield f"{data['token_count']} of {data['max_tokens']} tokens used"
    for source in data["sources"]:
        why = f" ({source['reason']})" if source["reason"] else ""
        yield (
            f"{source['source']}: {source['state']}{why}, {source['candidates']} candidates, "
            f"{source['used']} of {source['share']} tokens"
        )
    for row in data["candidates"]:
        became = row["verdict"].replace("_", " ")
        where = row["location"] or row["id"]
        yield f"{row['scores']['score']:.3f} {row['source']} {where}: {became}, {row['reason']}"
    if data["more"]:
        yield f"and {data['more']} more candidates"
    yield from data["notes"]


# -- indexing -------------------------------------------------------------------------------


def _index(
    kit: ContextKit,
    progress: Report,
    sources: Annotated[list[str] | None, "Sources; default: all that read the workspace."] = None,
) -> ToolResult[IndexedSources]:
    outcomes = kit.index(sources, progress=progress)
    problems = [f"{name}: {o.problem}" for name, o in outcomes.items() if o.problem]
    if problems and len(problems) == len(outcomes):
        raise ContextKitError(f"not indexed: {'; '.join(problems)}")
    data: IndexedSources = {
        "sources": {name: _indexed(outcome) for name, outcome in outcomes.items()}
    }
    lines = [line for name, outcome in outcomes.items() for line in _index_lines(name, outcome)]
    lines += [
        f"{name} keeps no records of the workspace: there is nothing to index"
        for name in sources or ()
        if name not in outcomes
    ]
    return ToolResult(data, "\n".join(lines) or "No source that is on has anything to index.")


def _indexed(outcome: IndexOutcome) -> Indexed:
    report = outcome.report or IndexReport()
    return {
        "added": report.added,
        "updated": report.updated,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "skipped": len(report.skipped),
        "notes": list(report.notes),
        "problem": outcome.problem,
    }


def _index_lines(name: str, outcome: IndexOutcome) -> Sequence[str]:
    report = outcome.report
    if report is None:
        return [f"{name}: not indexed: {outcome.problem}"]
    lines = [
        f"{name}: {report.added} added, {report.updated} updated, {report.removed} removed, "
        f"{report.unchanged} unchanged",
        *(f"  {note}" for note in report.notes),
        *(f"  skipped {what!r}: {why}" for what, why in report.skipped[:_SKIPPED_SHOWN]),
    ]
    more = len(report.skipped) - _SKIPPED_SHOWN
    return [*lines, f"  and {more} more skipped"] if more > 0 else lines
