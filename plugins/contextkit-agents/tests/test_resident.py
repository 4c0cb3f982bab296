"""The resident process: started on demand, asked by hooks, gone when it is of no more use."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contextkit.agent import client
from contextkit.agent.client import socket_path

if TYPE_CHECKING:
    from conftest import World

Until = Callable[[Callable[[], bool], str], None]
BOTH = pytest.mark.parametrize("has_unix", [True, False], indirect=True, ids=["socket", "port"])
WITH = {"CONTEXTKIT_HOOKS_RESIDENT": "yes"}
SERVE = [sys.executable, "-m", "contextkit.cli", "serve"]


def path_of(world: World) -> Path:
    """Where a world's resident process listens."""
    found = socket_path(world.environment)
    assert found is not None
    return Path(found)


def ask(world: World, request: dict[str, Any]) -> dict[str, Any]:
    """Send a message without what each client adds, and read one."""
    connection = client.connect(world.environment, 30.0)
    if connection is None:
        raise ConnectionRefusedError
    with contextlib.closing(connection):
        client.send(connection, request)
        return client.receive(connection)


def answers(world: World) -> bool:
    """Whether a resident process is there and ready."""
    try:
        return not ask(world, {"op": "status"})["warming"]
    except (OSError, client.ProtocolError):
        return False


