"""The issues source against a real server on this machine."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import contextkit_issues
import pytest
from attrs import define, field
from contextkit_issues.client import IssuesError, find_issues

from contextkit.testing import SourceConformance, open_kit

ISSUES = [
    {
        "number": number,
        "title": f"The pump leaks at joint {number}",
        "body": f"Water below joint {number}.\n\nIt *drips*, see <https://example.org/{number}>.",
        "state": "closed" if number % 3 == 0 else "open",
        "url": f"https://example.org/issues/{number}",
        "created_at": f"2026-03-{number % 28 + 1:02}T09:00:00Z",
    }
    for number in range(1, 51)
]


@define
class Server:
    """A tracker on this machine.

    Attributes:
        url: where it is asked.
        answers: page -> (status, headers, body) in place of what it would answer.
        silent_from: the first page that never comes, or 0.
        asked: the query strings that came, as dictionaries.
        tokens: the `Authorization` headers that came.
    """

    url: str = ""
    answers: dict[int, tuple[int, dict[str, str], str]] = field(factory=dict)
    silent_from: int = 0
    asked: list[dict[str, str]] = field(factory=list)
    tokens: list[str | None] = field(factory=list)
    ended: threading.Event = field(factory=threading.Event)

    def answer(self, query: dict[str, str]) -> tuple[int, dict[str, str], str]:
        """A page of the issues that share a word with the query."""
        page, size = int(query["page"]), int(query["per_page"])
        if page in self.answers:
            return self.answers[page]
        words = set(re.findall(r"\w+", query["q"].lower()))
        found = [i for i in ISSUES if words & set(re.findall(r"\w+", str(i["title"]).lower()))]
        shown = found[(page - 1) * size : page * size]
        more = page * size < len(found)
        following = f"?q={'+'.join(sorted(words))}&page={page + 1}&per_page={size}"
        links = {"Link": f'<{following}>; rel="next"'} if more else {}
        return 200, links, json.dumps(shown)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that runs as long as the test."""
    tracker = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = {k: v[0] for k, v in parse_qs(urlsplit(self.path).query).items()}
            tracker.asked.append(query)
            tracker.tokens.append(self.headers["Authorization"])
            if tracker.silent_from and int(query["page"]) >= tracker.silent_from:
                tracker.ended.wait()
                return
            status, headers, body = tracker.answer(query)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            """Nothing is said on standard error."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        threading.Thread(target=listening.serve_forever, args=[0.01], daemon=True).start()
        tracker.url = f"http://127.0.0.1:{listening.server_port}/issues"
        yield tracker
        tracker.ended.set()
        listening.shutdown()


class TestIssues(SourceConformance):
    """The suite, with the server's address as the setting."""

    source = contextkit_issues
    name = "issues"
    timeout = 60.0
    query = "which pump leaks?"

    @pytest.fixture(autouse=True)
    def _served(self, server: Server) -> None:
        self.settings = {"url": server.url}


@pytest.fixture
def ask(tmp_path: Path, server: Server) -> Iterator[Callable[..., Any]]:
    """Assembles a context, with a time limit that a busy machine keeps."""
    settings = {"sources.issues.url": server.url, "sources.issues.token_variable": "TRACKER"}
    with open_kit(tmp_path, {"issues": contextkit_issues}, settings=settings) as kit:

        def asked(query: str = "pump leaks", seconds: float = 30.0, **options: Any) -> Any:
            return kit.assemble_context_sync(
                query,
                max_tokens=20_000,
                source_timeout=seconds,
                deadline=2 * seconds,
                **options,
            )

        yield asked


def test_pages_are_read_until_the_limit(ask: Callable[..., Any], server: Server) -> None:
    """As many as are needed, and no more."""
    assert len(ask(limit=45).items) == 45
    assert [query["page"] for query in server.asked] == ["1", "2", "3"]
    server.asked.clear()
    assert len(ask(limit=5).items) == 5
    assert [(query["page"], query["per_page"]) for query in server.asked] == [("1", "5")]


def test_the_last_page_ends_it(ask: Callable[..., Any], server: Server) -> None:
    """Fewer than the limit are all there are."""
    assert len(ask(limit=100).items) == len(ISSUES)
    assert len(server.asked) == 3


