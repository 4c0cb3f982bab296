"""The settings of the source, and what is said of wrong ones."""

from __future__ import annotations

from typing import Any

import pytest

from contextkit.errors import ConfigError
from contextkit_code import contextkit_check_settings
from contextkit_code.settings import Settings


def test_settings_have_defaults() -> None:
    """Nothing is included or excluded by glob, and a file may have a megabyte."""
    assert Settings(include=(), exclude=(), max_file_bytes=1_000_000) == Settings.of({})


def test_right_settings_have_no_problems() -> None:
    """Any glob that git reads in a .gitignore."""
    settings = {"include": ["*.py", "/src/**"], "exclude": ["!a", "b/"], "max_file_bytes": 10}

    assert contextkit_check_settings(settings) == []
    assert Settings(include=("*.py", "/src/**"), exclude=("!a", "b/"), max_file_bytes=10) == (
        Settings.of(settings)
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"exlude": ["a"]},
            "exlude: not a setting of code; it has include, exclude, max_file_bytes; "
            "did you mean exclude?",
        ),
        (
            {"zzz": 1},
            "zzz: not a setting of code; it has include, exclude, max_file_bytes",
        ),
        (
            {"include": "*.py"},
            "include: expected a list of globs such as [\"docs/**\"], got '*.py'",
        ),
        ({"exclude": [1]}, "exclude: expected globs such as 'docs/**', got 1"),
        ({"exclude": [" "]}, "exclude: expected globs such as 'docs/**', got ' '"),
        ({"exclude": ["!"]}, "exclude: '!' is not a glob as in .gitignore"),
        ({"max_file_bytes": 0}, "max_file_bytes: expected a number of bytes, at least 1, got 0"),
        (
            {"max_file_bytes": True},
            "max_file_bytes: expected a number of bytes, at least 1, got True",
        ),
        (
            {"max_file_bytes": "1 MB"},
            "max_file_bytes: expected a number of bytes, at least 1, got '1 MB'",
        ),
    ],
)
def test_wrong_settings_are_told(settings: dict[str, Any], expected: str) -> None:
    """One text per problem; it begins with the key and says what would be right."""
    assert [expected] == contextkit_check_settings(settings)
    with pytest.raises(ConfigError, match=r"sources\.code"):
        Settings.of(settings)
