"""Notebooks and components: a program that stands between other things."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import contextkit_code
from contextkit import ContextItem, IndexReport, Record
from contextkit.testing import open_kit
from contextkit_code.code_records import RecordMaker
from contextkit_code.text_files import NotTextError
from tests.secret_kinds import planted

Ask = Callable[..., list[ContextItem]]
Project = Callable[[dict[str, str]], Any]

CELLS = [
    ("markdown", "# Shelves\n\nHow **things** are kept."),
    ("code", "%matplotlib inline\nimport numpy as np\nlimit = 3"),
    ("code", 'def restock(items):\n    """Put items on the shelf."""\n    return len(items)'),
    ("markdown", "## Counting ##\n\n### All\n\n```\n# no heading\n```"),
    ("code", "count = restock(['`a`'])\nprint(count)"),
    ("code", ""),
    ("raw", "Some notes on what is counted here."),
]


def _notebook(
    language: str = "python",
    indent: int | None = 1,
    as_list: bool = True,
    cells: Sequence[tuple[str, str]] = CELLS,
) -> bytes:
    written: list[dict[str, Any]] = []
    for kind, text in cells:
        cell: dict[str, Any] = {"cell_type": kind, "metadata": {}}
        if kind == "code":
            # What was printed looks like a cell.
            printed = {"name": "stdout", "text": ["limit = 3\n", '"source": [\n'], "data": "x" * 99}
            cell |= {"execution_count": 1, "outputs": [printed] * 20}
        written.append(cell | {"source": text.splitlines(keepends=True) if as_list else text})
    data = {"cells": written, "metadata": {"language_info": {"name": language}}, "nbformat": 4}
    return json.dumps(data, indent=indent, sort_keys=True, ensure_ascii=False).encode()


def _units(content: bytes, path: str = "lab/shelves.ipynb") -> list[Record]:
    return [one for one in RecordMaker().records(path, content) if one.fields["kind"] == "unit"]


def test_a_notebook_is_its_code_with_texts_as_comments() -> None:
    """What was printed is left out; a text goes with the code below it, and names it."""
    first, function, second, notes = _units(_notebook())

    assert first.fields["unit_type"] == second.fields["unit_type"] == "cell"
    assert first.fields["qualified_name"] == "Shelves"
    assert first.text.splitlines() == [
        *("# # Shelves", "# ", "# How **things** are kept.", ""),
        *("%matplotlib inline", "import numpy as np", "limit = 3"),
    ]
    assert function.fields["unit_type"] == "function"
    assert function.fields["docstring"] == "Put items on the shelf."
    assert function.fields["language"] == "python"
    assert second.fields["qualified_name"] == "Counting"
    assert "count = restock(['`a`'])\nprint(count)" in second.text
    assert notes.text == "# Some notes on what is counted here."


def test_lines_are_those_of_the_file() -> None:
    """So that they can be opened; a file that was not written in lines has none."""
    content = _notebook()
    lines = content.decode().splitlines()

    for unit in _units(content):
        last = unit.text.splitlines()[-1].removeprefix("# ")
        shown = json.loads(lines[unit.fields["end_line"] - 1].strip().rstrip(","))
        assert shown.rstrip("\n") == last
    for content in (_notebook(indent=None), _notebook(as_list=False)):
        texts = [unit.text for unit in _units(content)]
        assert texts == [unit.text for unit in _units(_notebook())]


def test_a_notebook_of_another_language_has_its_comments() -> None:
    """Without a grammar for it, its cells are shown."""
    units = _units(_notebook("R"))

    assert {unit.fields["language"] for unit in units} == {"r"}
    assert units[0].text.startswith("# # Shelves")
    assert _units(_notebook("c++17"))[0].text.startswith("// # Shelves")


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"cells": 1}', b'{"cells": [1]}'])
def test_what_is_no_notebook_is_skipped_with_a_reason(content: bytes) -> None:
    """It is not shown as the text that it is."""
    with pytest.raises(NotTextError, match="not a notebook"):
        _units(content)


@pytest.mark.parametrize("as_list", [True, False])
def test_secrets_in_a_notebook_are_replaced(workspace: Path, as_list: bool) -> None:
    """A key in its cells leaves the other cells, and the lines of the file, as they are."""
    key = planted("RSA private key", "notebook").value
    cells = [("code", f'key = """\n{key}\n"""\nlimit = 3'), *CELLS]
    content = _notebook(as_list=as_list, cells=cells)
    (workspace / "keys.ipynb").write_bytes(content)
    with open_kit(workspace, {"code": contextkit_code}) as kit:
        outcome = kit.index()["code"]
        units = list(kit.records("code").scan({"kind": "unit"}))

    assert outcome.report is not None
    assert (outcome.report.added, outcome.report.redacted) == (1, 1)
    text = "\n".join(unit.text for unit in units)
    assert not [line for line in key.splitlines() if line in text]
    assert 'key = """\n[secret: private key]\n' in text
    assert "def restock(items):" in text
    [marked] = [unit for unit in units if "redactions" in unit.fields]
    assert marked.fields["redactions"] == 1
    last = content.splitlines()[marked.fields["end_line"] - 1]
    assert not as_list or last.strip() == b'"limit = 3"'


