"""Dense vectors: what a model gives is checked, and what it does wrong costs its vectors."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wordllama
from attrs import define, field, frozen
from structlog.testing import capture_logs

from contextkit import DenseModel
from contextkit.embedding.built_in import StaticModel, find_static_model, load_embedder
from contextkit.embedding.embedder import COOLDOWN_SECONDS, ModelEmbedder
from contextkit.errors import ConfigError
from contextkit.testing import HashingModel
from tests.making import Clock

WEIGHTS = Path("weights/l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers/l2_supercat_tokenizer_config.json")


@define(eq=False)
class Sea:
    """A model that counts what it is asked, and fails while it has an error to raise."""

    name: str = "sea"
    dimensions: Any = 4
    error: BaseException | None = None
    answer: Any = None
    asked: list[list[str]] = field(factory=list)

    def embed_records(self, texts: Sequence[str]) -> Any:
        """Ones, or the answer that the test wants."""
        self.asked.append(list(texts))
        if self.error is not None:
            raise self.error
        return np.ones((len(texts), 4)) if self.answer is None else self.answer

    def embed_query(self, text: str) -> Any:
        """Likewise."""
        vectors = self.embed_records([text])
        return vectors[0] if self.answer is None else vectors


@frozen
class Gate(HashingModel):
    """A model that answers when the test opens the gate."""

    gate: threading.Event = field(factory=threading.Event)

    def embed_query(self, text: str) -> Any:
        """A query's vector, once the gate is open."""
        assert self.gate.wait(20)
        return HashingModel.embed_query(self, text)


@pytest.fixture
def clock() -> Clock:
    """A clock at 0."""
    return Clock()


@pytest.fixture
def sea() -> Sea:
    """A model that works."""
    return Sea()


