"""The measurements of code search and localisation: what they read and how they score."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from tests.benchmarks.quality import code, localise
from tests.benchmarks.quality.__main__ import COMMANDS, main as run
from tests.benchmarks.quality.annotations import CodeQuestion, Target, read_annotations
from tests.benchmarks.quality.code import Answered, Result
from tests.benchmarks.quality.commit_questions import read_commit_sets
from tests.benchmarks.quality.ndcg import ndcg

SHELF = '''\
class Shelf:
    """Keeps things."""

    def restock(self, items):
        """Put things back."""
        for item in items:
            self.things.append(item)
        return len(items)

    def count(self):
        number = 0
        for thing in self.things:
            number += 1
        return number
'''


def test_ndcg_is_one_for_the_best_ranking() -> None:
    """Targets in one place count as if one stood behind the other."""
    assert ndcg([1, 2]) == ndcg([1, 1]) == ndcg([1]) == 1.0
    assert ndcg([2]) == pytest.approx(1 / math.log2(3))
    assert ndcg([1, 0]) == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert ndcg([0]) == ndcg([11]) == 0.0


def test_a_target_is_found_where_its_lines_are() -> None:
    """Counted in files; other lines of its file do not count."""
    question = CodeQuestion("q", [Target("a", 5, 9), Target("b")], "kind")
    results = [Result("c", 1, 2), Result("a", 1, 4), Result("b", 1, 1), Result("a", 9, 12)]

    assert Answered(question, results).score == pytest.approx(ndcg([3, 3]))
    assert Answered(question, results[:2]).score == 0.0
    assert Answered(question, results).files == ["c", "a", "b"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Annotations of one repository, as the open data has them, and the repository."""
    folder = tmp_path / "code-search"
    (folder / "annotations").mkdir(parents=True)
    entry = {"name": "shop", "root": "src", "language": "python"}
    (folder / "repos.json").write_text(json.dumps([entry]))
    rows = [
        {
            "query": "how things are put back",
            "relevant": ["src/shelf.py"],
            "secondary": [{"path": "src/other.py", "start_line": 1, "end_line": 2}],
            "category": "semantic",
        },
        {"query": "Shelf", "relevant": ["src/shelf.py"], "secondary": [], "category": "symbol"},
    ]
    (folder / "annotations" / "shop.json").write_text(json.dumps(rows))
    source = tmp_path / "repos" / "shop" / "src"
    source.mkdir(parents=True)
    (source / "shelf.py").write_text(SHELF)
    (source / "other.py").write_text("def sell():\n    return 1\n")
    return tmp_path


def test_annotations_are_read(data: Path) -> None:
    """From the folder itself or from the one above; targets are below the root folder."""
    (above,), (direct,) = read_annotations(data), read_annotations(data / "code-search")

    assert above == direct
    assert (above.name, above.root) == ("shop", "src")
    assert above.questions[0].targets == [Target("shelf.py"), Target("other.py", 1, 2)]
    with pytest.raises(FileNotFoundError):
        read_annotations(data / "repos")


