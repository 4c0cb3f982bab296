"""Every page by keyboard and by axe-core: at two widths, light and dark."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest

from contextkit import ContextKit

if TYPE_CHECKING:
    from conftest import Page

pytest.importorskip("selenium", reason="selenium is not installed")
pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.one_python

AXE = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
VIEWS = ("ask", "memories", "sources", "sessions", "settings")
_RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }).then(
  ({ violations }) => done(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)));
"""
_REACHABLE = """
const operated = "a[href], button, input, select, textarea, summary, [tabindex='0']";
return [...document.querySelectorAll(operated)]
  .filter((one) => one.checkVisibility() && !one.disabled && !one.closest("dialog:not([open])"))
  .map((one, number) => { one.dataset.number = number; return String(number); });
"""
_FOCUSED = """
const one = document.activeElement;
const drawn = [one, one.nextElementSibling, one.closest("label")].filter(Boolean);
const visible = drawn.some((each) => getComputedStyle(each).outlineStyle === "solid");
return [one.dataset.number ?? "", visible];
"""


@pytest.fixture
def home(ui: Page, play: Any) -> Page:
    """The page with a session and an answer."""
    play("s1", "notes.txt")
    ui.ask()
    return ui


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing(home: Page, view: str) -> None:
    """No rule of WCAG 2.1 A and AA is broken, in either scheme and at either width."""
    home.go(view)
    home.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    home.run(AXE)
    for width in (1280, 390):
        home.size(width)
        for scheme in ("light", "dark"):
            home.prefer(scheme)
            assert home.driver.execute_async_script(_RUN) == [], (width, scheme)


@pytest.mark.parametrize("view", VIEWS)
def test_no_page_is_wider_than_a_phone(home: Page, view: str) -> None:
    """With everything opened, nothing has to be moved sideways at 390 pixels."""
    home.size(390)
    home.go(view)
    home.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")

    assert home.run("return document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("view", VIEWS)
def test_every_control_is_reached_by_tab(home: Page, view: str) -> None:
    """From the skip link to the last one, each with a focus that can be seen."""
    home.go(view)
    home.wait(lambda: home.text("#ask-sources") == "Test all")
    wanted = set(home.run(_REACHABLE))
    home.run("document.activeElement.blur(); document.querySelector('.skip').focus()")
    reached = {home.run(_FOCUSED)[0]}
    for _ in range(len(wanted) + 5):
        home.press(Keys.TAB)
        number, visible = home.run(_FOCUSED)
        assert visible or not number, number
        reached.add(number)

    assert wanted <= reached


def test_the_skip_link_leads_to_the_content(ui: Page, kit: ContextKit) -> None:
    """It is the first that Tab reaches, shown then, and the page stays the same."""
    ui.go("sources")
    ui.run("document.activeElement.blur(); document.querySelector('.skip').focus()")
    assert ui.one(".skip").is_displayed()

    ui.press(Keys.ENTER)

    ui.wait(lambda: ui.run("return document.activeElement.id") == "result")
    assert ui.one("#sources-view").is_displayed()