@pytest.fixture
def embedder(sea: Sea, clock: Clock) -> ModelEmbedder:
    """Its embedder."""
    return ModelEmbedder("sea:one", lambda: sea, timeout=20.0, clock=clock)


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A model that nobody waits for in the end."""
    model = Gate()
    yield model
    model.gate.set()


# -- what is made ---------------------------------------------------------------------------


def test_the_default_model_makes_unit_vectors_of_256_numbers() -> None:
    """One per text, alike for texts that mean the same."""
    embedder = load_embedder()
    texts = ["a cat sleeps", "the kitten is asleep", "quarterly tax report", " \n", ""]
    vectors = embedder.dense(texts)
    assert vectors is not None
    assert vectors.shape == (5, 256)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1).tolist() == pytest.approx([1, 1, 1, 0, 0], abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert embedder.query(texts[0]) == pytest.approx(vectors[0].tolist())
    assert (embedder.name, embedder.dimensions) == ("wordllama-256", 256)
    assert embedder.problem is None


def test_a_built_in_model_is_one_for_the_process() -> None:
    """Its table is read once."""
    assert load_embedder() is load_embedder("wordllama")
    with pytest.raises(ConfigError, match="expected one of wordllama, none"):
        load_embedder("openai:x")


def test_a_model_gets_texts_in_batches(embedder: ModelEmbedder, sea: Sea) -> None:
    """Of 32, in their order; its vectors are brought to unit length."""
    vectors = embedder.dense([f"text {n}" for n in range(70)])
    assert vectors is not None
    assert [len(texts) for texts in sea.asked] == [32, 32, 6]
    assert [text for texts in sea.asked for text in texts] == [f"text {n}" for n in range(70)]
    assert vectors.shape == (70, 4)
    assert np.allclose(vectors, 0.5)
    assert embedder.dense([]) is not None


def test_texts_without_a_word_are_not_given_to_a_model(embedder: ModelEmbedder, sea: Sea) -> None:
    """An endpoint would refuse them, and the others with them."""
    vectors = embedder.dense(["", "word", " \n"])
    assert vectors is not None
    assert vectors.any(axis=1).tolist() == [False, True, False]
    assert embedder.dense(["  "]) is not None
    assert embedder.query(" ") is None
    assert sea.asked == [["word"]]
    assert embedder.problem is None


def test_half_a_surrogate_pair_is_given_to_no_model(embedder: ModelEmbedder, sea: Sea) -> None:
    """What comes from a terminal may have one."""
    assert embedder.query("high \udcff water")
    assert sea.asked == [["high ? water"]]


def test_large_and_tiny_numbers_do_not_overflow(embedder: ModelEmbedder, sea: Sea) -> None:
    """A vector of them has a direction like any other."""
    for size in (1e-30, 1e30):
        sea.answer = np.full((1, 4), size)
        vectors = embedder.dense(["x"])
        assert vectors is not None
        assert np.allclose(vectors, 0.5), size


# -- what a model does wrong ----------------------------------------------------------------

WRONG: list[tuple[Any, str]] = [
    (np.ones((2, 4)), "gave the shape (2, 4), expected (1, 4)"),
    (np.ones((1, 5)), "gave the shape (1, 5), expected (1, 4)"),
    (np.ones(4), "gave the shape (4,), expected (1, 4)"),
    (np.ones((1, 2, 2)), "gave the shape (1, 2, 2)"),
    (np.array([[1, 2, 3, np.nan]]), "gave a number that is not finite"),
    (np.array([[1, 2, 3, np.inf]]), "gave a number that is not finite"),
    ([[1.0, 2.0], [3.0]], "gave a list, expected an array"),
    ("vectors", "gave a str, expected an array"),
    ([["a", "b", "c", "d"]], "gave a list, expected an array"),
]


@pytest.mark.parametrize(("answer", "says"), WRONG)
def test_an_answer_that_is_no_vectors_means_keywords_alone(
    embedder: ModelEmbedder, sea: Sea, answer: Any, says: str
) -> None:
    """The problem names the model, the method and what was wrong."""
    sea.answer = answer
    assert embedder.dense(["x"]) is None
    problem = str(embedder.problem)
    assert "the embedding model 'sea:one' fails (embed_records " in problem
    assert says in problem
    assert "): search uses keywords alone; run `contextkit reembed` once it works" in problem


@pytest.mark.parametrize("answer", [np.ones((1, 4)), np.ones(3), np.full(4, np.nan), None, object])
def test_a_query_that_is_answered_wrongly_means_keywords_alone(clock: Clock, answer: Any) -> None:
    """One vector is expected, not an array of vectors."""

    @frozen
    class Wrong(HashingModel):
        def embed_query(self, text: str) -> Any:
            return answer

    embedder = ModelEmbedder("w:1", lambda: Wrong(4), timeout=20.0, clock=clock)
    assert embedder.query("x") is None
    assert "the embedding model 'w:1' fails (embed_query " in str(embedder.problem)


@pytest.mark.parametrize("dimensions", [0, -1, 4.0, True, None, 10**9, "4"])
def test_a_model_of_impossible_dimensions_is_told(dimensions: Any) -> None:
    """They are numbers from 1 to 65,536."""
    embedder = ModelEmbedder("sea:one", lambda: Sea(dimensions=dimensions))
    assert embedder.dimensions is None
    assert "dimensions: expected 1 to 65536" in str(embedder.problem)


class Panic(BaseException):
    """As a Rust panic is: no `Exception`."""


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ConnectionRefusedError(111, "refused"), "ConnectionRefusedError: [Errno 111] refused"),
        (TimeoutError(), "(TimeoutError)"),
        (MemoryError("no\nroom"), "MemoryError: no room"),
        (Panic("called unwrap"), "Panic: called unwrap"),
    ],
)
def test_whatever_a_model_raises_means_keywords_alone(
    embedder: ModelEmbedder, sea: Sea, error: BaseException, says: str
) -> None:
    """Nothing of it gets out, and the problem is one line."""
    sea.error = error
    assert embedder.dense(["x"]) is None
    assert embedder.query("y") is None
    assert says in str(embedder.problem)
    assert "\n" not in str(embedder.problem)
    assert len(sea.asked) == 1


def test_an_interrupt_is_no_failure_of_the_model(embedder: ModelEmbedder, sea: Sea) -> None:
    """Ctrl-C gets through, and the next one is asked as ever."""
    direct = ModelEmbedder("sea:one", lambda: sea, timeout=None)
    sea.error = KeyboardInterrupt()
    for ask in (lambda: embedder.dense(["x"]), lambda: direct.query("x")):
        with pytest.raises(KeyboardInterrupt):
            ask()
    sea.error = None
    assert embedder.problem is None
    assert embedder.dense(["x"]) is not None
    assert direct.query("x")


def test_a_model_that_failed_is_tried_again_after_a_while(
    embedder: ModelEmbedder, sea: Sea, clock: Clock
) -> None:
    """Not before; each time by one who asks, and when it works all is as ever."""
    sea.error = OSError("down")
    with capture_logs() as logs:
        assert [embedder.query("a"), embedder.query("a"), embedder.dense(["a"])] == [None] * 3
        clock.now = COOLDOWN_SECONDS
        # A model that knows its dimensions need not work.
        assert (embedder.dimensions, embedder.problem is None) == (4, False)
        assert [embedder.query("a"), embedder.query("b")] == [None, None]
        assert len(sea.asked) == 2
        sea.error = None
        assert embedder.query("a") is None
        clock.now = 2 * COOLDOWN_SECONDS
        assert embedder.query("a")
        assert embedder.dense(["a"]) is not None
    assert embedder.problem is None
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [
        ("dense_model_failed", "warning"),
        ("records_without_vectors", "warning"),
        ("dense_model_recovered", "info"),
    ]
    assert logs[0]["model"] == "sea:one"
    assert "contextkit reembed" in logs[1]["hint"]


def test_a_model_that_nobody_could_give_is_looked_for_again(clock: Clock) -> None:
    """Its name is not known until then."""
    found: list[DenseModel] = []
    embedder = ModelEmbedder("sea:one", lambda: found[0], clock=clock)
    assert (embedder.name, embedder.dimensions, embedder.query("x")) == (None, None, None)
    found.append(Sea())
    clock.now = COOLDOWN_SECONDS / 2
    assert embedder.query("x") is None
    clock.now = COOLDOWN_SECONDS
    assert embedder.dimensions == 4
    assert embedder.name == "sea"
    assert embedder.problem is None


def test_a_wrong_setting_is_told_to_everybody_who_asks() -> None:
    """It is no failure that passes: the user has to mend it."""

    def find() -> DenseModel:
        raise ConfigError("no plugin has it", key="embedding.model")

    embedder = ModelEmbedder("x:y", find)
    for ask in (lambda: embedder.query("x"), lambda: embedder.dense(["x"]), lambda: embedder.name):
        for _ in range(2):
            with pytest.raises(ConfigError, match="no plugin has it"):
                ask()
    assert embedder.problem is None


# -- the packaged files ---------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of WordLlama's two files."""
    installed = Path(wordllama.__file__).parent
    for file in (WEIGHTS, TOKENIZER):
        (tmp_path / file).parent.mkdir()
        shutil.copy(installed / file, tmp_path / file)
    return tmp_path


