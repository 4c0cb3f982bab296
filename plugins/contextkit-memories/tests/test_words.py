"""How categories and tags are stored and found."""

from __future__ import annotations

import pytest

from contextkit_memories.words import category_spellings, stored_category, stored_tags


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("fact", "facts"),
        ("Facts", "facts"),
        ("PREFERENCE", "preferences"),
        ("decision", "decisions"),
        (" error ", "errors"),
        ("Security", "security"),
        ("code_style", "code_style"),
        ("Über-Regel", "über-regel"),
        ("नियम", "नियम"),
        ("e\u0301t\u00e9", "\u00e9t\u00e9"),
    ],
)
def test_a_category_is_stored_in_one_form(given: str, stored: str) -> None:
    """Lower case, composed, the four known ones as plurals, any other as it is."""
    assert stored_category(given) == stored


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fact", "facts"),
        ("bug", "bugs"),
        ("policy", "policies"),
        ("day", "days"),
        ("class", "classes"),
        ("branch", "branches"),
        ("fix", "fixes"),
        ("cookie", "cookies"),
        ("use-case", "use-cases"),
    ],
)
def test_singular_and_plural_find_each_other(one: str, other: str) -> None:
    """A category in one number finds what was stored in the other."""
    assert stored_category(one) in category_spellings(other)
    assert stored_category(other) in category_spellings(one)


def test_tags_are_stored_once_in_lower_case() -> None:
    """The order stays, repetitions go."""
    assert stored_tags(["C++", "area:auth", "c++", "v1.2"]) == ("c++", "area:auth", "v1.2")
