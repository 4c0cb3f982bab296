"""The recipe `premortem`: warnings from past failures, before the work."""

from __future__ import annotations

from typing import Any

from contextkit.errors import InvalidRequestError
from contextkit.models import Recipe, RecipeTemplate, Section
from contextkit_experiences.errors import InvalidExperienceError
from contextkit_experiences.vocabulary import checked_word

PREMORTEM = "premortem"
_PRINCIPLES = 5


def build_premortem(domain: str, strategy: str | None = None, limit: int | None = None) -> Recipe:
    """Build the premortem of a domain and, optionally, a strategy.

    Args:
        domain: the kind of the planned work, one word.
        strategy: the planned strategy, one word; None or empty leaves out the section on its
            performance.
        limit: experiences per section, from 1; default: the request's limit.

    Raises:
        InvalidRequestError: the domain or the strategy is not one word, or the limit is
            not a whole number from 1.
    """
    domain = _word(domain, "domain")
    strategy = _word(strategy, "strategy") if strategy else None
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise InvalidRequestError(f"limit: expected a whole number from 1, got {limit!r}")
    return Recipe(
        name=PREMORTEM,
        title=f"Premortem: {domain} with {strategy}" if strategy else f"Premortem: {domain}",
        sections=_sections(domain, strategy, limit),
        footer="*Based on {counts[experiences]} past experience{s[experiences]}*",
    )


PREMORTEM_TEMPLATE = RecipeTemplate(
    name=PREMORTEM,
    description="past failures, surprises and root causes of a domain, before work in it starts",
    build=build_premortem,
    max_tokens=1500,
    limit=10,
)


def _sections(domain: str, strategy: str | None, limit: int | None) -> tuple[Section, ...]:
    def experiences(key: str, title: str, query: str, **filters: Any) -> Section:
        return Section(
            source="experiences", key=key, title=title, query=query, filters=filters, limit=limit
        )

    failures = experiences(
        "failures",
        "Common Failures",
        f"failures and issues in {domain}",
        axis="full",
        domain=domain,
        outcome_status="falsified",
    )
    performance = experiences(
        "strategy",
        "Strategy Performance",
        f"outcomes using {strategy} strategy",
        axis="strategy",
        strategy=strategy,
    )
    surprises = experiences(
        "surprises",
        "Unexpected Outcomes",
        f"unexpected outcomes in {domain}",
        axis="surprise",
        domain=domain,
    )
    root_causes = experiences(
        "root_causes",
        "Root Causes to Watch",
        f"why hypotheses fail in {domain}",
        axis="root_cause",
        domain=domain,
    )
    principles = Section(
        source="values",
        key="principles",
        title="Relevant Principles",
        query=f"principles for {domain}" + (f" using {strategy}" if strategy else ""),
        # The strategy ranks them: few principles of a domain are of one strategy too.
        filters={"domain": domain},
        limit=_PRINCIPLES,
        optional=True,
    )
    with_strategy = (performance,) if strategy else ()
    return (failures, *with_strategy, surprises, root_causes, principles)


def _word(value: Any, name: str) -> str:
    try:
        return checked_word(value, name)
    except InvalidExperienceError as error:
        raise InvalidRequestError(str(error)) from None
