"""Loading the plugins one by one, so that each costs only itself, and its time is its own."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

import click
from attrs import define, evolve, field

from contextkit.agent_tools.offers import offered_tools
from contextkit.asking.requests import make_request
from contextkit.config import Config, normalized
from contextkit.errors import ConfigError, ContextKitError, DuplicateSourceError
from contextkit.health.finding import Finding, fine, problem, warning
from contextkit.hookspecs import ENTRY_POINT_GROUP
from contextkit.registry import SourceRegistry
from contextkit.registry.absent_sources import settings_of_absent
from contextkit.registry.plugin_status import PluginStatus

__all__ = ["PluginCheck"]

PART = "plugins"


@define
class PluginCheck:
    """The installed plugins.

    Attributes:
        config: says which are on.
        workspace: the workspace's root folder.
        registry: those that could be loaded, once `findings` is done.
    """

    config: Config
    workspace: Path
    registry: SourceRegistry = field(init=False)

    @registry.default
    def _nothing_loaded(self) -> SourceRegistry:
        sources = dict(self.config.sources)
        for found in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
            sources[normalized(found.name)] = evolve(self.config.source(found.name), enabled=False)
        return SourceRegistry(evolve(self.config, sources=sources))

    def findings(self) -> Iterator[Finding]:
        """One finding for each plugin, and one for each other thing that is amiss."""
        for status in self.registry.plugins:
            yield self._loaded(status)
        if not self.registry.plugins:
            yield problem(PART, "no source is installed", "install one, as the README says")
        elif not self.registry.sources:
            yield warning(PART, "no source is on", "`contextkit sources` says which setting it was")
        for line in settings_of_absent(self.config, self.registry):
            yield warning(PART, line, "install that source, or delete its settings")
        yield from self._failing_hooks()

    def _loaded(self, status: PluginStatus) -> Finding:
        name = status.name
        what = f"{name} {status.version} ({status.distribution})"
        if not self.config.source(name).enabled:
            origin = self.config.origin(f"sources.{normalized(name)}.enabled")
            return fine(PART, f"{what}: off by {origin}")
        try:
            self.registry.enable(name)
        except ConfigError as error:
            return problem(PART, f"{what}: {error}", "mend that setting")
        except DuplicateSourceError as error:
            return problem(PART, str(error))
        except ContextKitError as error:
            remedy = f"upgrade or uninstall {status.distribution}, or `--disable {name}`"
            return problem(PART, str(error), remedy)
        kind = "source" if name in self.registry.sources else "no source, only other hooks"
        return fine(PART, f"{what}: {kind}")

    def _failing_hooks(self) -> Iterator[Finding]:
        failures: list[tuple[str, str, str]] = []

        def failed(name: str, hook: str, reason: str) -> None:
            failures.append((name, hook, reason))

        request = make_request(self.config, "doctor", project="", workspace=self.workspace)
        for name in self.registry.sources:
            self.registry.weight(name, request, failed)
        for name in self.registry.on_with("contextkit_commands"):
            self.registry.attempt(
                name, "contextkit_commands", lambda _: None, failed, cli=click.Group()
            )
        try:
            offered_tools(self.registry, failed)
        except ContextKitError as error:
            yield problem(PART, str(error))
        for name, hook, reason in failures:
            yield warning(PART, f"{name} fails in {hook}: {reason}", f"tell the author of {name}")
