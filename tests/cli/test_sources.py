"""`contextkit sources`: which there are, which are on, and why not."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contextkit.agent.client import ask, settings_in, socket_path
from contextkit.agent.server import ResidentServer
from contextkit.pipeline.breakers import Breakers

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

FIRST_PARTY = ["code", "commits", "experiences", "memories", "values"]
WORKING = """
    from contextkit import ContextItem, hookimpl

    @hookimpl
    def contextkit_query(request):
        return [ContextItem("tides", "High water at noon.", 0.9)]
    """


def by_name(contextkit: CommandLine, *options: str) -> dict[str, dict[str, Any]]:
    """The rows of `contextkit sources --json`, by name."""
    return {row["name"]: row for row in contextkit.json(*options, "sources")}


def test_each_source_is_described(contextkit: CommandLine) -> None:
    """Distribution, version, weight, priority, records and description of each."""
    rows = by_name(contextkit)
    assert {name for name, row in rows.items() if row["source"]} >= set(FIRST_PARTY)
    for name in FIRST_PARTY:
        row = rows[name]
        assert row["state"] == "on"
        assert (row["distribution"], row["version"]) == (f"contextkit-{name}", "0.1.0")
        assert row["weight"] > 0
        assert 1 <= row["priority"] <= 100
        assert row["records"] == 0
        assert row["description"]


def test_every_source_is_asked_how_it_is(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """With --health each says how it answered; one that does not fails the command."""
    rows = {row["name"]: row for row in contextkit.json("sources", "--health")}
    for name in FIRST_PARTY:
        assert (rows[name]["answer"], rows[name]["milliseconds"] > 0) == ("empty", True)
    assert rows["tokenizers"]["answer"] is None

    install("tides", WORKING.replace("return [", "raise OSError('no tide') or ["))
    ill = contextkit("sources", "--health")
    assert ill.exit_code == 1
    assert re.search(r"^code +on .* empty +\d+ ", ill.stdout, re.MULTILINE)
    assert re.search(r"^tides +on .* failed +\d+ .*no tide", ill.stdout, re.MULTILINE)
    assert ill.stdout.splitlines()[-1].startswith("breakers: no background server")


def test_a_health_check_is_no_use_of_its_items(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """The question that `doctor` and `sources --health` ask leaves no usage history."""
    install("tides", WORKING)
    (contextkit.folder / "contextkit.toml").write_text(
        '[assemble]\nstrategy = "used"\n[strategies.used]\nhistory = 0.3\n'
    )
    assert contextkit("sources", "--health").exit_code == 0
    contextkit("doctor")
    assert contextkit.json("history", "show") == []
    contextkit("assemble", "when is high water?")
    assert contextkit.json("history", "show")


@pytest.fixture
def resident(contextkit: CommandLine) -> Iterator[ResidentServer]:
    """A resident process's server, in a thread of this one."""
    path = socket_path(os.environ)
    assert path is not None
    server, ready = ResidentServer(Path(path), 60.0), threading.Event()
    thread = threading.Thread(target=server.serve, args=(ready.set,))
    thread.start()
    assert ready.wait(60)
    yield server
    server.end()
    thread.join(60)


def test_the_breakers_of_the_resident_process_are_shown(
    contextkit: CommandLine, install: Callable[..., str], resident: ResidentServer
) -> None:
    """With --health a source that it leaves alone is told with the time left and the reason.

    Where it has no such workspace open that is said, and so without one.
    """
    nothing = "no background server has this workspace open"
    install("tides", WORKING.replace("return [", "raise OSError('no tide') or ["))
    assert nothing in contextkit("sources", "--health").stdout
    elsewhere = {"folder": str(contextkit.folder / "nowhere")}
    assert ask({"op": "health", **elsewhere}, os.environ, 60.0) == {"health": None}

    settings = settings_in(os.environ)
    with (
        resident.workspaces.use(str(contextkit.folder), settings) as kit,
        resident.workspaces.use(
            str(contextkit.folder), {**settings, "CONTEXTKIT_ASSEMBLE_STYLE": "xml"}
        ),
    ):
        kit.pipeline.breakers = Breakers(2, 30.0, lambda: 0.0)
        for _ in range(2):
            kit.assemble_context_sync("when?", ["tides"])
        ill = contextkit("sources", "--health", "--json")
        shown = contextkit("sources", "--health").stdout
        resident.workspaces.close()
    rows = {row["name"]: row for row in json.loads(ill.stdout)}
    reason = "contextkit_query: OSError: no tide"
    assert rows["tides"]["breaker"] == {
        "source": "tides",
        "state": "open",
        "failures": 2,
        "reason": reason,
        "seconds": 30.0,
    }
    assert rows["tides"]["left_alone"] == f"skipped for 30 s: {reason}"
    assert (rows["code"]["breaker"]["state"], rows["code"]["left_alone"]) == ("closed", None)
    assert rows["tokenizers"]["breaker"] is None
    assert re.search(r"^tides +on .* failed +\d+ +open +", shown, re.MULTILINE)
    assert re.search(r"^code +on .* empty +\d+ +closed +", shown, re.MULTILINE)
    assert nothing not in shown


