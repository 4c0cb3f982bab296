"""The sources with their state, counts and health, for the page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from contextkit.agent import EffectiveSetting, SourceOverview, effective_settings, remembered_health
from contextkit.models import SourceTrace
from contextkit_ui.pages import render
from contextkit_ui.project import Project

_QUERY = "how does it begin?"
_TIMEOUT_SECONDS = 10.0
"""A first question loads what later ones find loaded."""

_ANSWERED = {"ok": "answers", "empty": "answers", "below_floor": "answers"}
_STATES: Mapping[str, str] = {
    **_ANSWERED,
    "failed": "failed",
    "timed_out": "timed out",
    "cut_off": "timed out",
    "breaker_open": "skipped",
}


@frozen(kw_only=True)
class SourceRow:
    """One source.

    Attributes:
        overview: its state, weight and records.
        hue: the number of its colour.
        switch: the setting that turns it on and off.
        state: `good`, `bad` or `unknown`.
        health: its health in words.
        note: why it is off, fails or is skipped; empty if all is well.
    """

    overview: SourceOverview
    hue: int
    switch: EffectiveSetting
    state: str
    health: str
    note: str


@frozen(eq=False)
class SourcePages:
    """Answers the page's requests about sources.

    Attributes:
        project: whose sources they are.
    """

    project: Project
    _answered: dict[str, SourceTrace] = field(factory=dict, init=False)

    def show(self) -> dict[str, Any]:
        """Return the sources as HTML, with their answers to the last test; blocks."""
        return {"html": render("sources.html", rows=self.rows())}

    def chips(self) -> str:
        """Return the question's switches of sources as HTML."""
        return render("chips.html", **chosen_sources(self.project))

    def rows(self) -> list[SourceRow]:
        """Return the sources; blocks."""
        kit = self.project.kit
        settings = {
            row.key: row for row in effective_settings(kit.config, kit.registry, kit.workspace.root)
        }
        skipped = self._skipped()
        return [
            _row(
                overview,
                self.project.hues[overview.name],
                settings[f"sources.{overview.name.replace('_', '-')}.enabled"],
                self._answered.get(overview.name),
                skipped.get(overview.name),
            )
            for overview in kit.sources()
            if overview.source is not False
        ]

    def ask(self) -> dict[str, Any]:
        """Ask every source a question, and return what `show` returns; blocks."""
        context = self.project.kit.assemble_context_sync(
            _QUERY,
            source_timeout=_TIMEOUT_SECONDS,
            deadline=_TIMEOUT_SECONDS,
            cache=False,
            record_use=False,
        )
        self._answered.clear()
        self._answered.update((trace.source, trace) for trace in context.trace.sources)
        return self.show()

    def _skipped(self) -> dict[str, str]:
        """Map sources to why they are skipped, here or in the background server."""
        kit = self.project.kit
        remembered = remembered_health(kit.workspace.root, os.environ) or {}
        both = [*remembered.values(), *kit.health().values()]
        return {health.source: health.words for health in both if health.words}


def chosen_sources(project: Project) -> dict[str, Any]:
    """Return the sources that a question may ask, and those that are off, for a template."""
    registry = project.kit.registry
    return {
        "sources": [(name, project.hues[name]) for name in sorted(registry.sources)],
        "off": [
            (plugin.name, plugin.reason or plugin.state)
            for plugin in registry.plugins
            if plugin.state != "on" and plugin.is_source is not False
        ],
    }


def _row(
    overview: SourceOverview,
    hue: int,
    switch: EffectiveSetting,
    trace: SourceTrace | None,
    skipped: str | None,
) -> SourceRow:
    state, health, note = "unknown", "not tested", overview.reason or ""
    if overview.state != "on":
        state, health = ("bad", "broken") if overview.state == "broken" else ("unknown", "off")
    elif trace is not None:
        health = f"{_STATES[trace.state]}, {trace.milliseconds:,.0f} ms"
        state = "good" if trace.state in _ANSWERED else "bad"
        note = "" if state == "good" else trace.reason or ""
    if overview.state == "on" and skipped and state != "bad":
        state, health, note = "bad", "skipped", skipped
    return SourceRow(
        overview=overview, hue=hue, switch=switch, state=state, health=health, note=note
    )
