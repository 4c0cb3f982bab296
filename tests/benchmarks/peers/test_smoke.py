from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.benchmarks.peers.checker import Worth, worth
from tests.benchmarks.peers.corpus import SOURCES, Corpus, make_corpus, read_corpus
from tests.benchmarks.peers.edits import NEAR, words
from tests.benchmarks.peers.measuring import Measured, Setting, measure, write_corpus
from tests.benchmarks.peers.results import Results
from tests.benchmarks.peers.system import Answer

RECORDS = 200


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """A small one, made once."""
    return make_corpus(RECORDS)


def test_corpus_keeps_its_promises(corpus: Corpus, tmp_path: Path) -> None:
    """It has the records asked for, labelled near copies, and answers to its questions."""
    from rapidfuzz import fuzz

    by_id = {record.id: record for record in corpus.records}
    copies = [record for record in corpus.records if record.same_as]

    assert len(by_id) == len(corpus.records) == RECORDS
    assert {record.source for record in corpus.records} == {*SOURCES}
    assert copies
    assert all(fuzz.ratio(copy.text, by_id[copy.same_as].text) > NEAR for copy in copies)
    for question in corpus.questions:
        for gold, passages in zip(question.gold, question.answers, strict=True):
            assert passages[0] in words(by_id[gold].text)
            alike = [r for r in corpus.records if r.id.startswith(f"{gold}-like-")]
            assert all(passages[0] not in words(record.text) for record in alike)
    assert any(len(question.gold) == 2 for question in corpus.questions)
    corpus.write(tmp_path)
    assert read_corpus(tmp_path) == corpus


def test_checker_counts_what_is_in_a_context(corpus: Corpus) -> None:
    """A copy beside its original counts, and a question whose passage is not to be read."""
    copy = next(record for record in corpus.records if record.same_as)
    nothing = [Answer("", [])] * (len(corpus.questions) - 1)
    gold = next(r.text for r in corpus.records if r.id == corpus.questions[0].gold[0])

    found = worth(corpus, [Answer(gold, [copy.id, copy.same_as]), *nothing])

    assert found.planted == 1
    assert found.gold == pytest.approx(1 / len(corpus.questions))


def test_contextkit_and_the_floor_answer(corpus: Corpus, tmp_path: Path) -> None:
    """Both build, open in another process, and stay within the budget."""
    write_corpus(corpus, tmp_path)
    systems = ["contextkit"]
    if importlib.util.find_spec("bm25s") and importlib.util.find_spec("Stemmer"):
        systems.append("floor")

    for system in systems:
        measured = measure(system, corpus, tmp_path, Setting(sys.executable, cold_starts=1))

        assert len(measured.warm) == len(corpus.questions)
        assert measured.worth.over == 0
        assert measured.worth.gold > 0.8


def test_results_are_kept_and_drawn(corpus: Corpus, tmp_path: Path) -> None:
    """A run goes on where one of the same commit stopped, and its pictures name the systems."""
    measured = Measured(
        build=1.0,
        cold=1.0,
        warm=[0.02],
        worked=[0.01],
        peak_mb=1.0,
        build_mb=1.0,
        disk_mb=1.0,
        worth=Worth(1, 0.5, 0, 0, 0, 1.0, 1.0, 0),
        gold={500: 0.25, 1000: 0.5},
        load=1.0,
        steps=["", "", ""],
    )
    file = tmp_path / "results.json"
    Results.read(file, {"threads": 1, "commit": "a"}).add(corpus, "floor", measured)

    same, other = (Results.read(file, {"threads": 1, "commit": each}) for each in "ab")

    assert same.has(corpus, "floor")
    assert not same.has(corpus, "txtai")
    assert not other.rows
    for picture in same.pictures().values():
        assert ">floor</text>" in picture
        assert picture.startswith("<svg")
        assert picture.count("<text") == picture.count("</text>")
