"""Entities and relations from the records of the code source."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings, strategies as st

import contextkit_code
import contextkit_entities
from contextkit import ContextKit, IndexReport, Record, Records
from contextkit.models.indexer import Progress
from contextkit.testing import make_indexer, open_kit, open_records
from contextkit_entities import EntityBook, relations_source
from contextkit_entities.code_facts import CodeFile

FILES = {
    "app/__init__.py": "from app.counter import TokenCounter\n",
    "app/counter.py": (
        'class TokenCounter:\n    """Counts tokens. Quickly."""\n\n    def count(self, text):\n'
        "        return len(text)\n\n\ndef estimate(text):\n    return len(text) // 4\n\n\n"
        "def helper(text):\n    return text\n\n\ndef _private(text):\n    return text\n"
    ),
    "app/fitting.py": "from app import TokenCounter\nimport attrs\n\n\ndef fit(a):\n    return a\n",
    "app/pipeline.py": (
        "from .counter import TokenCounter, estimate\nfrom app.fitting import fit\n\n\n"
        "def assemble(a):\n    return fit(a)\n"
    ),
    "tests/test_counter.py": (
        "from app.counter import TokenCounter\n\n\nclass TestIt:\n    def test_it(self):\n"
        "        assert TokenCounter()\n"
    ),
}
Index = Callable[[], IndexReport]


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit over a small project, with the code source and these two."""
    workspace = tmp_path / "workspace"
    for name, text in FILES.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    plugins = {
        "entities": contextkit_entities,
        "relations": relations_source,
        "code": contextkit_code,
    }
    # Were they asked by their priority, they would be indexed before what they read.
    settings = {
        "embedding.model": "none",
        "sources.entities.priority": 99,
        "sources.entities.code_source": "code",
    }
    with open_kit(workspace, plugins, settings=settings) as opened:
        yield opened


@pytest.fixture
def index(kit: ContextKit) -> Index:
    """Indexes everything, and gives the report of the entities."""

    def run() -> IndexReport:
        report = kit.index()["entities"].report
        assert report is not None
        return report

    return run


def related(kit: ContextKit, name: str) -> set[str]:
    """The texts of an entity's own relations."""
    steps = EntityBook.of(kit).related(name, depth=1, limit=100)
    return {step.relation.text for step in steps}


def test_what_the_code_defines_and_imports(kit: ContextKit, index: Index) -> None:
    """Files, classes, functions that others import, and libraries; nobody's helpers are none."""
    assert index().added > 0
    book = EntityBook.of(kit)
    names = {entity.name for entity in book.list(from_code=True, limit=100)}
    assert names == {*FILES, "TokenCounter", "estimate", "fit", "attrs"}
    assert related(kit, "TokenCounter") == {
        "TokenCounter --[defined in]--> app/counter.py",
        "app/__init__.py --[uses]--> TokenCounter",
        "app/fitting.py --[uses]--> TokenCounter",
        "app/pipeline.py --[uses]--> TokenCounter",
        "tests/test_counter.py --[uses]--> TokenCounter",
    }
    assert "app/fitting.py --[imports]--> attrs" in related(kit, "app/fitting.py")
    counter = book.find("token counter")
    assert counter.location == "app/counter.py:1"
    assert counter.properties == {"about": "Counts tokens. Quickly.", "used by": "4+ files"}
    assert (
        counter.salience > book.find("fit").salience > book.find("tests/test_counter.py").salience
    )


async def test_a_question_about_code(kit: ContextKit, index: Index) -> None:
    """Who uses it stands in the context, the tests last, and the code keeps its own item."""
    index()
    context = await kit.assemble_context("what uses the token counter?", fill=True)
    relations = [item.metadata for item in context.items if item.source == "relations"]
    users = [each["source"] for each in relations if each["target"] == "TokenCounter"]
    assert users == [
        "app/__init__.py",
        "app/fitting.py",
        "app/pipeline.py",
        "tests/test_counter.py",
    ]
    assert "app/counter.py::TokenCounter" in {
        item.id for item in context.items if item.source == "code"
    }


def test_progress_is_told(kit: ContextKit) -> None:
    """Of all records, batch by batch."""
    told: list[Progress] = []
    many = "".join(f"class C{number}:\n    x = 1\n\n\n" for number in range(600))
    (kit.workspace.root / "many.py").write_text(many)
    kit.index(progress=told.append)
    amounts = [(each.done, each.total) for each in told if each.source == "entities"]
    assert amounts[0][0] == 1_000
    done, total = amounts[-1]
    assert total == done > 1_200
    assert amounts == sorted(amounts)


