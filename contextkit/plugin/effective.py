"""List every setting in effect, and change one of them in the user's file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import Attribute, fields_dict, frozen

from contextkit.config.files import read_settings
from contextkit.config.load import parsed_setting, user_config_file
from contextkit.config.origins import Origin, Overruled
from contextkit.config.sections import SECTIONS, STRATEGY_PARTS, SourceSettings
from contextkit.config.settings import Config, normalized
from contextkit.config.write import write_user_setting
from contextkit.errors import ConfigError, InvalidContextTypeError, InvalidRequestError
from contextkit.models.options import SWITCH, UnfitError, names, values_of
from contextkit.models.source import Setting, SourceInfo
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.tokenizers import find_counter

_DEFAULT = Origin("default", "default")

_NAMED: Mapping[str, Callable[[SourceRegistry, str], object]] = {
    "assemble.exclude_sources": SourceRegistry.status,
    "assemble.sources": SourceRegistry.require,
    "assemble.tokens": find_counter,
    "hooks.sources": SourceRegistry.require,
    "hooks.start_sources": SourceRegistry.require,
}
"""Settings that name sources or a token counter, and what finds a name or raises."""


@frozen(kw_only=True)
class EffectiveSetting:
    """A setting's value, and where it comes from.

    Attributes:
        key: its dotted key.
        value: the value that counts.
        origin: its origin.
        overruled: the workspace's value that the user's choice overrules, or None.
        about: what it does; empty for a source's own setting.
        expected: the values that it takes.
        choices: every value, where there are few.
    """

    key: str
    value: Any
    origin: Origin
    overruled: Overruled | None = None
    about: str = ""
    expected: str = ""
    choices: Sequence[str] = ()

    @property
    def source(self) -> str:
        """Where the value comes from, and what it overrules, for people."""
        overruled = self.overruled
        if overruled is None:
            return str(self.origin)
        if self.origin == overruled.origin:
            return f"{self.origin}, narrowed by {overruled.users}"
        is_default = self.origin.layer == "default"
        which = "your own file sets no other" if is_default else "your choice stands"
        return f"{self.origin}, not {overruled.origin}: {which}"

    @property
    def is_switch(self) -> bool:
        """Whether its value is true or false."""
        return self.expected == SWITCH.expected


def effective_settings(
    config: Config, registry: SourceRegistry, root: Path
) -> list[EffectiveSetting]:
    """List every setting by key.

    Whether each source is on is included, and the own settings of sources that are on.

    Args:
        config: the configuration.
        registry: the plugins.
        root: the workspace's root folder, which a project without a name belongs to.
    """
    values = {key: (value, origin) for key, value, origin in config.described()}
    overruled = dict(config.overruled)
    if config.project is None:
        values["project"] = (root, _DEFAULT)
    for plugin in registry.plugins:
        prefix = f"sources.{normalized(plugin.name)}."
        values.setdefault(f"{prefix}enabled", (True, _DEFAULT))
        own = registry.own_settings(plugin.name)
        overruled.update(own.overruled)
        for key, origin in own.origins.items():
            values[key] = (own.values[key.removeprefix(prefix)], origin)
        if plugin.state == "on":
            for name, default in registry.info(plugin.name).setting_defaults.items():
                values.setdefault(f"{prefix}{name}", (default, _DEFAULT))
    return [
        EffectiveSetting(
            key=key,
            value=value,
            origin=origin,
            overruled=overruled.get(key),
            **_described(key, registry),
        )
        for key, (value, origin) in sorted(values.items())
    ]


def _described(key: str, registry: SourceRegistry) -> Mapping[str, Any]:
    attribute = _attribute(key)
    if attribute is not None:
        values = values_of(attribute)
        about = attribute.metadata["help"]
        return {"about": about, "expected": values.expected, "choices": values.choices}
    declared = _own_setting(key, registry)
    if declared is None or declared[1].default is None:
        return {}
    return {"expected": declared[1].expected}


def _attribute(key: str) -> Attribute[Any] | None:
    """The declaration of a setting of the core."""
    section, _, name = key.rpartition(".")
    if key == "project":
        return fields_dict(Config)["project"]
    if section in SECTIONS:
        return fields_dict(SECTIONS[section]).get(name)
    if section.startswith("sources.") and name != "own":
        return fields_dict(SourceSettings).get(name)
    return None


def _own_setting(key: str, registry: SourceRegistry) -> tuple[SourceInfo, Setting] | None:
    first, _, rest = key.partition(".")
    source, _, name = rest.partition(".")
    for plugin in registry.plugins if first == "sources" and name else ():
        if normalized(plugin.name) == source and plugin.state == "on":
            info = registry.info(plugin.name)
            return info, info.setting(name)
    return None


def set_user_setting(registry: SourceRegistry, key: str, given: str) -> tuple[Any, Path]:
    """Set a setting in the user's file.

    Args:
        registry: the plugins, which check the settings of their own.
        key: the dotted key.
        given: the value as a text, such as `true`, `0.5` or `code,commits`.

    Returns:
        The value, and the file.

    Raises:
        ConfigError: there is no such setting, the value is wrong, or the file cannot be changed.
        InvalidContextTypeError: no source has the name in the key.
    """
    key = _spelt(registry, key)
    value = parsed_setting(key, given)
    if key.startswith("sources.") and _attribute(key) is None:
        value = _own_value(registry, key, given)
    if problem := unknown_name(registry, key, value):
        raise ConfigError(problem, key=key)
    return value, write_user_setting(key, value)


def unknown_name(registry: SourceRegistry, key: str, value: Any) -> str | None:
    """Describe the first name in a setting that belongs to no source or token counter."""
    find = _NAMED.get(key)
    if find is None:
        return None
    try:
        for name in [value] if isinstance(value, str) else value or ():
            find(registry, name)
    except (InvalidContextTypeError, InvalidRequestError) as error:
        return str(error)
    return None


def unset_user_setting(registry: SourceRegistry, key: str) -> tuple[bool, Path]:
    """Remove a setting from the user's file.

    Returns:
        Whether it was set there, and the file.

    Raises what `set_user_setting` raises.
    """
    key, file = _spelt(registry, key), user_config_file()
    if file.exists() and key in read_settings(file):
        return True, write_user_setting(key, None)
    _check_known(registry, key)
    return False, file


def _check_known(registry: SourceRegistry, key: str) -> None:
    section, _, name = key.rpartition(".")
    is_part = section.startswith("strategies.") and name in STRATEGY_PARTS
    if is_part or _attribute(key) is not None:
        return
    declared = _own_setting(key, registry)
    if declared is None:
        parsed_setting(key, "")
    elif name not in declared[0].setting_defaults:
        _own_value(registry, key, "")


def _spelt(registry: SourceRegistry, key: str) -> str:
    """Write the source's name in a key as the configuration does."""
    first, _, rest = key.partition(".")
    name, _, setting = rest.partition(".")
    if first != "sources" or not setting:
        return key
    installed = {normalized(plugin.name) for plugin in registry.plugins}
    if normalized(name) not in installed:
        raise InvalidContextTypeError(name, sorted(installed))
    return f"sources.{normalized(name)}.{setting}"


def _own_value(registry: SourceRegistry, key: str, given: str) -> Any:
    """Convert a text to the value of a source's own setting."""
    _, source, name = key.split(".", 2)
    declared = _own_setting(key, registry)
    if declared is None:
        raise ConfigError(f"the source {source} is not on: turn it on first", key=key)
    info, setting = declared
    try:
        value = _of_type(setting.default, given)
    except (ValueError, UnfitError) as error:
        raise ConfigError(f"must be {setting.expected}, got {given!r:.60}", key=key) from error
    for problem in info.setting_problems(source, {name: value}):
        raise ConfigError(problem.partition(":")[2].strip(), key=key)
    return value


def _of_type(default: Any, given: str) -> Any:
    match default:
        case bool():
            return SWITCH.checked(given, as_text=True)
        case int():
            return int(given)
        case float():
            return float(given)
        case list() | tuple():
            return list(names().checked(given, as_text=True))
    return given
