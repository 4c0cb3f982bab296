"""An overview of the sources: state, weight, records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from contextkit.models.records import Records
from contextkit.pipeline.request import make_request
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.status import PluginStatus


@frozen(kw_only=True)
class SourceOverview:
    """One plugin's row in the list of plugins.

    None stands for an unknown value, such as those of a disabled plugin.

    Attributes:
        name: its name.
        state: `on`, `off` or `broken`.
        reason: why it is off or broken.
        source: False for a plugin with other hooks only.
        distribution: the distribution that provides it.
        version: the distribution's version.
        weight: its weight when the budget is split.
        priority: its priority, 1..100.
        records: how many records it has.
        title: its heading in a context.
        description: one line on its content.
        left_alone: the cool-down after repeated failures, and the reason.
    """

    name: str
    state: str
    reason: str | None
    source: bool | None
    distribution: str
    version: str
    weight: float | None = None
    priority: int | None = None
    records: int | None = None
    title: str | None = None
    description: str | None = None
    left_alone: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The overview as JSON values."""
        return asdict(self)


def source_overview(
    registry: SourceRegistry,
    status: PluginStatus,
    workspace: Path,
    records: Callable[[str], Records] | None = None,
) -> SourceOverview:
    """Describe one plugin.

    Args:
        registry: where it is loaded.
        status: its status.
        workspace: the workspace's root folder.
        records: a source's records, which are counted; default: none are.

    Raises what counting records raises.
    """
    found: dict[str, Any] = {}
    if status.state == "on":
        info = registry.info(status.name)
        found = {"title": info.title, "description": info.description}
        if status.is_source:
            found["priority"] = info.priority
            found["weight"] = _weight(registry, status.name, workspace)
            if records is not None:
                keeper = info.records_of if registry.knows(info.records_of) else status.name
                found["records"] = records(keeper).count(info.count_filters)
    return SourceOverview(
        name=status.name,
        state=status.state,
        reason=status.reason,
        source=status.is_source,
        distribution=status.distribution,
        version=status.version,
        **found,
    )


def _weight(registry: SourceRegistry, name: str, workspace: Path) -> float:
    request = make_request(registry.config, "sources", project="", workspace=workspace)
    return registry.weight(name, request)
