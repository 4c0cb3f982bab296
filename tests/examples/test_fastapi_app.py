"""The FastAPI example, served by uvicorn and asked over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from filelock import FileLock, Timeout

from contextkit import ContextKit
from examples.fastapi_app import make_app
from tests.examples.conftest import ROOT

pytestmark = pytest.mark.one_python

QUESTION = {"query": "why are payments retried?"}


@contextlib.asynccontextmanager
async def served(workspace: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the example, which uvicorn serves on a port of its own."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(make_app(workspace), log_config=None))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        async with httpx.AsyncClient(base_url=address, timeout=60, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        await serving


async def ask(client: httpx.AsyncClient, **question: Any) -> dict[str, Any]:
    """A good answer's values."""
    answer = await client.post("/context", json=question)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_it_answers_what_the_kit_answers(workspace: Path, kit: ContextKit) -> None:
    """The text, its tokens and its sources come over HTTP unchanged."""
    async with served(workspace) as client:
        answer = await ask(client, **QUESTION, sources=["memories", "code"], max_tokens=500)
    context = await kit.assemble_context(QUESTION["query"], ["memories", "code"], max_tokens=500)
    assert answer == {
        "markdown": context.markdown,
        "token_count": context.token_count,
        "sources_used": {"memories": 2, "code": 1},
    }
    assert "the bank drops every tenth call" in answer["markdown"]


async def test_the_projects_settings_hold_where_nothing_is_asked(workspace: Path) -> None:
    """Sources and budget are the configuration's; what was asked is stronger."""
    with (workspace / "contextkit.toml").open("a", encoding="utf-8") as settings:
        settings.write('sources = ["code"]\nmax_tokens = 80\n')
    async with served(workspace) as client:
        answer = await ask(client, **QUESTION)
        assert set(answer["sources_used"]) == {"code"}
        assert answer["token_count"] <= 80
        assert set((await ask(client, **QUESTION, sources=["memories"]))["sources_used"]) == {
            "memories"
        }


async def test_nothing_relevant_is_an_empty_answer(workspace: Path) -> None:
    """It is no error."""
    async with served(workspace) as client:
        answer = await ask(client, query="zeppelin", sources=["memories"])
    assert answer == {"markdown": "", "token_count": 0, "sources_used": {}}


BAD = (
    ({"query": ""}, "the query is empty: say what the context is needed for"),
    ({"query": " \n"}, "the query is empty: say what the context is needed for"),
    (QUESTION | {"sources": ["memory"]}, "Did you mean 'memories'?"),
    (QUESTION | {"max_tokens": 0}, "max_tokens must be a whole number of at least 1, got 0"),
)


async def test_a_bad_request_is_told_what_would_be_right(workspace: Path) -> None:
    """It is a 400 with the error's line, and the next request is served."""
    async with served(workspace) as client:
        for question, detail in BAD:
            answer = await client.post("/context", json=question)
            assert answer.status_code == 400
            assert detail in answer.json()["detail"]
        assert (await ask(client, **QUESTION))["sources_used"]["memories"] == 2


async def test_a_store_that_does_not_open_is_the_servers_fault(
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A 503 that names no folder; the operator's log does."""
    (tmp_path / "a file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("CONTEXTKIT_STORE_PATH", str(tmp_path / "a file"))
    async with served(workspace) as client:
        answer = await client.post("/context", json={**QUESTION, "sources": ["code"]})
    assert answer.status_code == 503
    assert answer.json() == {"detail": "no context can be assembled now"}
    assert str(tmp_path / "a file") in caplog.text


async def test_many_at_once_get_what_each_gets_alone(workspace: Path) -> None:
    """Twelve requests over one kit."""
    words = ("payments", "refunds", "office", "bank")
    queries = [f"{word} {number}" for number in range(3) for word in words]
    async with served(workspace) as client:
        alone = [await ask(client, query=query) for query in queries]
        together = await asyncio.gather(*(ask(client, query=query) for query in queries))
    assert together == alone
    assert len({answer["markdown"] for answer in alone}) >= 3


async def test_the_kit_is_closed_with_the_server(workspace: Path, home: Path) -> None:
    """While it runs it holds the store; when it has ended, the store is free at once."""
    lock = FileLock(home / "store" / "shard.lock")
    async with served(workspace) as client:
        await ask(client, **QUESTION)
        with pytest.raises(Timeout):
            lock.acquire(timeout=0)
    with lock.acquire(timeout=0):
        assert lock.is_locked


def test_the_command_that_it_names_serves_it(workspace: Path) -> None:
    """As a person runs it, in the project; it ends when it is told to."""
    folder = str(ROOT / "examples")
    command = ["uvicorn", "--factory", "--app-dir", folder, "fastapi_app:make_app", "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", *command], cwd=workspace, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        try:
            lines = iter(server.stderr.readline, "")
            found = (re.search(r"running on (http://\S+)", line) for line in lines)
            address = next(match[1] for match in found if match)
            url = f"{address}/context"
            answer = httpx.post(url, json=QUESTION, timeout=60, trust_env=False)
            assert answer.json()["sources_used"]["memories"] == 2
        finally:
            server.terminate()
        assert "Application shutdown complete" in server.stderr.read()
