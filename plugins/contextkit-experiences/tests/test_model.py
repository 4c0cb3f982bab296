"""An experience cannot be made with a value that cannot be."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from contextkit_experiences.errors import InvalidExperienceError
from contextkit_experiences.model import LONGEST_TEXT, Experience, Lesson, derived_tier, new_id
from contextkit_experiences.vocabulary import DOMAINS, STRATEGIES, checked_word, meant_instead

Make = Callable[..., Experience]
AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "field", "found"),
    [
        ({"goal": ""}, "goal", "the text ''"),
        ({"goal": " \n "}, "goal", "the text ''"),
        ({"hypothesis": None}, "hypothesis", "nothing"),
        ({"action": 3}, "action", "the number 3"),
        ({"prediction": ["x"]}, "prediction", "a list"),
        ({"goal": "x" * (LONGEST_TEXT + 1)}, "goal", "16001 characters"),
        ({"goal": "half \ud83d"}, "goal", "half of a surrogate pair"),
        ({"domain": ""}, "domain", "the text ''"),
        ({"domain": "two words"}, "domain", "the text 'two words'"),
        ({"domain": "a--b"}, "domain", "the text 'a--b'"),
        ({"domain": "x" * 65}, "domain", "at most 64"),
        ({"strategy": "# heading"}, "strategy", "the text '# heading'"),
        ({"strategy": None}, "strategy", "nothing"),
        ({"outcome_status": "done"}, "outcome_status", "one of open, confirmed"),
        ({"outcome_result": None}, "outcome_result", "what happened"),
        ({"surprise": True}, "surprise", "true"),
        ({"root_cause": {}}, "root_cause", "an object"),
        ({"lesson": "be careful"}, "lesson", "what_worked"),
        ({"confidence_tier": "platinum"}, "confidence_tier", "one of gold"),
        ({"confidence_tier": None}, "confidence_tier", "with outcome_status 'falsified'"),
        ({"confidence_tier": "abandoned"}, "confidence_tier", "'abandoned' for what was"),
        ({"outcome_status": "abandoned", "confidence_tier": "gold"}, "confidence_tier", "'gold'"),
        ({"iteration_count": 0}, "iteration_count", "the number 0"),
        ({"iteration_count": 1.5}, "iteration_count", "the number 1.5"),
        ({"iteration_count": True}, "iteration_count", "true"),
        ({"iteration_count": 10**7}, "iteration_count", "the number 10000000"),
        ({"notes": ["a list"]}, "notes", "a list"),
        ({"notes": ("fine", "")}, "notes[1]", "the text ''"),
        ({"notes": ("x",) * 1001}, "notes", "1001 notes"),
        ({"started_at": "yesterday"}, "started_at", "the text 'yesterday'"),
        ({"started_at": datetime(2026, 3, 1)}, "started_at", "a time with its zone"),  # noqa: DTZ001
        ({"resolved_at": None}, "resolved_at", "nothing"),
        ({"resolved_at": AT - timedelta(days=1)}, "resolved_at", "2026-02-28"),
        ({"updated_at": AT - timedelta(seconds=1)}, "updated_at", "no time before"),
        ({"id": "exp_1"}, "id", "the text 'exp_1'"),
        ({"id": "ghap_a/full"}, "id", "the text 'ghap_a/full'"),
        ({"id": 7}, "id", "the number 7"),
    ],
)
def test_a_wrong_value_is_refused_by_name(
    make: Make, changes: dict[str, Any], field: str, found: str
) -> None:
    """The error names the field, what was found and what is expected."""
    with pytest.raises(InvalidExperienceError) as caught:
        make(**changes)

    assert field == caught.value.problem.field
    assert found in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_time_out_of_the_calendar_is_refused(make: Make) -> None:
    """A time that has no UTC is an error of its field, not of arithmetic."""
    edge = datetime.min.replace(tzinfo=timezone(timedelta(hours=12)))

    with pytest.raises(InvalidExperienceError, match="started_at"):
        make(started_at=edge)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("outcome_result", "x"),
        ("surprise", "x"),
        ("root_cause", "x"),
        ("lesson", Lesson(what_worked="x")),
        ("confidence_tier", "gold"),
        ("resolved_at", AT),
    ],
)
def test_an_open_one_has_no_outcome(name: str, value: Any) -> None:
    """What only an ending can tell is refused while the experience is open."""
    with pytest.raises(InvalidExperienceError, match=f"{name}: .*nothing while"):
        Experience(
            id="ghap_1",
            goal="g",
            hypothesis="h",
            action="a",
            prediction="p",
            domain="testing",
            strategy="ask-user",
            started_at=AT,
            **{name: value},
        )


def test_values_come_in_one_spelling(make: Make) -> None:
    """Texts are trimmed, words lowered and composed, times UTC, empty options None."""
    local = datetime(2026, 3, 1, 10, 30, tzinfo=timezone(timedelta(hours=1)))

    made = make(goal="  g \n", domain=" Donne\u0301es ", surprise="  ", started_at=local)

    assert (
        made.goal,
        made.domain,
        made.surprise,
        made.started_at,
    ) == ("g", "donn\u00e9es", None, AT)
    assert AT == made.updated_at == made.resolved_at


@pytest.mark.parametrize("word", [*DOMAINS, *STRATEGIES, "デバッグ", "web3", "data_science"])
def test_any_single_word_will_do(word: str) -> None:
    """Known and unknown words of any script are taken as domains and strategies."""
    assert word == checked_word(word, "domain")


def test_a_slip_is_noticed() -> None:
    """A word that is nearly a known one is told from one that is simply new."""
    assert meant_instead("debuging", DOMAINS) == "debugging"
    assert meant_instead("debugging", DOMAINS) is None
    assert meant_instead("gardening", DOMAINS) is None


@pytest.mark.parametrize(
    ("status", "iterations", "root_cause", "lesson", "tier"),
    [
        ("open", 1, False, False, None),
        ("abandoned", 1, True, True, "abandoned"),
        ("confirmed", 1, False, True, "gold"),
        ("confirmed", 1, True, False, "silver"),
        ("confirmed", 2, False, True, "silver"),
        ("confirmed", 2, True, False, "bronze"),
        ("falsified", 1, True, False, "gold"),
        ("falsified", 1, False, True, "silver"),
        ("falsified", 3, True, False, "silver"),
        ("falsified", 3, False, True, "bronze"),
    ],
)
def test_the_tier_follows_from_how_it_went(
    status: Any, iterations: int, root_cause: bool, lesson: bool, tier: str | None
) -> None:
    """Direct and explained is gold, one of the two silver, none bronze."""
    assert tier == derived_tier(status, iterations, root_cause=root_cause, lesson=lesson)


def test_ids_are_unique_and_in_the_order_of_time() -> None:
    """Ids of later moments come later in the alphabet, and no two are the same."""
    ids = [new_id(AT + timedelta(milliseconds=step)) for step in range(2000)]

    assert ids == sorted(ids)
    assert len({new_id(AT) for _ in range(1000)}) == 1000
