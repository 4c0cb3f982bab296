"""The served page and the report in a real Chromium."""

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from contextkit import ContextKit
from contextkit.asking.requests import make_request
from contextkit_ui.model import TextPart
from contextkit_ui.pages import report_page
from contextkit_ui.view import hues_of, view_of

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

QUERY = "When does the tide turn?"
SECONDS = 60
Assembled = Callable[..., Awaitable[dict[str, Any]]]


@attrs.frozen
class Page:
    """A browser on one of the pages, and what a person does there."""

    driver: Any

    def all(self, selector: str) -> list[Any]:
        """The elements that are selected."""
        return list(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def one(self, selector: str) -> Any:
        """The only one."""
        (found,) = self.all(selector)
        return found

    def text(self, selector: str) -> str:
        """Its text, hidden or not."""
        # At once: what stands there may be replaced between two questions to the browser.
        every = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
        (text,) = self.run(every, selector)
        return str(text)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, until: Callable[[], object]) -> None:
        """Wait until something is so."""
        WebDriverWait(self.driver, SECONDS, 0.02).until(lambda _: until())

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def ask(self, query: str = QUERY) -> None:
        """Ask, and wait for the answer."""
        field = self.one("#query")
        field.clear()
        self.answered(lambda: field.send_keys(query, Keys.ENTER))

    def answered(self, act: Callable[[], object]) -> None:
        """Do something that asks again, and wait for the answer to it."""
        self.run("document.querySelector('#answer').firstElementChild.dataset.old = 'yes'")
        act()
        self.wait(
            lambda: self.run(
                "return !document.querySelector('[data-old]')"
                " && !document.querySelector('.busy') && !!document.querySelector('#budget-part')"
            )
        )

    def budgeted(self, act: Callable[[], object]) -> int:
        """Change the budget, and wait for the answer that has it; its tokens."""
        self.answered(act)
        # Each key asks again, where the one before it was long ago.
        budget = (
            "const shown = document.querySelector('[data-figure=max_tokens]');"
            "const wanted = Number(document.querySelector('#max-tokens').value);"
            "return shown && parseInt(shown.textContent.replace(/,/g, '')) === wanted && wanted"
        )
        self.wait(lambda: self.run(budget))
        return int(self.one("#max-tokens").get_property("value"))

    def size(self, width: int, height: int = 900) -> None:
        """Make the page so wide."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, scheme: str) -> None:
        """Let the system be light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def requested(self) -> list[str]:
        """The addresses that were asked for since the last look."""
        events = (json.loads(entry["message"])["message"] for entry in self._log("performance"))
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """What the browser had to say since the last look."""
        return [entry["message"] for entry in self._log("browser")]

    def _log(self, name: str) -> list[Any]:
        return list(self.driver.get_log(name))


@pytest.fixture
def page(chromium: Any) -> Iterator[Page]:
    """The browser, on an empty page and wide."""
    opened = Page(chromium)
    chromium.get("about:blank")
    opened.requested()
    opened.complaints()
    opened.size(1280)
    opened.prefer("light")
    yield opened
    # What a page remembers is for its own test.
    chromium.get("about:blank")


@pytest.fixture
def ui(page: Page, served: Any) -> Page:
    """The served page."""
    page.driver.get(served.address)
    return page


@pytest.fixture
def report(
    page: Page, kit: ContextKit, tmp_path: Path
) -> Callable[..., Awaitable[tuple[Page, dict[str, Any]]]]:
    """Opens the report of a question as a file; gives the page and the context."""

    async def opened(query: str = QUERY, **asked: Any) -> tuple[Page, dict[str, Any]]:
        request = make_request(kit.config, query, project=kit.project, workspace=None, **asked)
        context = await kit.assemble_context(query, **asked)
        file = tmp_path / "report.html"
        html = report_page(view_of(request, context, hues_of(kit.registry)))
        file.write_bytes(html.encode())
        page.driver.get(file.as_uri())
        return page, context.as_dict()

    return opened


