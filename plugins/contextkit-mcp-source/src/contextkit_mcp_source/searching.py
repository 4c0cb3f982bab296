"""Ask the servers' tools, and search their resources."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, EmbeddedResource, TextContent, TextResourceContents, Tool

from contextkit import ContextItem, ContextRequest
from contextkit.errors import in_words
from contextkit.logs import get_logger
from contextkit.sources import in_order
from contextkit_mcp_source.connections import connections
from contextkit_mcp_source.servers import Server, servers_of

_LISTS = ("results", "items", "documents", "result")
_TEXTS = ("text", "content", "snippet", "description", "summary", "body")
_log = get_logger(__name__)


async def search(request: ContextRequest) -> list[ContextItem]:
    """Return items of all servers and of their resources, in turns, best first.

    Raises the error of a server if no other has an answer.
    """
    servers = servers_of(request.settings)
    asked = [
        connections.start(each, partial(_found, each, request.query), request.answer_seconds)
        for each in servers
    ]
    resources = await _resources(request)
    answers = await asyncio.gather(*map(asyncio.wrap_future, asked), return_exceptions=True)
    found = [answer for answer in answers if isinstance(answer, list)]
    errors = _logged(servers, answers)
    if errors and not resources and not any(found):
        raise errors[0]
    in_turns = chain.from_iterable(zip_longest(resources, *found))
    return in_order([item for item in in_turns if item is not None][: request.limit])


async def _resources(request: ContextRequest) -> list[ContextItem]:
    if request.records is None:
        return []
    hits = await request.records.search(request.query, limit=request.limit)
    return [
        ContextItem(
            "servers",
            hit.record.text,
            hit.relevance,
            {"server": hit.record.fields["server"]},
            id=hit.record.id,
            kind="resource",
            title=hit.record.fields["title"],
            location=hit.record.fields["uri"],
        )
        for hit in hits
    ]


async def _found(server: Server, query: str, client: Client) -> list[ContextItem] | Exception:
    """Call a server's search tool; an error that is none of the connection is returned."""
    tools = (await client.list_tools()).tools
    tool = _search_tool(tools, server.tool)
    if tool is None and server.tool:
        known = ", ".join(each.name for each in tools)
        return LookupError(f"no tool is named {server.tool!r}; the server has: {known}")
    if tool is None:
        return []
    result = await client.call_tool(tool.name, {_argument(tool): query})
    if result.is_error:
        return RuntimeError(f"the tool {tool.name} failed: {_text_of(result)}")
    return _items(server, result)


def _search_tool(tools: Sequence[Tool], wanted: str) -> Tool | None:
    """Return the tool to ask, or None if the server has none."""
    if wanted:
        return next((tool for tool in tools if tool.name == wanted), None)
    return next((tool for tool in tools if "search" in tool.name.lower() and _argument(tool)), None)


def _argument(tool: Tool) -> str:
    """Return the name of the tool's one required text, or of its text `query`."""
    schema: Mapping[str, Any] = tool.input_schema
    texts = [
        str(name)
        for name, of in schema.get("properties", {}).items()
        if isinstance(of, Mapping) and of.get("type") == "string"
    ]
    required = [name for name in texts if name in schema.get("required", ())]
    if len(required) == 1:
        return required[0]
    return "query" if "query" in texts else next(iter(texts), "")


def _items(server: Server, result: CallToolResult) -> list[ContextItem]:
    return [
        ContextItem(
            "servers",
            text,
            1.0,
            {"server": server.name},
            id=f"{server.name}:{about.get('id') or about.get('url') or text[:80]}",
            kind="result",
            title=str(about.get("title") or about.get("name") or "") or None,
            location=str(about.get("url") or about.get("uri") or "") or None,
        )
        for text, about in _results(result)
        if text.strip()
    ]


def _results(result: CallToolResult) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each result's text, and what is known about it."""
    listed = _listed(result.structured_content)
    if listed is None and len(result.content) == 1:
        listed = _listed(_read_json(_text_of(result)))
    for each in listed or ():
        if isinstance(each, str):
            yield each, {}
        elif isinstance(each, Mapping):
            yield _described(each), each
    if listed is None:
        for block in result.content:
            match block:
                case TextContent(text=text):
                    yield text, {}
                case EmbeddedResource(resource=TextResourceContents(uri=uri, text=text)):
                    yield text, {"uri": uri}


def _listed(data: object) -> Sequence[Any] | None:
    """Return the list of results in a tool's data."""
    if isinstance(data, Mapping):
        data = next((data[key] for key in _LISTS if isinstance(data.get(key), list)), None)
    return data if isinstance(data, list) else None


def _described(result: Mapping[str, Any]) -> str:
    title = str(result.get("title") or result.get("name") or "")
    text = next((str(result[key]) for key in _TEXTS if result.get(key)), "")
    return f"{title}\n\n{text}".strip()


def _read_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _text_of(result: CallToolResult) -> str:
    return " ".join(block.text for block in result.content if isinstance(block, TextContent))


def _logged(servers: Sequence[Server], answers: Sequence[object]) -> list[Exception]:
    """Log the servers that failed; return their errors."""
    errors: list[Exception] = []
    for server, answer in zip(servers, answers, strict=True):
        if isinstance(answer, Exception):
            reason = in_words(answer)
            _log.warning("server_failed", server=server.name, reason=reason)
            errors.append(RuntimeError(f"{server.name}: {reason}"))
    return errors
