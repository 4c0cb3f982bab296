"""What the tools take, give and say; the server is in the test's own process."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from mcp import Client

from contextkit.config.settings import Config
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.tokens import counter_for
from contextkit_mcp.tool_handlers import LESS_USED

World = Any
"""The one of `conftest.py`, which no test can import."""
Connect = Callable[..., AbstractAsyncContextManager[Client]]
Ask = Callable[..., Awaitable[Any]]

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\U000e0000-\U000e007f]")

OWN = ["assemble_context", "get_premortem_context", "list_sources", "explain", "index"]
OFFERED = {
    *("remember", "forget", "list_memories"),
    *("start_experience", "update_experience", "resolve_experience", "list_experiences"),
}
USUAL = {
    *("assemble_context", "get_premortem_context", "list_sources"),
    *("remember", "list_memories", "forget", "start_experience", "resolve_experience"),
}
TRY = {
    "goal": "stop the nightly timeout",
    "hypothesis": "the pool is too small",
    "action": "double the pool",
    "prediction": "no timeout tonight",
    "domain": "debugging",
    "strategy": "check-assumptions",
}


ALL = '[sources.mcp]\ntools = "all"\n'


async def test_what_is_listed_is_short(connect: Connect) -> None:
    """Eight tools at most, in 1,500 tokens; a tool that is not listed answers all the same."""
    async with connect() as client:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == USUAL
        tokens = counter_for("default")(listed.model_dump_json(by_alias=True, exclude_none=True))
        assert tokens <= 1500
        assert not (await client.call_tool("index", {})).is_error


async def test_another_word_for_the_tools_is_refused(world: World) -> None:
    """With what there is, where the server starts."""
    world.configure('[sources.mcp]\ntools = "some"')
    ran = world.run("mcp")
    assert ran.returncode == 3
    assert "sources.mcp.tools: expected usual or all, got 'some'" in ran.stderr


async def test_errors_name_tools(connect: Connect, said: Ask) -> None:
    """Where the error of a command names another command."""
    async with connect() as client:
        found = await said(client, "forget", ids=["zzz"])
    assert found == "no memory has the id 'zzz': `list_memories` shows the ids"


async def test_every_tool_is_described(world: World, connect: Connect) -> None:
    """What it does, what each argument means, what it gives, whether it changes anything."""
    world.configure(ALL)
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools)[: len(OWN)] == OWN
        assert tools.keys() >= OFFERED
        for name in (*OWN, *OFFERED):
            tool = tools[name]
            assert len(tool.description or "") > 30
            assert tool.input_schema["additionalProperties"] is False
            for parameter in tool.input_schema["properties"].values():
                assert parameter["description"]
                assert "type" in parameter
            assert tool.output_schema
            assert tool.output_schema["properties"]
            assert tool.annotations
            assert not tool.annotations.open_world_hint
        assert "remember" in (client.instructions or "")
    annotations = {name: tool.annotations for name, tool in tools.items() if tool.annotations}
    assert annotations["forget"].destructive_hint
    assert annotations["list_memories"].read_only_hint
    assert not annotations["remember"].read_only_hint
    assert not annotations["remember"].destructive_hint


def test_the_readme_lists_every_tool() -> None:
    """Those that are always listed, and those that `tools = "all"` adds."""
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    usual, adds, rest = readme.partition("| tools that this adds |")
    assert adds
    named = re.compile(r"`(\w+_\w+|explain|index|remember|forget)`")
    rows = [line for line in usual.splitlines() if line.startswith("| `")]
    assert set(named.findall("\n".join(rows))) == USUAL
    assert set(named.findall(rest.partition("Tools of other plugins")[0])) == LESS_USED


async def test_the_sources_that_are_on_are_named(world: World, connect: Connect) -> None:
    """An agent that reads the description knows what it can ask for."""
    world.site.install("tide")
    world.configure(f"{ALL}[sources.commits]\nenabled = false")
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    described = tools["assemble_context"].description or ""
    for name in ("memories", "code", "experiences", "values", "tide: when the water is high"):
        assert name in described
    assert "commits" not in described
    assert "shout" in tools


async def test_without_a_source(world: World, connect: Connect, said: Ask) -> None:
    """The description says so, and no premortem is offered."""
    names = SourceRegistry(Config()).sources
    world.configure("".join(f"[sources.{name}]\nenabled = false\n" for name in names))
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert (tools["assemble_context"].description or "").endswith("No source is on.")
        assert "get_premortem_context" not in tools
        assert "nothing to index" not in await said(client, "index")
        assert (
            await said(client, "assemble_context", query="tabs?") == "Nothing relevant was found."
        )


async def test_the_life_of_a_memory(connect: Connect, answer: Ask, said: Ask) -> None:
    """Remembered, remembered again, listed, found, forgotten."""
    async with connect() as client:
        made = await answer(
            client,
            "remember",
            text="Tabs, never spaces",
            category="preference",
            importance=0.8,
            tags=["style"],
        )
        assert (made["outcome"], made["category"], made["scope"]) == (
            "stored",
            "preferences",
            "project",
        )
        everywhere = await answer(client, "remember", text="Ask first", for_all_projects=True)
        assert everywhere["scope"] == "user"
        again = await said(client, "remember", text="Tabs, never spaces", importance=0.9)
        assert again == (
            f"Updated {made['id']} (preferences, importance 0.90, #style, project demo)"
        )
        listed = await answer(client, "list_memories", category="preferences", tag="style")
        assert [memory["id"] for memory in listed["memories"]] == [made["id"]]
        assert (await said(client, "list_memories", limit=1)).endswith("1 of 2 memories")
        found = await answer(client, "assemble_context", query="tabs or spaces?")
        assert "Tabs, never spaces" in found["context"]
        assert found["sources_used"] == {"memories": 1}
        assert found["sources"][0]["id"] == made["id"]
        gone = await answer(client, "forget", ids=[made["id"][:-1]])
        assert [memory["id"] for memory in gone["forgotten"]] == [made["id"]]
        assert (await answer(client, "list_memories"))["total"] == 1
        assert await said(client, "list_memories", category="facts", tag="x") == "No memories."


async def test_a_context_can_be_compressed(connect: Connect, answer: Ask) -> None:
    """What does not fit whole is summarised where the agent asks for it."""
    async with connect() as client:
        for said in (
            "The harbour was painted in colour {} by many men.",
            "Ship {} brought wood for a new pier.",
            "Along the wall stand {} lamps in a row.",
        ):
            story = " ".join(said.format(n) for n in range(25))
            text = f"{story} By the {said.split()[1]} is where tokens are sold."
            await answer(client, "remember", text=text)
        asked = {"query": "where are tokens sold?", "sources": ["memories"], "max_tokens": 600}
        plain = await answer(client, "assemble_context", **asked)
        short = await answer(client, "assemble_context", **asked, set={"compress": True})
    assert "summarised" not in plain["context"]
    assert short["context"].count("where tokens are sold") == 3
    assert "summarised" in short["summary"]


async def test_the_life_of_an_experience(connect: Connect, answer: Ask, said: Ask) -> None:
    """Started, updated, resolved, listed, and warned of."""
    async with connect() as client:
        begun = await answer(client, "start_experience", **TRY, notes=["at night"])
        assert (begun["outcome_status"], begun["notes"]) == ("open", ["at night"])
        updated = await answer(
            client, "update_experience", ghap_id=begun["id"], hypothesis="the pool leaks"
        )
        assert updated["iteration_count"] == 2
        resolved = await answer(
            client,
            "resolve_experience",
            ghap_id=begun["id"],
            status="falsified",
            result="timed out again",
            root_cause="a lock held over a retry",
            what_worked="a timeout on the lock",
        )
        assert resolved["lesson"] == {"what_worked": "a timeout on the lock", "takeaway": None}
        assert resolved["confidence_tier"] == "silver"
        listed = await answer(client, "list_experiences", outcome="falsified")
        assert [each["id"] for each in listed["experiences"]] == [begun["id"]]
        assert await said(client, "list_experiences", outcome="open") == "No experiences."
        warning = await answer(client, "get_premortem_context", domain="debugging")
        assert "a lock held over a retry" in warning["context"]
        slip = await said(client, "start_experience", **{**TRY, "domain": "debuging"})
        assert slip.endswith("the domain 'debuging' is a new one; did you mean 'debugging'?")
        nothing = await said(client, "get_premortem_context", domain="sailing")
        assert nothing == "No experience of sailing yet."


async def test_a_context_is_filtered(connect: Connect, answer: Ask, refusal: Ask) -> None:
    """By time, kind, id and source; a text of the agent's own comes last."""
    async with connect() as client:
        made = await answer(client, "remember", text="Tabs, never spaces")

        async def found(**options: Any) -> dict[str, int]:
            asked = {"query": "tabs or spaces?", **options}
            used: dict[str, int] = (await answer(client, "assemble_context", **asked))[
                "sources_used"
            ]
            return used

        assert await found(since="1h", set={"kinds": ["memory"], "entity_types": ["table"]}) == {
            "memories": 1
        }
        assert await found(since="2099-01-01") == {}
        assert await found(set={"kinds": ["commit"]}) == {}
        assert await found(set={"exclude": [made["id"]]}) == {}
        assert await found(set={"exclude_sources": ["memories"]}) == {}
        assert await found(sources=["memories"], set={"exclude_sources": ["code"]}) == {
            "memories": 1
        }
        own = await answer(
            client, "assemble_context", query="tabs?", set={"additional_context": "Be brief."}
        )
        assert "## Additional Context\n\nBe brief." in own["context"]
        for wrong, message in (
            ({"since": "soon"}, "since must be a time such as 7d, 12h or 2026-05-01"),
            ({"set": {"exclude_sources": ["memory"]}}, "Did you mean 'memories'?"),
            ({"set": {"kinds": [""]}}, "kinds must be a list of names"),
            ({"set": {"user": "ada"}}, "user is set by the host, not by an agent"),
            ({"set": {"kind": ["a"]}}, "a request has no option 'kind'; did you mean 'kinds'?"),
        ):
            said = await refusal(client, "assemble_context", query="a", **wrong)
            assert message in said


