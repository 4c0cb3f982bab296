"""The tools of the source, called as an agent's host calls them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import contextkit_memories
from contextkit import ContextKit, InvalidRequestError
from contextkit.agent.tools import offered_tools
from contextkit.testing import ToolCaller, open_kit
from contextkit_memories import (
    InvalidMemoryError,
    MemoryBook,
    SecretInMemoryError,
    UnknownMemoryError,
)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with this source and no other."""
    with open_kit(tmp_path, {"memories": contextkit_memories}) as opened:
        yield opened


@pytest.fixture
def call(kit: ContextKit) -> ToolCaller:
    """Calls a tool by its name."""
    return ToolCaller(kit)


def test_what_is_offered(kit: ContextKit) -> None:
    """Three tools; only one of them deletes, and one only reads."""
    offered = offered_tools(kit.registry)
    assert list(offered) == ["forget", "list_memories", "remember"]
    assert [name for name, offer in offered.items() if offer.tool.destructive] == ["forget"]
    assert [name for name, offer in offered.items() if offer.tool.read_only] == ["list_memories"]
    assert offered["remember"].input_schema["required"] == ["text"]


async def test_what_is_remembered_is_in_the_book(kit: ContextKit, call: ToolCaller) -> None:
    """The tools and `MemoryBook` are two ways to the same records."""
    made = (
        await call("remember", text="Tabs", category="preference", tags=["C"], sequence="monday")
    ).data
    told = [made.pop(name) for name in ("outcome", "looks_secret", "near")]
    assert told == ["stored", [], []]
    book = MemoryBook(kit.records("memories"))
    assert book.get(made["id"]).as_dict() == made
    assert (made["category"], made["sequence"], made["position"]) == ("preferences", "monday", 0)
    shared = await call("remember", text="Ask first", for_all_projects=True)
    assert shared.text.endswith("(facts, importance 0.50, all your projects)")
    listed = await call("list_memories", limit=1)
    assert (len(listed.data["memories"]), listed.data["total"]) == (1, 2)
    assert listed.text.splitlines()[1] == "1 of 2 memories"
    assert (await call("list_memories", tag="c")).data["memories"] == [made]
    gone = await call("forget", ids=[made["id"], shared.data["id"]])
    assert gone.text.splitlines() == [
        f"Forgot {made['id']}: Tabs",
        f"Forgot {shared.data['id']}: Ask first",
    ]
    assert (await call("list_memories")).text == "No memories."


async def test_what_is_wrong_is_said(call: ToolCaller) -> None:
    """The book's own errors, and one for nothing to forget."""
    with pytest.raises(InvalidMemoryError, match="importance must be within"):
        await call("remember", text="a", importance=2)
    with pytest.raises(UnknownMemoryError, match="no memory has the id 'mem_x'"):
        await call("forget", ids=["mem_x"])
    with pytest.raises(InvalidRequestError, match="ids is empty"):
        await call("forget", ids=[])
    with pytest.raises(InvalidRequestError, match="limit must be at least 1"):
        await call("list_memories", limit=0)


async def test_a_secret_is_refused_unless_it_is_meant(kit: ContextKit, call: ToolCaller) -> None:
    """An agent is told what to do instead; the user's word has it stored, with a warning."""
    token = "ghp_" + "a1B2" * 9
    text = f"Deploy so:\npush with {token}"
    what = "a GitHub token (line 2, from character 11)"
    with pytest.raises(SecretInMemoryError) as refused:
        await call("remember", text=text)
    assert refused.value.found == [what]
    assert str(refused.value).startswith(f"the text seems to contain {what}, and later contexts")
    assert "say keep_secret=true if the user wants it" in str(refused.value)
    assert token not in str(refused.value)
    assert MemoryBook(kit.records("memories")).count() == 0

    kept = await call("remember", text=text, keep_secret=True)
    assert (kept.data["text"], kept.data["looks_secret"]) == (text, [what])
    warning = kept.text.splitlines()[1]
    assert warning.startswith(f"{kept.data['id']} seems to contain {what}: later contexts")
    assert warning.endswith(f"to forget it: the tool forget, with {kept.data['id']}")
