"""The pages of sources, sessions and settings, as a person uses them in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from attrs import evolve

from contextkit import ContextItem, ContextKit, Record, hookimpl
from contextkit.agent import user_config_file
from contextkit_ui.server import LOOPBACK, make_app

if TYPE_CHECKING:
    from conftest import Page

PORT = 4711
TOKEN = "the-token"  # noqa: S105 - opens nothing but these tests' page
GOOD = {"X-Contextkit-Token": TOKEN}
CHANGE = {"key": "sources.tides.enabled", "value": "false"}


class Recorded:
    """A source of which only the records count."""

    @hookimpl
    def contextkit_query(self) -> list[ContextItem]:
        return []


@pytest.fixture
def file(kit: ContextKit) -> Path:
    """The user's file, without settings."""
    file = user_config_file()
    file.write_text("", encoding="utf-8")
    return file


def text_of(file: Path) -> str:
    """A file's text."""
    return file.read_text(encoding="utf-8")


def write(file: Path, text: str) -> None:
    """Write a file."""
    file.write_text(text, encoding="utf-8")


def client(kit: ContextKit, open_again: Callable[[], ContextKit]) -> httpx.AsyncClient:
    """Asks the application as the page does."""
    transport = httpx.ASGITransport(make_app(kit, TOKEN, PORT, open_again))
    return httpx.AsyncClient(transport=transport, base_url=f"http://{LOOPBACK}:{PORT}")


def fields(page: Page, selector: str) -> dict[str, str]:
    """The named values in an element."""
    script = """
        const one = document.querySelector(arguments[0]);
        return Object.fromEntries([...one.querySelectorAll("[data-field]")].map(
          (each) => [each.dataset.field, each.textContent.trim()]));"""
    found: dict[str, str] = page.run(script, selector)
    return found


def test_the_home_page_leads_to_every_part(ui: Page, play: Any) -> None:
    """Before a question it counts what there is; its links open the pages, and Back returns."""
    play("s1", "notes.txt")
    ui.driver.refresh()
    ui.wait(lambda: ui.all(".cards"))

    assert ui.text("[data-figure=on]") == "5"
    assert ui.text("[data-figure=contexts]") == "1"
    for view in ("memories", "sources", "sessions", "settings"):
        ui.one(f".card [href='#{view}']").click()
        heading = ui.one(f"#{view}-view h1")
        ui.wait(heading.is_displayed)
        assert ui.run("return document.activeElement === arguments[0]", heading)
        assert ui.text(".nav [aria-current]").lower() == view
        ui.driver.back()
        ui.wait(ui.one("#ask-view").is_displayed)


def test_a_question_stays_while_other_pages_are_open(ui: Page) -> None:
    """The answer is still there after a look at the sources; `/` leads back to the question."""
    ui.ask()
    ui.go("sources")

    ui.press("/")

    ui.wait(ui.one("#items").is_displayed)
    ui.wait(lambda: ui.run("return document.activeElement.id") == "query")


def test_each_source_says_how_it_is(ui: Page) -> None:
    """Those that answer, that fail and why, and their weights, as the page tests them."""
    ui.go("sources")

    ui.wait(lambda: "answers" in ui.text("[data-source=notes] [data-field=health]"))
    assert fields(ui, "[data-source=notes]")["weight"] == "3"
    assert ui.text("[data-source=broken] [data-field=health]").strip().startswith("failed")
    assert "ValueError: <script>" in ui.text("[data-source=broken] th")
    assert ui.run("return window.hacked") is None


def test_a_switch_turns_a_source_off_and_on(ui: Page, file: Path) -> None:
    """It writes the user's file, by keyboard, and the next question goes without the source."""
    ui.go("sources")
    ui.wait(lambda: ui.text("#ask-sources") == "Test all")
    switch = "[data-part=sources] [data-key='sources.tides.enabled']"
    ui.run("document.querySelector(arguments[0]).focus()", switch)

    ui.press(" ")

    ui.wait(lambda: "written to" in ui.text("#told"))
    assert text_of(file) == "[sources.tides]\nenabled = false\n"
    assert not ui.one(switch).get_property("checked")
    assert ui.run("return document.activeElement.dataset.key") == "sources.tides.enabled"
    assert ui.all("#chips [value=tides]") == []
    ui.go("ask")
    ui.ask()
    assert not ui.all("tr[data-section=tides]")
    ui.go("sources")
    ui.one(switch).click()
    ui.wait(lambda: ui.all("#chips [value=tides]"))
    assert "enabled = true" in text_of(file)


