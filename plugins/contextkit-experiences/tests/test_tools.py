"""The tools of the source, called as an agent's host calls them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import contextkit_experiences
from contextkit import ContextKit, InvalidRequestError
from contextkit.agent.tools import offered_tools
from contextkit.testing import ToolCaller, open_kit
from contextkit_experiences.book import ExperienceBook
from contextkit_experiences.errors import ExperienceStateError, UnknownExperienceError
from contextkit_experiences.serialising import to_json

TRY = {
    "goal": "stop the nightly timeout",
    "hypothesis": "the pool is too small",
    "action": "double the pool",
    "prediction": "no timeout tonight",
    "domain": "debugging",
    "strategy": "check-assumptions",
}


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with this source and no other."""
    with open_kit(tmp_path, {"experiences": contextkit_experiences}) as opened:
        yield opened


@pytest.fixture
def call(kit: ContextKit) -> ToolCaller:
    """Calls a tool by its name."""
    return ToolCaller(kit)


def test_what_is_offered(kit: ContextKit) -> None:
    """Four tools, of which one only reads; how one ends is a choice of three."""
    offered = offered_tools(kit.registry)
    assert list(offered) == [
        "list_experiences",
        "resolve_experience",
        "start_experience",
        "update_experience",
    ]
    assert [n for n, offer in offered.items() if offer.tool.read_only] == ["list_experiences"]
    status = offered["resolve_experience"].input_schema["properties"]["status"]
    assert status["enum"] == ["confirmed", "falsified", "abandoned"]


async def test_the_tools_and_the_book_see_the_same(kit: ContextKit, call: ToolCaller) -> None:
    """Started, updated, resolved and listed as `ExperienceBook` does it."""
    begun = await call("start_experience", **TRY, notes=["at night"])
    ghap_id = begun.data["id"]
    assert begun.text.startswith(f"started {ghap_id}  open  debugging | check-assumptions")
    noted = await call("update_experience", ghap_id=ghap_id, note="again")
    assert (noted.data["notes"], noted.data["iteration_count"]) == (["at night", "again"], 1)
    tried = await call("update_experience", ghap_id=ghap_id, note="b", new_iteration=True)
    assert tried.data["iteration_count"] == 2
    ended = {"ghap_id": ghap_id, "status": "confirmed", "result": "it held"}
    resolved = await call(
        "resolve_experience", **ended, what_worked="a timeout", takeaway="look at locks"
    )
    assert resolved.data["lesson"] == {"what_worked": "a timeout", "takeaway": "look at locks"}
    book = ExperienceBook(kit.records("experiences"))
    assert to_json(book.get(ghap_id)) == resolved.data
    shared = await call(
        "start_experience", **{**TRY, "strategy": "check-assumption"}, for_all_projects=True
    )
    assert shared.text.splitlines()[1] == (
        "the strategy 'check-assumption' is a new one; did you mean 'check-assumptions'?"
    )
    assert [each.id for each in ExperienceBook(book.records.shared).list()] == [shared.data["id"]]
    listed = await call("list_experiences", domain="debugging", limit=1)
    assert len(listed.data["experiences"]) == 1
    assert (await call("list_experiences", strategy="none")).text == "No experiences."


async def test_what_is_wrong_is_said(call: ToolCaller) -> None:
    """The book's own errors, and those of the arguments."""
    ended = {"ghap_id": "ghap_x", "status": "confirmed", "result": "it held"}
    with pytest.raises(UnknownExperienceError, match="there is no experience 'ghap_x'"):
        await call("resolve_experience", **ended)
    with pytest.raises(InvalidRequestError, match="takeaway needs what_worked"):
        await call("resolve_experience", **ended, takeaway="look at locks")
    with pytest.raises(InvalidRequestError, match="status: expected one of confirmed, falsified"):
        await call("resolve_experience", **{**ended, "status": "open"})
    with pytest.raises(InvalidRequestError, match="limit must be at least 1, got 0"):
        await call("list_experiences", limit=0)
    begun = await call("start_experience", **TRY)
    with pytest.raises(ExperienceStateError, match="nothing to change in"):
        await call("update_experience", ghap_id=begun.data["id"])
