"""A page that shows a project and its contexts.

`contextkit report` writes it, `contextkit ui` serves it.
"""

from __future__ import annotations

from contextkit import hookimpl
from contextkit.models import SourceInfo

__all__: list[str] = []


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the plugin's commands."""
    return SourceInfo(
        commands={
            "report": (
                "contextkit_ui.commands:report",
                "Write a web page that explains a QUERY's context.",
            ),
            "ui": ("contextkit_ui.commands:ui", "Open the project's page in the browser."),
        }
    )
