"""Starts, ends and upgrades of the resident process leave nothing behind and nothing stale."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contextkit.agent import client
from contextkit.agent.client import socket_path

if TYPE_CHECKING:
    from conftest import World

Until = Callable[[Callable[[], bool], str], None]

pytestmark = [
    pytest.mark.one_python,
    pytest.mark.parametrize(
        "has_unix", [True, False], indirect=True, ids=["socket", "port"], scope="module"
    ),
]

WITH = {"CONTEXTKIT_HOOKS_RESIDENT": "yes"}
TIDES = """
from contextkit import ContextItem, hookimpl

@hookimpl
def contextkit_query(request):
    return [ContextItem("tides", "high water is at {hour}", 1.0, id="{hour}")]
"""


def start(world: World, folder: str = "/", **variables: str) -> subprocess.Popen[bytes]:
    """Start a resident process in a folder as a hook does."""
    command = [
        sys.executable,
        "-P",
        "-m",
        "contextkit.cli.background",
        "--warm",
        str(world.workspace),
    ]
    environment = {**world.environment, **WITH, **variables}
    return subprocess.Popen(command, cwd=folder, env=environment)


def pid_of(world: World, **variables: str) -> int | None:
    """The process that answers, once it is ready."""
    found = client.ask({"op": "status"}, {**world.environment, **variables}, 30.0)
    return found["pid"] if found and not found["warming"] else None


def end(world: World, **variables: str) -> None:
    """Ask the resident process to end."""
    client.ask({"op": "end"}, {**world.environment, **variables}, 30.0)


def files(world: World) -> list[str]:
    """The files in the folder of the sockets."""
    path = socket_path(world.environment)
    assert path is not None
    return sorted(file.name for file in Path(path).parent.iterdir())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_of_several_starts_one_stays_and_leaves_nothing(
    world: World, until: Until, how: signal.Signals | None
) -> None:
    """The others end by themselves; after it was killed, the next one clears up."""
    processes = [start(world) for _ in range(4)]
    until(lambda: pid_of(world) is not None, "a resident process")
    (stays,) = [each for each in processes if each.pid == pid_of(world)]
    assert [each.wait(60) for each in processes if each is not stays] == [0, 0, 0]
    if how is None:
        end(world)
    else:
        stays.send_signal(how)
    stays.wait(60)
    assert len(files(world)) == (2 if how is signal.SIGKILL else 0)

    following = start(world)
    until(lambda: pid_of(world) == following.pid, "the next resident process")
    assert "four spaces" in world.hook(world.prompt(), **WITH)
    end(world)
    assert following.wait(60) == 0
    assert files(world) == []


def test_two_homes_have_two_and_dead_ones_are_cleared_away(world: World, until: Until) -> None:
    """One does not take the other's socket for a leftover."""
    other = {"CONTEXTKIT_HOME": str(world.folder / "other")}
    first = start(world)
    until(lambda: pid_of(world) == first.pid, "a resident process")
    folder = Path(str(socket_path(world.environment))).parent
    for name in ("0badcafe.sock", "0badcafe.lock"):
        (folder / name).touch()
    second = start(world, **other)
    until(lambda: pid_of(world, **other) == second.pid, "that of the other home")
    assert not [name for name in files(world) if name.startswith("0badcafe")]
    assert pid_of(world) == first.pid
    end(world, **other)
    end(world)
    assert (first.wait(60), second.wait(60)) == (0, 0)
    assert files(world) == []


def test_a_relative_home_is_one_folder_for_all(world: World, until: Until) -> None:
    """It counts from where the hook runs, also for the process that then works in `/`."""
    relative = {**WITH, "CONTEXTKIT_HOME": "../ck"}

    def status() -> str:
        return world.contextkit("serve", "--status", "--json", **relative)

    process = start(world, str(world.workspace), **relative)
    until(lambda: '"warming": false' in status(), "a resident process")
    assert "four spaces" in world.hook(world.prompt(), **relative)
    assert f'"pid": {process.pid}' in status()
    world.contextkit("serve", "--stop", **relative)
    assert process.wait(60) == 0


def test_an_edited_source_file_makes_it_retire(world: World, until: Until) -> None:
    """As in an editable installation: no later answer is of the old file."""
    world.install("tides", TIDES.format(hour="noon"))
    process = start(world)
    until(lambda: pid_of(world) == process.pid, "a resident process")
    asked = "when is high water?"
    assert "at noon" in world.hook(world.prompt(asked, "s1"), **WITH)
    assert pid_of(world) == process.pid

    edited = TIDES.format(hour="sunset")
    (world.site / "ck_test_tides.py").write_text(edited, encoding="utf-8")
    assert "at sunset" in world.hook(world.prompt(asked, "s2"), **WITH)
    assert process.wait(60) == 0
    until(lambda: pid_of(world) is not None, "its successor")
    assert "at sunset" in world.hook(world.prompt(asked, "s3"), **WITH)


def test_an_answer_that_was_not_read_comes_with_the_next_event(world: World, until: Until) -> None:
    """As when a hook's process stops waiting just before its answer is ready."""
    process = start(world)
    until(lambda: pid_of(world) == process.pid, "a resident process")
    request = {
        "op": "hook",
        "event": {"cwd": str(world.workspace), **world.prompt()},
        "waited": 0.0,
        "home": client.home_of(world.environment),
        "installed": client.installed(),
        "environment": client.settings_in({**world.environment, **WITH}),
    }
    connection = client.connect(world.environment, 30.0)
    assert connection is not None
    client.send(connection, request)
    connection.shutdown(socket.SHUT_RD)
    connection.close()
    read = world.event("PostToolUse", tool_name="Read", tool_input={"file_path": "a"})
    until(lambda: "four spaces" in world.hook(read, **WITH), "the answer")
    end(world)
    assert process.wait(60) == 0


def test_a_start_ends_when_its_plugins_hang(world: World, until: Until) -> None:
    """A process that is asked to end does not wait for a plugin that never returns."""
    file = world.folder / "loading"
    code = f"""
        import time
        from pathlib import Path
        Path({str(file)!r}).touch()
        time.sleep(600)
        """
    world.install("hangs", "\n".join(line.strip() for line in code.splitlines()))
    process = start(world)
    until(file.exists, "the plugin that hangs")
    end(world)
    assert process.wait(60) == 0
    assert files(world) == []
