"""An MCP server as somebody may have it: a wiki with a search tool and resources."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer

PAGES = {
    "tides": "High water in Oslo at noon.\n\nIt is measured at the old pier.",
    "ferries": "Ferries from Oslo leave at high water.",
    "bread": "Bread is baked on Fridays.",
}
FOLDER = Path(os.environ["WIKI_LOG"]).parent
server = MCPServer("wiki")
sys.stderr.write("the wiki is ready\n")


@server.tool()
def search_pages(text: str, limit: int = 5) -> dict[str, Any]:
    """Search the wiki's pages."""
    with Path(os.environ["WIKI_LOG"]).open("a") as log:
        log.write(f"{os.getpid()}\n")
    if text == "fail":
        raise ValueError("the index is broken")
    if text == "crash":
        os._exit(1)
    if text == "sleep":
        time.sleep(20)
    words = set(text.lower().split())
    found = [
        {"id": name, "title": name.title(), "text": page, "url": f"https://wiki.test/{name}"}
        for name, page in PAGES.items()
        if words & set(page.lower().replace(".", "").split())
    ]
    return {"results": found[:limit]}


@server.tool()
def list_lines(query: str) -> str:
    """Return plain text."""
    return f"a line about {query}"


def rules() -> str:
    """The rules."""
    file = FOLDER / "rules.txt"
    return file.read_text() if file.exists() else "Visitors sign the red book."


if not (FOLDER / "closed").exists():
    server.resource("wiki://rules", title="House rules")(rules)
server.run()
