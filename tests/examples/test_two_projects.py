"""Many projects over one store: what is one's is never another's, what is the user's is all's."""

from __future__ import annotations

import asyncio
import runpy
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from contextkit import ContextKit, Record
from contextkit_experiences import ExperienceBook, UnknownExperienceError
from contextkit_memories import MemoryBook, UnknownMemoryError
from examples.two_projects import open_project, remember
from tests.examples.conftest import ROOT, SETTINGS

pytestmark = pytest.mark.one_python

SOURCES = ["memories", "code", "experiences", "values", "commits"]
EVERYTHING: dict[str, Any] = {"min_relevance": 0.0, "max_tokens": 20_000}
QUERY = "how is a parcel shipped?"


@frozen
class Project:
    """A project that has something in every source, each with a word that only it has.

    Attributes:
        kit: its kit.
        word: that word.
    """

    kit: ContextKit
    word: str

    async def text(self, query: str = QUERY) -> str:
        """All that it finds, relevant or not."""
        return (await self.kit.assemble_context(query, SOURCES, **EVERYTHING)).markdown


def git(folder: Path, *arguments: str) -> None:
    """Run git, as nobody in particular."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def filled(kit: ContextKit, word: str) -> Project:
    """A project after a memory, an experience, a value, a commit, and a file."""
    folder = kit.workspace.root
    (folder / "contextkit.toml").write_text(SETTINGS, encoding="utf-8")
    code = f"def ship_parcel():\n    return '{word}'\n"
    (folder / "shipping.py").write_text(code, encoding="utf-8")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", f"Ship a parcel by {word}")
    kit.index(["code", "commits"])
    remember(kit, f"A parcel is shipped by {word}")
    book = ExperienceBook(kit.records("experiences"))
    experience = book.start(
        f"Ship a parcel by {word}",
        "It is late since the van broke",
        "Look at the van",
        "It has no fuel",
        domain="debugging",
        strategy="systematic-elimination",
    )
    book.resolve(experience.id, "falsified", "It was full", surprise=f"The {word} was at fault")
    fields = {"axis": "full", "cluster_size": 3}
    value = Record(id=f"v-{word}", text=f"Ship a parcel by {word} first", fields=fields)
    kit.records("values").put([value])
    return Project(kit, word)


@pytest.fixture
def projects(tmp_path: Path) -> Iterator[tuple[Project, Project]]:
    """Two of them over one store, with the same questions and other answers."""
    for name in ("north", "south"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "contextkit.toml").write_text(SETTINGS, encoding="utf-8")
    store = tmp_path / "store"
    with (
        open_project(tmp_path / "north", store) as north,
        open_project(tmp_path / "south", store) as south,
    ):
        yield filled(north, "zeppelin"), filled(south, "submarine")


async def test_nothing_crosses_into_a_context(projects: tuple[Project, Project]) -> None:
    """Every source finds the project's own; none the other's, by whatever words, also at once."""
    one, other = projects
    for project in projects:
        context = await project.kit.assemble_context(QUERY, SOURCES, **EVERYTHING, fill=True)
        found = {item.source for item in context.items if project.word in item.content}
        also = {place.source for item in context.items for place in item.also_in}
        assert found | also == set(SOURCES)
    texts = await asyncio.gather(
        one.text(), other.text(), one.text(other.word), other.text(one.word)
    )
    for asking, stranger, text in zip(projects * 2, projects[::-1] * 2, texts, strict=True):
        assert asking.word in text
        assert stranger.word not in text
    premortem = await one.kit.get_premortem_context("debugging", min_relevance=0.0)
    assert one.word in premortem.markdown
    assert other.word not in premortem.markdown


def test_nothing_crosses_into_what_a_source_sees(projects: tuple[Project, Project]) -> None:
    """Searched, scanned, counted, listed, asked for by id: each project has its own alone."""
    for this, stranger in (projects, projects[::-1]):
        for source in SOURCES:
            records, theirs = this.kit.records(source), list(stranger.kit.records(source).scan())
            seen = [*records.scan(), *records.newest(100)]
            seen += [hit.record for hit in records.search_sync(stranger.word, limit=100)]
            own = {this.kit.project, str(this.kit.workspace.root)}
            assert {record.project for record in seen} <= own
            assert records.count() == len(list(records.scan())) > 0
            assert all(
                record.project in own for record in records.get(*(record.id for record in theirs))
            )


def test_nothing_is_changed_across(projects: tuple[Project, Project]) -> None:
    """Forgetting, removing, deleting all and indexing anew leave the other's as they were."""
    this, stranger = projects
    before = {source: sorted(stranger.kit.records(source).scan(), key=str) for source in SOURCES}
    (memory,) = MemoryBook(stranger.kit.records("memories")).list()
    with pytest.raises(UnknownMemoryError):
        MemoryBook(this.kit.records("memories")).forget(memory.id)
    (experience,) = ExperienceBook(stranger.kit.records("experiences")).list()
    with pytest.raises(UnknownExperienceError):
        ExperienceBook(this.kit.records("experiences")).remove(experience.id)
    (this.kit.workspace.root / "shipping.py").unlink()
    this.kit.index(["code", "commits"])
    for source in SOURCES:
        for records in (this.kit.records(source), this.kit.records(source).of_checkout):
            records.delete_where({})
        assert this.kit.records(source).count() == 0
        assert sorted(stranger.kit.records(source).scan(), key=str) == before[source]


