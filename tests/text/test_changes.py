"""What a question about changes is about, beside changes, times and releases."""

from __future__ import annotations

import pytest

from contextkit.text import changes_subject


@pytest.mark.parametrize(
    ("query", "subject"),
    [
        ("What changed in the latest release?", ""),
        ("what's new in the last two weeks?", ""),
        ("what are the latest commits?", ""),
        ("show me the last 5 commits", ""),
        ("What changed between 13.9.3 and 14.1?", ""),
        ("Which breaking changes does 2.0.0-alpha.1 have?", ""),
        ("How do I upgrade from Rack 2 to Rack 3?", ""),
        ("what was fixed in pytest 8.0.0?", ""),
        ("what changed in the latest release of shelf?", ""),
        ("What changed in the parser since 3.2?", "parser"),
        ("what changed recently in recent_changes?", "recent_changes?"),
        ("summarize the recent changes to the printer", "printer"),
        ("In which version was print_json added?", "print_json"),
        ("what did Ada Lovelace change in October 2024?", "Ada Lovelace"),
        ("Wo wird der Cache geändert?", "Wo wird der Cache geändert?"),
    ],
)
def test_the_subject_of_a_question_about_changes(query: str, subject: str) -> None:
    """Its words without those of changes, times, versions and the project; nothing for all.

    A question in another language is left as it is.
    """
    assert changes_subject(query, "shelf") == subject
