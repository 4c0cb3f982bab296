"""Logs: the host's own way, or warnings on standard error; never on standard output."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog
from structlog.testing import capture_logs

from contextkit import ContextItem, ContextKit
from contextkit.errors import InvalidRequestError
from contextkit.logs import get_logger, silenced
from tests.making import make_plugin

ROOT = Path(__file__).parents[1]
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


def test_no_event_imports_structlog() -> None:
    """A host that has not imported it has not configured it; a warning is one line without it."""
    program = (
        "import sys; from contextkit.logs import get_logger; log = get_logger('tide')\n"
        "log.debug('tide_low'); log.info('tide_turned'); log.warning('tide_high', metres=7)\n"
        "assert not {'structlog', 'rich'} & set(sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    (line,) = ran.stderr.decode().splitlines()
    assert line.endswith(" [warning] tide_high metres=7")


def test_a_host_can_import_rich_meanwhile() -> None:
    """No module of the host's is hidden while structlog is imported for `--debug`."""
    program = (
        "import sys; from contextkit.cli.logs import logs_on_stderr\n"
        "from contextkit.logs import get_logger\n"
        "class Looking:\n"
        "    def find_spec(self, *_):\n"
        "        assert sys.modules.get('rich', self) is not None\n"
        "sys.meta_path.insert(0, Looking())\n"
        "with logs_on_stderr(debug=True):\n"
        "    get_logger('tide').debug('tide_low')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    assert b"tide_low" in ran.stderr


async def test_an_assembly_logs_its_stages(open_kit: Callable[..., ContextKit]) -> None:
    """With seed 2's names and fields, and without the query or a word of any item."""
    words = [f"secret {'abc'[number] * 9} words" for number in (0, 0, 1)]
    items = [ContextItem("tide", text, 0.9, id=str(n)) for n, text in enumerate(words)]
    kit = open_kit({"tide": make_plugin(items)})
    with capture_logs() as logs:
        context = await kit.assemble_context("a secret question", limit=7, max_tokens=500)
    assert logs == [
        {
            "event": "assembling_context",
            "log_level": "info",
            "recipe": "context",
            "context_types": ["tide"],
            "limit": 7,
            "max_tokens": 500,
        },
        {
            "event": "deduplication_complete",
            "log_level": "info",
            "original_count": 3,
            "deduplicated_count": 2,
        },
        {
            "event": "source_budget_used",
            "log_level": "debug",
            "section": "tide",
            "source": "tide",
            "budget": context.trace.sources[0].share,
            "used": context.trace.sources[0].used,
            "items_selected": 2,
        },
    ]


async def test_a_premortem_is_logged(open_kit: Callable[..., ContextKit]) -> None:
    """Before its recipe is looked for, with what was asked."""
    kit = open_kit({"tide": make_plugin([])})
    with capture_logs() as logs, pytest.raises(InvalidRequestError):
        await kit.get_premortem_context("debugging", "look", limit=3)
    assert logs == [
        {
            "event": "assembling_premortem",
            "log_level": "info",
            "domain": "debugging",
            "strategy": "look",
            "limit": 3,
        }
    ]


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
