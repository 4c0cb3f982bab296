"""The servers source of contextkit: search tools and resources of MCP servers.

The tools are asked with each query. The resources are read by index runs, and searched like other
records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextkit import ContextItem, ContextRequest, IndexReport, Setting, SourceInfo, hookimpl

if TYPE_CHECKING:
    from contextkit import Indexer

_CHECK = "contextkit_mcp_source.servers:problems"


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source; a project file may not choose programs to run."""
    return SourceInfo(
        title="Servers",
        description="what MCP servers find, and their resources",
        settings={
            "servers": Setting([], rule="user", check=_CHECK),
            "tools": Setting([], rule="user", check=_CHECK),
            "environment": Setting([], rule="user"),
            "resources": Setting(200, least=0, most=10_000),
            "refresh_minutes": Setting(60, least=0),
        },
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> Sequence[ContextItem]:
    """Return what the tools find, and the resources that match."""
    if not request.settings["servers"]:
        return []
    from contextkit_mcp_source.searching import search

    return await search(request)


@hookimpl
def contextkit_index(indexer: Indexer) -> IndexReport | None:
    """Read the resources of the servers again if it is time to."""
    if not indexer.settings.get("servers") and not indexer.state.load():
        # It has been asked: `contextkit doctor` would warn otherwise.
        indexer.state.save({})
        return IndexReport()
    from contextkit_mcp_source.reading import read_resources

    return read_resources(indexer)
