"""Records of an experience, one for each searchable axis.

The records of one experience have the ids `GHAPID/axis`. All hold the whole experience in their
fields (`ghap_id`, `axis`, and the keys of its JSON but for `id`), so that any of them can be shown.
They differ in their text, which is what is searched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from contextkit.models import Record
from contextkit_experiences.errors import InvalidExperienceError
from contextkit_experiences.vocabulary import AXES, Axis

if TYPE_CHECKING:
    from contextkit_experiences.model import Experience


# The premortem asks for "failures and issues in ..." and the like: words that name the kind of
# record wanted, and that the record's own text need not contain.
_KEYWORDS: dict[Axis, str] = {
    "full": "",
    "strategy": "outcomes using strategy",
    "surprise": "unexpected outcomes surprise",
    "root_cause": "why hypotheses fail root cause",
}
_KEYWORDS_OF_A_FAILURE = "failures issues"


def record_id(ghap_id: str, axis: Axis) -> str:
    """Return the id of an experience's record on one axis."""
    return f"{ghap_id}/{axis}"


def narrative(fields: Mapping[str, Any]) -> str:
    """Return the experience's texts, one field per line, without labels."""
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
    """Return its records.

    There is one on `full` and `strategy` always, and on each other axis that it has a text for.
    """
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
    """Build the experience from a record of any axis.

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
