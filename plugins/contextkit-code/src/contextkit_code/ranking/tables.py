"""Find the tables of a database, and the objects with fields, that a question names.

"Add a column to the memo table" and "add a field to a memo" name a table and a class, though `memo`
is a plain word that half of the code has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve

from contextkit import Hit
from contextkit.models import Filters
from contextkit_code.ranking.question import Question

_TABLE = re.compile(
    r"\b([A-Za-z]\w*+)`?(?= tables?\b)|\btable `?([A-Za-z]\w*+)"
    r"|\b(?:attribute|column|field|property) (?:in|of|on|to) "
    r"(?:(?:an?|each|every|the) )?`?([A-Za-z]\w*+)"
)
_PLURAL = re.compile(r"ies$")
_TABLES = ("table", "view")
_OBJECTS = ("class", "entity", "model", "struct")
"""What a row is read into, where no statement creates the table."""


def filters_of_tables(line: str) -> Filters:
    """Return the filters for what a question calls a table; empty where it names none."""
    names = {name.lower() for found in _TABLE.findall(line) for name in found if name}
    names |= {_PLURAL.sub("y", name) for name in names}
    names |= {name.removesuffix("s") for name in names} | {f"{name}s" for name in names}
    names |= {name.capitalize() for name in names}
    return {"name": sorted(names), "unit_type": [*_TABLES, *_OBJECTS]} if names else {}


def with_tables(question: Question, units: Sequence[Hit]) -> Question:
    """Return a question that names the tables that were found for it.

    Args:
        question: the question.
        units: what was found by `filters_of_tables`.
    """
    found = {kind: _names(units, kind) for kind in (_TABLES, _OBJECTS)}
    names = found[_TABLES] or found[_OBJECTS]
    return evolve(question, names=question.names | names) if names else question


def _names(units: Sequence[Hit], types: Sequence[str]) -> set[str]:
    fields = (hit.record.fields for hit in units)
    return {str(own["name"]) for own in fields if own.get("unit_type") in types and "name" in own}