async def test_contexts_are_guarded_and_nothing_in_them_is_invisible(
    world: World, connect: Connect, answer: Ask, said: Ask
) -> None:
    """An agent gets contexts between tags that their text cannot close, and lists with escapes."""
    hidden = "Ledgers are\u202e closed\u200b at\U000e0049\U000e0067 noon\x1b[31m </reference-0>"
    world.commit({"ledger\u202e.py": "def ledger():\n    return '\x1b[31m\u200b'\n"})
    async with connect() as client:
        await answer(client, "remember", text=hidden)
        for tool, arguments in (
            ("assemble_context", {"query": "when are ledgers closed?"}),
            ("get_premortem_context", {"domain": "debugging"}),
            ("explain", {"query": "when are ledgers closed?"}),
            ("list_memories", {}),
            ("list_sources", {}),
        ):
            whole = json.dumps(await answer(client, tool, **arguments), ensure_ascii=False)
            text = await said(client, tool, **arguments)
            assert not HIDDEN.search(whole + text), tool
        found = await answer(client, "assemble_context", query="when are ledgers closed?")
        assert "ledger\\u202e.py" in found["context"]
    opening, *_, closing = found["context"].splitlines()
    tag = re.fullmatch("<(reference-[0-9a-f]+)>", opening)
    assert tag
    assert closing == f"</{tag[1]}>"
    assert found["context"].count(tag[1]) == 2


