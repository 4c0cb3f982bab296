"""The benchmarks of growth and load run, and what they are made of holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import load
from tests.benchmarks.growth import __main__ as growth
from tests.benchmarks.growth.records import batches, made
from tests.benchmarks.growth.resident import resident_bytes, slope
from tests.benchmarks.texts import ROOT

pytestmark = pytest.mark.one_python


def run(module: str, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Start a benchmark in a process of its own, in the repository."""
    return subprocess.run(
        [sys.executable, "-m", f"tests.benchmarks.{module}", *arguments],
        cwd=ROOT,
        env={**os.environ, "CONTEXTKIT_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def reports_of(done: subprocess.CompletedProcess[str], file: Path) -> dict[str, Any]:
    """The reports of a run that ended well, as data."""
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))["reports"]
    assert all(report["rows"] and report["title"] in done.stdout for report in found.values())
    return found


def test_a_small_round_of_growth_runs(home: Path, tmp_path: Path) -> None:
    """Every command of an index run has a time, every size its figures."""
    done = run("growth", home, "--small", "--json", str(tmp_path / "found.json"))

    found = reports_of(done, tmp_path / "found.json")
    assert [row["index run"] for row in found["files"]["rows"]] == [
        *("python -c pass", "in an empty workspace", "nothing changed", "one file edited"),
        "from nothing",
    ]
    (row,) = found["records"]["rows"]
    assert row["records"] == 200
    assert all(row[figure] > 0 for figure in ("put/s", "disk, B each", "resident, MB", "CPU, ms"))


def test_a_small_round_of_load_runs(home: Path, tmp_path: Path) -> None:
    """Each number of requests at once has a row, and memory is watched in both ways."""
    arguments = ("--small", "--concurrent", "3", "5", "--json", str(tmp_path / "found.json"))
    done = run("load", home, *arguments)

    found = reports_of(done, tmp_path / "found.json")
    rows = found["throughput"]["rows"]
    assert [(row["timeouts"], row["at once"]) for row in rows] == [
        (timeouts, at_once) for timeouts in ("600 s", "default") for at_once in (1, 3, 5)
    ]
    assert {row["incomplete"] for row in rows if row["timeouts"] == "600 s"} == {0}
    assert [row["memory"] for row in found["memory"]["rows"]] == ["resident", "traced"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--records", "199"], "--records: the questions need 200 records at least"),
        (["--files", "-1"], "--files: expected 0 or more"),
        (["--rounds", "0"], "--rounds: expected 1 or more"),
        (["--records", "many"], "invalid int value: 'many'"),
    ],
)
def test_growth_refuses_what_makes_no_sense(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says what is wrong, before anything is measured."""
    with pytest.raises(SystemExit) as stopped:
        growth.main(arguments)

    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--records", "199"], "expected at least 200 records"),
        (["--requests", "0"], "1 request"),
        (["--concurrent", "0"], "1 at once"),
    ],
)
def test_load_refuses_what_makes_no_sense(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Likewise."""
    with pytest.raises(SystemExit) as stopped:
        load.main(arguments)

    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_more_records_than_the_corpus_has_are_others() -> None:
    """They have ids of their own and other words, and leave the gold items alone."""
    corpus = made(200)
    asked = [*corpus.questions, *corpus.warming]
    gold = {each for question in asked for each in question.gold}
    texts = {record.id: record.text for record in corpus.records}

    found = [record for _, batch in batches(corpus, 900) for record in batch]
    more = [record for record in found if record.id not in texts]
    originals = [record.id.rpartition("-")[0] for record in more]

    assert len({record.id for record in found}) == len(found) == 900
    assert len(more) == 700
    for record, original in zip(more, originals, strict=True):
        assert record.text != texts[original]
    assert not gold & set(originals)
    assert [record.id for record in found] == [
        record.id for _, batch in batches(corpus, 900) for record in batch
    ]


def test_a_slope_is_what_a_step_adds() -> None:
    """By least squares, so that one high value changes it little; nothing of too few."""
    assert slope([1, 2, 3], [5.0, 7.0, 9.0]) == pytest.approx(2.0)
    assert abs(slope([1, 2, 3, 4], [5.0, 9.0, 9.0, 5.0])) < 1e-9
    assert slope([1], [5.0]) == 0.0


def test_resident_memory_is_some() -> None:
    """A process with an interpreter in it has a few megabytes."""
    assert resident_bytes() > 2**20
