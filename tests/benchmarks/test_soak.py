"""The soak runs, and finds nothing wrong in a short time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.soak import __main__ as soak
from tests.benchmarks.soak.place import Place
from tests.benchmarks.soak.watch import Sample, Watch

pytestmark = pytest.mark.one_python


def test_a_short_soak_loses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No call of the eight processes fails, and every acknowledged memory is found."""
    file = tmp_path / "found.json"
    with pytest.raises(SystemExit) as ended:
        soak.main(["--minutes", "0.01", "--files", "12", "--json", str(file)])

    shown = capsys.readouterr().out
    assert ended.value.code == 0, shown
    assert "no failed call, nothing lost" in shown
    rows = json.loads(file.read_text(encoding="utf-8"))["reports"]["calls"]["rows"]
    assert {"hook UserPromptSubmit", "index", "kit: remember", "remember"} <= {
        row["call"] for row in rows
    }
    assert {row["failed"] for row in rows} == {0}


@pytest.mark.parametrize(
    ("megabytes", "files", "found"),
    [
        ([100.0] * 4 + [110.0] * 4, [9] * 8, []),
        ([100.0] * 4 + [130.0] * 4, [9] * 8, ["memory of server a (7) grew from 100 to 130 MB"]),
        ([100.0] * 8, [9] * 4 + [30] * 4, ["open files of server a (7) grew from 9 to 30"]),
    ],
)
def test_growth_is_a_problem(
    tmp_path: Path, megabytes: list[float], files: list[int], found: list[str]
) -> None:
    """What a process takes to get warm is none."""
    watch = Watch(Place(tmp_path, tmp_path, 1))
    cold = [Sample(0.0, 10.0, 3)]
    warm = zip(megabytes, files, strict=True)
    later = [Sample(200.0 + 30 * n, *each) for n, each in enumerate(warm)]
    watch.samples[("server a", 7)] = cold + later

    assert list(watch.problems()) == found
    assert watch.rows()[0]["last, MB"] == megabytes[-1]


def test_the_minutes_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    """There is no soak of no time."""
    with pytest.raises(SystemExit):
        soak.main(["--minutes", "0"])
    assert "--minutes" in capsys.readouterr().err
