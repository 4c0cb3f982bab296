"""`SourceConformance` as an author meets it: one import, a class, and pytest's report."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

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


def run(folder: Path, code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on a test file of this code, without anybody's settings."""
    (folder / "test_tides.py").write_text(textwrap.dedent(code), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers"]
    return subprocess.run(
        [*command, "-W", "error", "-rfsE", *options],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_good_source_passes_with_one_import(tmp_path: Path) -> None:
    """Every check runs, and needs no plugin of pytest's."""
    ran = run(tmp_path, GOOD)
    assert f"{len(CHECKS)} passed" in ran.stdout, ran.stdout
    assert len(CHECKS) == 30


def test_a_failure_is_one_line(tmp_path: Path) -> None:
    """No traceback through the suite: what is wrong, and what would be right."""
    ran = run(tmp_path, GOOD.replace("limit=request.limit)", "limit=20)"))
    assert f"1 failed, {len(CHECKS) - 1} passed" in ran.stdout
    line = (
        "tides: contextkit_query returns 2 items for request.limit = 1: return no more than that\n"
    )
    assert f"__\n{line}=====" in ran.stdout
    assert "Traceback" not in ran.stdout
    assert ".py:" not in ran.stdout.replace("test_tides.py::", "")


def test_what_a_hook_raises_is_one_line_with_its_cause(tmp_path: Path) -> None:
    """The core's own errors are as short."""
    code = GOOD.replace("        hits = await", "        [][3]\n        hits = await")
    ran = run(tmp_path, code)
    assert "fails for no text (''): IndexError: list index out of range" in ran.stdout


def test_a_plugin_that_cannot_be_registered_fails_once(tmp_path: Path) -> None:
    """The other tests have nothing to test, and say why."""
    ran = run(tmp_path, GOOD.replace("async def contextkit_query", "async def contextkit_qery"))
    assert f"1 failed, {len(CHECKS) - 1} skipped" in ran.stdout
    assert "there is no hook 'contextkit_qery'; did you mean 'contextkit_query'?" in ran.stdout


def test_what_must_be_set_is_asked_for(tmp_path: Path) -> None:
    """A class that is not complete says what is missing."""
    for number, line in enumerate(MISSING):
        (tmp_path / f"test_{number}.py").write_text(GOOD.replace(line, ""), encoding="utf-8")
    ran = run(tmp_path, GOOD, "-k", CHECKS[0])
    assert "3 failed, 1 passed" in ran.stdout, ran.stdout
    for message in MISSING.values():
        assert message in ran.stdout


def test_the_core_is_used_without_pytest() -> None:
    """Only the suite imports it: a host that never tests has no need of it."""
    code = (
        "import sys, contextkit, contextkit.kit, contextkit.cli\n"
        "from contextkit.testing import open_records\n"
        "assert 'pytest' not in sys.modules\n"
        "from contextkit.testing import SourceConformance\n"
        "assert 'pytest' in sys.modules\n"
        "import contextkit.testing as testing\n"
        "assert all(getattr(testing, name) for name in testing.__all__)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(ImportError, match="nonsense"):
        from contextkit.testing import nonsense  # noqa: F401
