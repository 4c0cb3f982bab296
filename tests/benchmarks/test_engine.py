"""The benchmarks run: a small round of all of them, as a person would start it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.engine import main
from tests.benchmarks.harness import Effort, Report, Timing, compared, interleaved, percentile
from tests.benchmarks.seeds import SeedItem, deduplicate, float_shares, select_items
from tests.benchmarks.texts import ROOT

pytestmark = pytest.mark.one_python


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Start the benchmarks in a process of their own, in the repository."""
    return subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.engine", *arguments],
        cwd=ROOT,
        env={**os.environ, "CONTEXTKIT_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def open_data(folder: Path) -> Path:
    """A folder laid out as the open data is."""
    (folder / "neardup").mkdir()
    pair = {
        "a": "Close the gate at noon.",
        "b": "close the gate at noon",
        "kind": "case",
        "label": 1,
    }
    (folder / "neardup" / "pairs.jsonl").write_text(json.dumps(pair), encoding="utf-8")
    (folder / "locomo").mkdir()
    turns = [json.dumps({"text": f"High water came at {hour} today. " * 9}) for hour in range(40)]
    (folder / "locomo" / "locomo_corpus.jsonl").write_text("\n".join(turns), encoding="utf-8")
    (folder / "tokens" / "letters").mkdir(parents=True)
    (folder / "tokens" / "letters" / "one.txt").write_text("Dear all, " * 99, encoding="utf-8")
    return folder


def test_a_small_round_of_everything_runs(home: Path, tmp_path: Path) -> None:
    """Each report has rows, in the terminal and as data, with what was asked for in them."""
    done = run(home, "--small", "--json", str(tmp_path / "found.json"))

    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    reports: dict[str, Any] = found["reports"]
    assert list(reports) == [
        *("dedup", "near-duplicates", "budget", "fit", "render", "utilisation"),
        *("estimate", "token-error", "stages", "first-party", "memory", "update"),
    ]
    assert all(report["rows"] and report["title"] in done.stdout for report in reports.values())
    assert all(row["ratio"] > 0 for name in ("dedup", "fit") for row in reports[name]["rows"])
    assert {row["missed"] for row in reports["dedup"]["rows"]} == {0}
    assert {"gather", "dedup", "fit", "whole", "overhead"} <= {
        row["stage"] for row in reports["first-party"]["rows"]
    }
    assert all(row["peak, MB"] < 50 for row in reports["memory"]["rows"])
    assert all(
        row["over, % of sets"] == 0
        for row in reports["utilisation"]["rows"]
        if "ours" in row["items"]
    )


def test_open_data_is_measured_where_a_folder_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its pairs stand in for the benchmarks' own, its texts beside them."""
    data = str(open_data(tmp_path))
    only = ("near-duplicates", "utilisation", "token-error")
    main(["--small", "--data", data, "--only", *only])

    printed = capsys.readouterr().out
    assert "case" in printed
    assert "a prefix" not in printed
    for shown in ("conversations (data), ours", "conversations (data)  ", "letters (data)"):
        assert shown in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--data", "no/such/folder"], "--data: no/such/folder is no folder"),
        (["--only", "speed"], "invalid choice: 'speed'"),
        (["--seconds", "long"], "invalid float value: 'long'"),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says what is wrong, before anything is measured."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)

    printed = capsys.readouterr()
    assert stopped.value.code == 2
    assert said in printed.err
    assert printed.out == ""


def test_ways_take_turns() -> None:
    """Every way has one sample a round, and another one begins each round."""
    calls: list[str] = []
    ways = {name: lambda name=name: calls.append(name) for name in "abc"}

    timings = interleaved(ways, Effort(seconds=0.0), warm=False)

    assert calls == list("abcbcacab")
    assert {name: len(timing.samples) for name, timing in timings.items()} == dict.fromkeys(
        "abc", 3
    )


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    """A round in which the machine was slow for both counts like any other."""
    timings = {"ours": Timing([1.0, 9.0, 1.0]), "theirs": Timing([2.0, 18.0, 3.0])}

    (row,) = compared("3", timings)

    assert (row["reference"], row["ratio"], row["ours, ms"]) == ("theirs", 2.0, 1000.0)


def test_a_table_has_its_columns_below_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    """Figures to the right, three or four digits of them."""
    rows = [{"what": "a", "ms": 0.123456}, {"what": "long", "ms": 12345.6}]
    Report(title="Some", rows=rows, note="That is all.").show()

    assert capsys.readouterr().out == (
        "\nSome\n  what      ms\n  a     0.1235\n  long  12,346\n  That is all.\n"
    )


def test_a_percentile_is_one_of_the_values() -> None:
    """The 95th of a hundred is the 96th smallest; of one there is only that."""
    assert percentile(range(100), 95) == 95
    assert percentile([7.0], 5) == 7.0


# -- the references do what the seeds write ---------------------------------------------------


def test_the_seed_loses_what_rounding_and_empty_sources_leave() -> None:
    """Seed 2's own example; and three empty sources of five leave all but 264 of 1,000."""
    assert float_shares({"memories": 1, "code": 2, "experiences": 3}, 1000) == {
        "memories": 166,
        "code": 333,
        "experiences": 500,
    }
    items = [SeedItem("memories", "x" * 100, 1.0)] * 9 + [SeedItem("values", "x" * 100, 1.0)] * 9
    weights = {"memories": 1.0, "code": 2.0, "experiences": 3.0, "values": 1.0, "commits": 2.0}

    selected = select_items(items, float_shares(weights, 1000))

    assert {source: len(own) for source, own in selected.items()} == {"memories": 4, "values": 4}


def test_the_seed_caps_an_item_and_puts_its_note_on_top() -> None:
    """So a capped item is longer than its cap, and stops its source early."""
    items = [SeedItem("code", "line of code\n" * 200, 1.0)] * 4

    (first, *others) = select_items(items, {"code": 400})["code"]

    assert first.content.endswith("...\n\n*(truncated)*")
    assert len(first.content) // 4 > 100
    assert len(others) == 2


def test_the_seed_merges_what_differs_in_a_number() -> None:
    """That is why ours does not go by likeness alone."""
    texts = ["The timeout of the gate is 30 seconds", "The timeout of the gate is 60 seconds"]
    items = [SeedItem("memories", text, 0.5, {"id": text}) for text in texts]

    assert len(deduplicate(items)) == 1
