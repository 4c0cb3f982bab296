"""The ported plugins, in kits, with servers and programs of this machine in place of others'."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from contextkit import ContextItem
from contextkit.testing import open_kit
from examples.ported import github_export, github_issue, http, links, pypi, tmux
from tests.examples.conftest import ROOT

PORTED = ROOT / "examples" / "ported"
ISSUE = {"title": "Refunds", "user": {"login": "ada"}, "body": "Twice", "html_url": "https://x/7"}
COMMENT = {"user": {"login": "bob"}, "body": "By hand, then"}
ATTRS = {"name": "attrs", "version": "25.1", "summary": "Classes", "description": "Without dunder"}
ANSWERS: dict[str, Any] = {
    "/attrs/json": {"info": ATTRS},
    "/attrs/24.2.0/json": {"info": {**ATTRS, "version": "24.2.0"}},
    "/repos/ada/bank/issues/7": ISSUE,
    "/repos/ada/bank/issues/7/comments": [COMMENT],
}
TMUX = """#!/bin/sh
test "$*" = "capture-pane -p -S -50 -t 1" && echo "FAILED test_refunds" || exit 1
"""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._send(ANSWERS.get(self.path))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        found = [{"name": "One", "content": f"about {asked['query']}"}, {"content": "more"}]
        self._send(found[0] if self.path == "/one" else found)

    def _send(self, answer: Any) -> None:
        sent = json.dumps(answer).encode()
        self.send_response(404 if answer is None else 200)
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Keep the test's output clean."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server in place of the package index, GitHub's API, and one's own."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., list[ContextItem]]:
    """Asks a ported source, with its settings."""

    def asked(source: ModuleType, query: str, **settings: Any) -> list[ContextItem]:
        name = source.__name__.rpartition(".")[2]
        own = {f"sources.{name}.{key}": value for key, value in settings.items()}
        with open_kit(tmp_path, {name: source}, settings={"embedding.model": "none", **own}) as kit:
            context = kit.assemble_context_sync(query)
            assert context.trace.sources[0].state in {"ok", "empty"}, context.trace.sources[0]
            return context.items

    return asked


def test_a_package_is_described(ask: Callable[..., list[ContextItem]], address: str) -> None:
    """The newest version or the one that is named; a question that names none gets none."""
    (newest,) = ask(pypi, "what does pypi:attrs do?", index=address)
    assert newest.content == "attrs 25.1: Classes\n\nWithout dunder"
    (named,) = ask(pypi, "what is in pypi:attrs@24.2.0", index=address)
    assert named.content.startswith("attrs 24.2.0")
    assert ask(pypi, "what does attrs do?", index=address) == []


def test_an_issue_is_read(ask: Callable[..., list[ContextItem]], address: str) -> None:
    """With its comments, by its short name or its address."""
    for question in ("why is issue:ada/bank/7 open?", "see https://github.com/ada/bank/issues/7"):
        (issue,) = ask(github_issue, question, api=address)
        assert issue.content == "Refunds\n\nada: Twice\n\nbob: By hand, then"
        assert issue.location == "https://x/7"


def test_a_terminal_is_shown(
    ask: Callable[..., list[ContextItem]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last lines of the pane that the question names."""
    program = tmp_path / "bin" / "tmux"
    program.parent.mkdir()
    program.write_text(TMUX)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    (pane,) = ask(tmux, "what failed in tmux:1 ?", lines=50)
    assert pane.content == "FAILED test_refunds"


def test_links_are_added(ask: Callable[..., list[ContextItem]]) -> None:
    """Those whose pattern occurs, with what it found in their title and address."""
    link = r"TODO\((\w+)\) -> Contact \1 -> https://example.org/people?q=\1"
    (found,) = ask(links, "who looks after TODO(ada)?", links=[link, "zebra -> Z -> https://z"])
    assert found.content == "Contact ada: https://example.org/people?q=ada"


def test_a_server_answers(ask: Callable[..., list[ContextItem]], address: str) -> None:
    """With one item or a list; without an address there is nothing."""
    assert [i.content for i in ask(http, "tides", url=address)] == ["about tides", "more"]
    assert [i.title for i in ask(http, "tides", url=f"{address}/one")] == ["One"]
    assert ask(http, "tides") == []


def test_an_export_of_issues_is_indexed(tmp_path: Path) -> None:
    """With their comments; a newer export replaces it."""
    file = tmp_path / "issues.json"
    issue = {"number": 7, "title": "Refunds", "body": "Sent twice", "url": "https://x/7"}
    file.write_text(json.dumps([{**issue, "comments": [{"body": "By hand, then"}]}]))
    with open_kit(
        tmp_path, {"github_export": github_export}, settings={"embedding.model": "none"}
    ) as kit:
        kit.index()
        (found,) = kit.assemble_context_sync("why are refunds sent twice?").items
        assert (found.id, found.content) == ("#7", "Refunds\n\nSent twice\n\nBy hand, then")
        file.write_text("[]")
        kit.index()
        assert kit.assemble_context_sync("why are refunds sent twice?").items == []


def test_each_is_short() -> None:
    """At most 30 lines."""
    for path in PORTED.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 30, path.name
