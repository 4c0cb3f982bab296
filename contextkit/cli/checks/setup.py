"""Check the configuration, the plugins, and that every source answers.

Configuration layers and plugins are loaded one by one, so that one error does not hide others.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from attrs import define, evolve, field

from contextkit.agent.tools import offered_tools
from contextkit.cli.checks.finding import Finding, fine, problem, warning
from contextkit.cli.source_names import settings_of_absent
from contextkit.config.load import HOME_VARIABLE, LAYERS, load_config, user_config_file
from contextkit.config.settings import Config, normalized
from contextkit.errors import ConfigError, ContextKitError, DuplicateSourceError
from contextkit.models.trace import SourceTrace
from contextkit.pipeline.questions import AskingForContexts
from contextkit.pipeline.request import make_request
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.spec import ENTRY_POINT_GROUP
from contextkit.plugin.status import PluginStatus
from contextkit.workspace.find import Workspace

_CONFIGURATION = "configuration"

ANSWERED = frozenset({"ok", "empty", "below_floor"})
"""The states of a source that answered."""

_QUERY = "how does it begin?"
_PATIENCE_SECONDS = 10.0
"""The first question may load models, so its time is only reported."""

_PLUGINS = "plugins"


@define
class ConfigurationCheck:
    """Checks each layer of the configuration separately.

    Attributes:
        workspace: the workspace whose project file is read.
        flags: dotted key -> value, from the command line.
    """

    workspace: Workspace
    flags: Mapping[str, Any]
    _valid: list[str] = field(factory=list, init=False)

    def findings(self) -> Iterator[Finding]:
        """Report each layer with settings and each invalid layer."""
        for layer in LAYERS:
            try:
                config = self._read([layer])
            except ConfigError as error:
                yield problem(_CONFIGURATION, str(error), _remedy(layer, error))
                continue
            self._valid.append(layer)
            found = self._described(layer, config)
            if found:
                yield fine(_CONFIGURATION, found)

    def usable(self) -> Config:
        """Return the configuration from the valid layers."""
        return self._read(self._valid)

    def _read(self, layers: list[str]) -> Config:
        return load_config(self.workspace, flags=self.flags, layers=layers)

    def _described(self, layer: str, config: Config) -> str | None:
        count = len(config.origins)
        settings = f"{count} setting{'' if count == 1 else 's'}"
        if layer == "user":
            file = user_config_file()
            return f"{file}: {settings}" if file.is_file() else f"no user file at {file}"
        if layer == "project":
            file_there = self.workspace.config_file
            return f"{file_there}: {settings}" if file_there else "no project file"
        if layer == "environment":
            home = os.environ.get(HOME_VARIABLE)
            where = [f"{HOME_VARIABLE}={Path(home)}"] if home else []
            names = sorted(str(origin) for origin in config.origins.values())
            return f"environment: {', '.join(where + names)}" if where or names else None
        return None


def _remedy(layer: str, error: ConfigError) -> str:
    if error.file is not None:
        return "correct that line" if error.line else "correct that file"
    return "correct or unset that variable" if layer == "environment" else "omit that option"


def probe_sources(kit: AskingForContexts) -> Sequence[SourceTrace]:
    """Query all enabled sources and return their traces.

    Raises what `assemble_context` raises.
    """
    context = kit.assemble_context_sync(
        _QUERY, source_timeout=_PATIENCE_SECONDS, deadline=_PATIENCE_SECONDS, cache=False
    )
    return context.trace.sources


@define
class PluginCheck:
    """Checks the installed plugins.

    Attributes:
        config: the configuration, which may disable plugins.
        workspace: the workspace's root folder.
        registry: the plugins that could be loaded, after `findings`.
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
        """One finding for each plugin and for each other fault."""
        for status in self.registry.plugins:
            yield self._loaded(status)
        if not self.registry.plugins:
            yield problem(
                _PLUGINS, "no source is installed", "install one, as the README describes"
            )
        elif not self.registry.sources:
            yield warning(
                _PLUGINS,
                "no source is enabled",
                "`contextkit sources` shows the setting that disables it",
            )
        for line in settings_of_absent(self.config, self.registry):
            yield warning(_PLUGINS, line, "install that source, or delete its settings")
        yield from self._failing_hooks()

    def _loaded(self, status: PluginStatus) -> Finding:
        name = status.name
        what = f"{name} {status.version} ({status.distribution})"
        if not self.config.source(name).enabled:
            origin = self.config.origin(f"sources.{normalized(name)}.enabled")
            return fine(_PLUGINS, f"{what}: off by {origin}")
        try:
            self.registry.enable(name)
        except ConfigError as error:
            return problem(_PLUGINS, f"{what}: {error}", "correct that setting")
        except DuplicateSourceError as error:
            return problem(_PLUGINS, str(error))
        except ContextKitError as error:
            remedy = f"upgrade or uninstall {status.distribution}, or `--disable {name}`"
            return problem(_PLUGINS, str(error), remedy)
        kind = "source" if name in self.registry.sources else "other hooks, no source"
        return fine(_PLUGINS, f"{what}: {kind}")

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
            yield problem(_PLUGINS, str(error))
        for name, hook, reason in failures:
            yield warning(
                _PLUGINS, f"{name} fails in {hook}: {reason}", f"report it to the author of {name}"
            )
