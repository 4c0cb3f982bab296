"""`contextkit events`, through the real command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextkit.testing import CommandLine, command_line, printed_json

PLUGIN = Path(__file__).parent.parent


@pytest.fixture
def run(tmp_path: Path) -> Iterator[CommandLine]:
    """The command line in an empty workspace, with this plugin as it is in the checkout."""
    with command_line(
        tmp_path / "workspace", PLUGIN, CONTEXTKIT_PROJECT="demo", CONTEXTKIT_EMBEDDING_MODEL="none"
    ) as opened:
        yield opened


def test_an_event_is_added_listed_and_cleared(run: CommandLine) -> None:
    """The whole life of an event, as a person sees it."""
    said = run("events", "add", "shell_exec", "--command", "make", "--exit-code", "2")
    event = printed_json(run("events", "list", "--json"))[0]
    assert said.stdout == (
        f"Logged {event['id']} in the session default: Executed: `make` [exit 2]\n"
    )
    when = event["created_at"][:19].replace("T", " ")
    assert run("events", "list").stdout == f"{when}  default  Executed: `make` [exit 2]\n"
    assert run("events", "clear", "--session", "default").stdout == "Cleared 1 event\n"
    assert run("events", "list").stdout == "No events.\n"


def test_list_says_when_there_are_more(run: CommandLine) -> None:
    """And narrows to a session and to a kind."""
    run("events", "add", "turn", "hello", "--session", "a", "--role", "user")
    run("events", "add", "note", "one")
    run("events", "add", "note", "two", "--session", "b")
    listed = run("events", "list", "--kind", "note", "--limit", "1").stdout
    assert listed.endswith("1 of 2 events; --limit 2 lists them all\n")
    assert [
        event["text"] for event in printed_json(run("events", "list", "--session", "a", "--json"))
    ] == [
        "one",
        "hello",
    ]


def test_clear_needs_to_be_told_what(run: CommandLine) -> None:
    """By session, by age or by both; `--all` stands alone."""
    run("events", "add", "note", "one")
    assert run("events", "clear").exit_code == 2
    assert run("events", "clear", "--all", "--session", "x").exit_code == 2
    for days in ("1", "1d"):
        cleared = run("events", "clear", "--older-than", days, "--json")
        assert printed_json(cleared) == {"cleared": 0}
    refused = run("events", "clear", "--older-than", "2w")
    assert (refused.exit_code, "'2w' is not a valid number of days" in refused.stderr) == (2, True)
    assert run("events", "clear", "--all").stdout == "Cleared 1 event\n"


def test_lines_of_json_are_fed(run: CommandLine) -> None:
    """An event a line; those without a session join the one that is named."""
    turn = '{"kind": "turn", "text": "hi", "role": "user", "session": "other"}'
    lines = f'{{"kind": "file_read", "path": "a.py"}}\n\n{turn}'
    fed = run("events", "feed", "--session", "here", given=lines)
    assert fed.stdout == "Logged 2 events\n"
    events = printed_json(run("events", "list", "--json"))
    assert {(event["session"], event["kind"]) for event in events} == {
        ("here", "file_read"),
        ("other", "turn"),
    }
    assert run("events", "feed", given=b"").stdout == "Logged 0 events\n"
    assert run("events", "feed", given='{"kind": "note", "text": "x"}').exit_code == 0


def test_many_lines_are_stored_in_batches(run: CommandLine) -> None:
    """More than one batch arrives whole."""
    lines = "\n".join(json.dumps({"kind": "note", "text": f"{n}"}) for n in range(450))
    assert printed_json(run("events", "feed", "--json", given=lines)) == {"logged": 450}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{nonsense", "line 2 is not JSON"),
        (b'{"kind": "\xff"}', "line 2 is not JSON"),
        (b"[1]", "line 2 must be an object"),
        (b'{"kind": "error"}', "line 2: an event of the kind error needs a text"),
        (b'{"text": "x"}', "line 2: kind must be a word"),
        (b'{"kind": "note", "text": "' + b"x" * 1_100_000 + b'"}', "line 2 is longer than"),
    ],
)
def test_a_wrong_line_is_named_and_what_came_before_is_kept(
    run: CommandLine, line: bytes, problem: str
) -> None:
    """The exit code is 2."""
    fed = run("events", "feed", given=b'{"kind": "note", "text": "first"}\n' + line)
    assert fed.exit_code == 2
    assert problem in fed.stderr
    assert [event["text"] for event in printed_json(run("events", "list", "--json"))] == ["first"]


def test_a_wrong_event_is_one_line(run: CommandLine) -> None:
    """Without a traceback."""
    added = run("events", "add", "file_read")
    assert added.exit_code == 2
    assert "an event of the kind file_read needs a path" in added.stderr
    assert "Traceback" not in added.stderr


def test_a_wrong_setting_is_named(run: CommandLine, tmp_path: Path) -> None:
    """With its file and its line, as any setting of the configuration is."""
    file = tmp_path / "workspace" / "contextkit.toml"
    file.write_text("[sources.events]\nrecent = 0\n")
    listed = run("events", "list")
    assert listed.exit_code != 0
    assert "sources.events.recent" in listed.stderr
    assert "must be a whole number from 1 to 1,000,000, got 0" in listed.stderr