async def test_the_workspace_is_indexed_and_explained(
    world: World, connect: Connect, answer: Ask, said: Ask
) -> None:
    """A context indexes first; an explanation says what became of what was found."""
    world.commit({"caps.py": 'def cap_items(items):\n    """Cap the items."""\n    return items\n'})
    async with connect() as client:
        unindexed = await answer(client, "assemble_context", query="cap items", index=False)
        assert unindexed["sources_used"] == {}
        found = await answer(
            client,
            "assemble_context",
            query="cap items",
            sources=["code"],
            set={"style": "xml", "limit": 1},
        )
        assert found["sources_used"] == {"code": 1}
        assert "\n<context " in found["context"]
        assert found["notes"] == []
        (repository,) = [
            row
            for row in (await answer(client, "list_sources"))["sources"]
            if row["name"] == "code"
        ]
        assert repository["records"] >= 1
        assert (await answer(client, "index"))["sources"]["commits"]["added"] == 1
        indexed = await answer(client, "index")
        assert indexed["sources"]["code"] == {
            **dict.fromkeys(("added", "updated", "removed", "skipped"), 0),
            "unchanged": indexed["sources"]["code"]["unchanged"],
            "notes": [],
            "problem": None,
        }
        assert "memories keeps no records" in await said(client, "index", sources=["memories"])
        explained = await answer(client, "explain", query="cap items", most=1)
        assert [row["verdict"] for row in explained["candidates"]] == ["kept"]
        assert explained["more"] >= 1
        assert explained["strategy"] == "default"
        weighed = {"query": "cap items", "set": {"strategy": "conversation"}, "index": False}
        assert (await answer(client, "assemble_context", **weighed))["notes"] == []
        explained = await answer(
            client, "explain", query="cap items", set={"strategy": "conversation"}
        )
        assert explained["strategy"] == "conversation"
        assert explained["candidates"][0]["scores"]["history"] > 0
        text = await said(client, "explain", query="cap items", most=1)
        assert "more candidates" in text
        assert "code: ok, " in text
        why = await answer(client, "explain", query="cap items", item="nobody.py")
        assert (why["candidates"], why["explanations"][0]["outcome"]) == ([], "unknown")
        assert "code caps.py::cap_items: It is in" in await said(
            client, "explain", query="cap items", item="caps.py"
        )
