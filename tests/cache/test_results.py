"""A source that was asked a short while ago is not asked again for another context."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import asdict
from structlog.testing import capture_logs

from contextkit import ContextItem, ContextRequest, SourceInfo, hookimpl
from contextkit.kit import ContextKit
from tests.cache.conftest import Notes, OpenKit, put
from tests.cache.redis_server import RedisServer


@pytest.fixture
def live() -> Notes:
    """A source that is asked every time."""
    return Notes(SourceInfo(embedder="none"))


def two_sources(kit: ContextKit, live: Notes) -> ContextKit:
    """The kit with both; no context of both is kept."""
    put(kit, "the tide rises", "the tide falls")
    kit.register(live, "live")
    return kit


async def test_a_live_source_is_asked_and_the_others_are_not(
    open_kit: OpenKit, notes: Notes, live: Notes
) -> None:
    """The context is the same; the trace says whose items were kept, and how old they are."""
    kit = two_sources(open_kit(), live)
    first, second = [await kit.assemble_context("tide") for _ in range(2)]
    assert (notes.asked, live.asked) == (["tide"], ["tide", "tide"])
    assert second.markdown == first.markdown
    assert [asdict(item) for item in second.items] == [asdict(item) for item in first.items]
    ages = {row.source: row.age for row in second.trace.sources}
    assert ages["live"] is None
    assert ages["notes"] is not None
    assert {row.age for row in first.trace.sources} == {None}
    stats = kit.cache_stats()["results"]
    assert (stats.hits, stats.misses, stats.uncacheable) == (1, 1, 2)


@pytest.mark.parametrize(
    "options",
    [{"max_tokens": 100}, {"style": "xml"}, {"detail": "compact"}, {"tokens": "openai"}],
)
async def test_how_it_is_shown_does_not_matter(
    open_kit: OpenKit, notes: Notes, options: dict[str, Any]
) -> None:
    """The same question with another budget or look is answered from the cache."""
    kit = open_kit()
    put(kit, "the tide rises")
    await kit.assemble_context("tide")
    context = await kit.assemble_context("tide", **options)
    assert context.trace.sources[0].age is not None
    assert notes.asked == ["tide"]


@pytest.mark.parametrize(
    "options", [{"limit": 3}, {"session": "s"}, {"filters": {"kind": "a"}}, {"min_relevance": 0.2}]
)
async def test_another_question_is_asked(
    open_kit: OpenKit, notes: Notes, options: dict[str, Any]
) -> None:
    """Whatever says what is asked."""
    kit = open_kit()
    put(kit, "the tide rises")
    await kit.assemble_context("tide")
    await kit.assemble_context("tide", **options)
    await kit.assemble_context("moon")
    assert notes.asked == ["tide", "tide", "moon"]


async def test_a_write_is_seen_at_once(open_kit: OpenKit, notes: Notes, live: Notes) -> None:
    """The source whose records changed is asked again."""
    kit = two_sources(open_kit(), live)
    await kit.assemble_context("tide")
    put(kit, "the tide stands")
    context = await kit.assemble_context("tide")
    assert notes.asked == ["tide", "tide"]
    assert "the tide stands" in context.markdown


async def test_kits_share_them(
    open_kit: OpenKit, redis: RedisServer, notes: Notes, live: Notes
) -> None:
    """In Redis, as they do contexts; a foreign value is asked anew."""
    kits = [open_kit(redis.url, **{"cache.timeout": 30.0}) for _ in range(3)]
    two_sources(kits[0], live)
    for kit in kits[1:]:
        kit.register(live, "live")
    await kits[0].assemble_context("tide")
    await kits[1].assemble_context("tide")
    assert notes.asked == ["tide"]
    [name] = redis.names("*:results:*")
    redis.command("SET", name, name + '\n{"at": 1, "value": [{"source": "notes"}]}')
    await kits[2].assemble_context("tide")
    assert notes.asked == ["tide", "tide"]


async def test_a_failure_is_asked_again(open_kit: OpenKit) -> None:
    """Nothing of it is kept."""

    class Failing(Notes):
        @hookimpl
        async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
            self.asked.append(request.query)
            raise ValueError("not now")

    kit, failing = open_kit(), Failing()
    kit.register(failing, "failing")
    put(kit, "the tide rises")
    for _ in range(2):
        context = await kit.assemble_context("tide")
        assert "failed" in {row.state for row in context.trace.sources}
    assert failing.asked == ["tide"] * 2


async def test_what_was_found_without_its_model_is_not_kept(open_kit: OpenKit) -> None:
    """The model may be back at the next request."""

    class Lost:
        @hookimpl
        def contextkit_embedder(self, model: str) -> None:
            raise OSError("the model is gone")

    kit = open_kit(**{"embedding.model": "lost:model"})
    kit.register(Lost(), "lost")
    found = Notes(SourceInfo(cacheable=True))
    kit.register(found, "found")
    put(kit, "the tide rises")
    for _ in range(2):
        context = await kit.assemble_context("tide", ["found"])
        assert "the model is gone" in context.trace.notes[0]
    assert found.asked == ["tide", "tide"]


async def test_what_would_change_is_not_kept(open_kit: OpenKit, notes: Notes) -> None:
    """An object in the metadata; a developer can see why."""
    notes.extra = {"tide": object()}
    kit = open_kit()
    put(kit, "the tide rises")
    with capture_logs() as logs:
        for _ in range(2):
            await kit.assemble_context("tide")
    assert notes.asked == ["tide"] * 2
    assert [log["source"] for log in logs if log["event"] == "answer_not_kept"] == ["notes"] * 2


async def test_explaining_asks(open_kit: OpenKit, notes: Notes) -> None:
    """What a cache has kept explains nothing."""
    kit = open_kit()
    put(kit, "the tide rises")
    await kit.assemble_context("tide")
    await kit.explain_item("the tide rises", "tide")
    assert len(notes.asked) > 1
