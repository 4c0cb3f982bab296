"""Which files a newer version of their folder replaces."""

from __future__ import annotations

import pytest

from contextkit.sources import older_versions


@pytest.mark.parametrize(
    ("older", "newest"),
    [
        ("docs/v1.9/a.md", "docs/v1.10/a.md"),
        ("docs/v1.8/a.md", "docs/dev/b.md"),
        ("docs-v3/a.md", "docs/b/c.md"),
        ("manual_v1/a.md", "manual_v2/a.md"),
        ("src/v3/a.ts", "src/v4/b.ts"),
        ("docs/2.x/a.md", "docs/3.0/a.md"),
        ("versioned_docs/version-2.0/a.md", "docs/a.md"),
        ("site/versioned_docs/version-1.0/a.md", "site/versioned_docs/version-2.0/a.md"),
        # The library before it was written anew, and a folder of the first level.
        ("shelf/v1/errors.py", "shelf/errors.py"),
        ("v1/lib/a.js", "lib/a.js"),
    ],
)
def test_an_older_version_stands_beside_a_newer_one(older: str, newest: str) -> None:
    """By numbers, or by a name such as `dev` or one without a number."""
    assert older_versions([newest, older], "how do I open the hatch?") == {older}
    assert older_versions([older], "how do I open the hatch?") == frozenset()


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("docs/part-1/a.md", "docs/part-2/a.md"),
        ("python2/a.py", "python3/a.py"),
        ("a/v1/x.md", "b/v2/x.md"),
        ("a/v1/x.md", "a/y.md"),
        ("v1/x.md", "b/x.md"),
        ("v1.md", "v2.md"),
    ],
)
def test_other_numbers_are_no_versions(path: str, other: str) -> None:
    """Nor do folders in different places replace each other."""
    assert older_versions([path, other], "how do I open the hatch?") == frozenset()


def test_the_version_that_is_asked_for_is_not_older() -> None:
    """The question names it by its number."""
    paths = ["docs/v1/a.md", "docs/v2/a.md", "docs/v3/a.md"]
    assert older_versions(paths, "how does v2 open the hatch?") == {"docs/v1/a.md"}
