"""What there is to say of a plugin in a list of all: its state, and what it weighs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.status import PluginStatus


def plugin_overview(
    registry: SourceRegistry, status: PluginStatus, workspace: Path
) -> dict[str, Any]:
    """A plugin as JSON values, without its records, which only the store can count.

    Args:
        registry: where it is loaded.
        status: what is known of it.
        workspace: the workspace's root folder.

    Returns:
        `name`, `state`, `reason`, `source`, `distribution`, `version`, `weight`, `priority`,
        `records`, `title`, `description`; None for what it has not, or not while it is off.
    """
    row: dict[str, Any] = {
        "name": status.name,
        "state": status.state,
        "reason": status.reason,
        "source": status.is_source,
        "distribution": status.distribution,
        "version": status.version,
        "weight": None,
        "priority": None,
        "records": None,
        "title": None,
        "description": None,
    }
    if status.state != "on":
        return row
    info = registry.info(status.name)
    row |= {"title": info.title, "description": info.description}
    if status.is_source:
        row |= {"priority": info.priority, "weight": _weight(registry, status.name, workspace)}
    return row


def _weight(registry: SourceRegistry, name: str, workspace: Path) -> float:
    from contextkit.pipeline.request import make_request

    request = make_request(registry.config, "sources", project="", workspace=workspace)
    return registry.weight(name, request)
