"""What an agent is told of sources and tools that fail, and of arguments that make no sense."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from mcp import Client, MCPError

World = Any
"""The one of `conftest.py`, which no test can import."""
Connect = Callable[..., AbstractAsyncContextManager[Client]]
Ask = Callable[..., Awaitable[Any]]

ALL = '[sources.mcp]\ntools = "all"\n'
TAKEN_NAME = """
from contextkit import Tool, hookimpl

def index(kit) -> dict[str, int]:
    return {{}}

@hookimpl
def contextkit_tools():
    return [Tool(name="index", description="Not ours.", run=index)]  # {name}{tools}
"""


async def test_sources_are_listed_with_what_ails_them(
    world: World, connect: Connect, answer: Ask, said: Ask
) -> None:
    """Those that are off and broken, tools that are missing, and tools with a name of ours."""
    world.site.install("tide")
    world.site.install("moon", code="raise RuntimeError('no moon')\n# {name}{tools}")
    world.site.install("buoy", tools="[print]")
    world.site.install("dyke", code=TAKEN_NAME)
    world.configure(f"{ALL}[sources.commits]\nenabled = false")
    async with connect() as client:
        listed = await answer(client, "list_sources")
        text = await said(client, "list_sources")
        assert "index" in {tool.name for tool in (await client.list_tools()).tools}
        indexed = (await answer(client, "index"))["sources"].keys()
        assert {"code"} <= indexed
        assert "commits" not in indexed
    states = {row["name"]: (row["state"], row["distribution"]) for row in listed["sources"]}
    assert states["commits"] == ("off", "contextkit-commits")
    assert states["moon"] == ("broken", "moon-tables")
    assert "moon: broken - RuntimeError: no moon" in text
    assert "mcp: on, no source" in text
    missing, left_out = listed["notes"]
    assert missing.startswith("the tools of 'buoy' are missing: tool 'print': ")
    assert left_out == "the tool 'index' of 'dyke' is left out: contextkit has one"
    assert left_out in text


async def test_a_source_that_is_left_alone_is_listed_with_the_reason(
    world: World, connect: Connect, said: Ask, answer: Ask
) -> None:
    """The server remembers who failed too often, and says until when it does not ask them."""
    world.site.install(
        "moon",
        code=(
            "from contextkit import hookimpl\n@hookimpl\ndef contextkit_query(request):\n"
            "    raise RuntimeError('no moon')  # {name}{tools}\n"
        ),
    )
    world.configure("[assemble]\nbreaker_failures = 1\nbreaker_cooldown = 9999")
    async with connect() as client:
        rows = {row["name"]: row for row in (await answer(client, "list_sources"))["sources"]}
        assert (rows["moon"]["left_alone"], rows["code"]["left_alone"]) == (None, None)
        await answer(client, "assemble_context", query="when is full moon?", sources=["moon"])
        rows = {row["name"]: row for row in (await answer(client, "list_sources"))["sources"]}
        left_alone = rows["moon"]["left_alone"]
        assert re.fullmatch(r"skipped for \d+ s: .*no moon", left_alone)
        assert "moon: on, 0 records - skipped for " in await said(client, "list_sources")


async def test_a_source_that_fails_is_told(
    world: World, connect: Connect, said: Ask, answer: Ask
) -> None:
    """The agent reads that its context lacks something."""
    world.site.install(
        "moon",
        code=(
            "from contextkit import hookimpl\n@hookimpl\ndef contextkit_query(request):\n"
            "    raise RuntimeError('no moon')\n"
            "@hookimpl\ndef contextkit_index(indexer):\n    raise RuntimeError('no {name}')\n"
            "# {tools}"
        ),
    )
    async with connect() as client:
        text = await said(client, "assemble_context", query="when is full moon?")
        found = await answer(client, "assemble_context", query="full moon?", sources=["moon"])
        partly = await answer(client, "index", sources=["code", "moon"])
        failed = await client.call_tool("index", {"sources": ["moon"]})
    nothing, missing = text.split("\n\n")
    assert nothing == "Nothing relevant was found."
    assert missing == "Not complete: moon: contextkit_query: RuntimeError: no moon"
    assert found["notes"] == [
        "moon: contextkit_query: RuntimeError: no moon",
        "moon was not indexed: RuntimeError: no moon",
    ]
    assert partly["sources"]["moon"]["problem"] == "RuntimeError: no moon"
    assert failed.is_error


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_bad_arguments_are_said_clearly(
    world: World, connect: Connect, refusal: Ask, mode: str
) -> None:
    """One line: what was wrong, where, and what would be right; the server goes on."""
    world.site.install("tide")
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("assemble_context", {}, "tool 'assemble_context' needs query"),
        ("assemble_context", {"query": " "}, "the query is empty: say what the context is"),
        ("assemble_context", {"query": 5}, "query: expected a text, got 5"),
        ("assemble_context", {"query": "a", "sources": ["memory"]}, "Did you mean 'memories'?"),
        (
            "assemble_context",
            {"query": "a", "sources": "code"},
            "sources must be a list of source names, got",
        ),
        ("assemble_context", {"query": "a", "max_tokens": 0}, "max_tokens must be a whole num"),
        (
            "assemble_context",
            {"query": "a", "set": {"style": "pdf"}},
            "one of markdown, xml, plain, got",
        ),
        (
            "assemble_context",
            {"query": "a", "set": {"strategy": "recnt"}},
            "did you mean 'recent'?",
        ),
        ("assemble_context", {"query": "a", "source": 3}, "did you mean 'sources'?"),
        ("get_premortem_context", {"domain": "two words"}, "one word such as 'debugging'"),
        ("explain", {"query": "a", "most": "all"}, "most: expected a whole number, got 'all'"),
        ("index", {"sources": ["docs"]}, "Invalid source 'docs'"),
        ("remember", {"text": ""}, "a memory must not be empty"),
        ("remember", {"text": "a", "importance": 7}, "importance must be within 0..1, got 7"),
        ("remember", {"text": "a", "tags": ["ok", 5]}, "tags[1]: expected a text, got 5"),
        ("forget", {"ids": []}, "ids is empty: name at least one memory to forget"),
        ("forget", {"ids": ["mem_zzzz"]}, "no memory has the id 'mem_zzzz'"),
        ("list_memories", {"limit": 0}, "limit must be at least 1, got 0"),
        ("list_experiences", {"limit": 0}, "limit must be at least 1, got 0"),
        ("start_experience", {"goal": "a"}, "needs hypothesis, action, prediction, domain, st"),
        ("update_experience", {"ghap_id": "ghap_x", "note": "a"}, "there is no experience"),
        (
            "resolve_experience",
            {"ghap_id": "ghap_x", "status": "done", "result": "a"},
            "status: expected one of confirmed, falsified, abandoned, got 'done'",
        ),
        (
            "resolve_experience",
            {"ghap_id": "ghap_x", "status": "confirmed", "result": "a", "takeaway": "b"},
            "takeaway needs what_worked",
        ),
        ("sink", {}, "the boat has sunk"),
        ("crash", {}, "source 'tide' failed in contextkit_tools: tool 'crash': RuntimeError: no"),
    ]
    async with connect(mode=mode) as client:
        for tool, arguments, message in wrong:
            assert message in await refusal(client, tool, **arguments)
        with pytest.raises(MCPError, match="there is no tool 'remembr'; did you mean 'remember'"):
            await client.call_tool("remembr", {})
        with pytest.raises(MCPError, match="there is no tool 'xyz'; there is: assemble_context,"):
            await client.call_tool("xyz", {})
