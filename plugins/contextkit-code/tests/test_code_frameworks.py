"""A testing framework's own code is about tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from contextkit import ContextItem

Ask = Callable[..., list[ContextItem]]
Project = Callable[[Mapping[str, str]], Any]

PARTS = 30


def code_of(about: str) -> dict[str, str]:
    """Files that are about something, and a test for each."""
    files = {}
    for number in range(PARTS):
        body = (
            f'    """Decide the order of a slow {about}, part {number}."""\n    return {number}\n'
        )
        files[f"src/part_{number}.py"] = f"def order_{number}({about}):\n{body}"
        files[f"tests/test_part_{number}.py"] = (
            f"def test_order_{number}():\n"
            f'    """The order of a slow {about} is decided, part {number}."""\n'
            f"    assert order_{number}({number}) == {number}\n"
        )
    return files


@pytest.mark.parametrize(
    ("about", "question", "first"),
    [
        ("test", "how is the order of a slow test decided?", "src/"),
        ("test", "which tests cover the order of a slow test?", "tests/"),
        ("test", "how is the order of a slow test tested?", "tests/"),
        ("reader", "how is the order of a slow reader decided in a test?", "tests/"),
    ],
)
def test_a_framework_is_asked_for_its_code(
    project: Project, ask: Ask, about: str, question: str, first: str
) -> None:
    """Unless tests are asked for in so many words; other projects are asked for their tests."""
    project(code_of(about))
    assert ask(question)[0].id.startswith(first)
