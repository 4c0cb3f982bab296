"""A hook's time limit holds whatever its process is busy with, and leaves nothing running."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import World

Until = Callable[[Callable[[], bool], str], None]

pytestmark = [
    pytest.mark.one_python,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a thread watches where none forks"),
]

STUCK_SECONDS = 600
PLUGIN = """
import ctypes, os, re, signal, subprocess, time
from pathlib import Path
from contextkit import hookimpl

@hookimpl
def contextkit_source():
    # Whole once it has its name.
    Path({pids!r}).with_suffix(".new").write_text(str(os.getpid()))
    Path({pids!r}).with_suffix(".new").rename({pids!r})
    {trouble}

@hookimpl
def contextkit_query(request):
    return []
"""

# Neither lets go of the interpreter's lock.
IN_C = f"ctypes.PyDLL(None).sleep({STUCK_SECONDS})"
IN_A_PATTERN = "re.match('(a|a)*b', 'a' * 60)"
# Long enough for a busy machine to come to the plugin, and short beside what it takes.
SHORT = {"CONTEXTKIT_HOOKS_TIMEOUT": "5"}


def troubled(world: World, trouble: str) -> Path:
    """Install a plugin that runs into trouble, and writes first which process it is in."""
    file = world.folder / "troubled"
    world.install("troubled", PLUGIN.format(pids=str(file), trouble=trouble))
    return file


def is_there(pid: int) -> bool:
    """Whether a process runs, or waits to be looked after."""
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        return state != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc").is_dir()


@pytest.mark.parametrize("trouble", [IN_C, IN_A_PATTERN])
def test_a_hook_ends_in_time_though_c_code_holds_the_interpreter(
    world: World, until: Until, trouble: str
) -> None:
    """It prints nothing, ends with 0, says why in the log, and what was stuck is ended."""
    file = troubled(world, trouble)
    ran = subprocess.run(
        world.hook_command,
        cwd=world.workspace,
        env={**world.environment, **SHORT},
        input=json.dumps(world.prompt()).encode(),
        capture_output=True,
        timeout=STUCK_SECONDS / 5,
        check=False,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert [
        (line["event"], line["hook"], line["session"], line["seconds"]) for line in world.journal()
    ] == [("hook_late", "UserPromptSubmit", "s1", 5.0)]
    stuck = int(file.read_text(encoding="utf-8"))
    until(lambda: not is_there(stuck), "the end of the process that is stuck")


def test_what_a_stuck_hook_has_started_ends_with_it(world: World, until: Until) -> None:
    """Such as a git that looks through a large repository."""
    program = f"subprocess.Popen(['sleep', '{STUCK_SECONDS}'])"
    file = world.folder / "started"
    troubled(world, f"Path({str(file)!r}).write_text(str({program}.pid)); {IN_C}")

    assert world.hook(world.prompt(), **SHORT) == ""
    started = int(file.read_text(encoding="utf-8"))
    until(lambda: not is_there(started), "the end of what the stuck process started")


def test_any_agent_gets_an_empty_answer_in_time(world: World) -> None:
    """Plain JSON is JSON without a context."""
    troubled(world, IN_C)
    told = json.loads(
        world.contextkit("hook", given=json.dumps(world.prompt()), CONTEXTKIT_HOOKS_TIMEOUT="2")
    )

    assert told == {"context": "", "items": []}


@pytest.mark.parametrize(
    ("trouble", "how"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", f"by signal {signal.SIGSEGV.value}"),
        ("os.kill(os.getpid(), signal.SIGKILL)", f"by signal {signal.SIGKILL.value}"),
        ("os._exit(3)", "with exit code 3"),
    ],
)
def test_a_crash_is_the_logs_affair(world: World, trouble: str, how: str) -> None:
    """A segmentation fault and a lack of memory cost the agent nothing but the context."""
    troubled(world, trouble)

    assert world.hook(world.prompt()) == ""
    (line,) = world.journal()
    assert line["event"] == "hook_failed"
    assert line["reason"] == f"the process that answered ended {how}"


def test_an_event_that_never_comes_is_not_waited_for(world: World) -> None:
    """What reads standard input is limited, too."""
    with subprocess.Popen(
        world.hook_command,
        cwd=world.workspace,
        env={**world.environment, "CONTEXTKIT_HOOKS_TIMEOUT": "0.5"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.wait(STUCK_SECONDS / 5) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""
    assert [line["event"] for line in world.journal()] == ["hook_late"]


def test_the_time_limit_of_the_settings_is_longer(world: World) -> None:
    """What the process has learnt of its limit counts, not what it began with."""
    text = 'project = "tide"\n[hooks]\ntimeout = 25.0\n'
    (world.workspace / "contextkit.toml").write_text(text, encoding="utf-8")
    slow = "@hookimpl\ndef contextkit_query(request):\n    time.sleep(1.5)\n    return []\n"
    world.install("slow", f"import time\nfrom contextkit import hookimpl\n\n{slow}")

    assert "four spaces" in world.hook(
        world.prompt(), CONTEXTKIT_SOURCES_SLOW_TIMEOUT="20", CONTEXTKIT_ASSEMBLE_DEADLINE="20"
    )
    assert world.journal() == []


@pytest.mark.parametrize(
    ("name", "hook", "seconds"),
    [
        ("UserPromptSubmit", "contextkit_source()", 2.0),
        ("UserPromptSubmit", "contextkit_query(request)", 2.0),
        ("SessionStart", "contextkit_source()", 1.0),
    ],
)
def test_a_prompt_has_more_time_while_no_background_server_runs(
    world: World, name: str, hook: str, seconds: float
) -> None:
    """It is the default alone, before and after the configuration is read."""
    stuck = f"@hookimpl\ndef {hook}:\n    {IN_C}\n"
    world.install("stuck", f"import ctypes\nfrom contextkit import hookimpl\n\n{stuck}")
    event = world.event(name, prompt="how do we indent python files?", source="startup")

    assert world.hook(event, CONTEXTKIT_HOOKS_TIMEOUT="") == ""
    assert [line["seconds"] for line in world.journal()] == [seconds]


def test_what_is_stuck_ends_though_its_hook_was_killed(world: World, until: Until) -> None:
    """An agent that is closed may kill its hooks; then nobody is left to end the process."""
    file = troubled(world, IN_C)
    with subprocess.Popen(
        world.hook_command,
        cwd=world.workspace,
        env={**world.environment, "CONTEXTKIT_HOOKS_TIMEOUT": "8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(world.prompt()).encode())
        process.stdin.close()
        until(file.exists, "the process that is stuck")
        process.kill()
    stuck = int(file.read_text(encoding="utf-8"))
    until(lambda: not is_there(stuck), "the end of the process that nobody waits for")