def test_a_setting_says_where_it_comes_from_and_is_reset(ui: Page, file: Path) -> None:
    """A choice is written and taken back; the filter finds what the user set."""
    ui.go("settings")
    row = "[data-setting='assemble.style']"
    assert fields(ui, row) == {"layer": "default"}

    ui.one(f"{row} select").send_keys("xml")

    ui.wait(lambda: fields(ui, row) == {"layer": "your file", "place": f"{file}:2"})
    ui.one("#filter-settings").send_keys("your file")
    assert [
        one.get_attribute("data-setting") for one in ui.all("[data-setting]:not([hidden])")
    ] == ["assemble.style"]
    ui.one(f"{row} [data-unset]").click()
    ui.wait(lambda: "removed assemble.style from" in ui.text("#told"))
    assert text_of(file) == "[assemble]\n"


async def test_a_change_without_effect_says_what_counts(
    kit: ContextKit, open_again: Any, file: Path
) -> None:
    """Where the project's file switches off, the answer names its line; it is never written."""
    project = kit.workspace.root / "contextkit.toml"
    before = "[hooks]\nenabled = false\n"
    write(project, before)
    async with client(kit, open_again) as asking:
        for key in ("assemble.fill", "hooks.enabled"):
            asked = {"key": key, "value": "true"}
            answer = await asking.post("/api/settings/change", json=asked, headers=GOOD)

    words = answer.json()["words"]
    assert words.startswith(f"hooks.enabled = true, written to {file}. It has no effect here: ")
    assert f"{project}:2" in words
    assert text_of(project) == before


def test_a_session_shows_what_was_given_and_used(ui: Page, play: Any) -> None:
    """By moment: tokens, items, the file that was then used; above it the figures of `stats`."""
    play("s1", "notes.txt", tokens=1234)
    play("s2", "other.txt", uses=False)

    ui.go("sessions")

    assert ui.text("#sessions-view [data-figure=contexts]") == "2"
    assert ui.text("[data-figure=tokens]") == "1,264"
    assert fields(ui, "tr[data-source=notes]") == {"items": "4", "with_file": "2", "used": "1"}
    assert ui.text("[data-session=s1] .moment.given [data-field=tokens]") == "1,234"
    assert ui.text("[data-session=s1] [data-field=agent]") == "codex"
    assert "With a prompt" in ui.text("[data-session=s1] .moment.given")
    assert "notes.txt" in ui.text("[data-session=s1] .moment.used")
    assert ui.text("[data-session=s1] .moment.used .mark") == "given before"
    assert ui.all("[data-session=s2] .mark") == []


def test_a_context_has_its_prompt(ui: Page, kit: ContextKit, play: Any) -> None:
    """The prompt that `events` recorded at that time stands with the context, as text."""
    kit.register(Recorded(), "events")
    fields = {"session": "s1", "kind": "turn", "role": "user"}
    turn = Record(id="turn", text="Why <b>now</b>?", fields=fields)
    kit.records("events").put([turn, evolve(turn, id="other", fields={**fields, "session": "s2"})])
    play("s1", "notes.txt")

    ui.go("sessions")

    assert ui.text("[data-session=s1] blockquote") == "Why <b>now</b>?"