def test_what_came_in_time_is_the_answer(ask: Callable[..., Any], server: Server) -> None:
    """A page that never comes costs the pages behind it."""
    # What the first question loads is not the server's time.
    ask()
    server.silent_from = 2
    context = ask(limit=100, seconds=3.0)
    (source,) = context.trace.sources
    assert source.state == "ok"
    assert len(context.items) == 20


def test_a_server_that_is_silent_is_named(server: Server) -> None:
    """With how long it was waited for."""
    server.silent_from = 1
    with pytest.raises(IssuesError, match=f"{server.url} did not answer within 0.1 s"):
        asyncio.run(find_issues(server.url, "pump leaks", 20, seconds=0.1))


def test_a_server_that_is_silent_costs_the_source_alone(
    ask: Callable[..., Any], server: Server
) -> None:
    """The trace says that it failed; there is no error."""
    server.silent_from = 1
    (source,) = ask(seconds=0.5).trace.sources
    # On a busy machine the core may be the first to give up.
    assert source.state in {"failed", "timed_out"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((503, {}, "later"), "answers 503 Service Unavailable"),
        ((200, {}, "<html>"), "answers what is no list of issues: JSONDecodeError"),
        ((200, {}, '{"message": "no"}'), "answers what is no list of issues"),
        ((200, {}, '[{"number": 1}]'), "answers what is no list of issues: KeyError('title')"),
        ((200, {}, '[{"number": "x", "title": ""}]'), "no list of issues: ValueError"),
        ((302, {"Location": "/login"}, ""), "answers 302 Found"),
    ],
)
def test_an_answer_that_is_none_is_said_to_be(
    ask: Callable[..., Any],
    server: Server,
    answer: tuple[int, dict[str, str], str],
    reason: str,
) -> None:
    """In one line, with the address and without the query."""
    server.answers[1] = answer
    (source,) = ask().trace.sources
    assert source.state == "failed"
    assert f"{server.url} {reason}" in source.reason or reason in source.reason
    assert "leaks" not in source.reason


def test_nobody_listening_is_said(tmp_path: Path) -> None:
    """The reason names the address and what went wrong."""
    with socket.socket() as bound:
        # Bound and not listening: whoever connects is refused.
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/issues"
        settings = {"sources.issues.url": url}
        with open_kit(tmp_path, {"issues": contextkit_issues}, settings=settings) as kit:
            context = kit.assemble_context_sync("pump")
    (source,) = context.trace.sources
    assert source.state == "failed"
    assert f"{url}: ConnectError: " in str(source.reason)


def test_a_next_page_elsewhere_is_not_followed(ask: Callable[..., Any], server: Server) -> None:
    """The token goes to nobody else, and a page is not asked for twice."""
    issue = json.dumps([ISSUES[0]])
    server.answers[1] = (200, {"Link": '<http://127.0.0.2:9/steal>; rel="next"'}, issue)
    assert len(ask().items) == 1
    again = '<?q=pump+leaks&page=1&per_page=20>; rel="next"'
    server.asked.clear()
    server.answers[1] = (200, {"Link": again}, issue)
    assert len(ask().items) == 1
    assert len(server.asked) == 1


def test_the_token_comes_from_the_environment(
    ask: Callable[..., Any], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting names the variable; without one there is no header."""
    ask(limit=20)
    monkeypatch.setenv("TRACKER", "s3cret")
    ask(limit=20)
    assert server.tokens == [None, "Bearer s3cret"]


def test_a_wrong_setting_is_named() -> None:
    """With what it has, and what was expected."""
    problems = contextkit_issues.contextkit_check_settings(
        {"address": "x", "url": "ftp://x", "token_variable": 3}
    )
    assert [problem.partition(":")[0] for problem in problems] == [
        *("address", "url", "token_variable"),
    ]
    assert contextkit_issues.contextkit_check_settings({"url": "https://example.org"}) == []


def test_without_an_address_nothing_is_found(tmp_path: Path) -> None:
    """A plugin that is installed and not configured is quiet."""
    with open_kit(tmp_path, {"issues": contextkit_issues}) as kit:
        context = kit.assemble_context_sync("pump")
    assert [source.state for source in context.trace.sources] == ["empty"]
