"""`contextkit report` and `contextkit ui`, through the real command line."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from contextkit.testing import CommandLine, command_line

pytestmark = pytest.mark.one_python

PLUGIN = Path(__file__).parent.parent
PYPROJECT = """\
[project]
name = "contextkit-harbour"
[project.entry-points.contextkit]
harbour = "harbour"
"""
# Tests that run in the background have interrupts ignored, and what they start inherits that.
INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from contextkit.cli import main
main()
"""
HARBOUR = '''"""A source with one item, and one that fails."""

from contextkit import ContextItem, hookimpl


@hookimpl
def contextkit_query(request):
    if request.query == "fail":
        raise ValueError("no harbour")
    return [ContextItem("harbour", "The tide turns at six.", 0.9, id="tide", title="<i>tide</i>")]
'''


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    """The command line in a workspace with a source of its own, and this plugin."""
    harbour, workspace = tmp_path / "harbour", tmp_path / "workspace"
    for folder in (harbour, workspace):
        folder.mkdir()
    (harbour / "harbour.py").write_text(HARBOUR)
    (harbour / "pyproject.toml").write_text(PYPROJECT)
    (workspace / "contextkit.toml").write_text('[assemble]\nsources = ["harbour"]\n')
    monkeypatch.syspath_prepend(str(harbour))
    monkeypatch.setenv("PYTHONPATH", str(harbour))
    with command_line(workspace, PLUGIN, harbour) as opened:
        yield opened
    sys.modules.pop("harbour", None)


def test_report_writes_a_page(run: CommandLine, tmp_path: Path) -> None:
    """One file with the question, the item and the text; nothing on standard output."""
    file = tmp_path / "out.html"

    result = run("report", "When does the <b>tide</b> turn?", "--html", str(file))

    page = file.read_text(encoding="utf-8")
    assert (result.exit_code, result.stdout) == (0, "")
    assert page.startswith("<!doctype html>")
    assert '<h1 class="asked" dir="auto">When does the &lt;b&gt;tide&lt;/b&gt; turn?</h1>' in page
    assert "The tide turns at six." in page
    assert "&lt;i&gt;tide&lt;/i&gt;" in page
    assert "<b>tide" not in page
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)


def test_report_takes_what_assemble_takes(run: CommandLine, tmp_path: Path) -> None:
    """The budget, the style and the other options are those of the text."""
    file = tmp_path / "out.html"

    options = ("--max-tokens", "77", "--style", "xml", "--set", "detail=compact", "--no-index")
    result = run("report", "tide", "--html", str(file), *options)

    page = file.read_text(encoding="utf-8")
    assert result.exit_code == 0
    assert '<span data-figure="max_tokens">77</span>' in page
    assert "xml, compact" in page


def test_report_writes_to_standard_output(run: CommandLine) -> None:
    """`--html -` is for a pipe, `-` as the question reads that from one."""
    result = run("report", "-", "--html", "-", given="Where is the tide?")

    assert result.exit_code == 0
    assert result.stdout.startswith("<!doctype html>")
    assert "Where is the tide?" in result.stdout


def test_report_of_a_failing_source_is_written_and_said(run: CommandLine, tmp_path: Path) -> None:
    """The page shows what went wrong, and the exit code says that nothing answered."""
    file = tmp_path / "out.html"

    result = run("report", "fail", "--html", str(file))

    assert result.exit_code == 1
    assert "no harbour" in result.stderr
    assert "no harbour" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (["tide"], "--html", 2),
        ([" ", "--html", "out.html"], "query is empty", 2),
        (["tide", "--html", "out.html", "--sources", "harbor"], "Did you mean 'harbour'?", 2),
        (["tide", "--html", "out.html", "--max-tokens", "0"], "max_tokens", 2),
        (["tide", "--html", "{folder}"], "is a directory", 2),
        (["tide", "--html", "{folder}/none/out.html"], "No such file or directory", 1),
    ],
)
def test_report_refuses_what_makes_no_sense(
    run: CommandLine, arguments: list[str], words: str, code: int
) -> None:
    """One line with what was wrong, and no file."""
    given = [argument.replace("{folder}", str(run.workspace)) for argument in arguments]

    result = run("report", *given)

    assert result.exit_code == code
    assert words in result.stderr
    assert not Path("out.html").exists()


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_ui_refuses_what_is_no_port(run: CommandLine, port: str) -> None:
    """A port is a number within 0..65535."""
    result = run("ui", "--port", port)

    assert result.exit_code == 2
    assert "--port" in result.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_ui_serves_until_it_is_told_to_end(run: CommandLine, ending: signal.Signals) -> None:
    """It prints its address, answers whoever has the token, and ends at once on a signal."""
    command = [sys.executable, "-c", INTERRUPTIBLE, "-C", str(run.workspace)]
    serving = subprocess.Popen(
        [*command, "ui", "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "BROWSER": "false"},
    )
    assert serving.stdout is not None
    try:
        address, _, token = serving.stdout.readline().strip().partition("#token=")
        page = httpx.get(address, timeout=60)
        answer = httpx.post(
            f"{address}api/context",
            json={"query": "tide", "sources": ["harbour"]},
            headers={"X-Contextkit-Token": token},
            timeout=60,
        )
        refused = httpx.post(f"{address}api/context", json={"query": "tide"}, timeout=60)
    finally:
        serving.send_signal(ending)
        _, errors = serving.communicate(timeout=60)

    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
    assert len(token) >= 32
    assert page.status_code == 200
    assert "server" not in page.headers
    assert [item["id"] for item in answer.json()["context"]["items"]] == ["tide"]
    assert refused.status_code == 401
    assert serving.returncode == (0 if ending == signal.SIGINT else -signal.SIGTERM)
    assert "Traceback" not in errors


def test_ui_opens_the_browser(run: CommandLine, tmp_path: Path) -> None:
    """Without --no-open the address that it prints is opened, with its token."""
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > "{opened}"\nkill -INT "$PPID"\n')
    browser.chmod(0o700)

    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTIBLE, "-C", str(run.workspace), "ui"],
        capture_output=True,
        text=True,
        env={**os.environ, "BROWSER": f"{browser} %s"},
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert opened.read_text() == ran.stdout.strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=\S{32}", ran.stdout.strip())
