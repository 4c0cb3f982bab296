"""The benchmark of the cache runs, and says when it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.caching import main


@pytest.mark.uncounted
def test_a_small_round_has_a_row_for_each_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], need: Callable[..., None]
) -> None:
    """In the terminal and as data; what is said to be from the cache is."""
    need("redis-server")
    main(["--small", "--json", str(tmp_path / "found.json")])
    report = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["reports"]["caching"]
    assert len(report["rows"]) == 6
    assert report["rows"][0]["part of the first"] == 1
    assert "from Redis" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--records", "10"], ["--rounds", "0"]])
def test_it_refuses_what_makes_no_sense(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """With what is expected."""
    with pytest.raises(SystemExit):
        main(arguments)
    assert "expected at least 200 records and 1 round" in capsys.readouterr().err
