"""What no cache keeps, as it may be otherwise the next time."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from contextkit import ContextItem, ContextRequest, SourceInfo, hookimpl
from contextkit.errors import InvalidRequestError
from tests.cache.conftest import Notes, OpenKit, put
from tests.cache.test_contexts import cache_of, state


class Wrapper:
    """A plugin that changes all answers, and says whether it depends on anything else."""

    def __init__(self, cacheable: bool) -> None:
        self.cacheable = cacheable

    @hookimpl
    def contextkit_source(self) -> SourceInfo:
        return SourceInfo(cacheable=self.cacheable)

    @hookimpl(wrapper=True)
    def contextkit_query(self) -> Any:
        return (yield)


class Bare:
    """A host's own object that nothing can be noted of."""

    __slots__ = ()

    @hookimpl
    def contextkit_query(self) -> list[ContextItem]:
        return []


@pytest.mark.parametrize(
    ("plugin", "query", "options", "reason"),
    [
        # It may answer otherwise at any moment.
        (Notes(SourceInfo(embedder="none")), "tide", {}, "it depends on more than its records"),
        (Wrapper(cacheable=False), "tide", {}, "it changes the sources' answers"),
        (Bare(), "tide", {"context_types": ["notes"]}, "Bare cannot be told from others"),
        # The same request may be another context the next time.
        (None, "tide", {"strategy": "conversation"}, "its strategy scores usage history"),
        # What a note warns of may be over at the next request.
        (None, "tide " * 3000, {}, "the first 8192"),
    ],
)
async def test_what_may_differ_the_next_time_is_not_kept(
    open_kit: OpenKit, plugin: object, query: str, options: dict[str, Any], reason: str
) -> None:
    """A live source, a wrapper, an object without a name, usage history, a degraded search."""
    kit = open_kit()
    put(kit, "the tide rises")
    if plugin is not None:
        kit.register(plugin, "it")
    cache = cache_of(await kit.assemble_context(query, **options))
    assert cache.state == "not_kept"
    assert reason in str(cache.reason)


async def test_a_wrapper_that_depends_on_nothing_else_keeps_nothing_out(open_kit: OpenKit) -> None:
    """It says so."""
    kit = open_kit()
    put(kit, "the tide rises")
    kit.register(Wrapper(cacheable=True), "fine")
    assert [await state(kit), await state(kit)] == ["kept", "hit"]


async def test_a_failure_is_not_kept(open_kit: OpenKit) -> None:
    """The next one asks again, and is whole."""

    class Failing(Notes):
        well = False

        @hookimpl
        async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
            if not self.well:
                raise ValueError("not now")
            return [ContextItem("failing", "the tide is well", 0.9)]

    kit, failing = open_kit(), Failing()
    put(kit, "the tide rises")
    kit.register(failing, "failing")
    cache = cache_of(await kit.assemble_context("tide"))
    assert (cache.state, cache.reason) == (
        "not_kept",
        "failing: contextkit_query: ValueError: not now",
    )
    failing.well = True
    assert await state(kit) == "kept"
    assert await state(kit) == "hit"


async def test_what_would_come_back_otherwise_is_not_kept(open_kit: OpenKit, notes: Notes) -> None:
    """An object in an item's metadata, which a source's own hooks may want."""
    notes.extra = {"tide": object()}
    kit = open_kit()
    put(kit, "the tide rises")
    cache = cache_of(await kit.assemble_context("tide"))
    assert cache.state == "not_kept"
    assert "cannot cache a value of type object" in str(cache.reason)


async def test_a_store_that_was_never_made_has_no_revision(open_kit: OpenKit) -> None:
    """The first context makes it, and the second one is kept."""
    kit = open_kit()
    assert [await state(kit) for _ in range(3)] == ["not_kept", "kept", "hit"]


async def test_a_request_may_pass_the_cache_over(open_kit: OpenKit, notes: Notes) -> None:
    """It reads nothing and keeps nothing, whatever there is."""
    kit = open_kit()
    put(kit, "the tide rises")
    for _ in range(2):
        assert (await kit.assemble_context("tide", cache=False)).trace.cache is None
    assert await state(kit) == "kept"
    assert notes.asked == ["tide"] * 3
    with pytest.raises(InvalidRequestError, match="cache must be true or false, got 'no'"):
        await kit.assemble_context("tide", cache="no")  # type: ignore[arg-type]


async def test_without_the_setting_there_is_no_cache(open_kit: OpenKit, notes: Notes) -> None:
    """It is off until a host switches it on."""
    kit = open_kit(**{"cache.enabled": False})
    put(kit, "the tide rises")
    for _ in range(2):
        assert (await kit.assemble_context("tide")).trace.cache is None
    assert notes.asked == ["tide"] * 2
    assert (kit.caches, kit.cache_stats()) == (None, {})


def test_a_cache_that_is_off_imports_nothing() -> None:
    """Neither the library nor our own modules."""
    code = (
        "import sys; from contextkit import ContextKit; kit = ContextKit.open('.'); "
        "print([m for m in sys.modules if m.split('.')[0] in ('cachetools', 'redis') "
        "or m.startswith('contextkit.cache')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
