"""Decide a source's own settings by the rules it declares.

The rules say what a workspace's file may change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from contextkit.config.join import ALWAYS, allowed_value
from contextkit.config.origins import Contested, Origin, Overruled
from contextkit.config.settings import Config, normalized
from contextkit.errors import ConfigError
from contextkit.models.source import SourceInfo


@frozen
class OwnSettings:
    """A source's own settings.

    Attributes:
        values: name -> the value that counts.
        origins: dotted key -> where it came from, of those that the rules decided on.
        overruled: dotted key -> the workspace's value that the user's choice overrules.
    """

    values: Mapping[str, Any] = field(factory=dict)
    origins: Mapping[str, Origin] = field(factory=dict)
    overruled: Mapping[str, Overruled] = field(factory=dict)


def own_settings(config: Config, source: str, info: SourceInfo) -> OwnSettings:
    """Decide a source's own settings by the source's rules.

    Raises `ConfigError` where a workspace's file sets a value that only the user may set.
    """
    values = dict(config.source(source).own)
    origins, overruled = {}, {}
    for name in list(values):
        key = f"sources.{normalized(source)}.{name}"
        contested = _contested(config, key, values[name], info)
        if contested is None:
            continue
        rule = info.setting(name).rule
        if rule == "user":
            raise ConfigError(
                "this setting is yours alone: set it in your own config.toml",
                key=key,
                file=Path(contested.workspaces_origin.label),
                line=contested.workspaces_origin.line,
            )
        counts = allowed_value(rule, contested.users, contested.workspaces)
        is_users = counts == contested.users
        origins[key] = contested.users_origin if is_users else contested.workspaces_origin
        if counts != contested.workspaces:
            overruled[key] = Overruled(
                contested.workspaces, contested.workspaces_origin, contested.users_origin
            )
        values[name] = counts
    return OwnSettings(values, origins, overruled)


def _contested(config: Config, key: str, value: Any, info: SourceInfo) -> Contested | None:
    """Return a setting's workspace value beside the user's or default.

    Returns None where the two do not compete.
    """
    origin, name = config.origin(key), key.split(".", 2)[2]
    if key in config.contested or origin.layer != "project":
        return config.contested.get(key)
    rule = info.setting(name).rule
    if rule == "user" or (rule in ALWAYS and name in info.setting_defaults):
        return Contested(info.setting(name).default, Origin("default", "default"), value, origin)
    return None


def refuse_wrong(config: Config, source: str, own: OwnSettings, problems: Iterable[str]) -> None:
    """Raise `ConfigError` for a source's first settings problem.

    Args:
        config: says where each setting is.
        source: its name.
        own: its settings.
        problems: what `contextkit_check_settings` returned.
    """
    for problem in problems:
        name, _, expected = (part.strip() for part in problem.partition(":"))
        key = f"sources.{normalized(source)}.{name}"
        if name not in own.values:
            raise ConfigError(problem, key=f"sources.{source}")
        raise config.refusal(key, expected, own.origins.get(key))
