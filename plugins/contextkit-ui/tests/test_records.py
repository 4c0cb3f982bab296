"""Records on the page: listed, searched, edited and ended by its user alone."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import pytest_asyncio
from attrs import evolve, frozen

from contextkit import ContextKit, SourceInfo, hookimpl
from contextkit.sources import LastingBook, LastingEntry, line, part, several, text
from contextkit.testing import open_kit
from contextkit_ui.server import LOOPBACK, make_app

if TYPE_CHECKING:
    from conftest import Page

PORT = 4711
TOKEN = "the-token"  # noqa: S105 - opens nothing but these tests' page
GOOD = {"X-Contextkit-Token": TOKEN}


@frozen(kw_only=True)
class Note(LastingEntry):
    """A text with tags."""

    noun = "note"

    text: str = part(text("a note", 200), about="what to note")
    tags: tuple[str, ...] = part(several("tags", line("a tag", 20)), (), about="tags")


class NoteBook(LastingBook[Note]):
    """Notes."""

    source, entry = "notes", Note


class Plugin:
    """The source `notes`, whose records people edit."""

    @hookimpl
    def contextkit_source(self) -> SourceInfo:
        return SourceInfo(scale="calibrated", book="kept_notes:NoteBook")

    @hookimpl
    async def contextkit_query(self, request: Any) -> Any:
        return await NoteBook.items_for(request)


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ContextKit]:
    """A kit with notes, and a source without a book."""
    monkeypatch.setitem(sys.modules, "kept_notes", sys.modules[__name__])
    plain = type("Plain", (), {"contextkit_query": hookimpl(lambda self: [])})()
    plugins = {"notes": Plugin(), "plain": plain}
    settings = {"embedding.model": "none"}
    with open_kit(tmp_path / "workspace", plugins, settings=settings) as opened:
        yield opened


@pytest.fixture
def book(kit: ContextKit) -> NoteBook:
    """Two notes, of which one replaced a third."""
    notes = NoteBook.of(kit)
    notes.add("Tabs, never spaces", tags=["style"])
    old = notes.add("The API timeout is 30 s")
    with notes.turn():
        new = notes.add("The API timeout is 60 s", replaces=[old.id])
        notes.end_replaced([old], new)
    return notes


@pytest_asyncio.fixture
async def client(kit: ContextKit, book: NoteBook) -> AsyncIterator[httpx.AsyncClient]:
    """Asks the application as the page does."""
    transport = httpx.ASGITransport(make_app(kit, TOKEN, PORT))
    async with httpx.AsyncClient(
        transport=transport, base_url=f"http://{LOOPBACK}:{PORT}"
    ) as asking:
        yield asking


def stored(book: NoteBook) -> list[Note]:
    """All notes as they are stored."""
    return book.list(ended=True)


def changes(book: NoteBook) -> list[tuple[str, dict[str, Any]]]:
    """Requests that would change a note."""
    note = book.list()[0]
    before = book.document(note)
    edit = {"id": note.id, "before": before, "after": before.replace("60", "90")}
    return [("/edit", edit), ("/end", {"id": note.id})]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"X-Contextkit-Token": "the-tokem"}, 401),
        ({**GOOD, "Sec-Fetch-Site": "cross-site"}, 401),
        ({**GOOD, "Sec-Fetch-Site": "same-site"}, 401),
        ({**GOOD, "Origin": "http://evil.example"}, 403),
        ({**GOOD, "Origin": "null"}, 403),
        ({**GOOD, "Host": f"rebound.example:{PORT}"}, 403),
        ({**GOOD, "Content-Type": "text/plain"}, 400),
        ({**GOOD, "Content-Type": "application/x-www-form-urlencoded"}, 400),
    ],
)
async def test_another_page_reads_and_changes_nothing(
    client: httpx.AsyncClient, book: NoteBook, headers: dict[str, str], status: int
) -> None:
    """Without the token, from another site, or as a form sends it: refused, nothing written."""
    before = stored(book)
    for path, asked in [("", {}), *changes(book)]:
        body = json.dumps({"source": "notes", **asked})
        sent = {"Content-Type": "application/json", **headers}
        answer = await client.post(f"/api/records{path}", content=body, headers=sent)
        assert answer.status_code == status, path
        assert "timeout" not in answer.text
        read = await client.get(f"/api/records{path}", params=asked, headers=sent)
        assert read.status_code in {403, 405}
    assert stored(book) == before


async def test_the_page_changes_what_it_shows(client: httpx.AsyncClient, book: NoteBook) -> None:
    """Edits and endings are the book's own; an edit that changes nothing writes nothing."""
    note = book.list()[0]
    (_, edit), (_, end) = changes(book)

    for asked, outcome in ((edit, "updated"), (edit, "unchanged")):
        answer = await client.post(
            "/api/records/edit", json={"source": "notes", **asked}, headers=GOOD
        )
        assert answer.json() == {"id": note.id, "outcome": outcome}
    assert book.get(note.id) == evolve(note, text="The API timeout is 90 s")
    answer = await client.post("/api/records/end", json={"source": "notes", **end}, headers=GOOD)
    assert answer.json() == {"id": note.id, "outcome": "ended"}
    assert book.get(note.id).valid_until is not None