def test_unchanged_code_is_not_read_again(kit: ContextKit, index: Index) -> None:
    """Nothing is stored, and the same is reported."""
    first = index()
    assert index() == IndexReport(unchanged=first.added)
    stamps = {record.created_at for record in kit.records("entities").scan()}
    assert len(stamps) == 1


def test_changes_of_the_code_are_followed(kit: ContextKit, index: Index) -> None:
    """What is new is added, what is gone deleted, and nothing else touched."""
    first, root = index(), kit.workspace.root
    (root / "app" / "extra.py").write_text("import attrs\n\n\nclass Extra:\n    x = 1\n")
    report = index()
    assert (report.added, report.removed) == (4, 0)
    assert report.unchanged + report.updated == first.added
    assert report.updated <= 3
    (root / "app" / "fitting.py").unlink()
    (root / "app" / "extra.py").write_text("class Other:\n    x = 1\n")
    index()
    names = {e.name for e in EntityBook.of(kit).list(from_code=True, limit=100)}
    assert names == {*FILES, "TokenCounter", "estimate", "app/extra.py", "Other"} - {
        "app/fitting.py"
    }
    anew = {record.id: dict(record.fields) for record in kit.records("entities").scan()}
    _clear_state(kit)
    index()
    assert anew == {record.id: dict(record.fields) for record in kit.records("entities").scan()}


def test_code_that_moves_within_its_file_is_followed(kit: ContextKit, index: Index) -> None:
    """Nothing but what stands elsewhere now is stored, with its new place and summary."""
    first = index()
    counter = kit.workspace.root / "app" / "counter.py"
    counter.write_text("X = 1\n\n\n" + counter.read_text().replace("Quickly.", "Slowly."))
    assert index() == IndexReport(updated=2, unchanged=first.added - 2)
    found = EntityBook.of(kit).find("TokenCounter")
    assert found.location == "app/counter.py:4"
    assert found.properties == {"about": "Counts tokens. Slowly.", "used by": "4+ files"}
    counter.write_text(counter.read_text().replace("return len(text)", "return 1 + len(text)"))
    assert index() == IndexReport(unchanged=first.added)


def test_what_is_remembered_of_files_is_read_when_code_has_changed(
    kit: ContextKit, index: Index
) -> None:
    """Till then nothing of it matters; what cannot be read then is made anew."""
    first = index()
    state = _state()
    state.write_text(json.dumps({**json.loads(state.read_text()), "files": {"a": [1]}}))
    assert index() == IndexReport(unchanged=first.added)
    (kit.workspace.root / "app" / "extra.py").write_text("class Extra:\n    x = 1\n")
    assert index().added > first.added
    assert EntityBook.of(kit).find("Extra").location == "app/extra.py:1"


def _state() -> Path:
    (state,) = Path(os.environ["CONTEXTKIT_HOME"]).rglob("state/**/entities.json")
    return state


def _clear_state(kit: ContextKit) -> None:
    _state().write_text('{"seen": [1], "files": {"a": [1]}}')


def test_what_was_made_by_hand_stays(kit: ContextKit, index: Index) -> None:
    """Beside what the code has of the same name, and when the code is gone."""
    book = EntityBook.of(kit)
    book.add("Counting", "idea")
    index()
    book.add("TokenCounter", "class", properties={"owner": "Ana"})
    book.relate("Counting", "done by", "code:app/counter.py::TokenCounter", weight=0.9)
    book.relate("code:app/pipeline.py", "uses", "code:app/counter.py::TokenCounter", weight=0.9)
    for name in FILES:
        (kit.workspace.root / name).unlink()
    report = index()
    assert report.added == report.unchanged == 0
    assert book.count(from_code=True) == 0
    assert {entity.name for entity in book.list()} == {"Counting", "TokenCounter"}
    assert related(kit, "Counting") == {"Counting --[done by]--> TokenCounter"}


def test_the_codes_own_cannot_be_forgotten(kit: ContextKit, index: Index) -> None:
    """It would be back."""
    index()
    book = EntityBook.of(kit)
    with pytest.raises(contextkit_entities.InvalidEntityError, match="comes from the code"):
        book.forget("TokenCounter")
    with pytest.raises(contextkit_entities.InvalidEntityError, match="comes from the code"):
        book.unrelate("TokenCounter", "defined in", "app/counter.py")


def test_code_is_read_only_if_asked_for(tmp_path: Path) -> None:
    """By default entities are those made by hand: reading code takes longer than indexing it."""
    (tmp_path / "app.py").write_text("class TokenCounter:\n    pass\n")
    plugins = {"entities": contextkit_entities, "code": contextkit_code}
    with open_kit(tmp_path, plugins, settings={"embedding.model": "none"}) as kit:
        kit.index()
        assert kit.records("code").count()
        assert kit.records("entities").count() == 0


