"""Shares that follow what was found: asked for, refused, kept to, and told in the trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from contextkit import (
    ContextItem,
    ContextKit,
    FormattedContext,
    InvalidRequestError,
    SourceInfo,
)
from contextkit.asking.requests import make_request
from contextkit.config import AssembleSettings, Config
from contextkit.config.layers import load_config
from contextkit.errors import ConfigError
from contextkit.models import SHARES
from contextkit.trace import SourceTrace
from contextkit.workspace import find_workspace

MakePlugin = Callable[..., ModuleType]
OpenKit = Callable[..., ContextKit]

PATIENT = {"assemble.source_timeout": 20.0, "assemble.deadline": 20.0, "embedding.model": "none"}
LEVEL = [0.8] * 12
ONE_STANDS_OUT = [0.8, *[0.3] * 11]
BUDGET = 400


def items(source: str, matches: Sequence[float]) -> list[ContextItem]:
    """Items of about 40 tokens, no two alike."""
    return [
        ContextItem(
            source,
            " ".join(f"{source}{chr(97 + number)}{word:03}" for word in range(10)),
            match,
            id=f"{source}-{number}",
        )
        for number, match in enumerate(matches)
    ]


@pytest.fixture
def kit(open_kit: OpenKit, make_plugin: MakePlugin) -> ContextKit:
    """Sources of which one finds many level items, one an item that stands out, one nothing."""
    found = {"level": LEVEL, "clear": ONE_STANDS_OUT, "silent": []}
    return open_kit(
        {
            name: make_plugin(
                items(name, matches), contextkit_source=SourceInfo(scale="calibrated")
            )
            for name, matches in found.items()
        },
        settings=PATIENT,
    )


def sources(context: FormattedContext) -> dict[str, SourceTrace]:
    """Section -> what the trace says of it."""
    return {source.section: source for source in context.trace.sources}


async def ask(kit: ContextKit, **options: Any) -> FormattedContext:
    """A context that cannot hold all that is found."""
    return await kit.assemble_context("what?", max_tokens=BUDGET, **options)


async def test_the_source_with_many_level_items_gets_more(kit: ContextKit) -> None:
    """And shows more of them; the other one's best item is there all the same."""
    fixed, following = await ask(kit), await ask(kit, shares="by_match")
    assert following.sources_used["level"] > fixed.sources_used["level"]
    assert "clear-0" in [shown.id for shown in following.items]
    assert following.token_count <= BUDGET


async def test_the_trace_has_the_shares_before_and_after(kit: ContextKit) -> None:
    """Both are the whole of what there is to share; without the option there is one."""
    found = sources(await ask(kit, shares="by_match"))
    before = {name: source.fixed_share or 0 for name, source in found.items()}
    after = {name: source.share for name, source in found.items()}
    assert sum(before.values()) == sum(after.values()) > 0
    assert max(before.values()) - min(before.values()) <= 1
    assert after["level"] == pytest.approx(8 * after["clear"], rel=0.1)
    assert after["clear"] == pytest.approx(after["silent"], abs=2)
    assert all(source.fixed_share is None for source in sources(await ask(kit)).values())


async def test_the_weights_still_count(kit: ContextKit) -> None:
    """What was found multiplies them."""
    weights = {"clear": 4.0}
    found = sources(await ask(kit, shares="by_match", weights=weights))
    assert found["clear"].share == pytest.approx(4 * found["silent"].share, abs=4)
    assert found["level"].share == pytest.approx(2 * found["clear"].share, rel=0.1)


async def test_what_is_dropped_counts_for_nothing(
    open_kit: OpenKit, make_plugin: MakePlugin
) -> None:
    """Items that say the same, and items below the floor, ask for no room."""
    same = [ContextItem("same", "the same words again and again", 0.8, id=f"{n}") for n in range(9)]
    plugins = {
        "same": make_plugin(same, contextkit_source=SourceInfo(scale="calibrated")),
        "low": make_plugin(
            items("low", [0.05] * 9), contextkit_source=SourceInfo(scale="calibrated")
        ),
    }
    kit = open_kit(plugins, settings=PATIENT)
    found = sources(await ask(kit, shares="by_match"))
    assert found["same"].share == pytest.approx(found["low"].share, abs=1)


async def test_it_goes_with_the_soft_limit(kit: ContextKit) -> None:
    """What is allotted follows what was found there too."""
    fixed = await ask(kit, overflow="soft")
    following = await ask(kit, overflow="soft", shares="by_match")
    assert following.sources_used["level"] > fixed.sources_used["level"]


@pytest.mark.parametrize("shares", SHARES)
def test_it_can_be_configured(tmp_path: Path, shares: str) -> None:
    """In the project's file; a request beats it."""
    (tmp_path / "contextkit.toml").write_text(f"[assemble]\nshares = '{shares}'\n")
    config = load_config(find_workspace(tmp_path), environment={}, flags={})
    assert config.assemble.shares == shares
    made = make_request(config, "what?", project="p", workspace=None)
    assert made.shares == shares
    asked = make_request(config, "what?", project="p", workspace=None, shares="fixed")
    assert asked.shares == "fixed"


def test_the_default_is_fixed() -> None:
    """By weight alone."""
    assert AssembleSettings().shares == "fixed"
    assert make_request(Config(), "what?", project="p", workspace=None).shares == "fixed"


@pytest.mark.parametrize("value", ["'equal'", "1", "[]"])
def test_another_word_in_a_file_is_refused(tmp_path: Path, value: str) -> None:
    """With the line, the key and what would be right."""
    (tmp_path / "contextkit.toml").write_text(f"[assemble]\nshares = {value}\n")
    with pytest.raises(ConfigError, match=r":2.*assemble\.shares.*fixed or by_match"):
        load_config(find_workspace(tmp_path), environment={}, flags={})


@pytest.mark.parametrize("value", ["equal", 1, True, ["fixed"]])
def test_another_word_in_a_request_is_refused(value: Any) -> None:
    """Naming the field and what would be right."""
    with pytest.raises(InvalidRequestError) as caught:
        make_request(Config(), "what?", project="p", workspace=None, shares=value)
    assert str(caught.value) == f"shares must be one of fixed, by_match, got {value!r}"
