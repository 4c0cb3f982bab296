"""The benchmark of cold starts runs, and says when it cannot."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.cold import main
from tests.benchmarks.starting import BARE

if TYPE_CHECKING:
    from pathlib import Path


def test_a_small_round_has_a_row_for_each_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command is beside `python -c pass`, in the terminal and as data."""
    main(["--small", "--json", str(tmp_path / "found.json")])

    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["reports"]
    rows = found["cold"]
    names = [row["command"] for row in rows["rows"]]
    assert names == [
        *(BARE, "contextkit --version", "contextkit --help", "contextkit sources"),
        *("contextkit assemble", "contextkit assemble --no-index"),
    ]
    served = [row["command"] for row in found["served"]["rows"]]
    assert served == [BARE, "contextkit assemble, background server"]
    assert rows["rows"][0]["times the bare start"] == 1
    shown = capsys.readouterr().out
    assert all(name in shown for name in names)


def test_a_command_that_fails_is_not_measured(tmp_path: Path) -> None:
    """An environment whose command line fails gives an error, not a figure."""
    (tmp_path / "contextkit").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    (tmp_path / "contextkit").chmod(0o755)

    with pytest.raises(subprocess.CalledProcessError, match="exit status 3"):
        main(["--small", "--python", str(tmp_path / "python")])


@pytest.mark.parametrize("runs", ["0", "-1", "many"])
def test_the_number_of_runs_is_checked(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    """There is no median of no runs."""
    with pytest.raises(SystemExit):
        main(["--runs", runs])
    assert "--runs" in capsys.readouterr().err