def test_a_source_is_off_by_a_file_and_line(contextkit: CommandLine) -> None:
    """The reason names the place to change."""
    file = contextkit.folder / "contextkit.toml"
    file.write_text("# mine\n[sources.commits]\nenabled = false\n")
    row = by_name(contextkit)["commits"]
    assert (row["state"], row["reason"]) == ("off", f"off by {file}:3")
    assert f"off by {file}:3" in contextkit("sources").stdout


def test_a_source_is_off_by_a_variable_or_a_flag(contextkit: CommandLine) -> None:
    """So do the other layers."""
    silenced = contextkit.with_variables(CONTEXTKIT_SOURCES_CODE_ENABLED="false")
    assert by_name(silenced)["code"]["reason"] == "off by CONTEXTKIT_SOURCES_CODE_ENABLED"
    rows = by_name(contextkit, "--disable", "code,values", "--disable", "memories")
    assert rows["code"]["reason"] == "off by --disable code"
    assert [name for name, row in rows.items() if row["state"] == "off"] == [
        *("code", "memories", "values"),
    ]


def test_switching_what_is_not_installed_is_an_error(contextkit: CommandLine) -> None:
    """A misspelt source is not switched off in silence."""
    said = contextkit.line(2, "--disable", "memorys", "sources")
    assert "'memorys'" in said
    assert re.search(r"Valid sources: .*code, commits, .*memories, .*values.*\. Did", said)
    assert "Did you mean 'memories'?" in said


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise RuntimeError('no\\nharbour')", "RuntimeError: no harbour"),
        ("import nothing_of_that_name", "ModuleNotFoundError: No module named"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def broken(:", "SyntaxError: invalid syntax (/"),
        (
            """
            from contextkit import hookimpl
            @hookimpl
            def contextkit_querry(request):
                return []
            """,
            "there is no hook 'contextkit_querry'; did you mean 'contextkit_query'?",
        ),
        (
            """
            def contextkit_query(request):
                return []
            """,
            "'contextkit_query' lacks the @hookimpl decorator",
        ),
    ],
)
def test_a_plugin_that_cannot_be_loaded_costs_only_itself(
    contextkit: CommandLine, install: Callable[..., str], code: str, reason: str
) -> None:
    """It is listed as broken with the reason in one line; the others work."""
    install("tides", code)
    row = by_name(contextkit)["tides"]
    assert row["state"] == "broken"
    assert row["reason"].startswith(reason)
    assert (row["distribution"], row["version"]) == ("their-tides", "2.1")
    assert "broken" in contextkit("sources").stdout
    assert contextkit("assemble", "budget", "--sources", "code").exit_code == 0
    said = contextkit.line(2, "assemble", "budget", "--sources", "tides")
    assert "broken" in said


def test_a_plugin_without_a_query_is_listed_as_no_source(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """A plugin may add only commands; one that is taken is left out, and said so."""
    install(
        "extras",
        """
        import click
        from contextkit import hookimpl

        @click.command()
        def greet():
            click.echo("hello")

        @hookimpl
        def contextkit_commands(cli):
            cli.add_command(greet)
            cli.add_command(greet, "assemble")
        """,
    )
    assert by_name(contextkit)["extras"]["source"] is False
    assert "not a source" in contextkit("sources").stdout
    greeted = contextkit("greet")
    assert greeted.stdout == "hello\n"
    assert "the command 'assemble' of" in greeted.stderr
    assert "Print the context" in contextkit("assemble", "--help").stdout


def test_the_configured_weight_and_priority_are_shown(contextkit: CommandLine) -> None:
    """What is shown is what counts."""
    settings = "[sources.code]\nweight = 7.5\npriority = 3\n"
    (contextkit.folder / "contextkit.toml").write_text(settings)
    row = by_name(contextkit)["code"]
    assert (row["weight"], row["priority"]) == (7.5, 3)


def test_settings_of_a_source_that_is_not_installed_are_pointed_out(
    contextkit: CommandLine,
) -> None:
    """A misspelt table may be a plugin that is elsewhere: a message, no error."""
    file = contextkit.folder / "contextkit.toml"
    file.write_text("[sources.comits]\nlimit = 3\n")
    result = contextkit("sources")
    assert result.exit_code == 0
    assert f"{file}:2" in result.stderr
    assert "did you mean 'commits'?" in result.stderr


def test_of_many_sources_that_are_not_installed_a_few_are_named(contextkit: CommandLine) -> None:
    """A stranger's file may have settings of thousands."""
    tables = "".join(f"[sources.s{number}]\nweight = 2\n" for number in range(2000))
    (contextkit.folder / "contextkit.toml").write_text(tables)
    said = contextkit("sources").stderr
    assert said.count("which is not installed") == 5
    assert "and of 1,995 more sources that are not installed" in said
