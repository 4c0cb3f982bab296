"""Items of a server of your own, by POST: after Continue's HttpContextProvider."""

from __future__ import annotations

from contextkit import ContextItem, ContextRequest, Setting, SourceInfo, hookimpl
from contextkit.sources import fetch_json, in_order


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source; only the user may choose the server."""
    return SourceInfo(settings={"url": Setting("", rule="user")})


@hookimpl
def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the server's items: one object or a list, with `name` and `content`."""
    if not request.settings["url"]:
        return []
    body = {"query": request.query, "fullInput": request.query}
    answer = fetch_json(request.settings["url"], request.answer_seconds, body=body)
    found = answer if isinstance(answer, list) else [answer]
    items = [
        ContextItem("http", each["content"], 1.0, id=f"{n}", title=each.get("name"))
        for n, each in enumerate(found[: request.limit])
        if each.get("content")
    ]
    return in_order(items)
