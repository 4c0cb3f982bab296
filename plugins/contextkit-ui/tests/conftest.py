"""What the tests of the page share: sources, a kit, the served page and a real browser."""

import json
import shutil
import socket
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen

from contextkit import ContextItem, ContextKit, ContextRequest, SourceInfo, hookimpl
from contextkit.agent.events import HookEvent
from contextkit.agent.given import note_given, note_touched
from contextkit.pipeline.request import make_request
from contextkit.testing import open_kit
from contextkit_ui.pages import report_page
from contextkit_ui.server import LOOPBACK, listen, make_app, make_server
from contextkit_ui.view import hues_of, view_of

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
HOSTILE = (
    "<script>window.hacked = 1</script>",
    '<img src="x" onerror="window.hacked = 1">',
    "</script><script>window.hacked = 1</script>",
    '"><svg onload="window.hacked = 1"><b id="injected">',
    "</pre></details><b id='injected'>{{ 7 * 7 }}&lt;b&gt;",
    "' onmouseover='window.hacked = 1' x='",
)
QUERY = "When does the tide turn?"
SECONDS = 60
TOKEN = "a-token-of-the-tests"  # noqa: S105 - opens nothing but these tests' page


@frozen(eq=False)
class Plugin:
    """A source that finds what it was made with, whatever is asked."""

    items: Sequence[ContextItem]
    weight: float = 1.0
    keys: dict[str, str] = field(factory=dict)

    @hookimpl
    def contextkit_query(self, request: ContextRequest) -> Sequence[ContextItem]:
        return self.items[: request.limit]

    @hookimpl
    def contextkit_source(self) -> SourceInfo:
        return SourceInfo(scale="calibrated")

    @hookimpl
    def contextkit_weight(self) -> float:
        return self.weight

    @hookimpl
    def contextkit_dedup_keys(self, items: Sequence[ContextItem]) -> list[list[str]]:
        return [[self.keys[item.id]] if item.id in self.keys else [] for item in items]


@frozen(eq=False)
class Broken:
    """A source that fails, with words that no page may obey."""

    @hookimpl
    def contextkit_query(self) -> Sequence[ContextItem]:
        raise ValueError(HOSTILE[0])


def _item(source: str, number: int, relevance: float, words: int = 12, **more: Any) -> ContextItem:
    text = " ".join(f"{source}{number}word{word}" for word in range(words))
    values = {"location": f"{source}/part{number}.txt:{number}", "kind": "passage", **more}
    return ContextItem(
        source, text, relevance, id=f"{source}-{number}", title=f"{source} no {number}", **values
    )


def _hostile(text: str, number: int) -> ContextItem:
    return ContextItem(
        "hostile",
        f"{text} and a word of its own: w{number}",
        0.9 - number / 100,
        id=f"{text}{number}",
        title=text,
        kind=text,
        location=f"{text}:{number}",
    )


def _plugins() -> dict[str, object]:
    notes = [_item("notes", number, 0.9 - number / 20) for number in range(1, 8)]
    notes.append(_item("notes", 8, 0.4, words=300))
    notes.append(_item("notes", 9, 0.02))
    tides = [_item("tides", number, 0.8 - number / 10) for number in range(1, 5)]
    returns = ContextItem("tides", "one\rtwo\r\nthree", 0.85, id="returns", title="returns")
    return {
        "notes": Plugin(notes, 3.0, {"notes-1": "leaf:1"}),
        "tides": Plugin([returns, *tides], 1.0, {"tides-4": "leaf:1"}),
        "silent": Plugin([], 2.0),
        "broken": Broken(),
        "hostile": Plugin([_hostile(text, number) for number, text in enumerate(HOSTILE)]),
    }


