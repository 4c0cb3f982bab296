"""`SourceConformance` as an author meets it: one import, a class, and pytest's report."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree as ET

import pytest
from attrs import frozen

from contextkit.testing import SourceConformance

GOOD = """
from contextkit import ContextItem, Record, hookimpl
from contextkit.testing import SourceConformance


class Tides:
    @hookimpl
    async def contextkit_query(self, request):
        hits = await request.records.search(request.query, limit=request.limit)
        return [ContextItem("tides", h.record.text, h.relevance, id=h.record.id) for h in hits]


class TestTides(SourceConformance):
    source = Tides()
    name = "tides"
    query = "high tide"
    timeout = 60.0

    def records(self):
        return [Record(id=day, text=f"High tide at noon on {day}") for day in ("Monday", "Sunday")]
"""
MISSING = {
    '    query = "high tide"\n': "`query` is not set: give one that finds something",
    '    name = "tides"\n': "`name` is not set, and no installed entry point names",
    "    source = Tides()\n": "`source` is not set: name the plugin, or override",
}
CHECKS = [name for name in vars(SourceConformance) if name.startswith("test_")]


FILES = {
    "good": GOOD,
    "greedy": GOOD.replace("limit=request.limit)", "limit=20)"),
    "raising": GOOD.replace("        hits = await", "        [][3]\n        hits = await"),
    "misspelt": GOOD.replace("async def contextkit_query", "async def contextkit_qery"),
    **{f"incomplete{n}": GOOD.replace(line, "") for n, line in enumerate(MISSING)},
}


@frozen
class Report:
    """What pytest says of a test file for each source, run at once, without anybody's settings.

    Attributes:
        text: its output.
        outcomes: file -> outcome -> how many checks had it.
    """

    text: str
    outcomes: dict[str, Counter[str]]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of all files."""
    folder = tmp_path_factory.mktemp("suite")
    for name, code in FILES.items():
        (folder / f"test_{name}.py").write_text(code, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers"]
    ran = subprocess.run(
        [*command, "-W", "error", "-rfsE", "--junitxml=report.xml"],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    outcomes = {name: Counter[str]() for name in FILES}
    for case in ET.parse(folder / "report.xml").iter("testcase"):  # noqa: S314 - ours
        name = case.attrib["classname"].partition(".")[0].removeprefix("test_")
        outcomes[name][case[0].tag if len(case) else "passed"] += 1
    return Report(ran.stdout, outcomes)


def test_a_good_source_passes_with_one_import(report: Report) -> None:
    """Every check runs, and needs no plugin of pytest's."""
    assert report.outcomes["good"] == {"passed": len(CHECKS)}, report.text
    assert len(CHECKS) == 30


def test_a_failure_is_one_line(report: Report) -> None:
    """No traceback through the suite: what is wrong, and what would be right."""
    assert report.outcomes["greedy"] == {"failure": 1, "passed": len(CHECKS) - 1}
    line = (
        "tides: contextkit_query returns 2 items for request.limit = 1: return no more than that\n"
    )
    # The line stands between two headings.
    assert f"__\n{line}__" in report.text


def test_what_a_hook_raises_is_one_line_with_its_cause(report: Report) -> None:
    """The core's own errors are as short."""
    assert "fails for no text (''): IndexError: list index out of range" in report.text


def test_a_plugin_that_cannot_be_registered_fails_once(report: Report) -> None:
    """The other tests have nothing to test, and say why."""
    assert report.outcomes["misspelt"] == {"failure": 1, "skipped": len(CHECKS) - 1}
    assert "there is no hook 'contextkit_qery'; did you mean 'contextkit_query'?" in report.text


def test_what_must_be_set_is_asked_for(report: Report) -> None:
    """A class that is not complete says what is missing."""
    for number, message in enumerate(MISSING.values()):
        assert report.outcomes[f"incomplete{number}"]["passed"] == 0
        assert message in report.text


def test_the_core_is_used_without_pytest() -> None:
    """Only the suite imports it: a host that never tests has no need of it."""
    code = (
        "import sys, contextkit, contextkit.kit, contextkit.cli\n"
        "from contextkit.testing import ToolCaller, command_line, open_kit, open_records\n"
        "assert 'pytest' not in sys.modules\n"
        "from contextkit.testing import SourceConformance\n"
        "assert 'pytest' in sys.modules\n"
        "import contextkit.testing as testing\n"
        "assert all(getattr(testing, name) for name in testing.__all__)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(ImportError, match="nonsense"):
        from contextkit.testing import nonsense  # noqa: F401
