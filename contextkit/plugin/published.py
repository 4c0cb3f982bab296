"""Name contextkit's own distributions in hints for missing plugins."""

from __future__ import annotations

from collections.abc import Collection

# Distribution -> the names of its commands and sources.
PUBLISHED = {
    "contextkit-agents": {"install", "uninstall"},
    "contextkit-code": {"code"},
    "contextkit-commits": {"commits"},
    "contextkit-documents": {"documents"},
    "contextkit-embedders": {"models"},
    "contextkit-entities": {"entities", "relations"},
    "contextkit-events": {"events"},
    "contextkit-experiences": {"experience", "experiences"},
    "contextkit-mcp": {"mcp"},
    "contextkit-mcp-source": {"servers"},
    "contextkit-memories": {"memories", "remember"},
    "contextkit-patterns": {"patterns"},
    "contextkit-tasks": {"task", "tasks"},
    "contextkit-ui": {"report", "ui"},
    "contextkit-values": {"values"},
    "contextkit-workspace": {"workspace"},
}


def install_hint(name: str, installed: Collection[str] = ()) -> str:
    """Say how to install a command's or source's plugin.

    Args:
        name: the command or the source.
        installed: the distributions that are installed.

    Returns:
        An empty text for a name of no plugin, and for one of an installed plugin.
    """
    found = (each for each, names in PUBLISHED.items() if name in names)
    distribution = next(found, None)
    if distribution is None or distribution in installed:
        return ""
    return f"pip install {distribution}"
