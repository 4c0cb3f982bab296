"""What goes to which stream, on pipes and on a terminal, and how a run is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

pytestmark = pytest.mark.one_python

HANGING = """
    import pathlib, time
    from contextkit import hookimpl

    @hookimpl
    def contextkit_query(request):
        pathlib.Path(request.workspace, "asked").touch()
        time.sleep(600)

    @hookimpl
    def contextkit_index(indexer):
        if indexer.settings.get("slow"):
            pathlib.Path(indexer.workspace, "asked").touch()
            time.sleep(600)
    """
DEADLINE_SECONDS = 60
# Tests that run in the background have interrupts ignored, and what they start inherits that.
INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from contextkit.cli import main
main()
"""


def test_a_table_is_folded_into_the_terminal(contextkit: CommandLine) -> None:
    """The last column goes on below itself where the terminal is narrow."""
    code, _, shown = contextkit.on_terminal("sources", stdout=True, columns=110)
    assert code == 0
    lines = shown.decode().splitlines()
    assert max(map(len, lines)) < 110
    assert any(line.startswith(" " * 60) and line.strip() for line in lines)
    narrow, _, shown = contextkit.on_terminal("sources", stdout=True, columns=20)
    assert narrow == 0
    assert b"contextkit-memories" in shown


def test_messages_are_one_line_whatever_they_quote(contextkit: CommandLine) -> None:
    """A name with a line break in it does not forge a second message."""
    said = contextkit.line(2, "assemble", "x", "--sources", "a\ncontextkit: \x1b[1mall is well")
    assert r"a\ncontextkit: \x1b[1mall is well" in said


@pytest.mark.parametrize("arguments", ["--help", "export"])
def test_a_reader_that_has_seen_enough_is_no_failure(
    contextkit: CommandLine, arguments: str
) -> None:
    """`contextkit ... | head -1`: no traceback, no message, code 0."""
    contextkit("remember", "Tabs, never spaces")
    ours, theirs = os.pipe()
    os.close(ours)
    ran = contextkit.process(*arguments.split(), stdout=theirs)
    os.close(theirs)
    assert ran.returncode == 0
    assert b"Broken pipe" not in ran.stderr
    assert b"Traceback" not in ran.stderr
    assert b"Exception ignored" not in ran.stderr


def test_closed_streams(contextkit: CommandLine) -> None:
    """Started without standard output, error or input, nothing fails for that."""
    for closing in (">&-", "2>&-", "<&-"):
        command = ["sh", "-c", f'exec "$@" {closing}', "sh", *contextkit.command("sources")]
        ran = contextkit.process(command=command)
        assert ran.returncode == 0, (closing, ran.stderr)
    command = ["sh", "-c", 'exec "$@" <&-', "sh", *contextkit.command("assemble", "-")]
    ran = contextkit.process(command=command)
    assert ran.returncode == 2
    assert b"standard input" in ran.stderr


def test_a_stream_that_is_not_utf8(contextkit: CommandLine) -> None:
    """JSON stays JSON, and text loses nothing but its looks."""
    contextkit("remember", "Tabs, niemals Lücken 🦆")
    latin = contextkit.with_variables(PYTHONIOENCODING="latin-1")
    assert b"L\xfccken \\U0001f986" in latin.process("memories", "list").stdout
    exported = latin.process("export").stdout.splitlines()[1]
    assert json.loads(exported)["text"] == "Tabs, niemals Lücken 🦆"


def asked(contextkit: CommandLine) -> None:
    """Wait until the hanging source was asked."""
    until = time.monotonic() + DEADLINE_SECONDS
    while not (contextkit.folder / "asked").exists():
        assert time.monotonic() < until, "the source was not asked"
        time.sleep(0.02)


