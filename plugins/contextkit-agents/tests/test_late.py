"""A slow machine delays a part of an answer, and the log says so."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from contextkit import ContextItem, ContextKit, ContextRequest, hookimpl
from contextkit.agent.answer import answer_event, answer_later
from contextkit.agent.events import HookEvent
from contextkit.agent.sessions import read_session
from contextkit.agent.shown import hide_shown

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import World

Until = Callable[[Callable[[], bool], str], None]

pytestmark = pytest.mark.one_python

WITH = {"CONTEXTKIT_HOOKS_RESIDENT": "yes"}
SLOW = """
import time
from pathlib import Path
from contextkit import ContextItem, hookimpl

FLAG = Path({flag!r})

@hookimpl
def contextkit_source():
    while FLAG.with_suffix(".loading").exists():
        time.sleep(0.05)

@hookimpl
def contextkit_query(request):
    while FLAG.exists():
        time.sleep(0.05)
    return [ContextItem("slow", "high water is at noon today", 1.0, id="noon")]
"""


@pytest.fixture
def flag(world: World) -> Path:
    """Makes the source `slow` of the world slow for as long as it exists."""
    file = world.folder / "flag"
    world.install("slow", SLOW.format(flag=str(file)))
    file.touch()
    return file


def missing(world: World) -> list[tuple[str, dict[str, str]]]:
    """The sources that the log names as missing, for each answer."""
    lines = [line for line in world.journal() if line["event"] == "sources_missing"]
    return [(line["got"], line["sources"]) for line in lines]


@contextlib.contextmanager
def resident(world: World, until: Until, flag: Path) -> Iterator[None]:
    """A resident process that is ready, as its first context was not slow."""
    flag.unlink()
    world.hook(world.event("SessionStart", "warm"), **WITH)
    until(world.is_ready, "a resident process")
    flag.touch()
    yield
    world.contextkit("serve", "--stop")


@pytest.mark.parametrize("way", ["cold", "resident"])
def test_a_late_source_is_missing_alone(world: World, until: Until, flag: Path, way: str) -> None:
    """The agent gets what was found in time, and the log names the source."""
    limit = {"CONTEXTKIT_HOOKS_TIMEOUT": "8"}
    with resident(world, until, flag) if way == "resident" else contextlib.nullcontext():
        told = world.hook(world.prompt(), **limit, **(WITH if way == "resident" else {}))
        # The background server ends once its answers are there.
        flag.unlink()
    assert "four spaces" in told, world.journal()
    assert missing(world) == [("less", {"slow": "late"})]


def test_the_next_event_brings_an_answer_that_was_late(
    world: World, until: Until, flag: Path
) -> None:
    """Here the tool call that follows the prompt; the log says that the prompt got nothing."""
    only = {"CONTEXTKIT_HOOKS_SOURCES": "slow", "CONTEXTKIT_HOOKS_TIMEOUT": "6", **WITH}
    with resident(world, until, flag):
        assert world.hook(world.prompt("when is high water?"), **only) == ""
        assert missing(world) == [("nothing", {"slow": "late"})]
        flag.unlink()
        read = world.event("PostToolUse", tool_name="Read", tool_input={"file_path": "a"})
        until(lambda: "high water is at noon" in world.hook(read, **only), "the answer")
        assert world.hook(read, **only) == ""


def test_a_process_that_was_late_leaves_its_answer(world: World, until: Until, flag: Path) -> None:
    """Without a resident process, another one makes it, for the next prompt of any kind."""
    loading = flag.with_suffix(".loading")
    loading.touch()
    flag.unlink()
    limit = {"CONTEXTKIT_HOOKS_TIMEOUT": "3"}
    assert world.hook(world.prompt("when is high water?"), **limit) == ""
    assert [line["event"] for line in world.journal()] == ["hook_late"]
    loading.unlink()
    again = world.prompt("go on")
    until(lambda: "high water is at noon" in world.hook(again), "the answer")
    assert world.hook(again) == ""


class Tides:
    """A source with an item for each question."""

    @hookimpl
    def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        """Answer with the question."""
        return [ContextItem("tides", f"{request.query} at noon", 1.0, id=request.query)]


@pytest.fixture
def kit(tmp_path: Path) -> ContextKit:
    """A workspace with one source."""
    made = ContextKit.open(tmp_path, entry_points=False)
    made.register(Tides(), "tides")
    hide_shown(made)
    return made


def event(name: str = "UserPromptSubmit", prompt: str = "", **more: Any) -> HookEvent:
    """An event of one session."""
    return HookEvent(name=name, session="s", folder=".", prompt=prompt, **more)


def told(kit: ContextKit, what: HookEvent) -> list[str]:
    """The ids of the items that an event gets."""
    found = answer_event(kit, what, time.monotonic() + 30.0)
    return [item["id"] for item in found.get("items", ())]


def test_a_new_prompt_replaces_a_late_answer(kit: ContextKit) -> None:
    """The answer to what the user asked before would not fit."""
    first, second = event(prompt="high water today"), event(prompt="low water today")
    answer_later(kit, first)
    assert read_session("s").waiting is not None
    assert told(kit, second) == ["low water today"]
    assert told(kit, event("PostToolUse")) == []
    # It was not shown.
    assert told(kit, first) == ["high water today"]


def test_what_is_not_searched_for_gets_a_late_answer(kit: ContextKit) -> None:
    """`Go on` asks for nothing new."""
    first = event(prompt="high water today")
    answer_later(kit, first)
    assert told(kit, event(prompt="go on")) == ["high water today"]
    assert told(kit, first) == []


def test_a_late_answer_ends_with_what_the_agent_knew(kit: ContextKit) -> None:
    """After `/clear` the session starts anew."""
    answer_later(kit, event(prompt="high water today"))
    assert told(kit, event("SessionStart", forgot=True)) == []
    assert told(kit, event("PostToolUse")) == []


def test_a_busy_store_delays_its_own_sources_alone(world: World, flag: Path) -> None:
    """Sources that need no store answer while another process keeps it."""
    flag.unlink()
    with FileLock(world.home / "store" / "shard.lock"):
        found = world.hook(world.prompt("when is high water?"), CONTEXTKIT_HOOKS_TIMEOUT="15")
    assert "high water is at noon" in found
    ((got, sources),) = missing(world)
    assert got == "less"
    assert sources["memories"] == "failed"
