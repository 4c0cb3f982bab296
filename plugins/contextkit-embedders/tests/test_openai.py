"""`openai:MODEL@URL`, over HTTP to a server on this machine."""

import gc
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from contextkit_embedders import contextkit_embedder
from contextkit_embedders.endpoint import KEY_VARIABLE, Patience
from contextkit_embedders.errors import EmbedderError

pytest.importorskip("httpx")

TEXTS = ["one", "zwei", "三 🙂", "half \ud83d"]
Refused = Callable[..., str]


# -- what is sent, and what comes of it --------------------------------------------------


def test_each_text_gets_its_vector(server: Any, model: Any) -> None:
    """Whatever its script; the request is the one that OpenAI documents, without a key.

    Half a character, which UTF-8 cannot hold, is no error, and no second request is needed for the
    dimensions. A query is one vector.
    """
    vectors = model.embed_records(TEXTS)

    assert vectors.dtype == np.float32
    assert vectors.tolist() == [server.vector(text) for text in TEXTS]
    (asked,) = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "tiny", "input": TEXTS, "encoding_format": "float"}
    assert "Authorization" not in asked.headers
    assert model.dimensions == 3
    assert len(server.asked) == 1
    assert model.embed_query("why?").tolist() == server.vector("why?")


def test_many_texts_go_out_in_batches(server: Any, model: Any) -> None:
    """No request has more than a small server takes at once."""
    texts = [f"text {number}" for number in range(70)]

    vectors = model.embed_records(texts)

    assert server.sizes == [32, 32, 6]
    assert vectors.tolist() == [server.vector(text) for text in texts]


def test_prefixes_are_sent(server: Any) -> None:
    """The query's before a query, the record's before a record."""
    model: Any = contextkit_embedder(
        f"openai:e5@{server.url}?query_prefix=query:+&record_prefix=passage:+"
    )

    model.embed_query("why")
    model.embed_records(["because"])

    assert [a.body["input"] for a in server.asked] == [["query: why"], ["passage: because"]]
    assert model.name == f"openai:e5@{server.url}?record_prefix=passage%3A%20"


@pytest.mark.parametrize("ending", ["", "/", "/embeddings", "/embeddings/"])
@pytest.mark.parametrize("name", ["tiny", "@cf/baai/bge-m3@v2"])
def test_the_url_may_end_as_it_likes(server: Any, name: str, ending: str) -> None:
    """One endpoint has one name, and one path; the model's name may have an at sign."""
    model: Any = contextkit_embedder(f"openai:{name}@{server.url}{ending}")

    model.embed_query("why")

    assert model.name == f"openai:{name}@{server.url}"
    assert (server.asked[0].path, server.asked[0].body["model"]) == ("/v1/embeddings", name)


