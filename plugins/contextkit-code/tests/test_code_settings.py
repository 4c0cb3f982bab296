"""The settings of the source, and what is said of wrong ones."""

from __future__ import annotations

from typing import Any

import pytest

from contextkit_code import contextkit_source
from contextkit_code.settings import Settings


def test_settings_have_defaults() -> None:
    """Nothing is included or excluded by glob, and a file may have a megabyte."""
    assert Settings(include=(), exclude=(), max_file_bytes=1_000_000) == Settings()


def test_right_settings_have_no_problems() -> None:
    """Any glob that git reads in a .gitignore."""
    settings: dict[str, Any] = {
        "include": ["*.py", "/src/**"],
        "exclude": ["!a", "b/"],
        "max_file_bytes": 10,
    }

    assert list(contextkit_source().setting_problems("code", settings)) == []
    assert Settings(include=("*.py", "/src/**"), exclude=("!a", "b/"), max_file_bytes=10) == (
        Settings(**settings)
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"exlude": ["a"]},
            "exlude: the source code has no such setting; it has include, exclude, max_file_bytes; "
            "did you mean exclude?",
        ),
        (
            {"zzz": 1},
            "zzz: the source code has no such setting; it has include, exclude, max_file_bytes",
        ),
        (
            {"include": "*.py"},
            "include: expected a list of globs such as [\"docs/**\"], got '*.py'",
        ),
        ({"exclude": [1]}, "exclude: expected globs such as 'docs/**', got 1"),
        ({"exclude": [" "]}, "exclude: expected globs such as 'docs/**', got ' '"),
        ({"exclude": ["!"]}, "exclude: '!' is not a glob as in .gitignore"),
        ({"max_file_bytes": 0}, "max_file_bytes: must be a whole number from 1, got 0"),
        (
            {"max_file_bytes": True},
            "max_file_bytes: must be a whole number from 1, got True",
        ),
        (
            {"max_file_bytes": "1 MB"},
            "max_file_bytes: must be a whole number from 1, got '1 MB'",
        ),
    ],
)
def test_wrong_settings_are_told(settings: dict[str, Any], expected: str) -> None:
    """One text per problem; it begins with the key and says what would be right."""
    assert [expected] == list(contextkit_source().setting_problems("code", settings))
