"""The benchmark of hooks runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.hooks import main
from tests.benchmarks.starting import BARE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.one_python


def test_a_small_round_has_a_row_for_each_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each way is beside `python -c pass`, and each run had its answer."""
    main(["--small", "--json", str(tmp_path / "found.json")])

    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["reports"]
    rows = [row for name in ("without", "with") for row in found[name]["rows"]]
    names = [row["event"] for row in rows]
    assert names == [
        *(BARE, "prompt, no resident process", "a tool that has not failed"),
        *(BARE, "prompt, resident process", "prompt, resident, contextkit hook --agent"),
    ]
    assert [row["wrong"] for row in rows] == [0, 0, 0, 0, 0, 0]
    shown = capsys.readouterr().out
    assert all(name in shown for name in names)


def test_prompts_beside_busy_loops_are_counted(tmp_path: Path) -> None:
    """Each has its own memory in its answer, or gets it with a later event."""
    main(["--small", "--busy", "1", "--json", str(tmp_path / "found.json")])

    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["reports"]
    rows = found["busy"]["rows"]
    assert [row["asked"] for row in rows] == [2, 2, 2, 2]
    assert [row["right"] for row in rows if row["prompts"] != "loops, nothing started"] == [2, 2, 2]


@pytest.mark.parametrize("runs", ["0", "-1", "many"])
def test_the_number_of_runs_is_checked(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    """There is no median of no runs."""
    with pytest.raises(SystemExit):
        main(["--runs", runs])
    assert "--runs" in capsys.readouterr().err
