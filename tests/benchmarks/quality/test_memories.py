"""The measurement of memories: its scorer, its data, and that it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.quality.conversations import invented_conversations, read_conversations
from tests.benchmarks.quality.evidence import evidence_recall
from tests.benchmarks.quality.memories import BUDGETS, Asking, main, recalls, reports

WORDS_ALONE = {"sources.memories.embedder": "none"}


def test_evidence_counts_where_its_whole_text_is_in_the_context() -> None:
    """Escaped or wrapped it is still there; shortened it is not."""
    context = "- 2025-01-01 Ada: It's \\*here\\*,\n  all of it.\n- Bob: the begin…"
    assert evidence_recall(context, ["It's *here*, all of it."]) == 1.0
    assert evidence_recall(context, ["It's *here*, all of it.", "the beginning"]) == 0.5
    assert evidence_recall("", ["anything"]) == 0.0


def test_conversations_are_read_with_their_places(tmp_path: Path) -> None:
    """A turn's position is its place in its session; the files may be in a folder `locomo`."""
    turns = [
        {
            "id": f"c/D{session}:{n}",
            "text": f"{session} {n}",
            "speaker": "Ada",
            "session": session,
            "conv": "c",
            "created_at": "2023-05-08T13:56:00",
        }
        for session in (1, 2)
        for n in (1, 2)
    ]
    question = {"conv": "c", "question": "?", "evidence": ["c/D1:2"], "category_name": "x"}
    folder = tmp_path / "locomo"
    folder.mkdir()
    lines = "\n".join(json.dumps(turn) for turn in turns)
    (folder / "locomo_corpus.jsonl").write_text(lines)
    (folder / "locomo_queries.jsonl").write_text(json.dumps(question))
    (read,) = read_conversations(tmp_path)
    assert [(turn.session, turn.position) for turn in read.turns] == [
        (1, 0),
        (1, 1),
        (2, 0),
        (2, 1),
    ]
    assert read.questions[0].evidence == ["c/D1:2"]
    assert read_conversations(folder) == [read]
    with pytest.raises(FileNotFoundError, match=r"has no locomo_corpus\.jsonl"):
        read_conversations(tmp_path / "elsewhere")


def test_neighbours_find_what_words_do_not(tmp_path: Path) -> None:
    """On data of our own making: answers that share no word with the question."""
    conversation = invented_conversations()[0]
    found = {
        weight: recalls(
            conversation,
            tmp_path / f"{weight}",
            Asking(ways=["default"], settings={**WORDS_ALONE, "ranking.neighbours": weight}),
        )
        for weight in (0.0, 0.7)
    }
    beside = {
        weight: [one.recall[0] for one in asked if one.category == "beside"]
        for weight, asked in found.items()
    }
    assert sum(beside[0.7]) > sum(beside[0.0])
    (table,) = reports(found[0.7], BUDGETS)
    assert table.rows[0]["evidence recall"] == "all"
    assert table.rows[0]["questions"] == len(conversation.questions)


def test_the_command_prints_a_table_and_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a store that is kept, which the second run finds."""
    options = ["--keep", str(tmp_path / "kept"), "--embedder", "none"]
    main([*options, "--ways", "default", "text", "--json", str(tmp_path / "found.json")])
    main([*options, "--ways", "default", "--limit", "5", "--set", "ranking.neighbours=0.5"])
    shown = capsys.readouterr().out
    assert "memories: default" in shown
    assert "memories: text" in shown
    table, _ = json.loads((tmp_path / "found.json").read_text())
    assert table["rows"][0]["questions"] == 24
