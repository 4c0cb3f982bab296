"""The experiences source does what contextkit expects of every source."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import contextkit_experiences
from contextkit import ContextKit
from contextkit.testing import SourceConformance
from contextkit_experiences.book import ExperienceBook
from contextkit_experiences.model import Experience, Lesson

GOALS = ("Stop the nightly timeout", "Make the nightly build quick", "Find the nightly leak")


class TestExperiences(SourceConformance):
    """Resolved experiences with every field that is shown."""

    source = contextkit_experiences
    query = "the nightly timeout"
    timeout = 60.0
    recipe_arguments: Mapping[str, Mapping[str, Any]] = {
        "premortem": {"domain": "debugging", "strategy": None}
    }

    def prepare(self, kit: ContextKit) -> None:
        """Add them whole."""
        book = ExperienceBook(kit.records("experiences"))
        experiences = []
        for number, goal in enumerate(GOALS):
            experiences.append(
                Experience(
                    id=f"ghap_{number}",
                    goal=goal,
                    hypothesis="The connection pool is too small",
                    action="Doubled the pool",
                    prediction="No timeout tonight",
                    domain="debugging",
                    strategy="systematic-elimination",
                    outcome_status="falsified",
                    outcome_result="It timed out again at 02:00",
                    surprise="The pool was half empty",
                    root_cause="A lock was held across a retry",
                    lesson=Lesson(what_worked="A timeout on the lock", takeaway="Locks first"),
                    started_at=datetime(2026, 3, 1, 9, number, tzinfo=UTC),
                )
            )
        book.add(experiences)
