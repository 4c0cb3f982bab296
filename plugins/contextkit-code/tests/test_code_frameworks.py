"""A testing framework's own code is about tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from contextkit import ContextItem

Ask = Callable[..., list[ContextItem]]
Project = Callable[[Mapping[str, str]], Any]

PARTS = 30


def framework() -> dict[str, str]:
    """Files about tests, and a test for each."""
    files = {}
    for number in range(PARTS):
        said = f'    """Decide the order of a slow test, part {number}."""\n'
        files[f"src/part_{number}.py"] = f"def order_{number}(items):\n{said}    return {number}\n"
        files[f"tests/test_part_{number}.py"] = f"def test_{number}():\n{said}    assert {number}\n"
    return files


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("how is the order of a slow test decided?", "src/"),
        ("which tests cover the order of a slow test?", "tests/"),
        ("how is the order of a slow test tested?", "tests/"),
    ],
)
def test_a_framework_is_asked_for_its_code(
    project: Project, ask: Ask, question: str, first: str
) -> None:
    """Unless tests are asked for in so many words."""
    project(framework())
    assert ask(question)[0].id.startswith(first)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("how do I test a command with input?", "src/shelf/testing.py"),
        ("how can I unit-test what a command prints?", "src/shelf/testing.py"),
        ("which tests are there of commands with input?", "tests/test_commands.py"),
    ],
)
def test_who_asks_how_to_test_gets_the_helpers(
    project: Project, ask: Ask, question: str, first: str
) -> None:
    """A library has them for the tests of others; its own tests are of itself."""
    project(
        {
            "src/shelf/commands.py": "def command(text):\n    return text\n",
            "src/shelf/testing.py": (
                "class Runner:\n"
                '    """Runs commands in tests."""\n\n'
                "    def run(self, command, given):\n"
                '        """Run a command with input; return what it prints."""\n'
                "        return command(given)\n"
            ),
            "tests/test_commands.py": (
                'def test_a_command_with_input():\n    """What a command prints with input."""\n'
                "    assert command('input')\n\n\n"
                "def test_a_command_prints_its_input():\n    assert command('input')\n"
            ),
        }
    )
    assert ask(question)[0].metadata["file_path"] == first
