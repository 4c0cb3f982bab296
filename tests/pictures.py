"""Draw README's pictures from a real run: `python -m tests.pictures`.

A clone of this repository is indexed in a folder of its own, an agent's session is played through
the hooks, and commands are run. The page is pictured in Chromium; the terminal is drawn by rich.
Nothing needs a network.
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import field, frozen
from rich.console import Console
from rich.text import Text

__all__ = ["Played", "main", "terminal"]

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "plugins" / "contextkit-ui" / "pictures"
QUESTION = "how is the token budget split?"
COMMANDS: Sequence[Sequence[str]] = (
    ("remember", "The token budget is split by weight and evidence", "--category", "decision"),
    ("assemble", QUESTION, "--sources", "memories,code", "--max-tokens", "250"),
    ("stats",),
)
MEMORIES = (
    ("Every command ends within its time limit, also on a busy machine", "preference"),
    ("Qdrant Edge deletes segments without version.info: keep that file", "error"),
    ("The store is opened by one process at a time, behind a file lock", "decision"),
)
EVENTS: Sequence[dict[str, Any]] = (
    {"hook_event_name": "SessionStart", "source": "startup"},
    {"hook_event_name": "UserPromptSubmit", "prompt": "Where is the token budget split?"},
    {"hook_event_name": "PostToolUse", "tool_input": {"file_path": "contextkit/budget/shares.py"}},
    {"hook_event_name": "PostToolUse", "tool_input": {"file_path": "contextkit/budget/weigh.py"}},
    {"hook_event_name": "UserPromptSubmit", "prompt": "Why do processes wait for the store?"},
    {"hook_event_name": "PostToolUse", "tool_input": {"file_path": "contextkit/store/embedded.py"}},
)
SETTINGS = {"assemble.max_tokens": "3000", "hooks.timeout": "20"}
_WIDTH, _HEIGHT, _COLUMNS = 1180, 550, 96
_FONT = re.compile(r"@font-face \{[^}]*+\}\s*+")


@frozen
class Played:
    """A folder with a project that an agent has worked on.

    Attributes:
        home: stands in for the user's home folder.
    """

    home: Path
    environment: dict[str, str] = field(init=False)

    @environment.default
    def _environment(self) -> dict[str, str]:
        own = {"HOME": str(self.home), "CONTEXTKIT_HOME": str(self.home / "data")}
        return {**os.environ, **own}

    @property
    def folder(self) -> Path:
        """The project's folder."""
        return self.home / "contextkit"

    def run(self, *arguments: str, given: str | None = None) -> str:
        """Run a command, and return its output."""
        done = subprocess.run(
            [sys.executable, "-m", "contextkit.cli", *arguments],
            cwd=self.folder,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def prepare(self) -> None:
        """Clone, index, remember, and play a session."""
        subprocess.run(["git", "clone", "-q", ROOT, self.folder], check=True)
        self.run("index")
        for text, category in MEMORIES:
            self.run("remember", text, "--category", category)
        for key, value in SETTINGS.items():
            self.run("config", "set", key, value)
        with self.started("serve"):
            for event in EVENTS:
                given = {"session_id": "9f3b2c11", "cwd": str(self.folder), **event}
                self.run("hook", "--format", "json", given=json.dumps(given))
            # The files of tools are noted after the hook's answer.
            time.sleep(1)

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Run a command until the block ends."""
        command = [sys.executable, "-m", "contextkit.cli", *arguments]
        with subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as running:
            yield running
            running.terminate()


def terminal(title: str, runs: Sequence[tuple[str, str]]) -> str:
    """Draw commands and their outputs as SVG."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO())
    for command, output in runs:
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        console.print(Text(f"{output.rstrip()}\n"))
    # The fonts would come from a network.
    return _FONT.sub("", console.export_svg(title=title, unique_id="contextkit"))


def screenshot(address: str) -> bytes:
    """Picture the home page as PNG."""
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    with webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver"))) as driver:
        size = {"width": _WIDTH, "height": _HEIGHT, "deviceScaleFactor": 1.25, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(address)
        shown = "return !!document.querySelector('.cards')"
        WebDriverWait(driver, 60).until(lambda _: driver.execute_script(shown))
        taken: str = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    return base64.b64decode(taken)


def main() -> None:
    """Write both pictures."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        played = Played(Path(home))
        played.prepare()
        shown = [" ".join(f'"{w}"' if " " in w else w for w in words) for words in COMMANDS]
        runs = [(f"contextkit {s}", played.run(*w)) for s, w in zip(shown, COMMANDS, strict=True)]
        PICTURES.mkdir(exist_ok=True)
        (PICTURES / "terminal.svg").write_text(terminal("contextkit", runs), encoding="utf-8")
        with played.started("ui", "--no-open", "--no-index") as served:
            assert served.stdout is not None
            address = served.stdout.readline().strip()
            (PICTURES / "home.png").write_bytes(screenshot(address))


if __name__ == "__main__":
    main()
