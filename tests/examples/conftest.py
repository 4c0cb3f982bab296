"""A project that the examples are asked about: code, memories, patient settings."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from attrs import frozen

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


@frozen
class Example:
    """An example as a person runs it, in a workspace.

    Attributes:
        workspace: where it runs.
    """

    workspace: Path

    def run(self, name: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `examples/NAME.py`; a warning is an error."""
        return subprocess.run(
            [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py"), *arguments],
            cwd=self.workspace,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )


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
def run_example(workspace: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs an example in the project, as a person would."""
    return Example(workspace).run
