"""`contextkit_assembled`: plugins observe contexts, and are never in their way."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from contextkit import (
    ContextItem,
    FormattedContext,
    SourceInfo,
    hookimpl,
)
from contextkit.pipeline import observers
from tests.making import OpenKit, make_plugin

SECONDS = 20.0
TIDE = ContextItem("tides", "high water at noon", 0.9)
QUERY = "when is high water?"


class Meter:
    """Keeps what it observes."""

    def __init__(self, seen: list[FormattedContext]) -> None:
        self.seen = seen

    @hookimpl
    def contextkit_assembled(self, context: FormattedContext) -> None:
        """Keep it."""
        self.seen.append(context)


def test_every_context_is_observed_those_of_the_cache_too(open_kit: OpenKit) -> None:
    """Contexts, recipes, updates, in their order; a hit of the cache is told by its trace."""
    seen: list[FormattedContext] = []
    kit = open_kit(
        {
            "tides": make_plugin([TIDE], contextkit_source=SourceInfo(cacheable=True)),
            "meter": Meter(seen),
        },
        settings={"cache.enabled": True},
    )
    first = kit.assemble_context_sync(QUERY)
    for _ in range(2):
        kit.assemble_context_sync(QUERY)
    kit.update_context_sync(first, ContextItem("tides", "low water at six", 1.0))
    kit.pipeline.observers.wait(SECONDS)
    assert [len(context.items) for context in seen] == [1, 1, 1, 2]
    assert seen[2].trace.cache
    assert seen[2].trace.cache.state == "hit"


def test_an_observer_neither_delays_nor_breaks_nor_changes_a_context(open_kit: OpenKit) -> None:
    """One that hangs, one that raises and one that empties it: the others see it whole."""
    seen: list[FormattedContext] = []
    release = threading.Event()

    def hangs(context: Any) -> None:
        release.wait(SECONDS)

    def raises(context: Any) -> None:
        raise SystemExit("the tide is out")

    kit = open_kit(
        {
            "tides": make_plugin([TIDE]),
            "emptying": make_plugin(contextkit_assembled=lambda context: context.items.clear()),
            "hanging": make_plugin(contextkit_assembled=hangs),
            "raising": make_plugin(contextkit_assembled=raises),
            "seeing": Meter(seen),
        }
    )
    with capture_logs() as logs:
        started = time.monotonic()
        context = kit.assemble_context_sync(QUERY)
        assert time.monotonic() - started < SECONDS
        release.set()
        kit.pipeline.observers.wait(SECONDS)
    assert [item.id for item in context.items] == [TIDE.id]
    assert seen == [context]
    (failure,) = [entry for entry in logs if entry["event"] == "hook_failed"]
    assert failure["source"] == "raising"
    assert "the tide is out" in failure["reason"]


def test_an_observer_that_is_far_too_slow_misses_some(
    open_kit: OpenKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contexts do not pile up in memory; what it misses is logged."""
    monkeypatch.setattr(observers, "_MOST_WAITING", 1)
    seen: list[FormattedContext] = []
    begun, release = threading.Event(), threading.Event()

    def slow(context: Any) -> None:
        begun.set()
        release.wait(SECONDS)
        seen.append(context)

    kit = open_kit({"slow": make_plugin(contextkit_assembled=slow)})
    with capture_logs() as logs:
        kit.assemble_context_sync("one")
        begun.wait(SECONDS)
        kit.assemble_context_sync("two")
        kit.assemble_context_sync("three")
    release.set()
    kit.pipeline.observers.wait(SECONDS)
    assert len(seen) == 2
    assert any("a context was left out" in entry.get("reason", "") for entry in logs)


def test_a_process_that_ends_waits_for_its_observers(tmp_path: Path) -> None:
    """A short one such as `contextkit assemble` would not be observed otherwise."""
    program = """
        import sys, time
        from pathlib import Path
        from types import SimpleNamespace
        from contextkit import ContextKit, hookimpl

        class Meter:
            @hookimpl
            def contextkit_assembled(self, context):
                time.sleep(0.3)
                Path(sys.argv[1]).write_text("observed")

        kit = ContextKit.open(Path(sys.argv[1]).parent, entry_points=False, environment={})
        kit.register(Meter(), "meter")
        kit.assemble_context_sync("when?")
        kit.leave()
        """
    observed = tmp_path / "observed"
    subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(observed)], check=True)
    assert observed.read_text(encoding="utf-8") == "observed"
