"""A stub of Claude's Messages API, version 2026-10-21: it refuses what that refuses, and cites."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VERSION = "2026-10-21"
KEY = "a key"
_REQUIRED = (("model", str), ("max_tokens", int), ("messages", list))
_REMOVED = ("temperature", "top_k", "top_p")
_RESULT = {"type", "source", "title", "content", "citations", "cache_control"}


class MessagesStub(ThreadingHTTPServer):
    """The API on a port of this machine.

    Attributes:
        requests: the bodies of the requests that were good.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []

    @property
    def address(self) -> str:
        """What the SDK's `base_url` is."""
        return f"http://127.0.0.1:{self.server_port}"

    def reply(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, Any]]:
        """The status and the body of the answer to a request."""
        if path != "/v1/messages":
            return 404, _failure("not_found_error", f"no such path: {path}")
        if KEY not in {headers.get("x-api-key"), headers.get("authorization", "")[7:]}:
            return 401, _failure("authentication_error", "the key is not valid")
        request = json.loads(body)
        problems = list(_problems(headers, request))
        if problems:
            return 400, _failure("invalid_request_error", "; ".join(problems))
        self.requests.append(request)
        return 200, _answer(request)


class _Handler(BaseHTTPRequestHandler):
    server: MessagesStub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, answer = self.server.reply(self.path, headers, body)
        sent = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - its name there
        """Say nothing on stderr."""


def _failure(kind: str, text: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": text}}


# -- what is refused ------------------------------------------------------------------------


def _problems(headers: dict[str, str], request: dict[str, Any]) -> Iterator[str]:
    if headers.get("anthropic-version") != VERSION:
        yield f"anthropic-version: {VERSION} is expected"
    for name, kind in _REQUIRED:
        if not isinstance(request.get(name), kind):
            yield f"{name}: Field required"
    for name in _REMOVED:
        if name in request:
            yield f"{name}: Extra inputs are not permitted"
    messages = request.get("messages", [])
    roles = [message.get("role") for message in messages]
    if not set(roles) <= {"user", "assistant"} or roles[-1:] != ["user"]:
        yield f"messages: user and assistant in turns, the last of them the user's, not {roles}"
    blocks = [block for message in messages for block in message["content"]]
    for block in blocks:
        yield from _block_problems(block)
    if len({str(block.get("citations")) for block in blocks if _is_result(block)}) > 1:
        yield "citations: enabled for all search results, or for none"


def _is_result(block: dict[str, Any]) -> bool:
    return block.get("type") == "search_result"


def _block_problems(block: dict[str, Any]) -> Iterator[str]:
    if not _is_result(block):
        yield from _text_problems(block)
        return
    for name in sorted(block.keys() - _RESULT):
        yield f"search_result.{name}: Extra inputs are not permitted"
    for name in ("source", "title"):
        if not isinstance(block.get(name), str):
            yield f"search_result.{name}: Field required"
    if not block.get("content"):
        yield "search_result.content: at least one text block is required"
    if not isinstance(block.get("citations", {}).get("enabled", False), bool):
        yield "search_result.citations.enabled: true or false is expected"
    for inner in block.get("content", ()):
        yield from _text_problems(inner)


def _text_problems(block: dict[str, Any]) -> Iterator[str]:
    if block.get("type") != "text":
        yield f"type: no block is a {block.get('type')!r} here"
    elif not str(block.get("text", "")).strip():
        yield "text: content blocks must be non-empty"
    if block.get("citations"):
        yield "text.citations: not permitted in a user message"


# -- what is answered -----------------------------------------------------------------------


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """A message that cites every search result of the request, and the first one again."""
    results = [block for block in request["messages"][-1]["content"] if _is_result(block)]
    citations = [_citation(index, result) for index, result in enumerate(results)]
    cited = [
        {"type": "text", "text": " this", "citations": [citation]}
        for citation in [*citations, *citations[:1]]
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [{"type": "text", "text": "As far as I know:"}, *cited],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _citation(index: int, result: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "search_result_location",
        "source": result["source"],
        "title": result["title"],
        "cited_text": result["content"][0]["text"],
        "search_result_index": index,
        "start_block_index": 0,
        "end_block_index": 1,
    }
