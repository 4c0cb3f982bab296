"""Tell testing frameworks apart: tests are their subject.

"How is a test found to be asynchronous?" asks other projects for tests, and a framework for
the code that runs them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve

from contextkit import Hit
from contextkit_code.ranking.files import file_of
from contextkit_code.ranking.paths import is_test
from contextkit_code.ranking.question import Question
from contextkit_code.ranking.units import is_test_unit

_LEAST_UNITS, _LEAST_SHARE = 20, 0.45
"""Units that are no tests, and the share of them that speaks of tests. Of nine other projects none
reached both with a question that does not ask for tests in so many words."""

_SPEAKS_OF_TESTS = re.compile(r"(?<![a-z])[Tt]est|TEST")
_ASKS_FOR_TESTS = re.compile(
    r"\btested\b|\b(?:which|what|unit|integration|existing|missing|the|our|its|run|running)\s+tests\b"
    r"|\btests?\s+(?:for|of|that|which|cover\w*|check\w*|suites?|cases?|coverage)\b",
    re.IGNORECASE,
)


def with_tests_as_subject(question: Question, units: Sequence[Hit]) -> Question:
    """Return a question to a testing framework as one that asks for its code.

    Args:
        question: the question; one that asks for tests in so many words stays as it is.
        units: what was found, which tells the framework.
    """
    if "tests" not in question.asks_for or _ASKS_FOR_TESTS.search(question.line):
        return question
    own = [hit for hit in units if not (is_test(file_of(hit)) or is_test_unit(hit))]
    speaking = sum(_SPEAKS_OF_TESTS.search(hit.record.text) is not None for hit in own)
    if len(own) < _LEAST_UNITS or speaking < _LEAST_SHARE * len(own):
        return question
    return evolve(question, asks_for=question.asks_for - {"tests"})