def test_sessions_show_a_new_context_at_once(ui: Page, play: Any) -> None:
    """Without a reload, with what was open still open; a screen reader hears of it."""
    ui.go("sessions")
    assert "contextkit install" in ui.text("[data-part=sessions] .empty")
    play("s1", "notes.txt")
    ui.wait(lambda: ui.all("[data-session=s1] .moment.given"))
    ui.run("document.querySelector('.moment details').open = true")

    play("s1", "notes.txt", tokens=77)

    ui.wait(lambda: len(ui.all(".moment.given")) == 2)
    assert ui.run("return document.querySelector('.moment details').open")
    assert ui.text(".moment.new [data-field=tokens]") == "77"
    assert ui.text("#status") == "New context: 77 tokens, 2 items, with a prompt"


async def test_sessions_that_did_not_change_are_not_sent_again(
    kit: ContextKit, open_again: Any, play: Any
) -> None:
    """The poll of the page costs two looks at a file: 304, and nothing without the token."""
    play("s1", "notes.txt")
    async with client(kit, open_again) as asking:
        first = await asking.get("/api/sessions", headers=GOOD)
        tag = {"If-None-Match": first.headers["etag"]}
        again = await asking.get("/api/sessions", headers={**GOOD, **tag})
        stranger = await asking.get("/api/sessions", headers=tag)
        play("s1", "notes.txt")
        changed = await asking.get("/api/sessions", headers={**GOOD, **tag})

    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert (stranger.status_code, "etag" in stranger.headers) == (401, False)
    assert changed.status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({**GOOD, "Sec-Fetch-Site": "cross-site"}, 401),
        ({**GOOD, "Origin": "http://evil.example"}, 403),
        ({**GOOD, "Host": f"rebound.example:{PORT}"}, 403),
        ({**GOOD, "Content-Type": "text/plain"}, 400),
    ],
)
async def test_another_page_changes_no_setting(
    kit: ContextKit, open_again: Any, file: Path, headers: dict[str, str], status: int
) -> None:
    """Without the token, from another site, or as a form sends it: refused, nothing written."""
    async with client(kit, open_again) as asking:
        sent = {"Content-Type": "application/json", **headers}
        body = '{"key": "sources.tides.enabled", "value": "false"}'
        answer = await asking.post("/api/settings/change", content=body, headers=sent)
        parts = ("overview", "sources", "sources/ask", "settings")
        others = [
            (await asking.post(f"/api/{part}", content="{}", headers=sent)).status_code
            for part in parts
        ]

    assert [answer.status_code, *others] == [status] * 5
    assert text_of(file) == ""


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"key": "assemble.max_tokens", "value": "0"}, "expected a whole number of at least 1"),
        ({"key": "assemble.style", "value": "pdf"}, "expected one of markdown, xml, plain"),
        ({"key": "sources.tide.enabled", "value": "no"}, "Did you mean 'tides'?"),
        ({"key": "assemble.sources", "value": "tides,tide"}, "Did you mean 'tides'?"),
        ({"key": "colour", "value": "red"}, "unknown setting"),
        ({"key": 3, "value": "red"}, "key and value must be texts"),
        ({"key": "assemble.style", "value": True}, "key and value must be texts"),
        ({"key": "assemble.style", "file": "x"}, "has no 'file'"),
    ],
)
async def test_a_wrong_change_is_refused(
    kit: ContextKit, open_again: Any, file: Path, asked: dict[str, Any], words: str
) -> None:
    """400 with the words of `contextkit config set`, and nothing is written."""
    async with client(kit, open_again) as asking:
        answer = await asking.post("/api/settings/change", json=asked, headers=GOOD)

    assert (answer.status_code, words in answer.json()["error"]) == (400, True)
    assert text_of(file) == ""


def test_a_file_that_cannot_be_changed_is_said(ui: Page, file: Path) -> None:
    """The refusal stands on the page, and the switch shows again what counts."""
    ui.go("settings")
    write(file, "cache = {enabled = false}\n")

    ui.run("document.querySelector(\"[data-key='hooks.resident']\").click()")
    ui.wait(lambda: "written to" in ui.text("#told"))
    ui.run("document.querySelector(\"[data-key='cache.enabled']\").click()")

    ui.wait(lambda: ui.all("#told.failed"))
    assert "edit it by hand" in ui.text("#told")
    assert not ui.one("[data-key='cache.enabled']").get_property("checked")
