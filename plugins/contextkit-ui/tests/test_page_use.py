"""The page and the report as a person uses them: keys, links, looks, sizes, the clipboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from contextkit import ContextKit
from contextkit.pipeline.request import make_request
from contextkit.text.clean import visible
from contextkit_ui.model import TextPart
from contextkit_ui.pages import report_page
from contextkit_ui.view import hues_of, view_of

if TYPE_CHECKING:
    from conftest import Page

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver.common.keys import Keys

QUERY = "When does the tide turn?"


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
    chosen = ["detail:full", "style:markdown", "shares:by_evidence"]
    assert names == ["Ask", *sources, "budget", "max-tokens", *chosen]


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

    def shows(theme: str, colour: str) -> None:
        page.wait(lambda: (page.text("#theme-name"), page.run(background)) == (theme, colour))

    light = page.run(background)
    page.prefer("dark")
    page.wait(lambda: page.run(background) != light)
    dark = page.run(background)

    page.one("#theme").click()

    shows("Light", light)
    page.driver.refresh()
    shows("Light", light)
    page.prefer("light")
    page.one("body").send_keys("t")
    shows("Dark", dark)
    page.run("localStorage.clear()")


async def test_the_text_is_copied_as_it_is(page: Page, kit: ContextKit, tmp_path: Path) -> None:
    """The button gives the agent's text to the clipboard, invisible characters shown."""
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
    assert page.run("return window.copied") == visible("".join(texts))


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
