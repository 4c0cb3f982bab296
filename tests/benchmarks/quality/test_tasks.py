"""The measurements of issues and tasks: what they count and what they print."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from contextkit import ContextItem
from tests.benchmarks.quality.__main__ import main as run
from tests.benchmarks.quality.contextbench import score
from tests.benchmarks.quality.issues import place_of_first, share_found
from tests.benchmarks.quality.own_questions import OWN_QUESTIONS, own_commit_questions
from tests.benchmarks.quality.shown_lines import shown_lines
from tests.benchmarks.quality.tasks import Gold, Task
from tests.benchmarks.texts import ROOT

SHELF = """\
def put_back(items):
    for item in items:
        keep(item)

    return len(items)


def other():
    return 1
"""
TASK = Task("t", "shop", "HEAD", "q", [Gold("shelf.py", 3, 3), Gold("gone.py", 1, 1)])


def _item(content: str, start: int, end: int) -> ContextItem:
    metadata = {"file_path": "shelf.py", "start_line": start, "end_line": end}
    return ContextItem("code", content, 0.5, metadata=metadata)


def test_the_lines_that_an_item_shows_are_found_in_its_file(tmp_path: Path) -> None:
    """Headings, fences, elided lines and lines of other items do not count."""
    (tmp_path / "shelf.py").write_text(SHELF)
    whole = _item(f"**shelf.py:1**\n```python\n{SHELF.split('def other', maxsplit=1)[0]}```", 1, 7)
    excerpt = _item(
        "`put_back` shelf.py:1\n1 def put_back(items):\n…\n5     return len(items)", 1, 7
    )
    note = ContextItem("commits", "def other():", 0.5)

    assert shown_lines([whole, note], tmp_path) == {"shelf.py": {1, 2, 3, 4, 5}}
    assert shown_lines([excerpt], tmp_path) == {"shelf.py": {1, 5}}
    assert shown_lines([_item("    return 1", 8, 9)], tmp_path) == {"shelf.py": {9}}


def test_lines_and_files_are_scored() -> None:
    """Recall and precision of both; F1 of the lines."""
    scored = score(TASK, 0, "code", 4000, {"shelf.py": {2, 3}, "other.py": {1, 2}})

    assert (scored.file_recall, scored.file_precision) == (0.5, 0.5)
    assert (scored.line_recall, scored.line_precision) == (0.5, 0.25)
    assert scored.line_f1 == pytest.approx(1 / 3)
    assert score(TASK, 0, "code", 4000, {}).line_f1 == 0.0


def test_changed_files_and_functions_are_found() -> None:
    """By the place of the first changed file, and by the items whose lines were changed."""
    assert place_of_first(TASK, ["a.py", "a.py", "shelf.py"]) == 2
    assert place_of_first(TASK, ["a.py"]) == 0
    assert share_found(TASK, [_item("x", 1, 5), ContextItem("memories", "y", 0.5)]) == 0.5
    assert share_found(TASK, [_item("x", 4, 5)]) == 0.0


def test_the_questions_about_this_repository_name_what_it_has() -> None:
    """They are asked where no data is given, and files move."""
    targets = [target.path for question in OWN_QUESTIONS for target in question.targets]
    changed = [function for question in own_commit_questions() for function in question.functions]

    assert [path for path in targets if not (ROOT / path).is_file()] == []
    for function in changed:
        following = (ROOT / function.path).read_text().split(function.signature)[1]
        assert function.docstring in following[:300]


@pytest.mark.parametrize(
    ("name", "figure"), [("issues", "code: function in 2000"), ("contextbench", "file recall")]
)
def test_tasks_are_measured(tmp_path: Path, name: str, figure: str) -> None:
    """Beside the default of all sources; what is kept is used again."""
    shop = tmp_path / "repos" / "shop"
    shop.mkdir(parents=True)
    (shop / "shelf.py").write_text(SHELF)
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *identity, *command], cwd=shop, check=True)
    row = {
        "id": "shop-1",
        "repo": "someone/shop",
        "base_commit": "HEAD",
        "problem": "Items are not put back\n\n`put_back` keeps too few.",
        "gold": [{"file": "shelf.py", "start": 3, "end": 3}],
    }
    (tmp_path / "open.jsonl").write_text(json.dumps(row) + "\n")
    out = tmp_path / "out.json"
    arguments = [name, "--data", str(tmp_path), "--repos", str(tmp_path / "repos")]
    kept = ["--kept", str(tmp_path / "kept"), "--budgets", "2000", "--json", str(out)]

    run([*arguments, *kept])
    run([*arguments, *kept, "--ways", "code"])

    assert json.loads(out.read_text())[0]["rows"][0][figure] == "1.000"
