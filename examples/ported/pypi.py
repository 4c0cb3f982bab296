"""Packages that a question names, from the package index: after llm-fragments-pypi."""

from __future__ import annotations

import re

from contextkit import ContextItem, ContextRequest, Setting, SourceInfo, hookimpl
from contextkit.sources import fetch_json


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source; only the user may choose the server."""
    return SourceInfo(settings={"index": Setting("https://pypi.org/pypi", rule="user")})


@hookimpl
def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return what the index says of the package `NAME` in `pypi:NAME` or `pypi:NAME@VERSION`."""
    items = []
    for name, version in re.findall(r"\bpypi:([\w.-]+\w)(?:@([\w.]+))?", request.query):
        url = "/".join(filter(None, [request.settings["index"], name, version, "json"]))
        info = fetch_json(url, request.answer_seconds)["info"]
        text = f"{info['name']} {info['version']}: {info['summary']}\n\n{info['description']}"
        place = info.get("package_url") or url
        items.append(ContextItem("pypi", text, 1.0, id=name, title=info["name"], location=place))
    return items
