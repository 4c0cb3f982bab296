"""The context of a turn, without any framework."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from contextkit import ContextKit
from contextkit_frameworks.contexts import Contexts

QUERY = "why are payments retried?"


async def test_a_broken_store_costs_the_context_alone(
    open_notes: Callable[..., ContextKit], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The agent goes on, and the log has the reason."""
    (tmp_path / "store").write_text("a file where a folder should be")
    contexts = Contexts(open_notes(**{"store.path": str(tmp_path / "store")}))
    assert await contexts.aget(QUERY) is None
    assert "context_failed" in "".join(capsys.readouterr())


async def test_shown_items_are_added_to_those_that_the_options_exclude(kit: ContextKit) -> None:
    """Neither list replaces the other."""
    contexts = Contexts(kit, {"exclude": ["notes:refund"]})
    context = await contexts.aget("payments, refunds, office", ["notes:retry"])
    assert context is not None
    assert [item.id for item in context.items] == ["office"]
