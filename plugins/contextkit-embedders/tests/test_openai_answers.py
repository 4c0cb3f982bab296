"""What `openai:MODEL@URL` makes of a server's answers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("httpx")

TEXTS = ["one", "zwei", "三 🙂", "half \ud83d"]
Refused = Callable[..., str]


@pytest.mark.parametrize("order", [[3, 0, 2, 1], None], ids=["by index", "without indexes"])
def test_the_index_says_whose_vector_it_is(
    server: Any, model: Any, order: list[int] | None
) -> None:
    """A server may answer in any order; without indexes the vectors are in that of the texts."""
    entries = server.entries(TEXTS)
    bare = [{"embedding": entry["embedding"]} for entry in entries]
    server.prepared = [server.json({"data": [entries[n] for n in order] if order else bare})]

    assert model.embed_records(TEXTS).tolist() == [server.vector(text) for text in TEXTS]


def test_a_redirect_is_not_followed(server: Any, model: Any, refused: Refused) -> None:
    """A key goes nowhere but where it was meant to go; the error says where it leads."""
    server.prepared = [(307, {"Location": "http://elsewhere/v1"}, b"")]

    assert refused(model) == (
        f"{server.url}/embeddings redirects to http://elsewhere/v1: use that if it is right"
    )
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "no such\\nmodel"}}', ": no such model"),
        (b'{"error": "no such model"}', ": no such model"),
        (b'{"message": "no such model"}', ": no such model"),
        (b'{"detail": [1]}', ': {"detail": [1]}'),
        (b'"no such model"', ": no such model"),
        (b"404 page not found\n", ": 404 page not found"),
        (b"x" * 1_000, f": {'x' * 200}..."),
        (b"\xff\xfe", ": \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"),
        (b"", ""),
    ],
)
def test_what_the_server_says_is_shown(
    server: Any, model: Any, body: bytes, said: str, refused: Refused
) -> None:
    """On one line, whatever its shape."""
    server.prepared = [(404, {}, body)]

    assert refused(model) == f"{server.url}/embeddings answered HTTP 404{said}"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>welcome</html>", "answered something other than JSON: <html>welcome</html>"),
        (b'{"data": [', "answered something other than JSON"),
        (b"[]", "without a list of embeddings in 'data'"),
        (b'{"embeddings": []}', "without a list of embeddings in 'data'"),
        (b'{"data": [1]}', "without a list of embeddings in 'data'"),
        (b'{"data": []}', "answered 0 vectors for 1 texts"),
        (b'{"data": [{"index": 1, "embedding": [1.0]}]}', "whose 'index' is not that"),
        (b'{"data": [{"index": true, "embedding": [1.0]}]}', "whose 'index' is not that"),
        (b'{"data": [{"index": [0], "embedding": [1.0]}]}', "whose 'index' is not that"),
        (b'{"data": [{"index": 0}]}', "'embedding' that is not a list of numbers"),
        (b'{"data": [{"index": 0, "embedding": []}]}', "not a list of numbers"),
        (b'{"data": [{"index": 0, "embedding": "AAAA"}]}', "not a list of numbers"),
        (b'{"data": [{"index": 0, "embedding": [1.0, null]}]}', "not a list of numbers"),
        (b'{"data": [{"index": 0, "embedding": [[1.0]]}]}', "not a list of numbers"),
        (
            b'{"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]}',
            "answered vectors of different lengths",
        ),
        (
            b'{"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]}',
            "vectors whose 'index' is not that of the texts",
        ),
    ],
)
def test_an_answer_that_is_no_vectors_is_an_error(
    server: Any, model: Any, waits: list[float], body: bytes, reason: str, refused: Refused
) -> None:
    """It is not asked again, as it would answer the same."""
    server.prepared = [(200, {}, body)]

    error = refused(model, ["x"] * max(1, body.count(b'"embedding"')))

    assert error.startswith(f"{server.url}/embeddings answered ")
    assert reason in error
    assert waits == []


def test_a_number_that_is_too_large_is_infinite(server: Any, model: Any) -> None:
    """It raises no warning here; the core refuses it."""
    server.prepared = [server.json({"data": [{"embedding": [1e300, 1]}]})]

    assert model.embed_records(["x"]).tolist() == [[np.inf, 1.0]]