def test_code_search_is_measured(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a table, its misses and the same as data."""
    out = data / "out.json"
    arguments = ["--data", str(data), "--repos", str(data / "repos"), "--misses"]
    run(["code", *arguments, "--json", str(out)])

    printed = capsys.readouterr().out
    tables = json.loads(out.read_text())
    assert tables[0]["rows"][0]["repository"] == "shop"
    assert tables[1]["rows"][1] == {
        "kind of question": "symbol",
        "questions": 1,
        "NDCG@10": "1.000",
    }
    assert "shop 0.61 how things are put back" in printed


@pytest.mark.parametrize("command", [code, localise])
def test_data_needs_repositories(command: Any, tmp_path: Path) -> None:
    """One without the other is refused."""
    with pytest.raises(SystemExit):
        command.main(["--data", str(tmp_path)])


@pytest.fixture
def commits(tmp_path: Path) -> Path:
    """A set of commit questions, and its repository."""
    repository = tmp_path / "repos" / "shop"
    (repository / "src").mkdir(parents=True)
    (repository / "src" / "shelf.py").write_text(SHELF)
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *identity, *command], cwd=repository, check=True)
    lines = SHELF.split("\n")
    path = "src/shelf.py"
    corpus: list[dict[str, Any]] = [
        {"id": f"{path}::Shelf", "kind": "class", "start": 1, "text": "\n".join(lines[:3])},
        {
            "id": f"{path}::Shelf.restock",
            "kind": "function",
            "start": 4,
            "text": "\n".join(lines[3:8]),
        },
        {"id": f"{path}::<module>", "kind": "module", "start": 1, "text": ""},
        {"id": f"{path}::odd", "kind": "function", "start": 4, "text": "    def odd(:\n  x"},
    ]
    queries: list[dict[str, Any]] = [
        {"question": "Put things back faster", "gold_funcs": [f"{path}::Shelf.restock"]},
        {"question": "Let restock take no items", "gold_funcs": [f"{path}::Shelf.restock"]},
        {"question": "Document the shelf", "gold_funcs": [f"{path}::Shelf", f"{path}::odd"]},
        {"question": "Sort imports", "gold_funcs": [f"{path}::<module>"]},
    ]
    files: dict[str, list[dict[str, Any]]] = {
        "shop_meta.json": [{"base": "HEAD"}],
        "shop_code_corpus.jsonl": [{"path": path, **row} for row in corpus],
        "shop_code_queries.jsonl": [{"gold_files": [path], **row} for row in queries],
    }
    for name, rows in files.items():
        (tmp_path / name).write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return tmp_path


def test_commit_questions_are_read(commits: Path) -> None:
    """With signatures and docstrings; those about no function are left out."""
    (found,) = read_commit_sets(commits)
    restock, named, shelf = found.questions

    assert (found.name, found.base) == ("shop", "HEAD")
    (function,) = restock.functions
    assert (function.path, function.line) == ("src/shelf.py", 4)
    assert function.signature.strip() == "def restock(self, items):"
    assert function.docstring == "Put things back."
    assert [shelf.functions[0].signature, shelf.functions[0].docstring] == [
        "class Shelf:",
        "Keeps things.",
    ]
    assert shelf.functions[1].signature.strip() == "def odd(:"
    assert [restock.names_one, named.names_one, shelf.names_one] == [False, True, True]


def test_localisation_is_measured(commits: Path) -> None:
    """For both details and both sorts of questions."""
    out = commits / "out.json"
    arguments = ["--data", str(commits), "--repos", str(commits / "repos"), "--sources-only"]
    localise.main([*arguments, "--json", str(out)])

    full, summary = json.loads(out.read_text())
    assert [row["repository"] for row in full["rows"]] == [
        "shop",
        "shop, one is named",
        "shop, none is named",
    ]
    assert full["rows"][2]["8000"] == summary["rows"][2]["2000"] == "1.000"


def test_a_commits_tree_is_extracted_without_its_links(commits: Path) -> None:
    """A link may lead out of the folder, and what is written through it would, too."""
    repository = commits / "repos" / "shop"
    (repository / "src" / "out").symlink_to(commits)
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["add", "."], ["commit", "-q", "-m", "Link"]):
        subprocess.run(["git", *identity, *command], cwd=repository, check=True)

    with localise._tree(repository, "HEAD", ["src"]) as folder:
        found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))

    assert found == ["src", "src/shelf.py"]


def test_a_repository_without_the_commit_is_named(commits: Path) -> None:
    """With what git says."""
    (commits / "shop_meta.json").write_text('{"base": "nowhere"}')
    with pytest.raises(click.ClickException, match="shop: no tree of nowhere: fatal"):
        localise.main(["--data", str(commits), "--repos", str(commits / "repos")])


def test_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Where none is named, as an error."""
    for arguments, status in (([], 2), (["--help"], 0), (["nothing"], 2)):
        with pytest.raises(SystemExit) as stopped:
            run(arguments)
        assert stopped.value.code == status
        printed = capsys.readouterr()
        text = printed.out if status == 0 else printed.err
        assert all(name in text for name in COMMANDS)
