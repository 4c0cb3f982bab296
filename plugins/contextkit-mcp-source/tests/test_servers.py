"""The source over a real MCP server, which speaks over its standard input and output."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

import contextkit_mcp_source
from contextkit import ContextKit, IndexReport, RequestOptions
from contextkit.errors import ConfigError
from contextkit.testing import SourceConformance
from contextkit_mcp_source.connections import connections

OpenServers = Callable[..., ContextKit]


def indexed(kit: ContextKit) -> IndexReport:
    """What an index run did."""
    report = kit.index()["servers"].report
    assert report is not None
    return report


async def test_a_search_tool_answers(open_servers: OpenServers) -> None:
    """Its results are items in its order, each with its title and address."""
    kit = open_servers()
    context = await kit.assemble_context("high water")
    first, second = context.items
    assert (
        first.content == "Tides\n\nHigh water in Oslo at noon.\n\nIt is measured at the old pier."
    )
    assert (first.id, first.title, first.location) == (
        "wiki:tides",
        "Tides",
        "https://wiki.test/tides",
    )
    assert second.id == "wiki:ferries"
    assert not (await kit.assemble_context("zebra")).items


def test_a_connection_is_kept(open_servers: OpenServers, log: Path) -> None:
    """The program runs once, whichever event loop asks."""
    kit = open_servers()
    for _ in range(2):
        kit.assemble_context_sync("when is high water?")
    calls = log.read_text().split()
    assert len(calls) == 2
    assert len({*calls}) == 1


async def test_a_tool_can_be_named(open_servers: OpenServers) -> None:
    """A result may be plain text; a wrong name is an error that says what there is."""
    context = await open_servers(tools=["wiki: list_lines"]).assemble_context("tides")
    assert [item.content for item in context.items] == ["a line about tides"]
    wrong = await open_servers(tools=["wiki: find"]).assemble_context("tides")
    reason = wrong.trace.sources[0].reason
    assert reason is not None
    assert "no tool is named 'find'; the server has: search_pages, list_lines" in reason


def test_resources_are_indexed(
    own_wiki: Path, open_servers: OpenServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are records, which are compared with the server after `refresh_minutes`."""
    kit = open_servers(refresh_minutes=60)
    assert indexed(kit).added == 1
    context = kit.assemble_context_sync("who signs the red book?")
    assert context.items[0].content == "Visitors sign the red book."
    assert context.items[0].location == "wiki://rules"
    assert context.items[0].title == "House rules"

    (own_wiki / "rules.txt").write_text("Visitors sign the blue book.")
    assert indexed(kit).unchanged == 1
    hours = count(time.time(), 7200)
    monkeypatch.setattr("contextkit_mcp_source.reading.time.time", lambda: next(hours))
    assert indexed(kit).updated == 1
    assert indexed(kit).unchanged == 1

    (own_wiki / "closed").touch()
    connections.close()
    assert indexed(kit).removed == 1


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("fail", "wiki: RuntimeError: the tool search_pages failed"),
        ("crash", "wiki: "),
        ("sleep", "no answer within"),
    ],
)
async def test_a_failing_server_is_asked_again(
    open_servers: OpenServers, query: str, reason: str
) -> None:
    """The trace says why it failed, and the next query connects anew."""
    kit = open_servers()
    assert (await kit.assemble_context("high water")).items
    limits: RequestOptions = {"source_timeout": 2, "deadline": 3} if query == "sleep" else {}
    context = await kit.assemble_context(query, **limits)
    assert reason in str(context.trace.sources[0].reason)
    assert (await kit.assemble_context("high water")).items


async def test_one_broken_server_leaves_the_others(open_servers: OpenServers) -> None:
    """Its failure is logged; if no server answers, it is the source's failure."""
    wiki = f"wiki: {sys.executable} {Path(__file__).with_name('wiki.py')}"
    kit = open_servers("gone: no-such-program --now", wiki)
    assert [item.id for item in (await kit.assemble_context("high water")).items] == [
        "wiki:tides",
        "wiki:ferries",
    ]
    outcome = indexed(kit)
    assert outcome.added == 1
    assert [name for name, _ in outcome.skipped] == ["gone"]
    alone = await open_servers("gone: no-such-program").assemble_context("high water")
    assert "gone: FileNotFoundError" in str(alone.trace.sources[0].reason)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"servers": ["wiki"]}, "such as \"wiki: uvx wiki-server\", got 'wiki'"),
        ({"servers": ["wiki: 'open"]}, "must be a list of texts"),
        ({"servers": "wiki: a"}, "must be a list of texts"),
        ({"servers": ["a: b", "a: c"]}, "each name must stand once, got 'a' twice"),
        ({"tools": ["search"]}, 'such as "wiki: search_pages"'),
    ],
)
def test_wrong_settings_are_refused(
    open_servers: OpenServers, settings: dict[str, object], problem: str
) -> None:
    """The error says what would be right."""
    with pytest.raises(ConfigError, match=r"sources\.servers") as refused:
        open_servers(**settings).assemble_context_sync("tides")
    assert problem in str(refused.value)


def test_a_project_file_names_no_program(tmp_path: Path, open_servers: OpenServers) -> None:
    """A cloned repository cannot make contextkit start one."""
    folder = tmp_path / "cloned"
    folder.mkdir()
    (folder / "contextkit.toml").write_text('[sources.servers]\nservers = ["a: touch ran"]\n')
    environment = {**os.environ, "CONTEXTKIT_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "contextkit.cli", "assemble", "tides", "--sources", "servers"]
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert "this setting is yours alone" in ran.stderr
    assert not (folder / "ran").exists()


class TestConformance(SourceConformance):
    """The suite for all sources."""

    source = contextkit_mcp_source
    query = "when is high water?"
    timeout = 30.0

    @pytest.fixture(autouse=True)
    def _wiki(self, log: Path) -> None:
        wiki = f"wiki: {sys.executable} {Path(__file__).with_name('wiki.py')}"
        self.settings = {"servers": [wiki], "environment": ["WIKI_LOG"]}
