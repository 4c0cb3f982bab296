"""Of many assemblies at once, so many run as is configured; the others wait for their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from contextkit import ContextItem, ContextRequest
from tests.making import OpenKit, make_plugin

TIDE = ContextItem("tide", "High water comes at noon.", 0.9, id="1")


def settings(**assemble: Any) -> dict[str, Any]:
    """Timeouts that no test waits for, unless given."""
    patient = {"source_timeout": 20.0, "deadline": 20.0, **assemble}
    return {"embedding.model": "none", **{f"assemble.{key}": patient[key] for key in patient}}


class Gate:
    """A source that answers when it is told to, and counts who waits."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.asked = asyncio.Event()
        self.inside = self.most = self.times = 0

    async def __call__(self) -> list[ContextItem]:
        """Wait until it is open."""
        self.inside += 1
        self.times += 1
        self.most = max(self.most, self.inside)
        self.asked.set()
        try:
            await self.opened.wait()
        finally:
            self.inside -= 1
        return [TIDE]


def behind(gate: Gate) -> Callable[[ContextRequest], Awaitable[list[ContextItem]]]:
    """The query of a source behind a gate."""

    async def query(request: ContextRequest) -> list[ContextItem]:
        return await gate()

    return query


async def test_no_more_run_at_once_than_is_configured(open_kit: OpenKit) -> None:
    """Every one of them is complete in the end, and says how long it waited."""
    gate = Gate()
    kit = open_kit(
        {"tide": make_plugin(contextkit_query=behind(gate))}, settings=settings(concurrency=3)
    )
    running = [asyncio.create_task(kit.assemble_context("when is noon?")) for _ in range(12)]
    await gate.asked.wait()
    gate.opened.set()
    contexts = await asyncio.gather(*running)

    assert gate.most <= 3
    assert {context.markdown for context in contexts} == {contexts[0].markdown}
    assert all(context.trace.sources[0].state == "ok" for context in contexts)
    assert all("queue" in context.trace.stages for context in contexts)


async def test_waiting_for_a_turn_counts_against_no_timeout(open_kit: OpenKit) -> None:
    """What waited longer than its sources may take is complete."""
    gate = Gate()
    patient = asyncio.Event()

    async def query(request: ContextRequest) -> list[ContextItem]:
        if request.query == "first":
            return await gate()
        patient.set()
        return [TIDE]

    kit = open_kit({"tide": make_plugin(contextkit_query=query)}, settings=settings(concurrency=1))
    first = asyncio.create_task(kit.assemble_context("first"))
    await gate.asked.wait()
    limits: dict[str, Any] = {"source_timeout": 0.2, "deadline": 0.2}
    second = asyncio.create_task(kit.assemble_context("second", **limits))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(patient.wait(), 2 * limits["deadline"])
    gate.opened.set()

    assert (await first).trace.sources[0].state == "ok"
    assert (await second).trace.sources[0].state == "ok"


async def test_a_source_may_assemble_a_context_of_its_own(open_kit: OpenKit) -> None:
    """It does not wait for the assembly that waits for it."""

    async def summary(request: ContextRequest) -> list[ContextItem]:
        inner = await kit.assemble_context(request.query, ["tide"])
        return [ContextItem("summary", f"{len(inner.items)} report was found.", 0.8, id="s")]

    kit = open_kit(
        {"tide": make_plugin([TIDE]), "summary": make_plugin(contextkit_query=summary)},
        settings=settings(concurrency=1),
    )
    context = await kit.assemble_context("when is noon?")
    assert context.sources_used == {"tide": 1, "summary": 1}


async def test_one_that_is_cancelled_while_it_waits_gives_its_turn_on(open_kit: OpenKit) -> None:
    """The one behind it has its turn; the cancelled one never asks."""
    gate = Gate()
    kit = open_kit(
        {"tide": make_plugin(contextkit_query=behind(gate))}, settings=settings(concurrency=1)
    )
    first, second, third = (
        asyncio.create_task(kit.assemble_context("when is noon?")) for _ in range(3)
    )
    await gate.asked.wait()
    second.cancel()
    gate.opened.set()
    await asyncio.gather(first, third)

    assert second.cancelled()
    assert gate.times == 2
