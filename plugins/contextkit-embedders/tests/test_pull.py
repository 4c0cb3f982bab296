"""`contextkit models pull`, from a model hub on this machine."""

import hashlib
import json
import os
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from contextkit_embedders import contextkit_embedder
from contextkit_embedders.commands import models
from contextkit_embedders.errors import EmbedderError
from contextkit_embedders.pulling import pull

pytest.importorskip("fastembed")

NAME = "sentence-transformers/all-MiniLM-L6-v2"
_REVISION = "a" * 40
_COMMAND = """
import sys
from contextkit_embedders.commands import models
name, given, other = sys.argv[1:]
models(["pull", name, given, "--json"], standalone_mode=False)
models(["pull", name, other])
"""


@pytest.fixture
def hub(minilm: Path) -> Iterator[str]:
    """The URL of a hub that has one model, whatever repository is asked for."""
    files = {file.relative_to(minilm).as_posix(): file for file in minilm.rglob("*.*")}

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if "/tree/" in path:
                self.answer_json([self.entry(name) for name in files])
            elif path.startswith("/api/models/"):
                siblings = [{"rfilename": name} for name in files]
                about = {"id": "a/b", "modelId": "a/b", "sha": _REVISION, "private": False}
                self.answer_json({**about, "siblings": siblings, "tags": []})
            elif "/resolve/" in path:
                name = path.partition("/resolve/")[2].partition("/")[2]
                content = files[name].read_bytes()
                self.answer(content, etag=f'"{self.entry(name)["oid"]}"')
            else:
                self.send_error(404)

        def entry(self, name: str) -> dict[str, Any]:
            content = files[name].read_bytes()
            oid = hashlib.sha1(content, usedforsecurity=False).hexdigest()
            return {"type": "file", "path": name, "size": len(content), "oid": oid}

        def answer_json(self, data: object) -> None:
            self.answer(json.dumps(data).encode(), content_type="application/json")

        def answer(self, content: bytes, **headers: str) -> None:
            self.send_response(200)
            for header, value in {"x_repo_commit": _REVISION, **headers}.items():
                self.send_header(header.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    thread.join()
    http.server_close()


def test_a_pulled_model_is_ready(tmp_path: Path, hub: str, minilm: Path) -> None:
    """The command prints a model string that works, for a person as a setting to paste.

    It runs in a process of its own, with no cache and no hub but the given one.
    """
    folder, empty = tmp_path / "models" / "minilm", tmp_path / 'a "small" one'
    empty.mkdir()
    home = {"HF_HOME": str(tmp_path / "hf"), "CONTEXTKIT_HOME": str(tmp_path / "home")}

    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, NAME, str(folder), str(empty)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **home, "HF_ENDPOINT": hub, "HF_HUB_OFFLINE": "0"},
    )

    assert done.returncode == 0, done.stderr
    printed, end = json.JSONDecoder().raw_decode(done.stdout)
    assert printed == {"model": f"fastembed:{folder}"}
    assert list(folder.parent.iterdir()) == [folder]
    setting = done.stdout[end:].partition("\n\n")[2]
    assert tomllib.loads(setting) == {"embedding": {"model": f"fastembed:{empty}"}}
    pulled: Any = contextkit_embedder(f"fastembed:{empty}")
    given: Any = contextkit_embedder(f"fastembed:{minilm}")
    np.testing.assert_allclose(pulled.embed_query("why"), given.embed_query("why"), atol=1e-6)


def test_a_download_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither half a model nor a folder in which one is looked for."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "models" / "minilm"

    done = CliRunner().invoke(models, ["pull", NAME, str(folder)])

    assert isinstance(done.exception, EmbedderError)
    assert str(done.exception).startswith(f"'{NAME}' was not downloaded: ValueError: ")
    assert list(folder.parent.iterdir()) == []


def test_a_model_that_fastembed_lacks_is_an_error(tmp_path: Path) -> None:
    """It names those that there are, and makes no folder."""
    with pytest.raises(EmbedderError, match=rf"has no model 'minilm'; it has .*{NAME}"):
        pull("minilm", tmp_path / "new" / "minilm")

    assert not (tmp_path / "new").exists()


def test_a_folder_with_something_in_it_is_left_alone(weights: Path) -> None:
    """Nobody's files are overwritten, nor a file taken for a folder."""
    for taken in (weights, weights / "model.onnx"):
        with pytest.raises(EmbedderError, match=f"{taken} already exists"):
            pull(NAME, taken)

    assert (weights / "model.onnx").read_bytes() == b"no model"