@contextlib.contextmanager
def serving(
    world: World, until: Until, *arguments: str, **variables: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A resident process of the test's own."""
    with subprocess.Popen(
        [*SERVE, *arguments], cwd=world.workspace, env={**world.environment, **variables}
    ) as process:
        try:
            until(lambda: answers(world), "a resident process")
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def shared(shared_world: World, until: Until) -> Iterator[World]:
    """A world with records, for all tests that leave its resident process as it was."""
    with serving(shared_world, until):
        yield shared_world


@BOTH
def test_it_is_started_on_demand_and_then_answers(world: World, until: Until) -> None:
    """The first hook answers by itself and starts it; the second is answered by it."""
    assert "four spaces" in world.hook(world.prompt(), **WITH)
    until(lambda: answers(world), "a resident process")
    status = world.status()
    assert status["workspaces"] == 1
    assert "four spaces" in world.hook(world.prompt(session="s2"), **WITH)
    assert world.status() == status
    assert "ended" in world.contextkit("serve", "--stop")
    until(lambda: not path_of(world).exists(), "the end of the resident process")
    assert "no server is running" in world.contextkit("serve", "--status")


@BOTH
def test_it_answers_as_a_hook_does_by_itself(world: World, until: Until) -> None:
    """The same context, for each event, and what was shown is known to both."""
    events = [
        world.event("SessionStart", source="startup"),
        world.prompt("which of the tests needs a free port?", "s3"),
        world.failure(session="s4"),
    ]
    alone = [world.hook(event) for event in events]
    assert all(alone)
    with serving(world, until):
        assert [world.hook(event, **WITH) for event in events] == ["", "", ""]
        for event in events:
            event["session_id"] += "x"
        told = [world.hook(event, **WITH) for event in events]
        assert (world.journal(), told) == ([], alone)


def test_two_clients_at_once_are_both_answered(shared: World) -> None:
    """Each of them gets its context."""
    told: list[str] = []

    def ask_one(session: str) -> None:
        told.append(shared.hook(shared.prompt(session=session), **WITH))

    threads = [threading.Thread(target=ask_one, args=(f"at once {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(told)) == 1
    assert len(told) == 4
    assert "four spaces" in told[0]


def test_of_two_starters_one_stays(shared: World) -> None:
    """Whoever comes second ends at once and in peace."""
    first = ask(shared, {"op": "status"})["pid"]
    second = shared.process(SERVE)
    assert second.returncode == 0
    assert b"already running" in second.stderr
    assert ask(shared, {"op": "status"})["pid"] == first


@BOTH
def test_it_ends_when_nobody_asks(world: World) -> None:
    """After the idle time it ends by itself, and its socket with it."""
    ran = world.process([*SERVE, "--idle-minutes", "0.0001"])
    assert ran.returncode == 0
    assert not path_of(world).exists()


def test_where_none_is_wanted_none_stays(world: World) -> None:
    """Though a hook started it: one that is late has not read yet that none is wanted."""
    command = [sys.executable, "-m", "contextkit.cli.background", "--warm", str(world.workspace)]
    for setting in ("RESIDENT", "ENABLED"):
        # It would stay for a quarter of an hour.
        ran = world.process(command, **{**WITH, f"CONTEXTKIT_HOOKS_{setting}": "no"})
        assert ran.returncode == 0
        assert list(path_of(world).parent.iterdir()) == []


def test_for_a_folder_that_is_gone_none_begins(world: World) -> None:
    """And nothing is made for it: a hook that was late may outlive what it ran in."""
    gone, home = world.workspace / "gone", world.workspace / "home"
    command = [sys.executable, "-m", "contextkit.cli.background", "--warm", str(gone)]
    ran = world.process(command, CONTEXTKIT_HOME=str(home), **WITH)
    assert ran.returncode == 0
    assert not home.exists()


def test_the_idle_time_is_a_setting(world: World, until: Until) -> None:
    """`hooks.idle_minutes`, also for one that a hook has started."""
    with serving(world, until, CONTEXTKIT_HOOKS_IDLE_MINUTES="7"):
        assert ask(world, {"op": "status"})["idle_seconds"] == 420
    assert world.process([*SERVE, "--idle-minutes", "0"]).returncode == 2


@BOTH
def test_a_socket_without_a_process_is_replaced(world: World, until: Until) -> None:
    """After `kill -9` the socket is still there; the next one takes its place."""
    with serving(world, until) as process:
        process.kill()
        process.wait()
        assert path_of(world).exists()
        assert "four spaces" in world.hook(world.prompt(), **WITH)
        until(lambda: answers(world), "another resident process")
        assert ask(world, {"op": "status"})["pid"] != process.pid


@BOTH
def test_it_ends_when_its_socket_goes(world: World, until: Until) -> None:
    """Nobody would find it any more."""
    with serving(world, until) as process:
        path_of(world).unlink()
        assert process.wait(60) == 0


@BOTH
def test_a_signal_ends_it_in_order(world: World, until: Until) -> None:
    """Its socket goes with it."""
    with serving(world, until) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert not path_of(world).exists()


def test_killed_in_the_middle_the_hook_answers_by_itself(world: World, until: Until) -> None:
    """The connection breaks after the question; the hook goes on alone."""
    path = path_of(world)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def accept_and_die() -> None:
            connection, _ = listener.accept()
            connection.recv(10)
            connection.close()

        thread = threading.Thread(target=accept_and_die)
        thread.start()
        assert "four spaces" in world.hook(world.prompt(), **WITH)
        thread.join()
    until(lambda: answers(world), "a resident process in its place")


def test_one_that_never_answers_costs_the_time_limit(world: World) -> None:
    """The agent does not wait for it any longer than for anything else."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path_of(world)))
        listener.listen()
        assert world.hook(world.prompt(), **WITH, CONTEXTKIT_HOOKS_TIMEOUT="0.3") == ""
    assert world.journal()[0]["event"] == "hook_late"


@pytest.mark.parametrize("data", [b"\0\0\0\2[]", b"\0\0\0\1{", b"\xff\xff\xff\xff", b"GET / HTTP"])
def test_who_speaks_another_language_is_not_believed(world: World, data: bytes) -> None:
    """Neither side trusts what it cannot read; the hook answers by itself."""
    path = path_of(world)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def answer() -> None:
            connection, _ = listener.accept()
            connection.recv(1 << 20)
            connection.sendall(data)
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        assert "four spaces" in world.hook(world.prompt(), **WITH)
        thread.join()


def test_it_survives_clients_of_all_kinds(shared: World) -> None:
    """Broken messages, unknown questions and people who hang up cost nobody else anything."""
    pid = ask(shared, {"op": "status"})["pid"]
    for data in (b"", b"\0", b"\0\0\0\1{", b"\xff\xff\xff\xff", b"\0\0\0\2[]"):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path_of(shared)))
            connection.sendall(data)
    assert "unknown" in ask(shared, {"op": "dance"})["error"]
    assert "four spaces" in shared.hook(shared.prompt(session="kinds"), **WITH)
    assert ask(shared, {"op": "status"})["pid"] == pid


def test_what_nobody_waits_for_any_more_was_not_shown(shared: World) -> None:
    """The time that a hook has spent before it asked is part of its time."""

    def asked(**more: Any) -> dict[str, Any] | None:
        event = {"cwd": str(shared.workspace), **shared.prompt(session="slow")}
        return client.ask({"op": "hook", "event": event, **more}, shared.environment, 30.0)

    assert asked(waited=60.0) == asked(waited="long") == {"answer": {}}
    found = asked(waited=0.0)
    assert found is not None
    assert found["answer"]["items"]
    assert [line["event"] for line in shared.journal()[-2:]] == ["hook_late", "hook_failed"]


def test_a_failure_there_is_silent_and_logged_too(shared: World) -> None:
    """A broken configuration is the log's affair, not the agent's."""
    file = shared.workspace / "contextkit.toml"
    before = file.read_text(encoding="utf-8")
    file.write_text("[assemble]\nx = 1\n", encoding="utf-8")
    assert shared.hook(shared.prompt(session="failing"), **WITH) == ""
    file.write_text(before, encoding="utf-8")
    line = shared.journal()[-1]
    assert "assemble.x" in line["reason"]
    assert line["process"] == "resident"


def test_a_changed_configuration_is_read_anew(shared: World) -> None:
    """What holds is what stands in the file now, in both directions."""
    file = shared.workspace / "contextkit.toml"
    before = file.read_text(encoding="utf-8")
    assert "four spaces" in shared.hook(shared.prompt(session="before"), **WITH)
    file.write_text(f"{before}[hooks]\nenabled = false\n", encoding="utf-8")
    assert shared.hook(shared.prompt(session="changed"), **WITH) == ""
    file.write_text(before, encoding="utf-8")
    assert "four spaces" in shared.hook(shared.prompt(session="changed"), **WITH)


def test_a_clients_variables_are_its_own(shared: World) -> None:
    """Settings in the environment are those of whoever asks."""
    only = {"CONTEXTKIT_HOOKS_SOURCES": "experiences"}
    assert shared.hook(shared.prompt(session="own"), **WITH, **only) == ""
    assert "four spaces" in shared.hook(shared.prompt(session="own"), **WITH)


@BOTH
def test_another_version_makes_it_retire(world: World, until: Until) -> None:
    """A client of another version is not answered, and the old process ends."""
    with serving(world, until) as process:
        request = {"op": "hook", "event": {}, "environment": {}, "home": "", "installed": "9 /x"}
        assert ask(world, request) == {"retired": True}
        assert process.wait(60) == 0


@BOTH
def test_what_is_installed_meanwhile_makes_it_retire(world: World, until: Until) -> None:
    """The hook answers by itself with the new plugin, and another process starts."""
    with serving(world, until) as process:
        world.install("tide", TIDE)
        assert "high water" in world.hook(world.prompt("when is high water today?"), **WITH)
        assert process.wait(60) == 0
        until(lambda: answers(world), "its successor")
        told = world.hook(world.prompt("when is high water today?", session="s2"), **WITH)
        assert "high water" in told


def test_several_workspaces_share_it(shared: World) -> None:
    """Up to four are open, whichever are asked about; each sees its own."""
    logged = len(shared.journal())
    for number in range(4):
        other = shared.folder / f"other{number}"
        (other / ".git").mkdir(parents=True)
        assert shared.hook({**shared.prompt(session="several"), "cwd": str(other)}, **WITH) == ""
    assert "four spaces" in shared.hook(shared.prompt(session="several"), **WITH)
    assert ask(shared, {"op": "status"})["workspaces"] == 4
    assert len(shared.journal()) == logged


def test_others_get_the_store_while_it_stays(shared: World) -> None:
    """What is remembered meanwhile is shown at once."""
    shared.hook(shared.prompt(session="others"), **WITH)
    shared.contextkit("remember", "python files are formatted with ruff, indent included")
    assert "ruff" in shared.hook(shared.prompt(session="others"), **WITH)


@BOTH
def test_a_folder_that_others_may_enter_is_refused(world: World, until: Until) -> None:
    """Whoever can put a socket there could answer: hooks answer by themselves, none starts."""
    with serving(world, until):
        path_of(world).parent.chmod(0o755)
        assert socket_path(world.environment) is None
        assert "four spaces" in world.hook(world.prompt(), **WITH)
        assert ask_nobody(world)
        ran = world.process(SERVE)
        assert ran.returncode == 1
        assert b"found no folder for a socket" in ran.stderr
        (world.folder / "run" / "contextkit").chmod(0o700)


def ask_nobody(world: World) -> bool:
    """Whether `serve --status` finds nobody."""
    return not world.status()["running"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_not_answered(world: World, until: Until) -> None:
    """Though the socket were open to all, who is on the other side is asked of the kernel."""
    with serving(world, until):
        path = path_of(world)
        with contextlib.ExitStack() as undone:
            for folder in (path.parent, path.parent.parent, world.folder):
                mode = folder.stat().st_mode
                folder.chmod(0o755)
                undone.callback(folder.chmod, mode)
            path.chmod(0o777)
            code = (
                "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
                's.sendall(b\'\\0\\0\\0\\x10{"op": "status"}\'); print(len(s.recv(100)))'
            )
            ran = subprocess.run(
                ["/usr/bin/env", "python3", "-c", code, str(path)],
                user=65534,
                env={"PATH": "/usr/bin:/bin"},
                capture_output=True,
                text=True,
                check=False,
            )
        if "Permission" in ran.stderr or "not found" in ran.stderr:
            pytest.skip("another user cannot run Python here")
        assert ran.stdout.strip() in {"", "0"}, ran.stderr
        assert answers(world)


TIDE = """
from contextkit import ContextItem, hookimpl

@hookimpl
def contextkit_query(request):
    return [ContextItem("tide", "high water is at noon today", 1.0, id="noon")]
"""
