"""The project at a glance, for the page."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from contextkit.agent import use_of
from contextkit.sources import shortened_line
from contextkit_ui.pages import render
from contextkit_ui.project import Project
from contextkit_ui.records import RecordPages
from contextkit_ui.sessions import figures, recent
from contextkit_ui.settings import SettingPages, tilde
from contextkit_ui.sources import SourcePages

_NEWEST = 3
_TITLE = 80


@frozen(eq=False)
class OverviewPages:
    """Answers the page's request for an overview.

    Attributes:
        project: the project.
    """

    project: Project

    def show(self) -> dict[str, Any]:
        """Return the overview as HTML; blocks."""
        kit = self.project.kit
        settings = SettingPages(self.project).listed()
        layers = [each.origin.layer for each in settings]
        html = render(
            "overview.html",
            name=kit.workspace.root.name,
            root=tilde(kit.workspace.root),
            books=self._books(),
            sources=SourcePages(self.project).rows(),
            set_by={layer: layers.count(layer) for layer in ("user", "project", "environment")},
            settings=len(settings),
            **figures(use_of(recent(kit))),
        )
        return {"html": html, "name": kit.workspace.root.name}

    def _books(self) -> list[tuple[str, int, list[str]]]:
        """List the sources whose records people write: name, count and newest records."""
        pages = RecordPages(self.project)
        found = []
        for source in pages.sources:
            book = pages.book(source)
            newest = [shortened_line(entry.text, _TITLE) for entry in book.list(_NEWEST)]
            found.append((source, book.count(), newest))
        return found
