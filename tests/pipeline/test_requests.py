"""A request's values are checked, and what is not given comes from the configuration."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from contextkit import ContextRequest, InvalidRequestError, Range
from contextkit.config.sections import AssembleSettings
from contextkit.config.settings import Config
from contextkit.pipeline.request import make_request


def request(
    query: Any = "when is high water?", config: Config | None = None, **given: Any
) -> ContextRequest:
    """A request of the project `p`."""
    return make_request(config or Config(), query, project="p", workspace=Path("/w"), **given)


def refused(*args: Any, **given: Any) -> str:
    """What is said of a request that makes no sense."""
    with pytest.raises(InvalidRequestError) as caught:
        request(*args, **given)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_what_is_not_given_comes_from_the_configuration() -> None:
    """Every value of `[assemble]` that a request has."""
    settings = AssembleSettings(
        max_tokens=900,
        limit=7,
        sources=("tide",),
        source_timeout=1.5,
        deadline=2.5,
        style="xml",
        overflow="soft",
        min_relevance=0.2,
    )
    made = request(config=Config(assemble=settings))
    assert made == ContextRequest(
        query="when is high water?",
        max_tokens=900,
        limit=7,
        sources=("tide",),
        source_timeout=1.5,
        deadline=2.5,
        style="xml",
        overflow="soft",
        min_relevance=0.2,
        project="p",
        workspace=Path("/w"),
    )


def test_what_is_given_beats_the_configuration() -> None:
    """And None means not given."""
    config = Config(assemble=AssembleSettings(limit=7, max_tokens=900))
    made = request(config=config, limit=3, max_tokens=None, min_relevance=0, sources=[])
    assert (made.limit, made.max_tokens, made.min_relevance, made.sources) == (3, 900, 0, ())
    # Each source is asked once.
    made = request(config=config, max_tokens=10**12, sources=["b", "a", "b"])
    assert (made.max_tokens, made.sources) == (10**12, ("b", "a"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *(
            ({name: value}, f"{name} must be a whole number of at least 1, got {value!r}")
            for name in ("max_tokens", "limit")
            for value in (0, -1, 1.0, "5", True)
        ),
        *(
            ({name: value}, f"{name} must be a number of seconds over 0, got {value!r:.80}")
            for name in ("source_timeout", "deadline")
            for value in (0, -0.1, float("nan"), "1", False, 10**400)
        ),
        *(
            ({name: value}, f"{name} must be a number within 0..1, got {value!r}")
            for name in ("min_relevance", "diversity")
            for value in (-0.1, 1.01, float("nan"), "0", True)
        ),
        ({"detail": "brief"}, "detail must be one of full, summary, compact, got 'brief'"),
        *(
            ({"shares": value}, f"shares must be one of by_evidence, fixed, got {value!r}")
            for value in ("equal", 1, True, ["fixed"])
        ),
        *(
            ({"depth": value}, f"depth must be a whole number of at least 0, got {value!r}")
            for value in (-1, 1.5, "2", True)
        ),
        ({"group_by": "kind"}, "group_by must be one of source, type, got 'kind'"),
        *(
            ({name: value}, f"{name} must be true or false, got {value!r}")
            for name in ("include_sources", "guard", "compress", "record_use")
            for value in (1, "yes")
        ),
        *(
            (
                {"tokens": value},
                "tokens must be a token counter: default, openai, claude or a plugin's",
            )
            for value in ("", 3)
        ),
        *(
            ({"session": value}, f"session must be the name of a session, got {value!r}")
            for value in ("", " ", 3)
        ),
        ({"session": "\ud800"}, "session must be valid Unicode, got '\\ud800'"),
        ({"style": "html"}, "style must be one of markdown, xml, plain, got 'html'"),
        ({"style": ["xml"]}, "style must be one of markdown, xml, plain, got ['xml']"),
        ({"overflow": "no"}, "overflow must be one of hard, soft, got 'no'"),
        *(
            ({"sources": value}, f"sources must be a list of source names, got {value!r}")
            for value in ("tide", b"tide", 3, ["tide", 3], {"tide": 1})
        ),
        *(
            ({name: 3}, f"{name} must be a table of numbers by source, got 3")
            for name in ("weights", "limits", "timeouts")
        ),
        *(
            (
                {name: {"tide": value}},
                f"{name}: tide must be a number{of} over 0, got {value!r:.80}",
            )
            for name, of in (("weights", ""), ("timeouts", " of seconds"))
            for value in (0, -1, float("nan"), float("inf"), "1", True, 10**400)
        ),
        *(
            ({"limits": {"tide": value}}, "limits: tide must be a whole number of at least 1")
            for value in (0, 1.5, True, "3")
        ),
        ({"filters": 3}, "filters must be a table of values by record field, got 3"),
        ({"filters": {"day": []}}, "filter day: expected a string, "),
        ({"filters": {"day": "\ud800"}}, "filter 'day': '\\ud800' is not valid Unicode"),
        ({"filters": {"day": ["a", "\ud800"]}}, "filter 'day': '\\ud800' is not valid Unicode"),
        ({"filters": {"\ud800": 1}}, "filter '\\ud800': '\\ud800' is not valid Unicode"),
        ({"strategy": {"relevance": 10**400}}, "strategy: relevance: expected a number of at "),
        ({"strategy": {"relevance": 1e308, "salience": 1e308}}, "strategy: expected weights that"),
        ({"max_token": 5}, "a request has no option 'max_token'; did you mean 'max_tokens'?"),
        ({"since": "soon"}, "since must be a time such as 7d, 12h or 2026-05-01"),
        ({"since": datetime(2026, 1, 1)}, "since must be a time such as 7d, 12h or 2026-05-01"),  # noqa: DTZ001
        ({"as_of": "soon"}, "as_of must be a time such as 7d, 12h or 2026-05-01"),
        ({"kinds": "error"}, "kinds must be a list of names, got 'error'"),
        ({"kinds": ["error", ""]}, "kinds must be a list of names"),
        ({"entity_types": [5]}, "entity_types must be a list of names, got [5]"),
        ({"exclude": 5}, "exclude must be a list of names, got 5"),
        ({"exclude": ["a"] * 1001}, "exclude must be a list of at most 1000 names"),
        ({"exclude_sources": {"a": 1}}, "exclude_sources must be a list of source names"),
        ({"user": ""}, "user must be the name of a user, got ''"),
        ({"user": 5}, "user must be the name of a user, got 5"),
        ({"user": "\ud800"}, "user must be valid Unicode"),
        ({"kinds": ["error", "\ud800"]}, "kinds must be valid Unicode"),
        ({"exclude": ["\ud800"]}, "exclude must be valid Unicode"),
        ({"additional_context": 5}, "additional_context must be a text, got 5"),
        ({"excluded": ["a"]}, "a request has no option 'excluded'; did you mean 'exclude'"),
        ({"colour": 5}, "a request has no option 'colour'; it has: max_tokens, sources, "),
    ],
)
def test_a_value_that_makes_no_sense_is_named(given: dict[str, Any], message: str) -> None:
    """The field, what it is and what it should be."""
    assert refused(**given).startswith(message)


@pytest.mark.parametrize("query", ["", "  \n\t"])
def test_an_empty_query_is_refused(query: str) -> None:
    """It says what is missing."""
    assert refused(query) == "the query is empty: say what the context is needed for"


@pytest.mark.parametrize("query", [None, 3, b"high water"])
def test_a_query_is_text(query: Any) -> None:
    """Nothing else."""
    assert refused(query) == f"the query must be a text, got {query!r}"


def test_a_query_that_is_not_quite_text_is_mended() -> None:
    """An argument that is not UTF-8 reaches a program with half surrogate pairs."""
    assert request("tide \udcff 😀").query == "tide ? 😀"


def test_what_makes_sense_passes() -> None:
    """Filters of every kind, weights of both, no limit of time."""
    made = request(
        filters={"day": ["mon", "tue"], "depth": Range(gte=2.5), "wet": True, "n": 3},
        weights={"tide": 2, "moon": 0.5},
        deadline=float("inf"),
        recipe="outlook",
    )
    assert set(made.filters) == {"day", "depth", "wet", "n"}
    assert made.recipe == "outlook"