def test_the_key_is_sent_where_it_is_set(
    server: Any, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes from the environment; the line end of a file does not count."""
    monkeypatch.setenv(KEY_VARIABLE, "sk-123\n")

    model.embed_query("why")

    assert server.asked[0].headers["Authorization"] == "Bearer sk-123"


@pytest.mark.parametrize("key", ["sk-ключ", "sk\n123"])
def test_a_key_that_no_header_can_have_is_refused(
    server: Any, model: Any, monkeypatch: pytest.MonkeyPatch, key: str, refused: Refused
) -> None:
    """The error does not show it."""
    monkeypatch.setenv(KEY_VARIABLE, key)

    assert refused(model) == "OPENAI_API_KEY has characters that no HTTP header may have"
    assert server.asked == []


# -- dimensions ---------------------------------------------------------------------------


def test_dimensions_cost_one_short_request_once(server: Any, model: Any) -> None:
    """Nothing is sent until they are needed, and no texts have their shape."""
    assert server.asked == []

    assert model.embed_records([]).shape == (0, 3)
    assert [model.dimensions, model.dimensions] == [3, 3]

    assert server.sizes == [1]


def test_other_dimensions_than_before_are_an_error(
    server: Any, model: Any, refused: Refused
) -> None:
    """Somebody put another model behind the URL."""
    model.embed_query("why")
    server.prepared = [server.json({"data": [{"index": 0, "embedding": [1.0, 2.0]}]})]

    assert refused(model, ["x"]) == (
        f"{server.url}/embeddings gave vectors of 2 numbers, and of 3 before"
    )


def test_many_threads_may_ask_at_once(server: Any, model: Any) -> None:
    """Each gets its own vector."""
    texts = [f"text {number}" for number in range(40)]

    with ThreadPoolExecutor(8) as threads:
        vectors = list(threads.map(model.embed_query, texts))

    assert [vector.tolist() for vector in vectors] == [server.vector(text) for text in texts]


def test_a_model_that_is_gone_leaves_no_connection(server: Any, model: Any) -> None:
    """Its connections are closed with it."""
    model.embed_query("why")
    client = model.endpoint._client

    model.endpoint = None
    gc.collect()

    assert client.is_closed


# -- trying again -------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_what_may_pass_is_tried_again(
    server: Any, model: Any, waits: list[float], status: int
) -> None:
    """The waits grow; the log says why."""
    server.prepared = [server.json({"error": "busy"}, status)] * 3

    with capture_logs() as logs:
        vectors = model.embed_records(TEXTS)

    assert vectors.shape == (4, 3)
    assert waits == [0.5, 1.0, 2.0]
    assert [log["event"] for log in logs] == ["embedding_request_retried"] * 3
    assert logs[0]["problem"] == f"{server.url}/embeddings answered HTTP {status}: busy"


def test_a_broken_connection_is_tried_again(
    server: Any, model: Any, waits: list[float], refused: Refused
) -> None:
    """A server that restarts costs a wait; one that always breaks off is an error."""
    server.prepared = [None]
    assert model.embed_records(TEXTS).shape == (4, 3)
    assert waits == [0.5]

    server.prepared = [None] * 5
    assert refused(model).startswith(f"{server.url}/embeddings broke the connection: ")


def test_tries_end(server: Any, model: Any, waits: list[float], refused: Refused) -> None:
    """Five for records, two for a query; the error is the last answer."""
    server.judge = lambda _: server.json({"error": {"message": "still busy"}}, 503)

    assert refused(model) == f"{server.url}/embeddings answered HTTP 503: still busy"
    assert waits == [0.5, 1.0, 2.0, 4.0]
    with pytest.raises(EmbedderError, match="HTTP 503"):
        model.embed_query("why")
    assert waits[4:] == [0.5]


@pytest.mark.parametrize(
    ("header", "waited"),
    [
        ("7", 7.0),
        ("0", 0.0),
        (format_datetime(datetime(2020, 1, 1, tzinfo=UTC), usegmt=True), 0.0),
        ("soon", 0.5),
        ("-3", 0.5),
        ("1e9", 0.5),
        ("Mon, 99 Foo 2020", 0.5),
    ],
)
def test_retry_after_is_heeded(
    server: Any, model: Any, waits: list[float], header: str, waited: float
) -> None:
    """Seconds or a date; what is neither does not count."""
    server.prepared = [server.json({}, 429, retry_after=header)]

    model.embed_records(TEXTS)

    assert waits == [waited]


def test_a_date_to_come_is_waited_for(server: Any, model: Any, waits: list[float]) -> None:
    """No longer than until then."""
    soon = datetime.now(UTC) + timedelta(seconds=20)
    server.prepared = [server.json({}, 503, retry_after=format_datetime(soon, usegmt=True))]

    model.embed_records(TEXTS)

    assert 0 < waits[0] <= 20


@pytest.mark.parametrize("wanted", ["31", "9" * 400])
def test_an_endpoint_that_wants_a_long_wait_gets_none(
    server: Any, model: Any, waits: list[float], wanted: str, refused: Refused
) -> None:
    """Nobody is kept waiting for an hour; the error names what it wanted."""
    server.prepared = [server.json({}, 429, retry_after=wanted)]

    assert "answered HTTP 429; it wants to be asked again in " in refused(model)
    assert waits == []


# -- texts that are too long ---------------------------------------------------------------


def limited(server: Any, most: int, status: int = 400) -> Callable[[Any], Any]:
    """A server whose model reads so many characters, and says so of more."""

    def judge(asked: Any) -> Any:
        if max(map(len, asked.body["input"])) <= most:
            return None
        return server.json({"error": {"message": "maximum context length"}}, status)

    return judge


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_text_that_is_too_long_is_cut_by_itself(server: Any, model: Any, status: int) -> None:
    """Its neighbours keep what they are; it keeps as much as was taken, and so does a query."""
    server.judge = limited(server, 1_000, status)

    vectors = model.embed_records(["short", "x" * 3_000, "also short"])

    expected = ["short", "x" * 750, "also short"]
    assert vectors.tolist() == [server.vector(text) for text in expected]
    assert model.embed_query("x" * 1_600).tolist() == server.vector("x" * 800)


def test_a_request_that_is_wrong_at_any_length_is_an_error(
    server: Any, model: Any, refused: Refused
) -> None:
    """What the server says is shown, after a bounded number of requests."""
    server.judge = limited(server, -1)

    assert refused(model, ["x" * 2_000, "y"]).endswith("answered HTTP 400: maximum context length")
    assert server.sizes == [2, 1, 1, 1, 1]


# -- errors -------------------------------------------------------------------------------


def test_a_refused_key_is_named(
    server: Any, model: Any, monkeypatch: pytest.MonkeyPatch, waits: list[float], refused: Refused
) -> None:
    """It is tried once; the key itself is not shown, even if the server repeats it."""
    server.judge = lambda _: server.json({"error": {"message": "Incorrect key: sk-123"}}, 401)
    url = f"{server.url}/embeddings"

    assert refused(model) == (
        f"{url} refused access (HTTP 401), OPENAI_API_KEY is not set: Incorrect key: sk-123"
    )
    monkeypatch.setenv(KEY_VARIABLE, "sk-123")
    assert refused(model) == (
        f"{url} refused access (HTTP 401), OPENAI_API_KEY was not accepted: Incorrect key: ..."
    )
    assert waits == []


def test_nobody_at_the_url_is_an_error(refused: Refused) -> None:
    """The error asks whether the server runs, and nothing is tried again."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        model: Any = contextkit_embedder(f"openai:tiny@{url}")

        error = refused(model)

    assert error.startswith(f"{url}/embeddings cannot be reached: ConnectError: ")
    assert error.endswith("; is the server running?")


def test_a_server_that_never_answers_is_given_up_on() -> None:
    """After the time that the answer may take."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        model: Any = contextkit_embedder(f"openai:tiny@{url}")

        with pytest.raises(EmbedderError, match=r"gave no answer within 0\.05 s"):
            model.endpoint.post({}, Patience(tries=3, longest_wait=1.0, timeout=0.05))


@pytest.mark.parametrize("host", ["a" * 70 + ".b", "a\x7fb", None])
def test_what_the_library_cannot_ask_is_an_error(
    server: Any, host: str | None, refused: Refused
) -> None:
    """Such as a host that no name can be, or the body of a broken proxy; its complaint is shown."""
    server.prepared = [(200, {"Content-Encoding": "gzip"}, b"not gzip")]
    url = f"http://{host}/v1" if host else server.url
    model: Any = contextkit_embedder(f"openai:tiny@{url}")

    assert refused(model).startswith(f"{url}/embeddings cannot be asked: ")
