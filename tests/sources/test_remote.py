"""JSON over HTTP, from a server that is slow, wrong or elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.request import HTTPSHandler

import pytest

from contextkit import ContextItem, ContextRequest
from contextkit.sources import fetch_json, in_order


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        match self.path:
            case "/token":
                self._send(200, f'"{self.headers["authorization"]}"'.encode())
            case "/near":
                self._send(302, b"", location="/token")
            case "/far":
                self._send(302, b"", location="http://localhost:1/token")
            case "/plain":
                self._send(302, b"", location=f"http://{self.headers['host']}/token")
            case "/page":
                self._send(200, b"<html>")
            case "/long":
                self._send(200, b'"' + b"a" * 5_000_000 + b'"')
            case "/slow":
                self.send_response(200)
                self.end_headers()
                for _ in range(40):
                    self.wfile.write(b" ")
                    time.sleep(0.05)
            case _:
                self._send(404, b"{}")

    def _send(self, status: int, body: bytes, location: str = "") -> None:
        self.send_response(status)
        if location:
            self.send_header("location", location)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        """Answer, if the client is still there."""
        try:
            super().handle()
        except ConnectionError:
            return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Keep the test's output clean."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_token_stays_with_its_host(address: str) -> None:
    """A redirect on the same host is followed; one to another host is an error."""
    headers = {"Authorization": "Bearer key"}
    assert fetch_json(f"{address}/near", 5, headers=headers) == "Bearer key"
    with pytest.raises(OSError, match="redirects to another host"):
        fetch_json(f"{address}/far", 5, headers=headers)


def test_a_token_is_not_sent_in_the_clear(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirect from https to http on the same host is an error."""
    # The server has no certificate: what is meant as https reaches it as it is.
    monkeypatch.setattr(
        HTTPSHandler, "https_open", lambda self, request: self.do_open(HTTPConnection, request)
    )
    secure = address.replace("http:", "https:")
    headers = {"Authorization": "Bearer key"}
    assert fetch_json(f"{secure}/near", 5, headers=headers) == "Bearer key"
    with pytest.raises(OSError, match="redirects from https to http"):
        fetch_json(f"{secure}/plain", 5, headers=headers)


@pytest.mark.parametrize(
    ("path", "error", "reason"),
    [
        ("/none", OSError, "404"),
        ("/page", ValueError, "Expecting value"),
        ("/long", ValueError, "longer than 5,000,000 bytes"),
        ("/slow", TimeoutError, "did not end in time"),
    ],
)
def test_a_bad_answer_is_an_error(
    address: str, path: str, error: type[Exception], reason: str
) -> None:
    """A server that sends byte by byte is stopped in time, too."""
    started = time.monotonic()
    with pytest.raises(error, match=reason):
        fetch_json(f"{address}{path}", 0.5 if path == "/slow" else 5)
    assert time.monotonic() - started < 5


def test_only_http_is_fetched() -> None:
    """A file is none."""
    with pytest.raises(ValueError, match="must begin with http"):
        fetch_json("file:///etc/passwd", 1)


def test_items_are_ranked_by_place() -> None:
    """The first has 1, and the last over a half."""
    items = [ContextItem("tide", f"{n}", 0.2) for n in range(4)]
    assert [item.relevance for item in in_order(items)] == [1, 0.875, 0.75, 0.625]
    assert in_order([]) == []


def test_a_source_should_answer_before_its_limit() -> None:
    """Four fifths of the time are its own."""
    assert ContextRequest(query="tides", source_timeout=2).answer_seconds == pytest.approx(1.6)
