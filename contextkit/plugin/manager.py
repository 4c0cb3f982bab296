"""Load plugins, and track which sources are on.

The manager belongs to a `SourceRegistry` that the host makes. There is no global manager.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, Protocol, TypeVar

import pluggy
from attrs import define, evolve, field

from contextkit.config.sections import SOURCE_NAME
from contextkit.config.settings import Config, normalized
from contextkit.errors import (
    ConfigError,
    ContextKitError,
    DuplicateSourceError,
    InvalidContextTypeError,
    PluginError,
    in_words,
)
from contextkit.logs import get_logger
from contextkit.models.items import ContextItem
from contextkit.models.request import ContextRequest
from contextkit.models.source import SourceInfo
from contextkit.plugin import checks
from contextkit.plugin.calls import HookCalls
from contextkit.plugin.checks import Failed, log_failure
from contextkit.plugin.installed import InstalledPlugin, installed_plugins
from contextkit.plugin.published import install_hint
from contextkit.plugin.settings import OwnSettings, own_settings, refuse_wrong
from contextkit.plugin.status import (
    HOST,
    SPECS,
    PluginStatus,
    State,
    imported,
    misspelt_hooks,
    provider_as,
    refuse_duplicate,
)

_log = get_logger(__name__)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Offer = TypeVar("Offer", bound=_Named)


@define(eq=False)
class SourceRegistry(HookCalls):
    """The plugins of one host.

    Attributes:
        config: says which sources are on, and their weights.
        entry_points: False to load only plugins that are registered by hand.
    """

    config: Config = field(factory=Config)
    entry_points: bool = True
    _manager: pluggy.PluginManager = field(init=False)
    _installed: dict[str, list[InstalledPlugin]] = field(factory=dict, init=False)
    _statuses: dict[str, PluginStatus] = field(factory=dict, init=False)
    _infos: dict[str, SourceInfo] = field(factory=dict, init=False)
    _callers: dict[tuple[str, str], Any] = field(factory=dict, init=False)
    _settings: dict[str, OwnSettings] = field(factory=dict, init=False)

    @_manager.default
    def _make_manager(self) -> pluggy.PluginManager:
        manager = pluggy.PluginManager("contextkit")
        for hookspecs in SPECS:
            manager.add_hookspecs(hookspecs)
        return manager

    def __attrs_post_init__(self) -> None:
        if not self.entry_points:
            return
        for plugin in installed_plugins():
            self._installed.setdefault(plugin.name, []).append(plugin)
        on = [name for name in sorted(self._installed) if self.config.source(name).enabled]
        for name in on:
            refuse_duplicate(name, self._installed)
        for name in sorted(self._installed):
            if name in on:
                self._load(name)
            else:
                self._statuses[name] = self._status(name, "off", self._switched_off_by(name))

    # -- loading --------------------------------------------------------------------------

    def _load(self, name: str) -> None:
        """Import and register one installed plugin. Any error breaks only that plugin."""
        refuse_duplicate(name, self._installed)
        try:
            self._register(imported(self._installed[name][0]), name)
        except ConfigError:
            raise
        except ContextKitError as error:
            self._statuses[name] = self._status(name, "broken", str(error))
            _log.warning(
                "plugin_broken",
                plugin=name,
                distribution=self._statuses[name].distribution,
                reason=str(error),
            )
        else:
            self._statuses[name] = evolve(
                self._status(name, "on"), is_source=self.implements(name, "contextkit_query")
            )

    def register(self, plugin: object, name: str) -> None:
        """Add the host's own plugin, without an entry point.

        The plugin is on unless the configuration switches it off.

        Raises:
            ConfigError: where one of its own settings is wrong.
            DuplicateSourceError: where the name is taken.
            PluginError: where the name or a hook is invalid.
            SourceError: where its `contextkit_source` fails.
        """
        for taken, status in self._statuses.items():
            if normalized(taken) == normalized(name):
                provider = provider_as(status.distribution, taken, name)
                raise DuplicateSourceError(name, [provider, HOST])
        self._register(plugin, name)
        on = self.config.source(name).enabled
        self._statuses[name] = PluginStatus(
            name=name,
            state="on" if on else "off",
            reason=None if on else self._switched_off_by(name),
            is_source=self.implements(name, "contextkit_query"),
        )

    def _register(self, plugin: object, name: str) -> None:
        if not SOURCE_NAME.fullmatch(name):
            raise PluginError(
                f"'{name}' is not a source's name: lower-case letters, digits, - and _"
            )
        try:
            made = plugin() if inspect.isclass(plugin) else plugin
            # pluggy keeps plugins in sets, so an unhashable plugin would break the others.
            hash(made)
            problems = misspelt_hooks(made)
            if problems:
                raise PluginError("; ".join(problems))
            self._manager.register(made, name)
            self._manager.check_pending()
            self._infos[name] = self._info(name)
        except BaseException as error:
            if self._manager.has_plugin(name):
                self._manager.unregister(name=name)
            if isinstance(error, pluggy.PluginValidationError):
                raise PluginError(" ".join(str(error).split())) from error
            if isinstance(error, (ContextKitError, KeyboardInterrupt)):
                raise
            raise PluginError(in_words(error)) from error
        finally:
            self._callers.clear()

    def _info(self, name: str) -> SourceInfo:
        result = self.call(name, "contextkit_source")
        info = SourceInfo() if result is None else checks.checked_info(name, result)
        own = self._settings[name] = own_settings(self.config, name, info)
        if own.values:
            refuse_wrong(self.config, name, own, self._problems(name, info, own))
        return info.completed(name, self.config.source(name).priority)

    def _problems(self, name: str, info: SourceInfo, own: OwnSettings) -> Iterable[str]:
        hook, given = "contextkit_check_settings", deepcopy(dict(own.values))
        if not self.implements(name, hook):
            return info.setting_problems(name, given)
        return checks.checked_problems(name, self.call(name, hook, settings=given) or ())

    def _status(self, name: str, state: State, reason: str | None = None) -> PluginStatus:
        plugin = self._installed[name][0]
        return PluginStatus(
            name=name,
            state=state,
            reason=reason,
            distribution=plugin.distribution,
            version=plugin.version,
        )

    def _switched_off_by(self, name: str) -> str:
        return f"off by {self.config.origin(f'sources.{normalized(name)}.enabled')}"

    # -- which are on ---------------------------------------------------------------------

    @property
    def plugins(self) -> list[PluginStatus]:
        """Every installed or registered plugin, by name."""
        return [self._statuses[name] for name in sorted(self._statuses)]

    @property
    def on(self) -> list[str]:
        """The plugins that are on, by name."""
        return [status.name for status in self.plugins if status.state == "on"]

    def status(self, name: str) -> PluginStatus:
        """Return a plugin's status.

        Raises `InvalidContextTypeError` where there is no such plugin.
        """
        if name not in self._statuses:
            hint = install_hint(name) or None
            raise InvalidContextTypeError(name, self._known_sources(), hint)
        return self._statuses[name]

    @property
    def sources(self) -> list[str]:
        """The enabled sources, highest priority first, then by name."""
        return self.in_order(name for name in self.on if self._statuses[name].is_source)

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Order loaded sources by priority, highest first, then by name.

        Each source is listed once.
        """
        return sorted(set(names), key=lambda name: (-self.info(name).priority, name))

    def enable(self, name: str) -> None:
        """Switch a plugin on, importing it if necessary.

        Raises:
            ConfigError: where one of its own settings is wrong.
            DuplicateSourceError: where two distributions provide it.
            InvalidContextTypeError: where there is no such plugin.
            PluginError: where it is broken.
        """
        self._make_ready(name)
        self._statuses[name] = evolve(self._statuses[name], state="on", reason=None)
        self._callers.clear()

    def disable(self, name: str, reason: str = "off at run time") -> None:
        """Switch a plugin off; it stays imported. Raises `InvalidContextTypeError`."""
        status = self.status(name)
        if status.state == "on":
            self._statuses[name] = evolve(status, state="off", reason=reason)
        self._callers.clear()

    def require(self, name: str) -> None:
        """Load a source for a request that names it.

        The source stays off for other requests.

        Raises `InvalidContextTypeError` for a name that is no source, and for a broken one.
        """
        try:
            self._make_ready(name)
        except PluginError as error:
            raise InvalidContextTypeError(name, self._known_sources(), str(error)) from error
        if not self._statuses[name].is_source:
            raise InvalidContextTypeError(name, self._known_sources(), "not a source")

    def knows(self, name: str) -> bool:
        """Check whether a plugin exists, in any state."""
        return name in self._statuses

    def _make_ready(self, name: str) -> None:
        """Import a disabled plugin on first use; it stays off."""
        status = self.status(name)
        if status.state == "off" and not self._manager.has_plugin(name):
            self._load(name)
            loaded = self._statuses[name]
            if loaded.state == "on":
                self._statuses[name] = evolve(loaded, state="off", reason=status.reason)
        status = self._statuses[name]
        if status.state == "broken":
            raise PluginError(
                f"source '{name}' of {status.distribution} is broken: {status.reason}"
            )

    def _known_sources(self) -> list[str]:
        return sorted(
            status.name
            for status in self._statuses.values()
            if status.state != "broken" and status.is_source is not False
        )

    # -- sources --------------------------------------------------------------------------

    def info(self, name: str) -> SourceInfo:
        """Return a loaded source's description, with the configured priority.

        A name that no plugin has stands for items that a host passes in.
        """
        return self._infos.get(name) or SourceInfo(scale="calibrated").completed(
            name, self.config.source(name).priority
        )

    def settings(self, name: str) -> dict[str, Any]:
        """Return a copy of a source's own settings, with defaults."""
        return deepcopy({**self.info(name).setting_defaults, **self.own_settings(name).values})

    def own_settings(self, name: str) -> OwnSettings:
        """Return a source's own settings and their origins.

        They are unchecked before the source is loaded.
        """
        return self._settings.get(name) or OwnSettings(self.config.source(name).own)

    def weight(self, name: str, request: ContextRequest, failed: Failed = log_failure) -> float:
        """Return a source's weight.

        The request's weight comes first, then the configured one, the hook's, and the
        `SourceInfo`'s.
        """
        given = request.weights.get(name) or self.config.source(name).weight
        hook, checked = "contextkit_weight", partial(checks.checked_weight, name)
        own = given or self.attempt(name, hook, checked, failed, request=request)
        return own or self.info(name).weight

    def dedup_keys(
        self, name: str, items: Sequence[ContextItem], failed: Failed = log_failure
    ) -> Sequence[tuple[str, ...]]:
        """Return the dedupe keys of each of a source's items.

        There are none where the hook fails; `failed` is then called.
        """
        hook, checked = (
            "contextkit_dedup_keys",
            partial(checks.checked_keys, name, items=len(items)),
        )
        found = self.attempt(name, hook, checked, failed, items=items)
        if found is not None:
            return found
        info = SourceInfo() if self.implements(name, hook) else self.info(name)
        return [info.dedup_keys(item.id, item.metadata) for item in items]

    def on_with(self, hook: str) -> list[str]:
        """List the plugins that are on and have a hook. They are sorted by name."""
        return [name for name in self.on if self.implements(name, hook)]

    def offered(
        self, hook: str, checked: Callable[[str, Sequence[object]], Sequence[Offer]], what: str
    ) -> dict[str, Offer]:
        """Map names to the values that the enabled plugins offer by a hook.

        A plugin whose hook fails offers none; the failure is logged.

        Args:
            hook: a hook that lists values with a `name`.
            checked: checks a plugin's result.
            what: the kind of value, for the error.

        Raises `PluginError` where two plugins offer one name.
        """
        found: dict[str, tuple[str, Offer]] = {}
        for plugin in self.on_with(hook):
            for value in self.attempt(plugin, hook, partial(checked, plugin)) or ():
                if value.name in found:
                    raise PluginError(
                        f"the {what} '{value.name}' is offered by {found[value.name][0]} and "
                        f"by {plugin}: turn one of them off"
                    )
                found[value.name] = plugin, value
        return {name: value for name, (_, value) in sorted(found.items())}
