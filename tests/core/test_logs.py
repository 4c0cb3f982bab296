"""Logs: the host's own way, or warnings on standard error; never on standard output."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from structlog.testing import capture_logs

from contextkit.logs import get_logger, silenced

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"\| `(\w+)` \| (\w+) \| (.*) \| .+ \|")


@pytest.fixture
def unconfigured() -> None:
    """The library as a host finds it."""
    structlog.reset_defaults()


@pytest.mark.usefixtures("unconfigured")
def test_without_a_configuration_warnings_go_to_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And what is less than a warning goes nowhere."""
    log = get_logger("tide")
    log.info("tide_turned", hour=3)
    log.warning("tide_high", metres=7)
    out, err = capsys.readouterr()
    assert out == ""
    assert "tide_high" in err
    assert "metres" in err
    assert "tide_turned" not in err


def test_a_hosts_configuration_is_followed() -> None:
    """One that comes after the logger was made, too."""
    log = get_logger("tide")
    with capture_logs() as logs:
        log.info("tide_turned", hour=3)
    assert logs == [{"event": "tide_turned", "hour": 3, "log_level": "info"}]


@pytest.mark.usefixtures("unconfigured")
def test_silence_ends_where_it_should(capsys: pytest.CaptureFixture[str]) -> None:
    """Also the inner one of two."""
    log = get_logger("tide")
    with silenced():
        with silenced():
            log.error("tide_gone")
        log.error("tide_gone")
    assert capsys.readouterr().err == ""
    log.error("tide_back")
    assert "tide_back" in capsys.readouterr().err


def test_structlog_is_imported_with_the_first_event() -> None:
    """And rich, which it takes along for coloured tracebacks, is not."""
    program = (
        "import sys; from contextkit.logs import get_logger; log = get_logger('tide');"
        "assert 'structlog' not in sys.modules; log.warning('tide_high');"
        "assert 'structlog' in sys.modules; assert 'rich' not in sys.modules"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    assert b"tide_high" in ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="nothing is always full there")
def test_an_event_that_cannot_be_written_is_lost() -> None:
    """Standard error is full, broken, closed or missing: the program goes on, and says the same."""
    program = (
        "import io, os, sys; from contextkit.logs import get_logger; log = get_logger('tide')\n"
        "reading, writing = os.pipe()\n"
        "os.close(reading)\n"
        "closed = io.StringIO()\n"
        "closed.close()\n"
        "for sys.stderr in (open('/dev/full', 'w'), open(writing, 'w'), closed, None):\n"
        "    log.warning('tide_high')\n"
        "    print('went on', flush=True)\n"
        "os._exit(0)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout.splitlines() == [b"went on"] * 4


def _logged() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Event, level and fields of every call in the core and in the first-party plugins."""
    for folder in (ROOT / "contextkit", *ROOT.glob("plugins/*/src")):
        for module in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(module.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("_log."):
                    name = ast.literal_eval(node.args[0])
                    fields = frozenset(str(keyword.arg) for keyword in node.keywords)
                    yield name, ast.unparse(node.func).removeprefix("_log."), fields


def test_every_event_is_documented_with_its_fields() -> None:
    """`contextkit/logs.md` lists what is logged, and nothing else."""
    documented = {
        (name, level, frozenset(re.findall(r"`(\w+)`", fields)))
        for name, level, fields in ROW.findall((ROOT / "contextkit" / "logs.md").read_text())
    }
    assert documented == set(_logged())