@pytest.mark.parametrize("source", ["", "elsewhere"])
def test_another_source_or_none(kit: ContextKit, index: Index, source: str, tmp_path: Path) -> None:
    """With another setting what came from the first is deleted."""
    index()
    records = kit.records("entities")
    state = tmp_path / "state.json"
    make = contextkit_entities.contextkit_index
    settings = {"code_source": source}
    indexer = make_indexer(records, tmp_path, state, settings=settings)
    assert make(indexer) == IndexReport()
    assert records.count({"origin": "code"}) == 0
    assert make(indexer) == IndexReport()


def test_records_of_any_shape_are_read(kit: ContextKit, index: Index) -> None:
    """Another source's records are whatever they are."""
    code = kit.records("code")
    index()
    odd: list[dict[str, Any]] = [
        {"kind": "outline"},
        {"kind": "outline", "file_path": "odd.py", "imports": 5, "language": 7},
        {"kind": "outline", "file_path": "odd2.py", "imports": [5, {}, {"module": 5}], "x": []},
        {"kind": "unit", "file_path": "odd.py", "qualified_name": "Odd", "start_line": "x"},
        {"kind": "unit", "file_path": "odd.py", "qualified_name": 5, "docstring": 7},
    ]
    code.put([Record(id=f"odd{n}", text="odd", fields=fields) for n, fields in enumerate(odd)])
    report = kit.index(["entities"])["entities"]
    assert report.problem is None
    assert EntityBook.of(kit).find("odd2.py").type == "file"


@pytest.mark.parametrize("state", [["stamp"], 5, ["s", "python", [["x"]], []], ["s", "p", 5, 5]])
def test_a_state_of_another_shape_is_none(state: Any) -> None:
    """It is read anew rather than trusted."""
    with pytest.raises((TypeError, ValueError)):
        CodeFile.from_state(state)


MODULES = ["app", "app.core", "app.late", ".core", "attrs"]
NAMES = ["Kit", "Late", "run"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Records]:
    """One store for all cases."""
    with open_records(tmp_path_factory.mktemp("code"), "entities", model="none") as opened:
        yield opened


@st.composite
def code_files(draw: st.DrawFn) -> dict[str, list[Record]]:
    """Path -> the records that the code source has of a file."""
    imports = st.lists(
        st.tuples(st.sampled_from(MODULES), st.lists(st.sampled_from(NAMES), max_size=2)),
        max_size=2,
    )
    paths = st.sampled_from(["app/__init__.py", "app/core.py", "app/late.py", "tests/test_x.py"])
    found = {}
    for path in draw(st.lists(paths, unique=True)):
        fields = {"file_path": path, "language": "python"}
        taken = [{"module": module, "names": names} for module, names in draw(imports)]
        outline = {**fields, "kind": "outline", "imports": taken}
        found[path] = [Record(id=path, text="x", fields=outline)]
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=2)):
            kind = "function" if name == "run" else "class"
            unit = {"kind": "unit", "qualified_name": name, "unit_type": kind, "start_line": 1}
            found[path].append(Record(id=f"{path}::{name}", text="x", fields={**fields, **unit}))
    return found


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(worlds=st.lists(code_files(), min_size=2, max_size=3))
def test_what_is_kept_up_to_date_is_what_is_made_from_nothing(
    store: Records, tmp_path_factory: pytest.TempPathFactory, worlds: list[dict[str, list[Record]]]
) -> None:
    """Whatever changes of the code between index runs."""
    folder = tmp_path_factory.mktemp("state")
    code = Records(store._store, "code", store.project)
    index = contextkit_entities.contextkit_index

    def stored(state: str) -> dict[str, dict[str, Any]]:
        index(make_indexer(store, folder, folder / state, settings={"code_source": "code"}))
        return {each.id: dict(each.fields) for each in store.scan()}

    known: dict[str, list[Record]] = {}
    for world in worlds:
        # As the code source does: what did not change is not stored again.
        kept = {
            path for path, records in world.items() if _shape(known.get(path)) == _shape(records)
        }
        for path in known.keys() - kept:
            code.delete_where({"file_path": path})
        now = datetime.now(UTC)
        code.put([evolve(r, created_at=now) for p in world.keys() - kept for r in world[p]])
        known = world
        followed = stored("kept.json")
    assert followed == stored("nothing.json")
    code.delete_where({})


def _shape(records: list[Record] | None) -> list[Any] | None:
    return records and [(each.id, each.fields) for each in records]
