"""Commands that the background server runs for another process."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from contextkit.testing import Git, OwnUser, own_user, wait_until

pytestmark = pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="has no background server")

REPORTING = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from contextkit.cli import main
main()
"""
HEAVY = {"asyncio", "attr", "click", "contextkit.kit", "numpy", "pluggy", "qdrant_edge", "typing"}
WITH = {"CONTEXTKIT_HOOKS_RESIDENT": "yes"}
QUESTION = "how is the token budget split?"
COMMANDS = [
    ["assemble", QUESTION],
    ["assemble", QUESTION, "--json", "--no-index"],
    ["assemble", QUESTION, "--set", "style=xml", "--max-tokens", "300"],
    ["assemble", "budget \udcff\x1b[31m", "--sources", "code,memories"],
    ["assemble", "zebra xylophone"],
    ["assemble", QUESTION, "--sources", "coed"],
    ["assemble", QUESTION, "--max-tokens", "0"],
    ["assemble"],
    ["explain", QUESTION],
    ["explain", QUESTION, "--json"],
    ["explain", QUESTION, "--item", "budget.py"],
    ["premortem", "debugging"],
]


@pytest.fixture(scope="module")
def user() -> Iterator[OwnUser]:
    """A user with an indexed repository and a memory."""
    with own_user(OwnUser) as made:
        Git(made.workspace)("init", "--quiet")
        (made.workspace / "budget.py").write_text(
            'def split_budget(total):\n    """Split the token budget."""\n    return total // 2\n'
        )
        made.contextkit("remember", "The token budget is split by weight")
        made.contextkit("index")
        yield made


@contextlib.contextmanager
def serving(user: OwnUser, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """A background server."""
    command = [sys.executable, "-m", "contextkit.cli", "serve"]
    environment = {**user.environment, **WITH, **variables}

    def is_ready() -> bool:
        return '"warming": false' in user.contextkit("serve", "--status", "--json", **variables)

    with subprocess.Popen(command, cwd=user.workspace, env=environment) as process:
        try:
            wait_until(is_ready, "a background server")
            yield process
        finally:
            process.kill()


@pytest.fixture
def apart(user: OwnUser) -> dict[str, str]:
    """Variables of a server that runs beside that of the module."""
    return {**WITH, "XDG_RUNTIME_DIR": str(user.folder)}


@pytest.fixture(scope="module")
def server(user: OwnUser) -> Iterator[subprocess.Popen[bytes]]:
    """A background server for tests that leave it as it was."""
    with serving(user) as process:
        yield process


def run(user: OwnUser, *arguments: str, **variables: str) -> tuple[int, str, str, set[str]]:
    """Run a command; return its exit code, both outputs and the modules that it imported."""
    ran = user.process([sys.executable, "-c", REPORTING, *arguments], **variables)
    *said, modules = ran.stderr.decode().splitlines()
    return ran.returncode, timeless(ran.stdout.decode()), "\n".join(said), set(modules.split())


def timeless(output: str) -> str:
    """An output without the times in it, and without the width of their column."""
    return re.sub(" +", " ", re.sub(r"\d+\.\d+", "0", output))


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_the_server_prints_what_a_process_of_its_own_prints(
    user: OwnUser, server: subprocess.Popen[bytes], arguments: list[str]
) -> None:
    """Output, messages and exit code are the same, and the client loads nothing heavy."""
    own = run(user, *arguments)
    served = run(user, *arguments, **WITH)
    assert served[:3] == own[:3]
    assert HEAVY.isdisjoint(served[3])
    assert own[3] >= {"click"}


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_the_encoding_is_that_of_the_clients_output(
    user: OwnUser, server: subprocess.Popen[bytes], encoding: str
) -> None:
    """A character that the client's standard output cannot encode is escaped there."""
    query = ["assemble", "größe 预算 budget", "--json", "--no-index"]
    own = run(user, *query, PYTHONIOENCODING=encoding)
    served = run(user, *query, PYTHONIOENCODING=encoding, **WITH)
    assert served[:3] == own[:3]


def test_the_server_reads_changed_files_and_settings(
    user: OwnUser, server: subprocess.Popen[bytes]
) -> None:
    """A new file is found at once, not with --no-index, and a new setting applies."""
    made = user.workspace / "walrus.py"
    made.write_text('def feed_walrus():\n    """Feed the walrus a herring."""\n')
    config = user.home / "config.toml"
    try:
        asked = ["assemble", "how do we feed the walrus?"]
        assert "feed_walrus" not in run(user, *asked, "--no-index", **WITH)[1]
        assert "feed_walrus" in run(user, *asked, **WITH)[1]
        config.write_text('[assemble]\nstyle = "xml"\n')
        assert run(user, *asked, **WITH)[1].startswith("<context")
    finally:
        made.unlink()
        config.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["assemble", QUESTION], {"TZ": "Asia/Tokyo"}),
        (["assemble", QUESTION], {"CONTEXTKIT_DEBUG": "1"}),
        (["assemble", QUESTION], {"CONTEXTKIT_CACHE_ENABLED": "yes"}),
        (["assemble", QUESTION], {"CONTEXTKIT_ASSEMBLE_STYLE": "nonsense"}),
        (["assemble", "-"], {}),
        (["assemble", "--help"], {}),
        (["--disable", "code", "assemble", QUESTION], {}),
        (["assemble", QUESTION, "--set", "additional_context=@budget.py"], {}),
    ],
)
def test_what_only_the_process_itself_can_do_it_does(
    user: OwnUser,
    server: subprocess.Popen[bytes],
    arguments: list[str],
    variables: dict[str, str],
) -> None:
    """Other surroundings, standard input and files of the folder need the process itself."""
    own = run(user, *arguments, **variables)
    here = run(user, *arguments, **variables, **WITH)
    assert here[:2] == own[:2]
    assert here[3] >= {"click"}


def test_settings_in_the_environment_apply(user: OwnUser, server: subprocess.Popen[bytes]) -> None:
    """The server uses the variables of the process that asks."""
    plain = run(user, "assemble", QUESTION, CONTEXTKIT_ASSEMBLE_STYLE="plain", **WITH)
    assert HEAVY.isdisjoint(plain[3])
    assert plain[1] == run(user, "assemble", QUESTION, CONTEXTKIT_ASSEMBLE_STYLE="plain")[1]


def test_a_server_that_dies_meanwhile_is_replaced_by_the_process_itself(
    user: OwnUser, apart: dict[str, str]
) -> None:
    """The output is whole, and there is nothing twice."""
    own = run(user, "assemble", QUESTION)
    with serving(user, **apart) as process:
        # Until it is killed, the server does not answer.
        process.send_signal(signal.SIGSTOP)
        environment = {**user.environment, **apart}
        command = [sys.executable, "-m", "contextkit.cli", "assemble", QUESTION]
        with subprocess.Popen(
            command, cwd=user.workspace, env=environment, stdout=subprocess.PIPE
        ) as asking:
            time.sleep(0.3)
            process.kill()
            output = asking.communicate()[0].decode()
        assert (asking.returncode, timeless(output)) == own[:2]


def test_a_stuck_server_is_not_waited_for(user: OwnUser, apart: dict[str, str]) -> None:
    """The process runs the command itself; a stopped server would never answer."""
    with serving(user, **apart) as process:
        # This takes the store from the server, which would keep it while it is stopped.
        own = run(user, "assemble", QUESTION)
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        here = run(user, "assemble", QUESTION, **apart)
        assert here[:3] == own[:3]
        assert here[3] >= {"click"}
