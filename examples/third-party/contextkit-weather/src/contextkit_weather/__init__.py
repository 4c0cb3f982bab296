"""Weather reports as context: a whole contextkit source."""

import json
import re
from pathlib import Path

from contextkit import ContextItem, ContextRequest, hookimpl


@hookimpl
def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """The reports that share words with the query, best first."""
    asked = set(re.findall(r"\w+", request.query.lower()))
    packaged = Path(__file__).with_name("reports.json")
    file = (request.workspace or Path()) / request.settings.get("file", packaged)
    found = []
    for entry in json.loads(file.read_text("utf-8")):
        text = f"{entry['station']}: {entry['report']}"
        shared = asked & set(re.findall(r"\w+", text.lower()))
        if shared:
            relevance = len(shared) / len(asked)
            found.append(ContextItem("weather", text, relevance, id=entry["station"]))
    return sorted(found, key=lambda item: -item.relevance)[: request.limit]
