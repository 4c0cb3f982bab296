"""A handful of questions about this repository, for when there is no data."""

from __future__ import annotations

from tests.benchmarks.quality.annotations import CodeQuestion
from tests.benchmarks.quality.commit_questions import ChangedFunction, CommitQuestion
from tests.benchmarks.texts import ROOT

__all__ = ["OWN_QUESTIONS", "own_commit_questions"]

OWN_QUESTIONS = (
    CodeQuestion(
        "how the budget is split over the sources by weight",
        ("contextkit/fitting/budget.py",),
        "how",
    ),
    CodeQuestion(
        "how are near duplicates told from contradictions",
        ("contextkit/dedup/guard.py", "contextkit/dedup/near.py"),
        "how",
    ),
    CodeQuestion("recency as a half-life", ("contextkit/ranking/scoring.py",), "meaning"),
    CodeQuestion(
        "two processes that take turns on one store",
        ("contextkit/store/turns.py", "contextkit/store/shard_lock.py"),
        "meaning",
    ),
    CodeQuestion(
        "docstrings without comment marks",
        ("plugins/contextkit-code/src/contextkit_code/doc_comments.py",),
        "meaning",
    ),
    CodeQuestion("IndexState", ("contextkit/indexing.py",), "symbol"),
    CodeQuestion("truncate", ("contextkit/truncation.py",), "symbol"),
    CodeQuestion("ShardFolder", ("contextkit/store/shard_folder.py",), "symbol"),
)


def own_commit_questions() -> list[CommitQuestion]:
    """What commits to this repository may be called, and the functions they would change."""
    return [
        CommitQuestion(subject, [_function(path, signature, docstring)], names_one)
        for subject, path, signature, docstring, names_one in _OWN_COMMITS
    ]


_OWN_COMMITS = (
    (
        "Count more words as full coverage of a query",
        "contextkit/store/fusion.py",
        "def coverage(",
        "How much of a query a document covers, 0..1.",
        False,
    ),
    (
        "Write state files atomically on Windows too",
        "contextkit/indexing.py",
        "def write_atomically(",
        "Write a file so that a reader sees the old or the new text, never half of one.",
        False,
    ),
    (
        "Let find_workspace stop at a home folder",
        "contextkit/workspace/finding.py",
        "def find_workspace(",
        "The workspace that a folder is in.",
        True,
    ),
)


def _function(path: str, signature: str, docstring: str) -> ChangedFunction:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.startswith(signature))
    return ChangedFunction(path, line, signature, docstring)