@pytest.mark.parametrize(
    ("path", "asked", "status", "words"),
    [
        ("", {"source": "plain"}, 400, "'plain' has no records to edit; these have: notes"),
        ("", {"source": 3}, 400, "source must be a text, got 3"),
        ("", {"source": "notes", "limit": 0}, 400, "limit must be within 1 and 1000, got 0"),
        ("", {"source": "notes", "id": "x"}, 400, "has no 'id'"),
        ("/end", {"source": "notes", "id": "gone"}, 404, "no entry has the id 'gone'"),
        ("/end", {"source": "notes"}, 400, "id must be a text, got None"),
        ("/edit", {"source": "notes", "id": "x", "before": "", "after": ""}, 400, "line 1 must be"),
    ],
)
async def test_a_bad_request_is_refused(
    client: httpx.AsyncClient, path: str, asked: dict[str, Any], status: int, words: str
) -> None:
    """With one line that says what was wrong."""
    answer = await client.post(f"/api/records{path}", json=asked, headers=GOOD)

    assert (answer.status_code, words in answer.json()["error"]) == (status, True)


def shown(ui: Page) -> list[str]:
    """The titles on the page."""
    titles: list[str] = ui.run(
        "return [...document.querySelectorAll('#record-list .title')].map((one) => one.textContent)"
    )
    return titles


async def test_a_person_finds_edits_and_ends_a_record(book: NoteBook, ui: Page) -> None:
    """In the browser: the list, a search, what replaced what, an edit, an error, an ending."""
    ui.go("memories")
    ui.wait(lambda: shown(ui) == ["The API timeout is 60 s", "Tabs, never spaces"])
    assert ui.text("#record-list [data-field=before]") == "The API timeout is 30 s"
    ui.one("#records-ended").click()
    ui.wait(lambda: len(shown(ui)) == 3)
    old = next(note for note in stored(book) if note.valid_until)
    row = f"#record-list [data-id='{old.id}']"
    assert ui.text(f"{row} [data-field=ended]").startswith("until 20")
    assert "The API timeout is 60 s" in ui.text(f"{row} [data-field=replaced_by]")

    assert ui.text(f"{row} [data-field=now]") == "The API timeout is 60 s"

    ui.one("#records-query").send_keys("tabs\n")
    ui.wait(lambda: shown(ui) == ["Tabs, never spaces"])
    ui.all("#record-list summary")[0].click()
    ui.one("#record-list .edit").click()
    ui.run("document.querySelector('textarea').value = 'x'")
    ui.one("[name=save]").click()
    ui.wait(lambda: "line 1 must be ---" in ui.text("#record-list [role=status]"))
    edited = "const one = document.querySelector('textarea');"
    ui.run(f"{edited} one.value = one.defaultValue.replace('Tabs', 'Tabs or blanks')")
    ui.one("[name=save]").click()
    ui.wait(lambda: shown(ui) == ["Tabs or blanks, never spaces"])
    assert book.search("blanks")[0][0].tags == ("style",)

    ui.one("[name=end]").click()
    ui.driver.switch_to.alert.accept()
    ui.wait(lambda: ui.all("#record-list li.ended"))
    assert [note.text for note in book.list()] == ["The API timeout is 60 s"]
    (complaint,) = ui.complaints()
    assert "400 (Bad Request)" in complaint


async def test_a_record_leads_to_the_one_it_replaced(book: NoteBook, ui: Page) -> None:
    """The other one is listed, though it has ended, and opened with the focus on it."""
    old = next(note for note in stored(book) if note.valid_until)
    ui.go("memories")
    ui.wait(lambda: len(shown(ui)) == 2)
    ui.all("#record-list summary")[0].click()

    ui.one(f"[data-other='{old.id}']").click()

    row = f"#record-list [data-id='{old.id}']"
    ui.wait(lambda: ui.all(f"{row} details[open]"))
    focused = f'return document.querySelector("{row} summary") === document.activeElement'
    ui.wait(lambda: ui.run(focused))


async def test_records_run_nothing(book: NoteBook, ui: Page, hostile: Sequence[str]) -> None:
    """Texts and tags that look like HTML are shown and edited as they are, also on a phone."""
    for each in hostile:
        book.add(f"{each} </textarea><b id='injected'>", tags=[each[:20]])

    ui.go("memories")

    ui.wait(lambda: len(shown(ui)) == 2 + len(hostile))
    assert ui.run("return window.hacked") is None
    assert ui.all("#injected") == []
    values = ui.run("return [...document.querySelectorAll('textarea')].map((one) => one.value)")
    assert values == [book.document(note) for note in book.list()]
    ui.size(390)
    ui.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert ui.run("return document.documentElement.scrollWidth") <= 390
