"""Join the configuration's layers; later layers override earlier ones.

A workspace's file may come with a cloned repository. It may narrow the user's choices, never widen
them. Each setting names its rule where it is declared: on the field in
`contextkit.config.sections`, or for a source's own settings in `SourceInfo.workspace_rules`.

| rule | effect of the workspace's value |
|---|---|
| `free` | it counts |
| `user` | it is refused: the setting is the user's alone |
| `stands` | it counts where the user set nothing |
| `off` | it may switch off; what the user switched off stays off |
| `on` | it may switch on; what the user switched on stays on |
| `lower` | it is at most the user's number, where the user set one |
| `capped` | it is at most the user's number, or the default |
| `fewer` | only the names that are also in the user's list count, where there is one |
| `more` | the user's list is appended to it |
| `plain` | it counts where it is a plain name; one with a `:` names a file or a provider |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, fields_dict, frozen

from contextkit.config.origins import Contested, Origin, Overruled
from contextkit.config.sections import SECTIONS, SourceSettings
from contextkit.config.settings import Config, normalized
from contextkit.models.source import WorkspaceRule

ALWAYS: frozenset[WorkspaceRule] = frozenset({"capped", "plain"})
"""The rules that hold where the user set nothing, too."""


def rule_of(key: str) -> WorkspaceRule | None:
    """Return the rule of a core setting, by dotted key.

    Returns None for a source's own setting.
    """
    first, _, rest = key.partition(".")
    if first in SECTIONS:
        known = fields_dict(SECTIONS[first])
    elif first == "sources":
        known, rest = fields_dict(SourceSettings), rest.partition(".")[2]
        if rest not in known or rest == "own":
            return None
    else:
        return "free"
    rule: WorkspaceRule = known[rest].metadata["rule"] if rest in known else "free"
    return rule


def allowed_value(rule: WorkspaceRule, users: Any, workspaces: Any) -> Any:
    """Return the value that counts by a rule.

    A value of a wrong type is passed on where it would count, so that a later check refuses it.

    Args:
        rule: the setting's.
        users: the user's value, or the default.
        workspaces: the value in the workspace's file.
    """
    return _NARROWED[rule](users, workspaces)


def _lower(users: Any, workspaces: Any) -> Any:
    is_over = _is_number(workspaces) and _is_number(users) and not workspaces <= users
    return users if is_over else workspaces


def _fewer(users: Any, workspaces: Any) -> Any:
    if not (_are_names(users) and _are_names(workspaces)):
        return workspaces
    kept = set(map(normalized, users))
    return [name for name in workspaces if normalized(name) in kept]


def _more(users: Any, workspaces: Any) -> Any:
    are_lists = _is_list(users) and _is_list(workspaces)
    return [*workspaces, *users] if are_lists else workspaces


def _plain(users: Any, workspaces: Any) -> Any:
    return users if isinstance(workspaces, str) and ":" in workspaces else workspaces


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        return not math.isnan(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple))


def _are_names(value: Any) -> bool:
    return _is_list(value) and all(isinstance(name, str) for name in value)


_NARROWED: Mapping[WorkspaceRule, Callable[[Any, Any], Any]] = {
    "free": lambda _, workspaces: workspaces,
    "user": lambda users, _: users,
    "stands": lambda users, _: users,
    "off": lambda users, workspaces: users if users is False else workspaces,
    "on": lambda users, workspaces: users if users is True else workspaces,
    "lower": _lower,
    "capped": _lower,
    "fewer": _fewer,
    "more": _more,
    "plain": _plain,
}


@frozen
class Value:
    """A value as one layer has it.

    Attributes:
        raw: unchecked.
        origin: where it is.
        file: the file that it is in, or None.
        as_text: whether it is text that stands for a value of another type.
    """

    raw: Any
    origin: Origin
    file: Path | None = None
    as_text: bool = False


Layer = Mapping[str, Value]


@frozen
class Joined:
    """The joined layers.

    Attributes:
        values: dotted key -> the value that counts.
        overruled: dotted key -> the workspace's value that the user's choice overrules.
        contested: a source's own settings that both files have; see `Config.contested`.
    """

    values: dict[str, Value] = field(factory=dict)
    overruled: dict[str, Overruled] = field(factory=dict)
    contested: dict[str, Contested] = field(factory=dict)


def join(layers: Mapping[str, Layer]) -> Joined:
    """Join layers by their names, the weakest first."""
    joined = Joined()
    for name, layer in layers.items():
        for key, value in layer.items():
            if name == "project":
                _take_workspaces(joined, key, value)
            else:
                joined.values[key] = value
                joined.overruled.pop(key, None)
                joined.contested.pop(key, None)
    return joined


def _take_workspaces(joined: Joined, key: str, value: Value) -> None:
    users, rule = joined.values.get(key), rule_of(key)
    if users is None and rule in ALWAYS:
        users = Value(_default_of(key), Origin("default", "default"))
    if users is None:
        joined.values[key] = value
    elif rule is None:
        joined.contested[key] = Contested(users.raw, users.origin, value.raw, value.origin)
    else:
        counts = allowed_value(rule, users.raw, value.raw)
        if counts != value.raw:
            joined.overruled[key] = Overruled(value.raw, value.origin, users.origin)
        joined.values[key] = users if counts == users.raw else evolve(value, raw=counts)


def _default_of(key: str) -> Any:
    section, _, name = key.partition(".")
    return fields_dict(SECTIONS[section])[name].default


def with_switched_off_left_out(config: Config) -> Config:
    """Drop sources that the user disabled from the workspace's lists."""
    overruled = dict(config.overruled)
    sections: dict[str, Any] = {}
    for key, origin in config.origins.items():
        if origin.layer != "project" or rule_of(key) != "fewer":
            continue
        section, _, name = key.partition(".")
        settings = sections.get(section) or getattr(config, section)
        named = getattr(settings, name)
        off = {source: by for source in named if (by := _switched_off_by(config, source))}
        if off:
            overruled[key] = Overruled(list(named), origin, next(iter(off.values())))
            kept = tuple(source for source in named if source not in off)
            sections[section] = evolve(settings, **{name: kept})
    return evolve(config, **sections, overruled=overruled) if sections else config


def _switched_off_by(config: Config, name: str) -> Origin | None:
    origin = config.origin(f"sources.{normalized(name)}.enabled")
    return None if config.source(name).enabled or origin.layer == "project" else origin
