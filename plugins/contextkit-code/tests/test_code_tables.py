"""Questions about the tables of a database, and about the fields of objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from contextkit import ContextItem

Ask = Callable[..., list[ContextItem]]
Project = Callable[[Mapping[str, str]], Any]

MEMOS = 200


def app(**files: str) -> dict[str, str]:
    """An application whose code is all about memos, and which draws tables."""
    drawing = "export function drawTable(column) {\n  return new Table(column);\n}\n"
    code = {
        f"src/memo_{n}.js": f"function memo{n}(memo) {{\n  return memo.table({n});\n}}\n"
        for n in range(MEMOS)
    }
    return {**code, "web/table_column.js": drawing, **files}


SCHEMA = "CREATE TABLE user (\n  id INT\n);\n\nCREATE TABLE memo (\n  id INT,\n  text TEXT\n);\n"


@pytest.mark.parametrize(
    "question",
    [
        "add a column to the memo table",
        "which columns does the memos table have?",
        "What is stored in table memo?",
    ],
)
def test_a_table_comes_before_what_draws_tables(project: Project, ask: Ask, question: str) -> None:
    """Every dialect's statement that creates it, though all of the code speaks of memos."""
    project(app(**{"db/mysql/schema.sql": SCHEMA, "db/sqlite/schema.sql": SCHEMA}))
    first = ask(question)[:2]
    assert [item.kind for item in first] == ["table", "table"]
    assert {item.metadata["name"] for item in first} == {"memo"}


def test_the_class_of_its_rows_stands_for_a_table_that_no_statement_creates(
    project: Project, ask: Ask
) -> None:
    """As a library makes the tables from the classes."""
    models = "class Memo(Model):\n    text = CharField()\n\n\nclass Story(Model):\n    url = None\n"
    project(app(**{"app/models.py": models}))
    assert ask("add a column to the memo table")[0].metadata["name"] == "Memo"
    assert ask("add a column to the stories table")[0].metadata["name"] == "Story"


@pytest.mark.parametrize(
    "task",
    [
        "add a new field to a memo",
        "which attribute of the memo is unique?",
        "add a property to each Memo",
    ],
)
def test_the_class_that_has_a_field_comes_before_what_is_called_a_field(
    project: Project, ask: Ask, task: str
) -> None:
    """A field of a memo is no field of a form, though that has every word of the question."""
    form = (
        "export function memoFieldAttributeProperty(field, memo) {\n  return memo.add(field);\n}\n"
    )
    model = "class Memo:\n    text: str = ''\n    unique: int = 0\n"
    project(app(**{"app/model.py": model, "web/new_memo.js": form}))
    assert ask(task)[0].title == "Memo"
