"""What sessions were given and used: `contextkit stats` and `contextkit watch`."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from contextkit import ContextKit
from contextkit.agent.given import Given, GivenItem, Touched, journal_of_given, note_touched, use_of
from contextkit.agent.sessions import append_line
from contextkit.pipeline.usage import history_of
from contextkit.testing.users import OwnUser, own_user, wait_until

CODE = '''
def split_budget(total, weights):
    """Split the token budget over the sources by their weights."""
    return {name: total * weight // sum(weights.values()) for name, weight in weights.items()}
'''


class Agent(OwnUser):
    """A user whose agent has a session in a small project."""

    def hook(self, event: str, **fields: Any) -> str:
        """Report an event, and return the context that the agent reads."""
        said = {
            "hook_event_name": event,
            "session_id": "s1",
            "cwd": str(self.workspace),
            **fields,
        }
        context: str = json.loads(self.contextkit("hook", given=json.dumps(said)))["context"]
        return context

    def entries(self) -> list[dict[str, Any]]:
        """The lines of the record."""
        file = self.home / "hooks" / "given.jsonl"
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def agent() -> Iterator[Agent]:
    """An agent in an indexed project with one function."""
    with own_user(Agent) as user:
        (user.workspace / "budget.py").write_text(CODE, encoding="utf-8")
        user.contextkit("index", "code")
        yield user


def test_stats_tell_what_an_agent_used_of_what_it_was_given(agent: Agent) -> None:
    """A file that is changed after a context named it counts; the text is not kept."""
    assert "no agent was given a context in the last 30 days" in agent.contextkit("stats")
    question = "how is the token budget split over the sources?"
    assert "split_budget" in agent.hook("UserPromptSubmit", prompt=question)
    (given,) = agent.entries()
    assert given["tokens"] > 10
    assert "Split the token budget" not in json.dumps(given)
    tool = {"file_path": str(agent.workspace / "budget.py")}
    agent.hook("PostToolUse", tool_name="Edit", tool_input=tool, tool_response={})
    wait_until(lambda: len(agent.entries()) == 2, "the file is noted")

    told = json.loads(agent.contextkit("stats", "--json"))
    (code,) = told["sources"]
    assert code == {"source": "code", "items": 1, "with_file": 1, "used": 1}
    assert (told["contexts"], told["touched"], told["touched_after"]) == (1, 1, 1)
    shown = agent.contextkit("stats")
    assert f"contexts: 1; sessions: 1; tokens: {given['tokens']}" in shown
    assert "1 of them (100%) were in an earlier context" in shown


def test_watch_shows_earlier_and_new_lines(agent: Agent) -> None:
    """A context that an agent gets while it runs appears, with its agent, size and sources."""
    failure = {"event": "hook_failed", "hook": None, "session": None, "error": "late"}
    failed = {"time": "2026-01-02T03:04:05Z", **failure}
    append_line(agent.home / "hooks" / "hooks.log", failed, 100)
    earlier = {**_given_as_json("s", GIVEN), "agent": "codex"}
    append_line(agent.home / "hooks" / "given.jsonl", earlier, 1000)
    command = [sys.executable, "-m", "contextkit.cli", "watch"]
    with subprocess.Popen(
        command, cwd=agent.workspace, env=agent.environment, stdout=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline().endswith("  hook_failed  error=late\n")
        assert "w  codex UserPromptSubmit: 10 tokens" in watching.stdout.readline()
        agent.hook("UserPromptSubmit", prompt="how is the token budget split over the sources?")
        assert select.select([watching.stdout], [], [], 60)[0]
        line = watching.stdout.readline()
        watching.terminate()
    assert "project  UserPromptSubmit: " in line
    assert line.endswith("ms: code 1\n")


def test_only_files_of_the_workspace_are_noted(tmp_path: Path) -> None:
    """Nothing outside it, no folder, no event of another kind, and no command."""
    (tmp_path / "work").mkdir()
    (tmp_path / "outside.py").write_text("")
    file = tmp_path / "work" / "a.py"
    file.write_text("")
    said = {"hook_event_name": "PostToolUse", "session_id": "s", "cwd": str(tmp_path / "work")}
    inputs: list[Any] = [
        {"file_path": "../outside.py"},
        {"file_path": "."},
        {"command": "cat a.py"},
        {"file_path": "a\0.py"},
        None,
        {"path": "a.py"},
    ]
    with ContextKit.open(tmp_path / "work", entry_points=False, environment={}) as kit:
        note_touched(kit, {**said, "hook_event_name": "Stop", "tool_input": {"path": str(file)}})
        for tool_input in inputs:
            note_touched(kit, {**said, "tool_input": tool_input})
    (line,) = journal_of_given().read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["path"] == "a.py"


def test_a_used_item_counts_in_the_history_of_usage(tmp_path: Path) -> None:
    """Where the history is on, the items of a file that the agent opens are marked as used."""
    (tmp_path / "a.py").write_text("")
    given = {**_given_as_json("s", GIVEN), "workspace": str(tmp_path)}
    append_line(journal_of_given(), given, 1000)
    said = {"hook_event_name": "PostToolUse", "session_id": "s", "tool_input": {"path": "a.py"}}
    variables = {"CONTEXTKIT_HISTORY_ENABLED": "true"}
    with ContextKit.open(tmp_path, entry_points=False, environment=variables) as kit:
        note_touched(kit, {**said, "cwd": str(tmp_path)})
        marked = [(one.source, one.id) for one in history_of(kit.config).listed(kit.project)]
    assert marked == [("code", "1")]


@pytest.mark.parametrize("session", ["s", "", "sé"])
def test_only_what_the_session_was_given_there_counts_as_used(tmp_path: Path, session: str) -> None:
    """A file of the same name in another session or workspace is another file."""
    (tmp_path / "a.py").write_text("")
    for number, (at, where) in enumerate(
        [(session, str(tmp_path)), (f"{session}2", str(tmp_path)), (session, "/elsewhere")]
    ):
        given = _given_as_json(at, ({"source": "code", "id": str(number), "location": "a.py:1"},))
        append_line(journal_of_given(), {**given, "workspace": where}, 10_000)
    said = {"hook_event_name": "PostToolUse", "session_id": session, "cwd": str(tmp_path)}
    variables = {"CONTEXTKIT_HISTORY_ENABLED": "true"}
    with ContextKit.open(tmp_path, entry_points=False, environment=variables) as kit:
        note_touched(kit, {**said, "tool_input": {"path": "a.py"}})
        marked = [(one.source, one.id) for one in history_of(kit.config).listed(kit.project)]
    assert marked == [("code", "0")]


@pytest.mark.parametrize("quick", [1, 2])
def test_two_processes_that_rotate_the_record_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: int
) -> None:
    """Another process also finds the file too long, and is quicker at either look at it."""
    file, looked, looks = tmp_path / "given.jsonl", Path.stat, count(1)

    def stat(path: Path, **options: Any) -> os.stat_result:
        found = looked(path, **options)
        if path == file and next(looks) == quick:
            append_line(file, {"from": "the other"}, 100)
        return found

    file.write_text("long" * 50 + "\n", encoding="utf-8")
    monkeypatch.setattr(Path, "stat", stat)
    append_line(file, {"from": "this"}, 100)
    kept = [each.read_text(encoding="utf-8") for each in tmp_path.glob("given.jsonl*")]
    lines = {'{"from": "this"}', '{"from": "the other"}', "long" * 50}
    assert set("".join(kept).splitlines()) == lines


GIVEN = ({"source": "code", "id": "1", "location": "a.py:3-9"},)


def _given_as_json(session: str, items: tuple[dict[str, str], ...]) -> dict[str, Any]:
    read = [GivenItem.of(item) for item in items]
    return {
        "at": time.time(),
        "session": session,
        "workspace": "w",
        "event": "UserPromptSubmit",
        "tokens": 10,
        "seconds": 0.1,
        "items": [{"source": each.source, "id": each.id, "path": each.path} for each in read],
    }


def test_a_file_counts_only_after_it_was_given_and_in_its_own_session() -> None:
    """What was opened before, or in another session or workspace, shows no use of a context."""
    item = GivenItem(source="code", id="1", path="a.py")
    memory = GivenItem.of({"source": "memories", "id": "2", "location": None})

    def touched(session: str, workspace: str = "w") -> Touched:
        return Touched(at=0.0, session=session, workspace=workspace, path="a.py")

    given = Given(
        at=0.0, session="s", workspace="w", event="", tokens=1, seconds=0.1, items=(item, memory)
    )
    before = use_of([touched("s"), given, touched("t"), touched("s", "v")])
    assert (before.touched, before.touched_after) == (3, 0)
    assert [source.used for source in before.sources] == [0, 0]
    assert [source.with_file for source in before.sources] == [1, 0]
    after = use_of([given, given, touched("s"), touched("s")])
    assert (after.touched, after.touched_after, after.sources[0].used) == (1, 1, 1)