@pytest.fixture(scope="session")
def hostile() -> Sequence[str]:
    """Texts that run where a page takes them for HTML."""
    return HOSTILE


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with five sources: two that answer, an empty one, a broken one, a hostile one."""
    with open_kit(tmp_path / "workspace", _plugins()) as opened:
        yield opened


@pytest.fixture
def open_again(kit: ContextKit) -> Callable[[], ContextKit]:
    """Opens that kit again with the settings of the files as they are now."""

    def opened() -> ContextKit:
        again = ContextKit.open(kit.workspace.root, environment={}, entry_points=False)
        for name, plugin in _plugins().items():
            again.register(plugin, name)
        return again

    return opened


@pytest.fixture
def play(kit: ContextKit) -> Callable[..., None]:
    """Notes what hooks note: `play("session", "notes.txt", tokens=30)` gives and uses a file."""
    root = kit.workspace.root

    def played(session: str, path: str, *, tokens: int = 30, uses: bool = True) -> None:
        (root / path).write_text("words", encoding="utf-8")
        item = {"source": "notes", "id": "notes-1", "location": f"{path}:1-3"}
        answer = {"tokens": tokens, "items": [item, {**item, "id": "x", "location": None}]}
        event = HookEvent(name="UserPromptSubmit", session=session, folder=str(root), agent="codex")
        note_given(answer, event, str(root), 0.02)
        if uses:
            tool = {"hook_event_name": "PostToolUse", "tool_input": {"file_path": path}}
            note_touched(kit, {**tool, "session_id": session, "cwd": str(root)})

    return played


@frozen
class Served:
    """The page on a real port.

    Attributes:
        origin: its address without the token.
        address: its address with it.
        stop: ends the server.
    """

    origin: str
    token: str
    stop: Callable[[], None]

    @property
    def address(self) -> str:
        return f"{self.origin}/#token={self.token}"


@pytest.fixture
def served(kit: ContextKit, open_again: Callable[[], ContextKit]) -> Iterator[Served]:
    """The page of that kit, served by the real server in a thread."""
    listening: socket.socket = listen(0)
    port = listening.getsockname()[1]
    server = make_server(make_app(kit, TOKEN, port, open_again))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()

    def stop() -> None:
        server.should_exit = True
        thread.join()

    yield Served(f"http://{LOOPBACK}:{port}", TOKEN, stop)
    stop()
    listening.close()


@pytest.fixture(scope="session")
def chromium(need: Callable[..., None]) -> Iterator[Any]:
    """A headless Chromium with a profile of its own."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    need("chromium", "chromedriver")
    options = selenium.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        service = selenium.ChromeService(shutil.which("chromedriver"))
        driver = selenium.Chrome(options=options, service=service)
        driver.implicitly_wait(0)
        driver.set_script_timeout(SECONDS)
        yield driver
        driver.quit()


@frozen
class Page:
    """A browser on one of the pages, and what a person does there."""

    driver: Any

    def all(self, selector: str) -> list[Any]:
        """The elements that are selected."""
        from selenium.webdriver.common.by import By

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
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, SECONDS, 0.02).until(lambda _: until())

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def ask(self, query: str = QUERY) -> None:
        """Ask, and wait for the answer."""
        from selenium.webdriver.common.keys import Keys

        field = self.one("#query")
        field.clear()
        self.answered(lambda: field.send_keys(query, Keys.ENTER))

    def go(self, view: str) -> None:
        """Open one of the pages by the navigation, and wait for it."""
        self.one(f".nav [href='#{view}']").click()
        part = f"#{view}-view [data-part]"
        loaded = (
            "return [...document.querySelectorAll(arguments[0])].every((one) => one.firstChild)"
        )
        self.wait(lambda: self.one(f"#{view}-view").is_displayed() and self.run(loaded, part))

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


@pytest.fixture
def assembled(kit: ContextKit) -> Callable[..., Awaitable[dict[str, Any]]]:
    """What the kit says of a question as JSON, which the page has to agree with."""

    async def ask(query: str = QUERY, sources: Sequence[str] | None = None, **more: Any) -> Any:
        return (await kit.assemble_context(query, sources, **more)).as_dict()

    return ask
