"""A project that the examples are asked about: code, memories, patient settings."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from contextkit import ContextKit
from contextkit_memories import MemoryBook

ROOT = Path(__file__).parents[2]
SETTINGS = "[assemble]\nsource_timeout = 30\ndeadline = 30\n"
CODE = '''\
def retry_payment(payment):
    """Send a payment again, because the bank drops every tenth call."""
    return payment.send() or payment.send()
'''
MEMORIES = (
    "Payments are retried once, because the bank drops every tenth call",
    "Refunds are never retried: the bank pays them twice",
    "The office is closed on Mondays",
)

# Nobody installs the examples. With the checkout on the path, its contextkit would be tested
# instead of the one that is installed; so the tests find this folder alone.
sys.modules["examples"] = ModuleType("examples")
sys.modules["examples"].__path__ = [str(ROOT / "examples")]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A project with a function and three memories, indexed."""
    folder = tmp_path / "bank"
    folder.mkdir()
    (folder / "contextkit.toml").write_text(SETTINGS, encoding="utf-8")
    (folder / "payments.py").write_text(CODE, encoding="utf-8")
    with ContextKit.open(folder) as opened:
        book = MemoryBook(opened.records("memories"))
        for text in MEMORIES:
            book.remember(text)
        opened.index()
    return folder


@pytest.fixture
def kit(workspace: Path) -> Iterator[ContextKit]:
    """A kit over the project."""
    with ContextKit.open(workspace) as opened:
        yield opened


@pytest.fixture
def run_example(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Runs `examples/NAME.py` in the project, as a person would; gives what it prints."""

    def run(name: str, *arguments: str) -> str:
        monkeypatch.chdir(workspace)
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments])
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out

    return run
