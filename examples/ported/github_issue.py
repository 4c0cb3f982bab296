"""Issues that a question names, with their comments: after llm-fragments-github."""

import os
import re

from contextkit import ContextItem, ContextRequest, Setting, SourceInfo, hookimpl
from contextkit.sources import fetch_json

_NAMED = r"(?:issue:|github\.com/)([\w.-]+/[\w.-]+)/(?:issues/)?(\d+)"


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source; only the user may choose the server."""
    return SourceInfo(settings={"api": Setting("https://api.github.com", rule="user")})


@hookimpl
def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the issues in `issue:OWNER/REPO/NUMBER` and in addresses."""
    token, items = os.environ.get("GITHUB_TOKEN"), []
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    for repo, number in re.findall(_NAMED, request.query):
        url = f"{request.settings['api']}/repos/{repo}/issues/{number}"
        issue = fetch_json(url, request.answer_seconds, headers=headers)
        comments = fetch_json(f"{url}/comments", request.answer_seconds, headers=headers)
        said = [f"{each['user']['login']}: {each['body']}" for each in (issue, *comments)]
        text, at = "\n\n".join([issue["title"], *said]), issue["html_url"]
        items.append(ContextItem("github_issue", text, 1.0, id=at, location=at))
    return items
