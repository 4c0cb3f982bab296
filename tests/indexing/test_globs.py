"""Globs mean what git means by them, and take no longer than a path is long."""

from __future__ import annotations

import time
import warnings
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from pathspec import GitIgnoreSpec

from contextkit.indexing.globs import compile_globs, wrong_globs

thorough = settings.get_profile("thorough")

_NAMES = st.text("ab*?.[]!\\(", max_size=6)
_GLOBS = st.lists(_NAMES | st.sampled_from(["**", "*", "a", "b"]), min_size=1, max_size=6).map(
    "/".join
)
_PATHS = st.lists(st.text("ab.(", min_size=1, max_size=5), min_size=1, max_size=6).map("/".join)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*a" * 40, "a" * 199 + "b"),
        ("*[(]a" * 40, "(a" * 100 + "b"),
        ("?*" * 40 + "b", "a" * 200),
        ("**/a/" * 40 + "b", "a/" * 1_000 + "c"),
        ("a*/**/" * 40 + "b", "aa/" * 500 + "c"),
    ],
)
def test_many_wildcards_take_no_longer_than_a_few(glob: str, path: str) -> None:
    """Forty wildcards against a long path took years, and take less than a second."""
    spec = compile_globs([glob])
    start = time.thread_time()
    matched = spec.match_file(path)

    assert not matched
    assert time.thread_time() - start < 1


@settings(thorough)
@given(_GLOBS, _PATHS, st.booleans())
def test_a_glob_matches_what_it_matches_in_git(glob: str, path: str, is_folder: bool) -> None:
    """Matching each wildcard at one place changes no answer."""
    path = f"{path}/" if is_folder else path
    with warnings.catch_warnings():
        # What looks like a set in a set is no set.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            expected = GitIgnoreSpec.from_lines([glob])
        except ValueError:
            assert wrong_globs("exclude", [glob])
            return
        spec = compile_globs([glob])

    assert expected.check_file(path).include == spec.check_file(path).include
    assert _groups(expected, path) == _groups(spec, path)


def _groups(spec: GitIgnoreSpec, path: str) -> list[Any]:
    """What each pattern finds, and whether it finds a folder on the way."""
    found = [pattern.match_file(path) for pattern in spec.patterns if pattern.include is not None]
    return [match and match.match.groupdict() for match in found]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (["a"] * 501, "exclude: expected at most 500 globs, got 501"),
        (
            ["a" * 501],
            f"exclude: expected globs of at most 500 characters, got '{'a' * 40}…' of 501",
        ),
    ],
)
def test_more_globs_than_anybody_writes_are_refused(value: list[str], said: str) -> None:
    """Each glob is tried on each file, so that their number and length have a limit."""
    assert [said] == wrong_globs("exclude", value)
    assert not wrong_globs("exclude", ["a" * 500] * 500)