def test_a_notebook_may_be_larger_than_other_files(
    workspace: Path, index: Callable[..., IndexReport], ask: Ask
) -> None:
    """Ten times `max_file_bytes`: most of it is what was printed."""
    content = _notebook()
    (workspace / "a.ipynb").write_bytes(content)
    (workspace / "b.ipynb").write_bytes(content * 10)

    report = index(max_file_bytes=len(content) - 1)

    assert ask("put items on the shelf")[0].metadata["name"] == "restock"
    [(path, why)] = report.skipped
    assert path == "b.ipynb"
    assert "over 10 times max_file_bytes" in why


VUE = """\
<script lang="ts">
import { defineComponent } from 'vue'
</script>

<script setup lang="ts">
import { ref } from 'vue'

/** Puts things back. */
function restock(items: string[]) {
  return items.length
}
</script>

<template>
  <button @click="restock([])">Restock</button>
</template>
"""
ASTRO = """\
---
import Card from './Card.astro'
const count = (items) => items.length
---
<Card />
<script>
  function greet() {
    alert(1)
  }
</script>
"""


@pytest.mark.parametrize(
    ("path", "text", "functions"),
    [
        ("a.vue", VUE, [("restock", 8, 11)]),
        ("a.svelte", VUE.replace(" setup", ""), [("restock", 8, 11)]),
        ("a.astro", ASTRO, [("count", 3, 3), ("greet", 7, 9)]),
    ],
)
def test_a_component_has_the_functions_of_its_program(
    path: str, text: str, functions: list[tuple[str, int, int]]
) -> None:
    """With their lines; its markup is shown as lines."""
    units = _units(text.encode(), path)

    found = [
        (unit.fields["name"], unit.fields["start_line"], unit.fields["end_line"])
        for unit in units
        if unit.fields["unit_type"] == "function"
    ]
    assert found == functions
    assert any("<button" in unit.text or "<Card />" in unit.text for unit in units)
    [outline] = [one for one in RecordMaker().records(path, text.encode()) if one.id == path]
    assert {"vue", "./Card.astro"} & {each["module"] for each in outline.fields["imports"]}


@pytest.mark.parametrize("path", ["a.csv", "data/a.TSV", "a.jsonl"])
def test_a_table_is_its_head(path: str) -> None:
    """Its other rows would be found for any number that is asked for."""
    rows = [f"row {n}" for n in range(500)]

    [unit] = _units("\n".join(rows).encode(), path)

    assert unit.text.splitlines() == rows[:20]
