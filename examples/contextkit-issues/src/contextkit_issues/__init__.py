"""Issues of an HTTP API as context: a contextkit source that waits for a server."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from contextkit import ContextItem, ContextRequest, SourceInfo, hookimpl
from contextkit.models import Detail, Style
from contextkit.sources import in_order
from contextkit.text import escape_xml, line_start_safe, markdown_text, one_line, plain_line

_SETTINGS = ("url", "token_variable")


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source: the server tells only the order of its items."""
    return SourceInfo(
        title="Issues",
        description="issues of the project's tracker",
        settings=dict.fromkeys(_SETTINGS, ""),
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> Sequence[ContextItem]:
    """The issues that the server finds, as many as come in time."""
    # A process that only loads the plugin need not pay for the client.
    from contextkit_issues.client import find_issues

    url = request.settings.get("url")
    if not url or not request.query.strip():
        return []
    found = await find_issues(
        url,
        request.query,
        request.limit,
        seconds=request.answer_seconds,
        token=os.environ.get(request.settings.get("token_variable", ""), ""),
    )
    items = [
        ContextItem(
            "issues",
            f"{issue.title}\n\n{issue.body}".strip(),
            1.0,
            {"number": issue.number, "state": issue.state, "body": issue.body},
            id=str(issue.number),
            kind="issue",
            title=issue.title,
            created_at=issue.created_at,
            location=issue.url,
        )
        for issue in found
    ]
    return in_order(items)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Number, title and state, and what was written, but for `compact`."""
    return [_shown(item, style, detail) for item in items]


def _shown(item: ContextItem, style: Style, detail: Detail) -> str:
    data = item.metadata
    heading = f"#{data['number']} {one_line(item.title or '')} ({one_line(data['state'])})"
    body = str(data["body"]).strip()
    if detail == "summary":
        body = body.partition("\n\n")[0]
    if style == "xml":
        opening = f'<issue title="{escape_xml(heading)}">'
        return (
            f"{opening}</issue>"
            if detail == "compact"
            else f"{opening}\n{escape_xml(body)}\n</issue>"
        )
    if style == "plain":
        indented = "".join(f"\n  {line}" for line in body.splitlines())
        return plain_line(heading) if detail == "compact" else f"{plain_line(heading)}{indented}"
    if detail == "compact":
        return f"- {line_start_safe(heading)}"
    return f"**Issue** {line_start_safe(heading)}\n\n{markdown_text(body)}".rstrip()


@hookimpl
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> Sequence[Sequence[str]]:
    """The issue's address: a commit or a note that is about it can name the same."""
    return [[f"url:{item.location}"] if item.location else [] for item in items]


@hookimpl
def contextkit_check_settings(settings: Mapping[str, Any]) -> Sequence[str]:
    """What is wrong with `[sources.issues]`."""
    known = ", ".join(_SETTINGS)
    problems = [
        f"{key}: not a setting of issues; it has: {known}"
        for key in settings
        if key not in _SETTINGS
    ]
    url = settings.get("url")
    if url and not str(url).startswith(("http://", "https://")):
        problems.append("url: expected an address that begins with http:// or https://")
    if not isinstance(settings.get("token_variable", ""), str):
        problems.append("token_variable: expected the name of an environment variable")
    return problems
