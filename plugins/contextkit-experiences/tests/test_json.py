"""Experiences as JSON: what goes out comes in again, and what is wrong is named."""

import contextlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from contextkit_experiences import from_json, to_json
from contextkit_experiences.errors import ExperienceError, InvalidExperienceError
from contextkit_experiences.model import Experience
from contextkit_experiences.reading import read_experiences

Make = Callable[..., Experience]
AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
SMALL = {
    "goal": "g",
    "hypothesis": "h",
    "action": "a",
    "prediction": "p",
    "domain": "testing",
    "strategy": "ask-user",
}


def read(text: str) -> list[Experience]:
    """The experiences of a document."""
    return read_experiences(text.encode(), name="f.json", now=AT)


def test_json_goes_round(make: Make) -> None:
    """An experience comes back from its JSON as it was."""
    experience = make(notes=("日本語\n# not a heading", "😀"), iteration_count=3)

    assert experience == from_json(json.loads(json.dumps(to_json(experience))))


def test_the_least_that_is_needed() -> None:
    """Six texts make an open experience that begins now and has an id."""
    made = from_json(SMALL, now=AT)

    assert (
        made.outcome_status,
        made.started_at,
        made.updated_at,
        made.resolved_at,
        made.iteration_count,
    ) == ("open", AT, AT, None, 1)
    assert made.id.startswith("ghap_")


def test_times_that_are_left_out_follow_from_those_given() -> None:
    """A resolved experience with one time has that time as its beginning and end."""
    ended = "2024-01-01T00:00:00Z"

    made = from_json(
        {**SMALL, "outcome_status": "confirmed", "outcome_result": "r", "resolved_at": ended}
    )

    assert (
        made.started_at == made.updated_at == made.resolved_at == datetime(2024, 1, 1, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "found a list, expected an object with goal, hypothesis"),
        ("x", "found the text 'x', expected an object"),
        ({**SMALL, "goal": None}, "goal: found nothing, expected a text"),
        ({k: v for k, v in SMALL.items() if k != "action"}, "action: found nothing"),
        ({**SMALL, "sugoal": 1}, "sugoal: found a key that is not known, expected 'goal'"),
        ({**SMALL, "zzz": 1}, "zzz: found a key that is not known, expected one of id, goal"),
        ({**SMALL, "outcome": {}}, "expected 'outcome_"),
        ({**SMALL, "lesson": 3}, "lesson: found the number 3, expected an object with what_worked"),
        ({**SMALL, "lesson": {}}, "lesson.what_worked: found nothing"),
        ({**SMALL, "lesson": {"what_worked": []}}, "lesson.what_worked: found a list"),
        ({**SMALL, "lesson": {"what_works": "x"}}, "lesson.what_works: found a key"),
        ({**SMALL, "lesson": {"what_worked": "x", "takeaway": 1}}, "lesson.takeaway: found the"),
        ({**SMALL, "notes": "one"}, "notes: found the text 'one', expected a list of texts"),
        ({**SMALL, "notes": [None]}, "notes[0]: found nothing"),
        ({**SMALL, "started_at": "2026-13-01"}, "started_at: found the text '2026-13-01'"),
        ({**SMALL, "started_at": "2026-03-01T00:00:00"}, "started_at: found a datetime"),
        ({**SMALL, "started_at": 17}, "started_at: found the number 17"),
        ({**SMALL, "confidence_tier": []}, "confidence_tier: found a list"),
    ],
)
def test_what_is_wrong_is_named(data: Any, message: str) -> None:
    """The error names the field, what was found and what is expected."""
    with pytest.raises(InvalidExperienceError) as caught:
        from_json(data)

    assert message in str(caught.value)


def test_a_document_is_an_object_a_list_or_lines() -> None:
    """All three forms are read, with a byte order mark, empty lines and any line ends."""
    one = json.dumps(SMALL)

    assert len(read(json.dumps(SMALL, indent=2))) == 1
    assert len(read(f"[{one}, {one}]")) == 2
    assert len(read(f"\ufeff\n{one}\r\n\n{one}\n{one}\n")) == 3


def test_a_line_separator_inside_a_text_is_no_line_end() -> None:
    """U+2028 in a JSON string, which JSON allows, does not tear its line apart."""
    line = json.dumps({**SMALL, "goal": "a\u2028b"}, ensure_ascii=False)

    assert [each.goal for each in read(f"{line}\n{line}")] == ["a\u2028b", "a\u2028b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json: holds no experience"),
        (" \n ", "f.json: holds no experience"),
        ("[]", "f.json: holds no experience"),
        ("{", "f.json:1:2: this is not JSON"),
        ('{\n "goal": \n}', "f.json:3:1: this is not JSON: Expecting value"),
        ("null", "f.json: found nothing, expected an object"),
        ("[3]", "f.json[0]: found the number 3, expected an object"),
        (json.dumps(SMALL) + "\n{\n", "f.json:2:2: this is not JSON"),
        (json.dumps(SMALL) + "\n\n7", "f.json:3: found the number 7"),
        (json.dumps(SMALL) + '\n{"goal": ""}', "f.json:2: hypothesis: found nothing"),
        ('{"goal": "a", "goal": "b"}', "f.json:1: the key 'goal' occurs twice in one object"),
        ('{"iteration_count": NaN}', "f.json:1: NaN is not a JSON number"),
        ("[" * 100_000, "f.json:1: nested too deep"),
        (f'{{"iteration_count": {"9" * 5000}}}', "f.json:1: "),
        ("goal: yaml", "f.json:1:1: this is not JSON"),
    ],
)
def test_a_wrong_document_is_refused_with_its_place(text: str, message: str) -> None:
    """The error names the file, the line and where it can be told the column or field."""
    with pytest.raises(ExperienceError) as caught:
        read(text)

    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    """A file that is not UTF-8 is told from one that is not JSON."""
    with pytest.raises(ExperienceError, match=r"f\.json:2: found bytes that are not UTF-8"):
        read_experiences(b"{}\n\xff\xfe", name="f.json")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, database=None)
@given(st.dictionaries(st.sampled_from([*SMALL, "lesson", "notes", "started_at", "id"]), VALUES))
def test_no_json_is_met_with_anything_but_an_experience_error(data: dict[str, Any]) -> None:
    """Whatever the values are, they make an experience or an error that is meant."""
    with contextlib.suppress(InvalidExperienceError):
        made = from_json({**SMALL, **data})

        assert made == from_json(to_json(made))
