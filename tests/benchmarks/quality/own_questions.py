"""A handful of questions about this repository, for when there is no data."""

from __future__ import annotations

from tests.benchmarks.quality.annotations import CodeQuestion, Target
from tests.benchmarks.quality.commit_questions import ChangedFunction, CommitQuestion
from tests.benchmarks.texts import ROOT

__all__ = ["OWN_ANSWERS", "OWN_QUESTIONS", "own_commit_questions"]

OWN_QUESTIONS = (
    CodeQuestion(
        "how the budget is split over the sources by weight",
        (Target("contextkit/budget/shares.py"),),
        "how",
    ),
    CodeQuestion(
        "how are near duplicates told from contradictions",
        (Target("contextkit/dedup/guard.py"), Target("contextkit/dedup/near.py")),
        "how",
    ),
    CodeQuestion("recency as a half-life", (Target("contextkit/pipeline/rank.py"),), "meaning"),
    CodeQuestion(
        "two processes that take turns on one store",
        (Target("contextkit/store/turns.py"), Target("contextkit/store/shard_lock.py")),
        "meaning",
    ),
    CodeQuestion(
        "docstrings without comment marks",
        (Target("plugins/contextkit-code/src/contextkit_code/doc_comments.py"),),
        "meaning",
    ),
    CodeQuestion("IndexState", (Target("contextkit/models/indexer.py"),), "symbol"),
    CodeQuestion("truncate", (Target("contextkit/text/truncation.py"),), "symbol"),
    CodeQuestion("ShardFolder", (Target("contextkit/store/shard_folder.py"),), "symbol"),
)

OWN_ANSWERS = (
    {
        "question": "How does the function that fits items into a token budget make sure that the "
        "rendered text holds it?",
        "answer": "`fit` runs `_Fitting.run`, which plans with `_best_attempt`: each `_attempt` "
        "splits the room, places pieces, renders and counts. Where not even the best piece is "
        "shown, `_alone` shortens that one by itself.",
    },
    {
        "question": "What keeps two texts that contradict each other from being merged as near "
        "duplicates?",
        "answer": "`Guarded` texts are compared by their `_numbers`, `_negations` and "
        "`_code_differs`; `contradicts` says whether two of them state different things.",
    },
    {
        "question": "Where is a search by keywords and by vectors joined into one relevance?",
        "answer": "`join_hits` hands both rankings to `fuse`, scaled by `coverage`, with "
        "`KEYWORD_WEIGHT` for the keyword side.",
    },
    {
        "question": "How do several processes share one embedded store without losing records?",
        "answer": "`ShardLock` has a `_ticket` and a `_held` lock; `SharedShard` gives the shard "
        "away when `wanted` says that another process waits, and `ShardFolder` opens it again.",
    },
)
"""Questions with the answers that a maintainer would give."""


def own_commit_questions() -> list[CommitQuestion]:
    """What commits to this repository may be called, and the functions they would change."""
    return [
        CommitQuestion(subject, [_function(path, signature, docstring)], names_one)
        for subject, path, signature, docstring, names_one in _OWN_COMMITS
    ]


_OWN_COMMITS = (
    (
        "Count more words as full coverage of a query",
        "contextkit/store/hybrid.py",
        "def coverage(",
        "How much of a query a document covers, 0..1.",
        False,
    ),
    (
        "Write state files atomically on Windows too",
        "contextkit/files.py",
        "def write_atomically(",
        "Replace a private file atomically.",
        False,
    ),
    (
        "Let find_workspace stop at a home folder",
        "contextkit/workspace/find.py",
        "def find_workspace(",
        "Return the workspace that a folder belongs to.",
        True,
    ),
)


def _function(path: str, signature: str, docstring: str) -> ChangedFunction:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.startswith(signature))
    return ChangedFunction(path, line, signature, docstring)
