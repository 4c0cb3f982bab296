"""The served page and the report in a real Chromium: what they say, and whom they ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Page


pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.one_python

QUERY = "When does the tide turn?"
_ABSENT = {
    "ok": "Left out",
    "below_floor": "Nothing relevant enough",
    "empty": "Found nothing",
}
Assembled = Callable[..., Awaitable[dict[str, Any]]]

_READ = """
const all = (one, selector) => [...one.querySelectorAll(selector)];
const by = (one, name) =>
  Object.fromEntries(all(one, `[data-${name}]`).map((o) => [o.dataset[name], o.textContent]));
return {
  figures: by(document, "figure"),
  absent: Object.fromEntries(all(document, "[data-absent]").map((one) => (
    [one.dataset.absent, all(one, "bdi").map((each) => each.textContent)]))),
  segments: all(document, "[data-segment]").map((one) => one.dataset.segment),
  sources: all(document, "tr[data-section]").map((one) => (
    { section: one.dataset.section, state: one.dataset.state, ...by(one, "field") })),
  order: all(document, "#items > li").map((one) => one.dataset.id),
  rows: Object.fromEntries(all(document, ".item").map((one) => [one.id, {
    id: one.dataset.id, verdict: one.dataset.verdict, ...by(one, "field"), of: by(one, "component"),
  }])),
  text: document.querySelector("#text").textContent,
};
"""


def number(text: str) -> int:
    """The whole number that a text begins with."""
    return int(text.replace(",", "").split()[0])


def agrees(page: Page, context: dict[str, Any]) -> None:
    """Compare each number on the page with the context's JSON."""
    read, trace = page.run(_READ), context["trace"]
    figures = {name: read["figures"].pop(name) for name in ("milliseconds", "frame", "free")}
    assert sorted(figures) == ["frame", "free", "milliseconds"]
    assert {name: number(text) for name, text in read["figures"].items()} == {
        "token_count": context["token_count"],
        "max_tokens": trace["max_tokens"],
        "items": len(context["items"]),
        "candidates": len(trace["items"]),
        "sources": len(context["sources_used"]),
    }
    assert read["segments"] == [s["section"] for s in trace["sources"] if s["used"]]
    names = ("share", "used", "given", "taken", "candidates")
    absent = [source for source in trace["sources"] if _ABSENT.get(source["state"])]
    absent = [s for s in absent if s["state"] == "empty" or not (s["share"] or s["used"])]
    words = {_ABSENT[s["state"]] for s in absent}
    assert read["absent"] == {
        each: [s["section"] for s in absent if _ABSENT[s["state"]] == each] for each in words
    }
    found = [source for source in trace["sources"] if source not in absent]
    for row, source in zip(read["sources"], found, strict=True):
        assert (row["section"], row["state"]) == (source["section"], source["state"])
        assert {n: number(row[n]) for n in names} == {n: source[n] for n in names}
        assert number(row["shown"]) == context["sources_used"].get(source["source"], 0)
    assert read["order"] == [item["id"] for item in context["items"]]
    for rank, item in enumerate(trace["items"], 1):
        row = read["rows"][f"item-{rank}"]
        scores = dict(item["scores"])
        assert (row["id"], row["verdict"]) == (item["id"], item["verdict"])
        assert row["score"] == f"{scores.pop('score'):.3f}"
        assert row["of"] == {name: f"{value:.2f}" for name, value in scores.items()}
        assert number(row.get("tokens", "0")) == item["tokens"]
    assert read["text"] == context["markdown"]


async def test_a_question_is_answered_with_the_numbers_of_its_json(
    ui: Page, assembled: Assembled
) -> None:
    """Open, ask, and read: tokens, shares, what was given and taken, scores, the text."""
    ui.ask()

    agrees(ui, await assembled())


async def test_the_report_has_the_numbers_of_its_json(report: Any) -> None:
    """The file says the same as the JSON of the same question."""
    page, context = await report(max_tokens=500)

    agrees(page, context)
    assert page.text("h1") == QUERY


async def test_a_source_is_switched_off_and_on(ui: Page, assembled: Assembled) -> None:
    """Without it the context is the one without it, its colours stay, and it comes back."""
    ui.ask()
    color = (
        "return getComputedStyle(document.querySelector('[data-section=tides] .dot')).background"
    )
    before = ui.run(color)

    ui.answered(lambda: ui.run("document.querySelector('[value=notes]').click()"))

    rest = ["tides", "silent", "broken", "hostile"]
    agrees(ui, await assembled(sources=rest))
    assert not ui.all("tr[data-section=notes]")
    assert ui.run(color) == before
    ui.answered(lambda: ui.run("document.querySelector('[value=notes]').click()"))
    assert ui.all("tr[data-section=notes]")


async def test_every_source_switched_off_is_said(ui: Page) -> None:
    """No source, no items, and a note that says so."""
    ui.ask()

    ui.answered(
        lambda: ui.run(
            "document.querySelectorAll('[name=source]').forEach((one) => { one.checked = false; });"
            "document.querySelector('#question').requestSubmit()"
        )
    )

    assert "no source was queried" in ui.text(".notes")


