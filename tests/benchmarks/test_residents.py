"""The benchmark of the background server runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks import reopening
from tests.benchmarks.residents import main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.one_python


def test_nothing_is_left_and_nothing_stale(tmp_path: Path) -> None:
    """A small round has starts, upgrades and memory."""
    file = tmp_path / "found.json"
    small = ["--starts", "20", "--upgrades", "2", "--records", "300", "--prompts", "4"]
    main([*small, "--json", str(file)])

    found = json.loads(file.read_text(encoding="utf-8"))["reports"]
    (starts,), (upgrades,) = found["starts"]["rows"], found["upgrades"]["rows"]
    for name in ("rounds with two servers", "failed", "orphans", "leftover files"):
        assert starts[name] == 0
    for name in ("stale", "without an answer", "old servers that stayed", "leftover files"):
        assert upgrades[name] == 0
    assert found["memory"]["rows"][-1]["resident"] > 0


def test_a_kit_that_stays_open(capsys: pytest.CaptureFixture[str]) -> None:
    """A small round closes and opens the store between contexts."""
    reopening.main(["--records", "1000", "--contexts", "4"])

    assert "Memory of a kit" in capsys.readouterr().out
