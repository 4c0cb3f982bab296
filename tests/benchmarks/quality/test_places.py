"""Questions whose answer is in one place: that it measures, on a small repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextkit.testing.repositories import own_git
from tests.benchmarks.quality import places
from tests.benchmarks.quality.places import main


def test_places_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the answer is shown, first, and behind how much; by halves of each set."""
    folder = tmp_path / "repos" / "harbour"
    folder.mkdir(parents=True)
    (folder / "gates.R").write_text("close_gate <- function(name) {\n  lower(name)\n}\n")
    with own_git(folder) as git:
        git("init", "-q")
        git("add", ".")
        git("commit", "-q", "-m", "Close the gate")
    questions = "\n".join(
        f'[[{name}]]\nrepository = "{repository}"\nquestion = "{question}"\nfile = \'{file}\'\n'
        for name, repository, question, file in (
            ("languages", "harbour", "how is a gate closed?", r"gates\.R"),
            ("languages", "harbour", "how is the quay flooded?", r"quay\.R"),
            ("setup", "elsewhere", "which jobs run?", "jobs"),
        )
    )
    monkeypatch.setattr(places, "_TEXT", tmp_path / "questions.toml")
    (tmp_path / "questions.toml").write_text(questions)
    result = tmp_path / "result.json"

    main(["--repos", str(folder.parent), "--json", str(result)])

    report = json.loads(result.read_text())
    even, odd = report["rows"]
    assert even == {
        "questions of": "languages, even places",
        "number": 1,
        "shown": "1.000",
        "near the top": "1.000",
        "first": "1.000",
        "tokens before": "0",
    }
    assert (odd["shown"], odd["tokens before"]) == ("0.000", "0")
    assert "quay" in report["note"]
