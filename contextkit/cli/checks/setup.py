"""Check the configuration, the plugins and the sources.

Plugins are loaded one by one, so that a failure affects only its own plugin and each load time is
measured alone. The configuration is read layer by layer, so that one bad file hides no other. Every
source gets a real question, with a longer timeout than requests have. Settings of sources that are
not installed are reported too; most of them are misspelt.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
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
from contextkit.models.kit import Kit
from contextkit.models.trace import SourceTrace
from contextkit.pipeline.hook_timeout import attempt_within
from contextkit.pipeline.questions import AskingForContexts, run_blocking
from contextkit.pipeline.request import make_request
from contextkit.plugin.checks import checked_health
from contextkit.plugin.distributions import installed_distributions, missing_distributions
from contextkit.plugin.effective import unknown_name
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.spec import ENTRY_POINT_GROUP
from contextkit.plugin.status import PluginStatus
from contextkit.workspace.find import Workspace

_CONFIGURATION = "configuration"


@define
class ConfigurationCheck:
    """The check of the configuration's layers, each by itself.

    Attributes:
        workspace: whose project file is read.
        flags: dotted key -> value, from the command line.
    """

    workspace: Workspace
    flags: Mapping[str, Any]
    _valid: list[str] = field(factory=list, init=False)

    def findings(self) -> Iterator[Finding]:
        """Yield findings on each layer with settings or errors."""
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
        """Return the configuration of the valid layers."""
        return self._read(self._valid)

    def _read(self, layers: list[str]) -> Config:
        return load_config(self.workspace, flags=self.flags, layers=layers)

    def _described(self, layer: str, config: Config) -> str | None:
        count = len(config.origins)
        settings = f"{count} setting{'' if count == 1 else 's'}"
        if layer == "user":
            file = user_config_file()
            return f"{file}: {settings}" if file.is_file() else f"no config.toml of yours at {file}"
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


ANSWERED = frozenset({"ok", "empty", "below_floor"})
"""The states of a source that answers."""

_QUERY = "how does it begin?"
_TIMEOUT_SECONDS = 10.0
"""Long, because the first query also loads models; the time is only reported."""


def probe_sources(kit: AskingForContexts) -> Sequence[SourceTrace]:
    """Query every enabled source, and return the traces.

    A trace has the source's state, its error, and the time it took.

    Raises the errors of `assemble_context`.
    """
    context = kit.assemble_context_sync(
        _QUERY,
        source_timeout=_TIMEOUT_SECONDS,
        deadline=_TIMEOUT_SECONDS,
        cache=False,
        record_use=False,
    )
    return context.trace.sources


_HEALTH = "contextkit_health"
_HEALTH_SECONDS = 10.0


def health_findings(registry: SourceRegistry, kit: Kit) -> Iterator[Finding]:
    """Collect each plugin's own health findings, under its name."""
    for name in registry.on_with(_HEALTH):
        yield from _health_of(name, registry, kit)


def _health_of(name: str, registry: SourceRegistry, kit: Kit) -> Iterator[Finding]:
    failures: list[Finding] = []

    def failed(name: str, hook: str, reason: str) -> None:
        text, remedy = f"{hook} failed: {reason}", f"tell the author of {name}"
        failures.append(problem(name, text, remedy))

    checked = partial(checked_health, name)
    reported = run_blocking(
        attempt_within(registry, name, _HEALTH, checked, failed, _HEALTH_SECONDS, kit=kit)
    )
    yield from failures
    for found in reported or ():
        yield Finding(name, found.state, found.text, found.remedy)


_PLUGINS = "plugins"


@define
class PluginCheck:
    """The check of the installed plugins.

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
        """Yield one finding per plugin and per other problem."""
        for status in self.registry.plugins:
            yield self._loaded(status)
        if not self.registry.plugins:
            yield problem(_PLUGINS, "no source is installed", "install one, see the README")
        elif not self.registry.sources:
            yield warning(_PLUGINS, "no source is on", "run `contextkit sources` to see why")
        for name in missing_distributions(installed_distributions()):
            yield warning(
                _PLUGINS,
                f"{name} was installed in this environment before, and is not now",
                f"run `contextkit plugins restore`, or `contextkit plugins remove {name}` if you "
                f"do not want it",
            )
        for line in settings_of_absent(self.config, self.registry):
            yield warning(_PLUGINS, line, "install that source, or delete its settings")
        for key, value, _ in self.config.described():
            if reason := unknown_name(self.registry, key, value):
                yield problem(_PLUGINS, str(self.config.refusal(key, reason)), "correct that line")
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
        kind = "source" if name in self.registry.sources else "not a source, only other hooks"
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
