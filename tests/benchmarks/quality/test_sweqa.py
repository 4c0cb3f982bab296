"""The measurement of questions about a repository: what it counts and what it prints."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.benchmarks.quality.__main__ import main as run
from tests.benchmarks.quality.answers import AnswerNames, name_recall

SHELF = '''\
class Shelf:
    """Keeps the things of a shop."""

    def put_back(self, items):
        """Put things back on the shelf."""
        self.all_things = [*items]
        return count_up(items)
'''
ANSWER = (
    "`Shelf.put_back` sets `all_things` and calls `count_up`; see `nowhere_defined` and `self`."
)


def test_gold_is_what_the_repository_defines_and_the_question_does_not_say() -> None:
    """Words, names of other projects, names in the question and common names do not count."""
    others = {f"{n}.py": "def everywhere_used(): pass\n" for n in range(11)}
    names = AnswerNames.of({"shelf.py": SHELF, "up.py": "def count_up(x): pass\n", **others})

    gold = names.gold("What does put_back change?", f"{ANSWER} Then everywhere_used.")

    assert gold == ["all_things"]
    assert names.gold("Where?", ANSWER) == ["all_things", "put_back"]
    assert name_recall(["all_things", "put_back"], "self.all_things = 1") == 0.5


def test_the_default_stands_beside_the_best_known_choice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One table by repository and one by halves, on the screen and as data."""
    shop = tmp_path / "repos" / "shop"
    shop.mkdir(parents=True)
    (shop / "shelf.py").write_text(SHELF)
    (shop / "up.py").write_text("def count_up(x):\n    return len(x)\n")
    for number in range(30):
        (shop / f"part_{number}.py").write_text(f"def part_{number}():\n    return {number}\n")
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *identity, *command], cwd=shop, check=True)
    data = tmp_path / "data"
    data.mkdir()
    (data / "repos.json").write_text(json.dumps({"shop": ["someone/shop", "HEAD"]}))
    rows = [
        {"question": "How are things put back on the shelf?", "answer": ANSWER},
        {"question": "Is there an answer without names?", "answer": "No."},
    ]
    (data / "shop.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    out = tmp_path / "out.json"

    where = ["--data", str(data), "--repos", str(tmp_path / "repos")]
    run(["sweqa", *where, "--budgets", "2000", "--json", str(out)])

    (row,), halves = (table["rows"] for table in json.loads(out.read_text()))
    assert row["repository"] == "shop"
    assert row["questions"] == 1
    assert row["default 2000"] == row["best 2000"] == "1.000"
    assert [half["questions"] for half in halves] == [1, 0]
    assert "default 2,000: 1.000; best 2,000: 1.000" in capsys.readouterr().out