async def test_the_slider_sets_the_budget(ui: Page, assembled: Assembled) -> None:
    """Moved by keys, it says its tokens, and the answer is that of the new budget."""
    ui.ask()
    slider = ui.one("#budget")

    tokens = ui.budgeted(lambda: slider.send_keys(Keys.ARROW_LEFT * 6))

    assert number(ui.text("[data-figure=max_tokens]")) == tokens < 1000
    assert slider.get_attribute("aria-valuetext") == f"{tokens} tokens"
    agrees(ui, await assembled(max_tokens=tokens))


async def test_a_budget_is_typed(ui: Page, assembled: Assembled) -> None:
    """Any number will do, the slider goes to the nearest of its own."""
    ui.ask()
    field = ui.one("#max-tokens")
    field.clear()

    assert ui.budgeted(lambda: field.send_keys("777")) == 777

    agrees(ui, await assembled(max_tokens=777))
    assert ui.one("#budget").get_attribute("aria-valuetext") == "777 tokens"


@pytest.mark.parametrize(
    ("option", "value"),
    [("style", "xml"), ("detail", "compact"), ("shares", "fixed")],
)
async def test_a_choice_asks_again(ui: Page, assembled: Assembled, option: str, value: str) -> None:
    """Style, detail and shares are those of the text that is shown."""
    ui.ask()

    ui.answered(lambda: ui.one(f"[name={option}] [value={value}]").click())

    agrees(ui, await assembled(**{option: value}))


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("notes-9", "below the minimum"),
        ("<i>none</i>", "No source has an item of that id, title or location."),
    ],
)
async def test_it_says_why_an_item_is_missing(ui: Page, item: str, words: str) -> None:
    """Whatever is asked for, by id, title or place, is accounted for."""
    ui.ask()

    ui.one("#why-item").send_keys(item, Keys.ENTER)

    ui.wait(lambda: words in ui.text("#why-words"))


@pytest.mark.parametrize("where", ["ui", "report"])
async def test_no_text_of_a_record_runs(
    where: str,
    page: Page,
    report: Any,
    request: pytest.FixtureRequest,
    hostile: Sequence[str],
    assembled: Assembled,
) -> None:
    """Markup in a title, an id, a place, a kind, a text, a reason, a question is shown as text."""
    asked = " ".join(hostile)
    if where == "ui":
        request.getfixturevalue("ui").ask(asked)
    else:
        await report(asked)
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")

    titles = page.run("return [...document.querySelectorAll('.title')].map((o) => o.textContent)")
    assert set(hostile) <= set(titles)
    agrees(page, await assembled(asked))
    assert page.run("return window.hacked") is None
    assert page.all("#injected, img, main script, [onload], [onerror], [onmouseover]") == []
    assert "ValueError: <script>" in page.text("[data-section=broken] .state")
    assert page.complaints() == []


async def test_the_page_asks_nobody_else(ui: Page, served: Any) -> None:
    """Everything that is asked for is asked of the page's own server, the token never in a URL."""
    ui.ask()
    ui.answered(lambda: ui.one("[name=style] [value=xml]").click())

    asked = {url for url in ui.requested() if not url.startswith(("data:", "about:"))}
    assert {url.partition("#")[0] for url in asked} == {
        f"{served.origin}/",
        f"{served.origin}/api/overview",
        f"{served.origin}/api/context",
    }
    assert not ui.run("return location.hash")
    entries = ui.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert set(entries) <= {f"{served.origin}/api/{path}" for path in ("overview", "context")}
    assert ui.complaints() == []


async def test_the_report_asks_nobody(report: Any, tmp_path: Path) -> None:
    """It needs no other file and no network."""
    page, _ = await report()

    asked = {url for url in page.requested() if not url.startswith(("data:", "about:"))}
    assert asked == {(tmp_path / "report.html").as_uri()}
    assert page.complaints() == []


async def test_without_the_token_it_says_what_is_needed(page: Page, served: Any) -> None:
    """Who opens the bare address is told to take the whole one."""
    page.driver.get(f"{served.origin}/")
    # A page before this one may have had the same port.
    page.run("sessionStorage.clear()")
    page.driver.refresh()

    page.wait(lambda: page.all("[role=alert]"))
    assert "whole address" in page.text("[role=alert]")
    page.one("#query").send_keys(QUERY, Keys.ENTER)
    page.wait(lambda: not page.all(".busy"))
    assert "whole address" in page.text("[role=alert]")


async def test_a_reload_keeps_the_token(ui: Page) -> None:
    """The address has lost it by then."""
    ui.driver.refresh()

    ui.ask()

    assert ui.all("#items")


async def test_a_refusal_is_said(ui: Page) -> None:
    """What the server refuses is shown in its words, as an alert."""
    ui.one("#query").send_keys(QUERY)
    field = ui.one("#max-tokens")

    field.clear()
    field.send_keys("0")

    ui.wait(lambda: ui.all("[role=alert]"))
    assert "max_tokens must be a whole number" in ui.text("[role=alert]")


async def test_a_server_that_ended_is_said(ui: Page, served: Any) -> None:
    """The page asks whether it still runs, and waits for nothing."""
    ui.ask()
    served.stop()

    ui.one("#query").send_keys(Keys.ENTER)

    ui.wait(lambda: ui.all("[role=alert]"))
    assert "still running" in ui.text("[role=alert]")
    ui.wait(lambda: not ui.all(".busy"))
