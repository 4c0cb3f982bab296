"""The session in `examples/a_session`: played again, it says what its recording says."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "a_session"

KNOWN = {
    "1-start": ["# What this project remembers", "ask a real parser what a text becomes"],
    "2-asked": ["**Function** `_credit` in `contextkit/formatting.py:117`"],
    "3-premortem": [
        "# Premortem: testing",
        "**Root cause**: Markdown lets a line continue the block above it",
    ],
    "4-task": [
        "## Root Goal\n\n**Task** (active): Keep the credit out of tables",
        "## Sibling Results\n\n**Task** (complete): Find where the credit is made",
        "## Current Task\n\n**Task** (active): Separate the credit by an empty line",
        "`pytest -q tests/core/test_formatting.py` [exit 1]",
        "Wrote: tests/core/test_formatting.py",
        "**Function** `_credit`",
        "**Outcome**: open - not resolved yet",
    ],
    "5-next-start": [
        "**Task** (complete): Keep the credit out of tables\n\n**Result**: Mended, with a test",
        "What follows an item in Markdown begins with an empty line",
        "**Outcome**: confirmed - all tests of the module pass",
        "[exit 1] (earlier session)",
    ],
    "6-next-asked": ["Separate the credit from a table by an empty"],
}
"""Context -> what an agent must have been told in it."""


@pytest.fixture(scope="module")
def session() -> ModuleType:
    """The example."""
    spec = importlib.util.spec_from_file_location("a_session", FOLDER / "play.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.timeout(900)
def test_the_agent_is_told_what_it_needs(
    session: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing test, a warning, a fix, and a new session that knows of them."""
    # The agent's pytest takes seconds to import what langchain brings along for it.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:langsmith_plugin")
    known = ["git", "-C", str(ROOT), "cat-file", "-e", f"{session.MENDED}^{{commit}}"]
    if subprocess.run(known, capture_output=True, check=False).returncode:
        pytest.skip("the history of the repository is not here")
    played = session.play(ROOT, tmp_path)
    missing = {
        (name, told)
        for name, all_told in KNOWN.items()
        for told in all_told
        if told not in played[name]
    }
    assert not missing
    assert sorted(played) == sorted(path.stem for path in FOLDER.glob("[0-9]*.md"))


@pytest.mark.parametrize("name", KNOWN)
def test_the_recording_says_the_same(session: ModuleType, name: str) -> None:
    """What is beside the example is what it gives, without moments and ids."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert text == session.recorded(text)
    for told in KNOWN[name]:
        assert told in text