async def test_why_an_item_is_missing_tells_nothing_of_the_others(
    projects: tuple[Project, Project],
) -> None:
    """To explain, another project's item is one that is not there."""
    this, stranger = projects
    (memory,) = MemoryBook(stranger.kit.records("memories")).list()
    explained = await this.kit.explain_item(memory.id, stranger.word, SOURCES, **EVERYTHING)
    assert stranger.kit.project not in str(explained)
    assert memory.text not in str(explained)


async def test_what_is_the_users_is_seen_in_every_project(
    projects: tuple[Project, Project],
) -> None:
    """Also in one that comes later; each may forget it, and then it is gone everywhere."""
    one, other = projects
    remember(one.kit, "Parcels need a stamp", everywhere=True)
    for project in projects:
        assert "Parcels need a stamp" in await project.text()
    book = MemoryBook(other.kit.records("memories"))
    (shared,) = (memory for memory in book.list() if memory.scope == "user")
    book.forget(shared.id)
    assert "Parcels need a stamp" not in await one.text()
    assert one.word in await one.text()


def test_a_name_is_a_project_wherever_its_folder_is(tmp_path: Path) -> None:
    """Two clones of one name share; a folder's path and a name never meet."""
    folders = [tmp_path / "clone", tmp_path / "other clone"]
    for folder in folders:
        folder.mkdir()
    first, second = (open_project(folder, tmp_path / "store", "shop") for folder in folders)
    unnamed = open_project(folders[0], tmp_path / "store")
    imitating = open_project(folders[1], tmp_path / "store", str(folders[0]))
    with first, second, unnamed, imitating:
        remember(first, "The shop sells tea")
        remember(unnamed, "The clone is a scratch copy")
        texts = [
            [memory.text for memory in MemoryBook(kit.records("memories")).list()]
            for kit in (first, second, unnamed, imitating)
        ]
    shop = ["The shop sells tea"]
    assert texts == [shop, shop, ["The clone is a scratch copy"], []]


def test_the_example_works(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each shop has its own answer and the common one; nothing is left in the user's store."""
    monkeypatch.setenv("CONTEXTKIT_ASSEMBLE_SOURCE_TIMEOUT", "30")
    monkeypatch.setenv("CONTEXTKIT_ASSEMBLE_DEADLINE", "30")
    runpy.run_path(str(ROOT / "examples" / "two_projects.py"), run_name="__main__")
    tea, books = capsys.readouterr().out.split("-- books")
    assert "Ada's approval" in tea
    assert "runs at night" not in tea
    assert "runs at night" in books
    assert "Ada's approval" not in books
    assert tea.count("Never deploy on a Friday") == books.count("Never deploy on a Friday") == 1
    assert not (home / "store").exists()