DAMAGES: dict[str, Callable[[Path], object]] = {
    "weights cut short": lambda package: (package / WEIGHTS).write_bytes(
        (package / WEIGHTS).read_bytes()[:1_000_000]
    ),
    "weights garbled": lambda package: (package / WEIGHTS).write_bytes(b"\xff" * 4096),
    "weights gone": lambda package: (package / WEIGHTS).unlink(),
    "tokenizer garbled": lambda package: (package / TOKENIZER).write_text('{"model": 3}'),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_of_the_model_mean_keywords_alone(
    package: Path, clock: Clock, damage: str
) -> None:
    """And when they are whole again, so are the vectors."""
    whole = {file: (package / file).read_bytes() for file in (WEIGHTS, TOKENIZER)}
    DAMAGES[damage](package)
    embedder = ModelEmbedder("wordllama", lambda: StaticModel(package), timeout=None, clock=clock)
    assert embedder.query("high water") is None
    assert embedder.dense(["high water"]) is None
    assert "the embedding model 'wordllama' fails" in str(embedder.problem)
    for file, content in whole.items():
        (package / file).write_bytes(content)
    clock.now = COOLDOWN_SECONDS
    assert embedder.query("high water") == load_embedder().query("high water")
    assert embedder.problem is None


def test_where_wordllama_is_not_installed_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Linux on Arm, for which it has no wheel."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    embedder = ModelEmbedder("wordllama", find_static_model, timeout=None)
    assert (embedder.query("x"), embedder.dense(["x"])) == (None, None)
    assert "wordllama is not installed" in str(embedder.problem)


# -- queries --------------------------------------------------------------------------------


def test_a_repeated_query_is_embedded_once(embedder: ModelEmbedder, sea: Sea) -> None:
    """A thousand different ones are remembered, the least used forgotten first."""
    for text in ("a", "b", "a"):
        assert embedder.query(text) == pytest.approx([0.5] * 4)
    assert sea.asked == [["a"], ["b"]]
    for n in range(1023):
        embedder.query(f"{n}")
    embedder.query("a")
    assert len(sea.asked) == 1025
    embedder.query("b")
    assert len(sea.asked) == 1026


def test_one_query_of_many_threads_is_embedded_once(gate: Gate) -> None:
    """As when the sources of one request ask for it at the same time."""
    counted: list[str] = []

    @frozen
    class Counted(Gate):
        def embed_query(self, text: str) -> Any:
            counted.append(text)
            return Gate.embed_query(self, text)

    embedder = ModelEmbedder("g:1", lambda: Counted(gate=gate.gate), timeout=20.0)
    with ThreadPoolExecutor(8) as threads:
        asking = [threads.submit(embedder.query, "high water") for _ in range(8)]
        gate.gate.set()
        answers = [each.result() for each in asking]
    assert counted == ["high water"]
    assert answers == [unit_vector("high water")] * 8


def unit_vector(text: str) -> Any:
    """The unit vector of a text."""
    vector = HashingModel().embed_query(text)
    return pytest.approx((vector / np.linalg.norm(vector)).tolist())


def test_a_search_waits_no_longer_than_its_timeout(gate: Gate, clock: Clock) -> None:
    """Those that ask meanwhile do not wait at all; the late answer serves the next one."""
    gate.gate.set()
    embedder = ModelEmbedder("g:1", lambda: gate, timeout=0.01, clock=clock)
    assert embedder.query("the first may take long")
    gate.gate.clear()
    assert embedder.query("high water") is None
    assert "no answer within 0.01 s" in str(embedder.problem)
    assert [embedder.query("high water"), embedder.query("other")] == [None, None]
    gate.gate.set()
    clock.now = COOLDOWN_SECONDS
    patient = ModelEmbedder("g:1", lambda: gate, timeout=20, clock=clock)
    assert patient.query("high water") == unit_vector("high water")