@pytest.mark.parametrize(
    "arguments",
    [
        ("assemble", "tide", "--no-index", "--set", "source_timeout=600", "--set", "deadline=600"),
        ("index", "tides"),
    ],
)
def test_ctrl_c_ends_it_at_once_with_code_130(
    contextkit: CommandLine, install: Callable[..., str], arguments: tuple[str, ...]
) -> None:
    """One line, no traceback, and no waiting for a source that hangs."""
    install("tides", HANGING)
    (contextkit.folder / "contextkit.toml").write_text("[sources.tides]\nslow = true\n")
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *arguments],
        cwd=contextkit.folder,
        env=contextkit.variables(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        asked(contextkit)
        process.send_signal(signal.SIGINT)
        try:
            output, errors = process.communicate(timeout=DEADLINE_SECONDS)
        finally:
            process.kill()
    assert process.returncode == 130
    assert output == b""
    assert errors.strip() == b"contextkit: interrupted"


def test_a_source_that_hangs_does_not_keep_the_program(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """After its time is up, the context is printed and the process ends."""
    install("tides", HANGING)
    (contextkit.folder / "contextkit.toml").write_text("[sources.tides]\ntimeout = 0.3\n")
    ran = contextkit.process("assemble", "tide")
    assert ran.returncode == 0
    assert b"tides: no answer within 0.3 s" in ran.stderr


def test_an_unexpected_error_is_one_line_and_debug_shows_where(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """A bug is not a wall of text, and can be traced when asked for."""
    install(
        "bugs",
        """
        import click
        from contextkit import hookimpl

        @click.command()
        def stumble():
            raise ZeroDivisionError("over\\na stone")

        @hookimpl
        def contextkit_commands(cli):
            cli.add_command(stumble)
        """,
    )
    said = contextkit.line(1, "stumble")
    assert said.startswith("internal error: ZeroDivisionError: over a stone (contextkit --debug")
    for traced in (
        contextkit("--debug", "stumble"),
        contextkit.with_variables(CONTEXTKIT_DEBUG="1")("stumble"),
    ):
        assert traced.exit_code == 1
        assert "in stumble" in traced.stderr
        assert traced.stdout == ""


def test_logs_are_shown_with_debug_on_standard_error(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """Without it, only what the command itself has to say."""
    install("tides", "raise RuntimeError('no harbour')")
    assert "plugin_broken" not in contextkit("sources").stderr
    debugged = contextkit("--debug", "sources", "--json")
    assert "plugin_broken" in debugged.stderr
    assert json.loads(debugged.stdout)


def test_a_host_keeps_its_own_logging(contextkit: CommandLine) -> None:
    """Running the command line in a process leaves structlog there as it was."""
    import structlog

    before = (structlog.is_configured(), structlog.get_config())
    contextkit("sources")
    assert (structlog.is_configured(), structlog.get_config()) == before
    structlog.configure(processors=[])
    try:
        contextkit("sources")
        assert structlog.get_config()["processors"] == []
    finally:
        structlog.reset_defaults()


def test_an_export_replaces_a_file_only_when_it_is_whole(
    contextkit: CommandLine, tmp_path: Path
) -> None:
    """A failed export leaves the last one as it was, and nothing beside it."""
    folder = tmp_path / "exports"
    folder.mkdir()
    file = folder / "records.jsonl"
    file.write_text("the last one\n")
    failing = contextkit.with_variables(CONTEXTKIT_EMBEDDING_MODEL="none")
    contextkit("remember", "Tabs")
    assert failing("export", str(file)).exit_code == 4
    assert file.read_text() == "the last one\n"
    assert contextkit("export", str(file)).exit_code == 0
    assert "Tabs" in file.read_text()
    assert list(folder.iterdir()) == [file]
    assert contextkit("export", os.devnull).exit_code == 0
    assert Path(os.devnull).is_char_device()
    missing = contextkit.line(1, "export", str(tmp_path / "nowhere" / "records.jsonl"))
    assert missing == f"{tmp_path / 'nowhere' / 'records.jsonl'}: No such file or directory"


@pytest.mark.parametrize("before", [None, 0o600, 0o644])
def test_an_export_is_its_users_alone_and_a_link_stays_one(
    contextkit: CommandLine, tmp_path: Path, before: int | None
) -> None:
    """Whoever could read the file before; a half-done file of a killed process is no hindrance."""
    file, link = tmp_path / "records.jsonl", tmp_path / "last"
    if before is not None:
        file.touch()
        file.chmod(before)
    link.symlink_to(file)
    (tmp_path / f".{file.name}.{os.getpid()}.tmp").write_text("half")
    contextkit("remember", "Tabs")
    assert contextkit("export", str(link)).exit_code == 0
    assert link.is_symlink()
    assert "Tabs" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(tmp_path.glob("*records*")) == [file]


def test_a_process_ends_as_always(contextkit: CommandLine) -> None:
    """Threads and exit handlers end, what was written arrives, and the code is the command's."""
    script = """
import atexit, sys, threading
from contextkit.cli import main

sys.argv = ["contextkit", *sys.argv[1:]]
atexit.register(lambda: print("exit handler"))
threading.Thread(target=lambda: (threading.main_thread().join(), print("thread"))).start()
main()
"""
    for arguments, code in ((["--version"], 0), (["no-such-command"], 2)):
        ran = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            cwd=contextkit.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ran.returncode, ran.stdout.splitlines()[-2:]) == (code, ["thread", "exit handler"])
