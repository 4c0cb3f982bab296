"""Changelog entries to commits: that it measures, on a history of three commits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.benchmarks.quality.changelog_entries import OWN_ENTRIES, read_entry_sets
from tests.benchmarks.quality.commits import main

_SUBJECTS = ("Retry the upload", "Bound the queue", "Cap items at a quarter")


@pytest.fixture
def shas(tmp_path: Path) -> list[str]:
    """The commits of a repository `repos/small`, first to last."""
    folder = tmp_path / "repos" / "small"
    folder.mkdir(parents=True)
    git = ["git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    for subject in _SUBJECTS:
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", subject], check=True)
    log = subprocess.run(
        [*git, "log", "--reverse", "--format=%H"], capture_output=True, text=True, check=True
    )
    return log.stdout.split()


def _write(folder: Path, rows: Sequence[Mapping[str, object]]) -> None:
    folder.mkdir()
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "small_commit_queries.jsonl").write_text(text)


def test_entries_are_measured(
    tmp_path: Path, shas: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An entry whose commit is found counts in full, one about something else not at all."""
    entries = {"The queue is bound now, and cannot fill the memory": shas[1], "gibberish": shas[0]}
    rows = [
        {"kind": "changelog", "question": text, "evidence": [sha]} for text, sha in entries.items()
    ]
    _write(tmp_path / "data", [*rows, {"kind": "revert", "question": "no", "evidence": shas}])
    result = tmp_path / "result.json"
    places = ["--data", tmp_path / "data", "--repos", tmp_path / "repos", "--json", result]
    main([*map(str, places), "--detail", "compact"])
    (table,) = json.loads(result.read_text())
    assert table["rows"] == [
        {
            "repository": "small",
            "entries": 2,
            "recall@10": "0.500",
            "MRR": "0.500",
            "500": "0.500",
            "1000": "0.500",
            "2000": "0.500",
        }
    ]
    assert "changelog entry -> commit, detail=compact" in capsys.readouterr().out


def test_a_repository_gives_so_many_entries_at_most(tmp_path: Path) -> None:
    """The first ones are taken, and a set without entries is none."""
    row = {"kind": "changelog", "question": "Something", "evidence": ["0" * 40]}
    _write(tmp_path / "data", [row] * 5)
    (tmp_path / "data" / "other_commit_queries.jsonl").write_text("")
    (found,) = read_entry_sets(tmp_path / "data", most=3)
    assert (found.name, len(found.entries)) == ("small", 3)


def test_data_without_repositories_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """The entries alone cannot be measured on."""
    with pytest.raises(SystemExit):
        main(["--data", "somewhere"])
    assert "--data and --repos go together" in capsys.readouterr().err


def test_this_repository_has_entries_of_its_own() -> None:
    """Without data each of them tells of one commit, none of them of the same."""
    assert len({entry.shas[0] for entry in OWN_ENTRIES}) == len(OWN_ENTRIES) >= 10
