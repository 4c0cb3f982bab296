"""Links beside what a question or its code mentions: after OpenCtx' provider-links."""

from __future__ import annotations

import re
from urllib.parse import quote

from contextkit import ContextItem, ContextRequest, Setting, SourceInfo, hookimpl


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source: each link is `PATTERN -> TITLE -> ADDRESS`."""
    return SourceInfo(settings={"links": Setting([], rule="user")})


@hookimpl
def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    r"""Return the links whose pattern occurs; `\1` stands for the pattern's first group."""
    items = []
    for link in request.settings["links"]:
        pattern, title, address = (part.strip() for part in link.split("->"))
        for found in re.finditer(pattern, request.query):
            url = quote(found.expand(address), safe=":/?&=#%")
            text = f"{found.expand(title)}: {url}"
            items.append(ContextItem("links", text, 1.0, id=url, title=title, location=url))
    return items
