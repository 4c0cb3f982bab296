"""Joining the layers: later beats earlier, but a workspace's file only narrows the user's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, fields_dict, frozen

from contextkit.config.model import SECTIONS, Config, normalized
from contextkit.config.origins import Contested, Origin, Overruled
from contextkit.config.workspace_rules import ALWAYS, narrowed, rule_of

__all__ = ["Joined", "Layer", "Value", "join", "with_switched_off_left_out"]


@frozen
class Value:
    """A value as a layer has it.

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
    """The layers as one.

    Attributes:
        values: dotted key -> the value that counts.
        overruled: dotted key -> what the workspace's file says against the user's choice.
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
        counts = narrowed(rule, users.raw, value.raw)
        if counts != value.raw:
            joined.overruled[key] = Overruled(value.raw, value.origin, users.origin)
        joined.values[key] = users if counts == users.raw else evolve(value, raw=counts)


def _default_of(key: str) -> Any:
    section, _, name = key.partition(".")
    return fields_dict(SECTIONS[section])[name].default


def with_switched_off_left_out(config: Config) -> Config:
    """A configuration whose workspace's file names no source that the user switched off."""
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
