"""The memory in `examples/a_memory`: played again, each step says what its recording says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.one_python

FOLDER = Path(__file__).parents[2] / "examples" / "a_memory"

KNOWN = {
    "1-what-was-said": ["[2026-03-13 09:01] Assistant: Decision: retries of a charge carry"],
    "2-in-another-work-tree": ["Orders are stored in Postgres 14"],
    "3-after-the-move": ["We moved the orders from Postgres to MySQL 8"],
    "4-as-of-march": ["(2026-01-10, decisions): Orders are stored in Postgres 14", "superseded by"],
    "5-after-a-rename": ["outdated: `payments/retry.py` is gone", "`payments/attempts.py:6`"],
    "6-on-another-computer": ["We moved the orders from Postgres to MySQL 8"],
}
"""Context -> what an agent must have been told in it."""

UNKNOWN = {
    "2-in-another-work-tree": ["MySQL"],
    "3-after-the-move": ["Postgres 14"],
    "6-on-another-computer": ["Postgres 14"],
}
"""Context -> what is not true then."""


@pytest.fixture(scope="module")
def memory() -> ModuleType:
    """The example."""
    spec = importlib.util.spec_from_file_location("a_memory", FOLDER / "play.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _check(contexts: dict[str, str]) -> None:
    assert sorted(contexts) == sorted(KNOWN)
    for name, context in contexts.items():
        assert [text for text in KNOWN[name] if text not in context] == []
        assert [text for text in UNKNOWN.get(name, ()) if text in context] == []


def test_an_agent_reads_what_is_true_at_each_step(memory: ModuleType, tmp_path: Path) -> None:
    """Through an import, work trees, a change of facts, a rename and another computer."""
    _check(dict(memory.play(tmp_path)))


def test_the_recordings_say_the_same(memory: ModuleType) -> None:
    """What stands beside the example is what it gives, without moments and ids."""
    files = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("[0-9]*.md")}
    _check(files)
    assert files == {name: memory.recorded(text) for name, text in files.items()}