_READ = """
const all = (one, selector) => [...one.querySelectorAll(selector)];
const by = (one, name) =>
  Object.fromEntries(all(one, `[data-${name}]`).map((o) => [o.dataset[name], o.textContent]));
return {
  figures: by(document, "figure"),
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
    for row, source in zip(read["sources"], trace["sources"], strict=True):
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
            "document.querySelector('#ask').requestSubmit()"
        )
    )

    assert "no source was asked" in ui.text(".notes")


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
    [("style", "xml"), ("detail", "compact"), ("shares", "by_match")],
)
async def test_a_choice_asks_again(ui: Page, assembled: Assembled, option: str, value: str) -> None:
    """Style, detail and shares are those of the text that is shown."""
    ui.ask()

    ui.answered(lambda: ui.one(f"[name={option}] [value={value}]").click())

    agrees(ui, await assembled(**{option: value}))


async def test_a_duplicate_leads_to_its_winner_and_back(ui: Page) -> None:
    """The links move the focus to the other row, and open the group that it is in."""
    ui.ask()
    link = ui.one("[data-group=duplicate] [data-id=tides-4] a.to")

    link.click()

    winner = ui.one("[data-id=notes-1]")
    ui.wait(lambda: ui.run("return arguments[0].contains(document.activeElement)", winner))
    assert winner.is_displayed()
    assert winner.value_of_css_property("box-shadow") != "none"
    ui.run("document.querySelector('[data-group=duplicate]').open = false")
    ui.one("[data-id=notes-1] a.to").click()
    loser = ui.one("[data-id=tides-4]")
    ui.wait(lambda: ui.run("return document.activeElement === arguments[0]", loser))
    assert loser.is_displayed()


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("notes-9", "under the floor"),
        ("<i>none</i>", "No source has an item of that id, title or location."),
    ],
)
async def test_it_says_why_an_item_is_missing(ui: Page, item: str, words: str) -> None:
    """Whatever is asked for, by id, title or place, is accounted for."""
    ui.ask()

    ui.one("#why-item").send_keys(item, Keys.ENTER)

    ui.wait(lambda: words in ui.text("#why-words"))


async def test_groups_stay_as_they_were_opened(ui: Page) -> None:
    """Another answer leaves open what was open."""
    ui.ask()
    ui.one("[data-group=below_floor] > summary").click()
    ui.one("[data-group=duplicate] > summary").click()

    ui.answered(lambda: ui.one("[name=detail] [value=summary]").click())

    assert ui.one("[data-group=below_floor]").get_property("open")
    assert not ui.one("[data-group=duplicate]").get_property("open")


async def test_everything_is_done_with_keys(ui: Page) -> None:
    """`/` to ask, Tab through the controls, digits for sources, j and k through the items."""
    ui.press(Keys.ESCAPE, "/")
    ui.answered(lambda: ui.press(QUERY, Keys.ENTER))

    ui.press(Keys.ESCAPE)
    ui.answered(lambda: ui.press("2"))
    first = ui.run("return document.querySelectorAll('[name=source]')[1].checked")
    ui.press("j", "j", "k")
    ui.press(Keys.ENTER)

    assert first is False
    assert ui.run("return document.activeElement === document.querySelector('#items summary')")
    assert ui.one("#items > li:first-child > details").get_property("open")
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert ui.run(outline) == "solid"
    ui.press("?")
    assert ui.one("#help").get_property("open")
    ui.press(Keys.ESCAPE)
    assert not ui.one("#help").get_property("open")


async def test_tab_goes_through_the_controls_in_order(ui: Page) -> None:
    """From the question to the sources, the budget and the choices, each with a visible focus."""
    names = []
    ui.one("#query").click()
    for _ in range(11):
        ui.press(Keys.TAB)
        names.append(
            ui.run(
                "const one = document.activeElement; return one.id || one.value && one.name + "
                "':' + one.value || one.name || one.textContent"
            )
        )

    sources = [f"source:{n}" for n in ("broken", "hostile", "notes", "silent", "tides")]
    chosen = ["detail:full", "style:markdown", "shares:fixed"]
    assert names == ["Assemble", *sources, "budget", "max-tokens", *chosen]


async def test_everything_that_is_operated_has_a_name(ui: Page) -> None:
    """A screen reader finds a name on each control, region and drawing."""
    ui.ask()

    nodes = ui.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"button", "checkbox", "slider", "combobox", "textbox", "spinbutton", "link"}
    roles |= {"region", "image", "table", "search", "group"}
    found = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored") and node.get("role", {}).get("value") in roles
    ]

    assert {"slider", "checkbox", "combobox", "textbox", "image"} <= {role for role, _ in found}
    assert [role for role, name in found if not name and role != "group"] == []
    assert ui.text("#status").endswith("items")


@pytest.mark.parametrize("where", ["ui", "report"])
async def test_light_and_dark(where: str, request: pytest.FixtureRequest, report: Any) -> None:
    """It follows the system until the switch says otherwise, which a reload remembers."""
    page = request.getfixturevalue("ui") if where == "ui" else (await report())[0]
    background = "return getComputedStyle(document.body).backgroundColor"
    light = page.run(background)
    page.prefer("dark")
    dark = page.run(background)

    page.one("#theme").click()

    assert light != dark
    assert (page.text("#theme-name"), page.run(background)) == ("Light", light)
    page.driver.refresh()
    assert (page.text("#theme-name"), page.run(background)) == ("Light", light)
    page.prefer("light")
    page.one("body").send_keys("t")
    assert (page.text("#theme-name"), page.run(background)) == ("Dark", dark)
    page.run("localStorage.clear()")


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
        f"{served.origin}/api/context",
    }
    assert not ui.run("return location.hash")
    entries = ui.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert set(entries) <= {f"{served.origin}/api/context"}
    assert ui.complaints() == []


async def test_the_report_asks_nobody(report: Any, tmp_path: Path) -> None:
    """It needs no other file and no network."""
    page, _ = await report()

    asked = {url for url in page.requested() if not url.startswith(("data:", "about:"))}
    assert asked == {(tmp_path / "report.html").as_uri()}
    assert page.complaints() == []


async def test_the_text_is_copied_as_it_is(page: Page, kit: ContextKit, tmp_path: Path) -> None:
    """The button gives the agent's text to the clipboard, whatever ends its lines."""
    request = make_request(kit.config, QUERY, project=kit.project, workspace=None)
    view = view_of(request, await kit.assemble_context(QUERY), hues_of(kit.registry))
    texts = ("\n\none\rtwo\r\n", "<b>three</b>\t\u202e&amp;\n\n", " four\n")
    parts = [TextPart(text=text, anchor=f"item-{n}", hue=n) for n, text in enumerate(texts)]
    html = report_page(attrs.evolve(view, text=tuple(parts)))
    (tmp_path / "report.html").write_bytes(html.encode())
    page.driver.get((tmp_path / "report.html").as_uri())
    page.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")

    page.one("#copy").click()

    page.wait(lambda: page.text("#copy") == "Copied")
    assert page.run("return window.copied") == "".join(texts)


@pytest.mark.parametrize("width", [1280, 768, 390])
@pytest.mark.parametrize("where", ["ui", "report"])
async def test_nothing_is_wider_than_the_page(
    where: str, width: int, page: Page, report: Any, request: pytest.FixtureRequest
) -> None:
    """On a desk and on a phone, with everything opened, nothing has to be moved sideways."""
    page.size(width)
    if where == "ui":
        request.getfixturevalue("ui").ask()
    else:
        await report("word" * 100)

    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")

    assert page.run("return document.documentElement.scrollWidth") <= width


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
    field = ui.one("#max-tokens")
    field.clear()
    field.send_keys("0")

    ui.one("#query").send_keys(QUERY, Keys.ENTER)

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
