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
