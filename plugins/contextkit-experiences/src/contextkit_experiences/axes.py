"""An experience as records: one for each axis that it can be found on.

The records of one experience are `GHAPID/axis`; all hold the whole experience in their
fields (`ghap_id`, `axis`, and the keys of its JSON but for `id`), so that whichever of
them is found can be shown. They differ in their text, which is what is searched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from contextkit.models import Record
from contextkit_experiences.errors import InvalidExperienceError
from contextkit_experiences.vocabulary import AXES, Axis

if TYPE_CHECKING:
    from contextkit_experiences.model import Experience


# The premortem asks for "failures and issues in ..." and the like: words that say what kind
# of record is wanted, and that its own text need not hold.
_KEYWORDS: dict[Axis, str] = {
    "full": "",
    "strategy": "outcomes using strategy",
    "surprise": "unexpected outcomes surprise",
    "root_cause": "why hypotheses fail root cause",
}
_KEYWORDS_OF_A_FAILURE = "failures issues"


def record_id(ghap_id: str, axis: Axis) -> str:
    """The id of an experience's record on one axis."""
    return f"{ghap_id}/{axis}"


def narrative(fields: Mapping[str, Any]) -> str:
    """The whole experience in its own words, one field a line, without labels."""
    lesson = fields.get("lesson")
    taught = lesson if isinstance(lesson, Mapping) else {}
    parts = (
        *(fields.get(name) for name in ("goal", "hypothesis", "action", "prediction")),
        *(fields.get(name) for name in ("outcome_result", "surprise", "root_cause")),
        taught.get("what_worked"),
        taught.get("takeaway"),
        *(fields.get("notes") or ()),
    )
    return "\n".join(str(part) for part in parts if part)


def to_records(experience: Experience) -> list[Record]:
    """Its records: on `full` and `strategy` always, on the others where it has such a text."""
    from contextkit_experiences.serialising import to_json

    data = to_json(experience)
    ghap_id = data.pop("id")
    texts: dict[Axis, str | None] = {
        "full": narrative(data),
        "strategy": _strategy_performance(experience),
        "surprise": experience.surprise,
        "root_cause": experience.root_cause,
    }
    return [
        Record(
            id=record_id(ghap_id, axis),
            text=text,
            fields={"ghap_id": ghap_id, "axis": axis, **data},
            keywords=_keywords(experience, axis),
            created_at=experience.updated_at,
        )
        for axis in AXES
        if (text := texts[axis])
    ]


def from_record(record: Record) -> Experience:
    """The experience that a record of any axis holds.

    Raises `InvalidExperienceError` for a record that something else wrote.
    """
    from contextkit_experiences.serialising import from_json

    data = {key: value for key, value in record.fields.items() if key != "axis"}
    data["id"] = data.pop("ghap_id", None)
    try:
        return from_json(data)
    except InvalidExperienceError as error:
        raise error.located(f"stored experience {record.id}") from None


def _strategy_performance(experience: Experience) -> str:
    count = experience.iteration_count
    tries = "1 iteration" if count == 1 else f"{count} iterations"
    summary = (
        f"{experience.strategy} for {experience.domain}: {experience.outcome_status} after {tries}"
    )
    lesson = experience.lesson.what_worked if experience.lesson else None
    parts = (summary, experience.action, experience.outcome_result, lesson)
    return "\n".join(part for part in parts if part)


def _keywords(experience: Experience, axis: Axis) -> str:
    words = [experience.domain, experience.strategy, experience.outcome_status, _KEYWORDS[axis]]
    if axis == "full" and experience.outcome_status == "falsified":
        words.append(_KEYWORDS_OF_A_FAILURE)
    return " ".join(word for word in words if word)
