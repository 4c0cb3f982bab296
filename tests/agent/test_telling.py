"""`contextkit_agent_event`: plugins are told what agents report, and never in anybody's way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from contextkit import ContextKit, hookimpl
from contextkit.agent.notify import MAX_BYTES, as_message, shortened, tell_plugins
from contextkit.agent.sessions import journal, switch_off
from tests.secret_kinds import planted


def test_long_texts_keep_both_ends() -> None:
    """Lists and objects are cut too, and what is nested too deep is empty."""
    assert shortened("a" * 50 + "b" * 50, 10) == "aaaaa…bbbb"
    assert shortened({"x" * 20: [1, None, True, "short"]}, 10) == {
        "x" * 10: [1, None, True, "short"]
    }
    assert len(shortened(list(range(500)), 10)) == 40
    assert shortened({"a": {"b": {"c": [1]}}}, 10, levels=2) == {"a": {"b": {}}}
    assert shortened({"a": [[1]]}, 10, levels=2) == {"a": [[]]}


@pytest.mark.parametrize("before", range(1_960, 2_001, 8))
def test_a_secret_is_replaced_before_its_text_is_cut(before: int) -> None:
    """No part of it is left at either end of the cut."""
    token = planted("GitHub personal token", "event").value
    texts = ["x" * before + f" {token} " + "x" * 9_000, "x" * 9_000 + f" {token} " + "x" * before]
    told = f"{shortened(texts, 4_000)} {as_message({'all': texts * 8})!r}"

    assert not [n for n in range(len(token) - 5) if token[n : n + 6] in told]
    assert shortened(texts, 20_000) == texts


def test_a_message_fits_a_pipe_or_is_none() -> None:
    """The more there is of it, the shorter its texts; what fits in no way is not told."""
    many = {f"k{n}": "é" * 10_000 for n in range(30)}
    message = as_message(many)
    assert message is not None
    assert len(message) <= MAX_BYTES
    assert json.loads(message).keys() == many.keys()
    deep: dict[str, Any] = {f"k{n}": [["é" * 1000] * 30] * 30 for n in range(30)}
    assert as_message(deep) is None


class Listener:
    """Takes note of what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    @hookimpl
    def contextkit_agent_event(self, event: Any) -> None:
        """Take note."""
        self.told.append(event)


class Failing:
    """Raises whatever it is told."""

    @hookimpl
    def contextkit_agent_event(self) -> None:
        """Raise."""
        raise RuntimeError("the tide is out")


def test_every_listener_is_told_unless_hooks_or_the_session_are_off(tmp_path: Path) -> None:
    """Texts are cut; what one raises is noted, and the listener behind it is told."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "x" * 9000}
    listener = Listener()
    with ContextKit.open(tmp_path, entry_points=False, environment={}) as kit:
        tell_plugins(kit, event)
        kit.register(Failing(), "failing")
        kit.register(listener, "listener")
        tell_plugins(kit, event)
        switch_off("s", True)
        tell_plugins(kit, event)
        off = evolve(kit.config, hooks=evolve(kit.config.hooks, enabled=False))
        tell_plugins(
            ContextKit.over(kit.workspace, off, kit.registry), {**event, "session_id": "t"}
        )
    assert [len(told["prompt"]) for told in listener.told] == [4000]
    assert journal().read_text(encoding="utf-8").count("listener_failed") == 1
