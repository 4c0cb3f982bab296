"""The examples for plugin authors: installed, tested by their own tests, clean."""

from __future__ import annotations

import json
import runpy
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.authors.conftest import Beside

pytestmark = pytest.mark.one_python


EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("issues", "notes", "terms", "vault")


@pytest.fixture(scope="module")
def installed(beside: Beside) -> Beside:
    """Both, built from copies, so that nothing is left in the checkout."""
    copies = [_copy(EXAMPLES / f"contextkit-{name}", beside.root / name) for name in NAMES]
    beside.install(*copies)
    return beside


def _copy(folder: Path, to: Path) -> Path:
    return shutil.copytree(folder, to, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))


def test_both_are_sources(installed: Beside) -> None:
    """They are listed with their distributions, and on."""
    listed = installed.run("-m", "contextkit.cli", "sources", "--json")
    sources = {source["name"]: source for source in json.loads(listed.stdout)}
    for name in NAMES:
        found = (sources[name]["state"], sources[name]["distribution"])
        assert found == ("on", f"contextkit-{name}")


def test_their_own_tests_pass(installed: Beside, tmp_path: Path) -> None:
    """The conformance suite among them, on what was installed."""
    for name in NAMES:
        _copy(EXAMPLES / f"contextkit-{name}" / "tests", tmp_path / name)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    assert " passed" in installed.test(tmp_path)


def test_a_host_registers_a_source_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`examples/in_process_source.py` shows what the host has in memory, and no more."""
    monkeypatch.chdir(tmp_path)

    def printed(*arguments: str) -> str:
        script = str(EXAMPLES / "in_process_source.py")
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        runpy.run_path(script, run_name="__main__")
        return capsys.readouterr().out

    assert "## Orders\n\n- **A-17** a pump and two hoses: sent on Monday" in printed()
    assert printed("zebra") == "(nothing relevant was found)\n"
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("CONTEXTKIT_ASSEMBLE_LIMIT", "0")
    with pytest.raises(SystemExit, match=r"^in_process_source: assemble\.limit"):
        printed()
