"""`contextkit doctor` reads the log of agents' hooks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contextkit.agent.sessions import journal, note

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine


def findings(contextkit: CommandLine) -> list[dict[str, Any]]:
    """The findings about hooks."""
    found = json.loads(contextkit("doctor", "--json").stdout)["findings"]
    return [each for each in found if each["part"] == "hooks"]


def test_what_hooks_could_not_give_is_counted(contextkit: CommandLine) -> None:
    """The log of agents' hooks says which sources were late, and what failed."""
    assert findings(contextkit) == []
    note("listener_failed", plugin="tides")
    (fine,) = findings(contextkit)
    assert fine["state"] == "ok"
    note("hook_late", session="s")
    note("hook_late", process="resident")
    note("sources_missing", got="nothing", sources={"code": "late"})
    note("sources_missing", got="less", sources={"code": "late", "tides": "failed"})
    note("hook_failed", reason="no tide")
    late, failed = findings(contextkit)
    assert late["state"] == "warning"
    assert late["text"] == (
        "in the last 24 hours, 2 events got nothing in time and 1 got less than was there; "
        "missing: code 2, tides 1"
    )
    assert "hooks.timeout" in late["remedy"]
    assert failed["text"].endswith("events failed: 1, the last one: no tide")


def test_events_before_the_log_was_rotated_count(contextkit: CommandLine) -> None:
    """The last 24 hours may have begun in the previous log."""
    note("hook_failed", reason="no tide")
    journal().rename(journal().with_suffix(".log.1"))
    note("hook_failed", reason="no wind")
    (failed,) = findings(contextkit)
    assert failed["text"].endswith("events failed: 2, the last one: no wind")
