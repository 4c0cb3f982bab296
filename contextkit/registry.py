"""The registry: which plugins there are, which sources are on, and how to call them.

The manager belongs to a `SourceRegistry` that the host makes; nothing here is global.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast

import pluggy
import structlog
from attrs import define, evolve, field, frozen

from contextkit import checks, hookspecs
from contextkit.config import Config, Origin, normalized
from contextkit.errors import (
    ConfigError,
    ContextKitError,
    DuplicateSourceError,
    InvalidContextTypeError,
    PluginError,
    SourceError,
)
from contextkit.hookspecs import ENTRY_POINT_GROUP
from contextkit.models import ContextRequest, RecipeTemplate, SourceInfo
from contextkit.plugin_checks import misspelt_hooks

__all__ = ["PluginStatus", "SourceRegistry"]

State = Literal["on", "off", "broken"]

_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_HOST = "the host process"

_log = structlog.get_logger(__name__)


@frozen(kw_only=True)
class PluginStatus:
    """What is known of one plugin.

    Attributes:
        name: the source's name.
        state: `on`, `off` or `broken`.
        reason: which setting switched it off, or why it is broken.
        distribution: what was installed to provide it.
        version: that distribution's version.
        is_source: False for a plugin without `contextkit_query`; None while it is off.
    """

    name: str
    state: State
    reason: str | None = None
    distribution: str = _HOST
    version: str = ""
    is_source: bool | None = None


@define(eq=False)
class SourceRegistry:
    """The plugins of one host.

    Attributes:
        config: says which sources are on, and their weights.
        entry_points: False for a registry that knows only what is registered by hand.
    """

    config: Config = field(factory=Config)
    entry_points: bool = True
    _manager: pluggy.PluginManager = field(init=False)
    _installed: dict[str, importlib.metadata.EntryPoint] = field(factory=dict, init=False)
    _statuses: dict[str, PluginStatus] = field(factory=dict, init=False)
    _infos: dict[str, SourceInfo] = field(factory=dict, init=False)
    _callers: dict[tuple[str, str], Any] = field(factory=dict, init=False)

    @_manager.default
    def _make_manager(self) -> pluggy.PluginManager:
        manager = pluggy.PluginManager("contextkit")
        manager.add_hookspecs(hookspecs)
        return manager

    def __attrs_post_init__(self) -> None:
        if self.entry_points:
            self._find_installed()
            for name in sorted(self._installed):
                if self.config.source(name).enabled:
                    self._load(name)
                else:
                    reason = f"off by {self._switch(name)}"
                    self._statuses[name] = self._status(name, "off", reason)

    # -- loading --------------------------------------------------------------------------

    def _find_installed(self) -> None:
        providers: dict[str, list[importlib.metadata.EntryPoint]] = {}
        for entry_point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
            providers.setdefault(entry_point.name, []).append(entry_point)
        for name, found in providers.items():
            distributions = sorted({_distribution(entry_point) for entry_point in found})
            if len(distributions) > 1 and self.config.source(name).enabled:
                raise DuplicateSourceError(name, distributions)
            self._installed[name] = found[0]

    def _load(self, name: str) -> None:
        """Import and register one installed plugin; whatever goes wrong costs that plugin."""
        try:
            plugin = self._installed[name].load()
            self._register(plugin() if inspect.isclass(plugin) else plugin, name)
        except ConfigError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an import may raise anything
            reason = str(error) if isinstance(error, PluginError) else _in_words(error)
            self._statuses[name] = self._status(name, "broken", reason)
            _log.warning(
                "plugin_broken",
                plugin=name,
                distribution=self._statuses[name].distribution,
                reason=reason,
            )
        else:
            self._statuses[name] = evolve(self._status(name, "on"), is_source=self._is_source(name))

    def register(self, plugin: object, name: str) -> None:
        """Add a plugin of the host's own, without an entry point; it is on at once.

        Raises:
            DuplicateSourceError: where the name is taken.
            PluginError: where the name or a hook is not what it must be.
        """
        if name in self._statuses:
            taken = self._statuses[name].distribution
            raise DuplicateSourceError(name, [taken, _HOST])
        self._register(plugin, name)
        self._statuses[name] = PluginStatus(name=name, state="on", is_source=self._is_source(name))

    def _register(self, plugin: object, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise PluginError(
                f"'{name}' is not a source's name: lower-case letters, digits, - and _"
            )
        problems = misspelt_hooks(plugin)
        if problems:
            raise PluginError("; ".join(problems))
        try:
            self._manager.register(plugin, name)
            self._manager.check_pending()
            self._infos[name] = self._info(name)
        except Exception as error:
            if self._manager.has_plugin(name):
                self._manager.unregister(name=name)
            if isinstance(error, pluggy.PluginValidationError):
                raise PluginError(str(error).replace("\n", " ")) from error
            raise
        self._callers.clear()

    def _info(self, name: str) -> SourceInfo:
        self._callers.clear()
        result = self.call(name, "contextkit_source")
        info = SourceInfo() if result is None else checks.checked_info(name, result)
        settings = self.config.source(name)
        if settings.own:
            self._check_settings(name, settings.own)
        return evolve(
            info,
            title=info.title or name.replace("-", " ").replace("_", " ").capitalize(),
            priority=settings.priority or info.priority,
        )

    def _check_settings(self, name: str, own: Mapping[str, Any]) -> None:
        problems = self.call(name, "contextkit_check_settings", settings=own)
        if problems:
            setting, _, expected = str(problems[0]).partition(":")
            key = f"sources.{normalized(name)}.{setting.strip()}"
            origin = self.config.origin(key)
            in_file = origin.layer in {"user", "project"}
            raise ConfigError(
                expected.strip(),
                key=key,
                file=Path(origin.label) if in_file else None,
                line=origin.line,
            )

    def _is_source(self, name: str) -> bool:
        return self.implements(name, "contextkit_query")

    def _status(self, name: str, state: State, reason: str | None = None) -> PluginStatus:
        entry_point = self._installed.get(name)
        if entry_point is None:
            return PluginStatus(name=name, state=state, reason=reason)
        found = entry_point.dist
        return PluginStatus(
            name=name,
            state=state,
            reason=reason,
            distribution=_distribution(entry_point),
            version=found.version if found else "",
        )

    def _switch(self, name: str) -> Origin:
        return self.config.origin(f"sources.{normalized(name)}.enabled")

    # -- which are on ---------------------------------------------------------------------

    @property
    def plugins(self) -> list[PluginStatus]:
        """Every plugin there is, by name."""
        return [self._statuses[name] for name in sorted(self._statuses)]

    @property
    def sources(self) -> list[str]:
        """The sources that are on, highest priority first, then by name."""
        on = [s.name for s in self._statuses.values() if s.state == "on" and s.is_source]
        return sorted(on, key=lambda name: (-self._infos[name].priority, name))

    def enable(self, name: str) -> None:
        """Switch a plugin on, importing it if need be.

        Raises:
            InvalidContextTypeError: where there is no such plugin.
            PluginError: where it is broken.
        """
        status = self._statuses.get(name)
        if status is None:
            raise InvalidContextTypeError(name, self._known_sources())
        if status.state == "off" and not self._manager.has_plugin(name):
            self._load(name)
        elif status.state == "off":
            self._statuses[name] = evolve(status, state="on", reason=None)
        if self._statuses[name].state == "broken":
            status = self._statuses[name]
            raise PluginError(
                f"source '{name}' of {status.distribution} is broken: {status.reason}"
            )

    def disable(self, name: str, reason: str = "off at run time") -> None:
        """Switch a plugin off; it stays imported. Raises `InvalidContextTypeError`."""
        if name not in self._statuses:
            raise InvalidContextTypeError(name, self._known_sources())
        self._statuses[name] = evolve(self._statuses[name], state="off", reason=reason)

    def require(self, name: str) -> None:
        """Make a source ready that a request names: the request beats every setting.

        Raises `InvalidContextTypeError` for a name that is no source, and for a broken one.
        """
        try:
            self.enable(name)
        except PluginError as error:
            raise InvalidContextTypeError(name, self._known_sources(), str(error)) from error
        if not self._statuses[name].is_source:
            raise InvalidContextTypeError(name, self._known_sources(), "not a source")

    def _known_sources(self) -> list[str]:
        return sorted(
            status.name
            for status in self._statuses.values()
            if status.state != "broken" and status.is_source is not False
        )

    # -- calling --------------------------------------------------------------------------

    def implements(self, name: str, hook: str) -> bool:
        """Whether a plugin has a hook."""
        return any(
            impl.plugin_name == name for impl in getattr(self._manager.hook, hook).get_hookimpls()
        )

    def implementation(self, name: str, hook: str) -> Callable[..., Any] | None:
        """The plugin's own function for a hook, or None; for telling how it must be run."""
        for impl in getattr(self._manager.hook, hook).get_hookimpls():
            if impl.plugin_name == name:
                return cast("Callable[..., Any]", impl.function)
        return None

    def caller(self, name: str, hook: str) -> Callable[..., Any]:
        """The caller of one source's hook, wrapped by plugins that are not sources."""
        key = (name, hook)
        if key not in self._callers:
            others = [
                plugin
                for other, plugin in self._manager.list_name_plugin()
                if other != name and plugin is not None and self._is_source(other)
            ]
            self._callers[key] = self._manager.subset_hook_caller(hook, others)
        return cast("Callable[..., Any]", self._callers[key])

    def call(self, name: str, hook: str, **arguments: Any) -> Any:
        """Call one source's hook; None where it has none.

        Raises `SourceError`, from the cause, for whatever the hook raises.
        """
        try:
            return self.caller(name, hook)(**arguments)
        except ContextKitError:
            raise
        except Exception as error:
            raise SourceError(name, hook, _in_words(error)) from error

    def info(self, name: str) -> SourceInfo:
        """What a loaded source says of itself, with the configured priority."""
        return self._infos[name]

    def weight(self, name: str, request: ContextRequest) -> float:
        """A source's weight: the request's, the configured, the source's own, or 1.0.

        A source whose hook fails has weight 1.0; the failure is logged.
        """
        given = request.weights.get(name) or self.config.source(name).weight
        if given is not None:
            return checks.checked_weight(name, given)
        try:
            result = self.call(name, "contextkit_weight", request=request)
            return 1.0 if result is None else checks.checked_weight(name, result)
        except SourceError as error:
            _log.warning("hook_failed", source=name, hook=error.hook, reason=error.reason)
            return 1.0

    def recipes(self) -> Mapping[str, RecipeTemplate]:
        """The recipes that the plugins offer, by name.

        Raises `PluginError` where two plugins offer one name.
        """
        found: dict[str, tuple[str, RecipeTemplate]] = {}
        for plugin, template in self._offered_recipes():
            if template.name in found:
                raise PluginError(
                    f"the recipe '{template.name}' is offered by {found[template.name][0]} "
                    f"and by {plugin}: switch one of them off"
                )
            found[template.name] = (plugin, template)
        return {name: template for name, (_, template) in sorted(found.items())}

    def _offered_recipes(self) -> Iterator[tuple[str, RecipeTemplate]]:
        for impl in self._manager.hook.contextkit_recipes.get_hookimpls():
            if self._statuses[impl.plugin_name].state != "on":
                continue
            try:
                offered = impl.function()
                templates = checks.checked_recipes(impl.plugin_name, offered or ())
            except Exception as error:  # noqa: BLE001 - costs that plugin's recipes alone
                _log.warning(
                    "hook_failed",
                    source=impl.plugin_name,
                    hook="contextkit_recipes",
                    reason=_in_words(error),
                )
                continue
            yield from ((impl.plugin_name, template) for template in templates)

    def add_commands(self, cli: Any) -> None:
        """Let every plugin that is on add its commands to the command line."""
        for impl in self._manager.hook.contextkit_commands.get_hookimpls():
            if self._statuses[impl.plugin_name].state == "on":
                try:
                    impl.function(cli)
                except Exception as error:  # noqa: BLE001 - costs that plugin's commands alone
                    _log.warning(
                        "hook_failed",
                        source=impl.plugin_name,
                        hook="contextkit_commands",
                        reason=_in_words(error),
                    )


def _distribution(entry_point: importlib.metadata.EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist else "an unknown distribution"


def _in_words(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
