"""How cattrs makes a setting's value of what a file or a variable says."""

from __future__ import annotations

import operator
import types
import typing
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import cattrs
from attrs import resolve_types

from contextkit.config.sections import SECTIONS, SourceSettings
from contextkit.config.settings import Config
from contextkit.models.items import Shares
from contextkit.models.strategy import Strategy

_WORDS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


def _exactly(kind: type) -> Any:
    def structure(raw: object, _: object) -> object:
        if type(raw) is not kind:
            raise TypeError(f"expected {kind.__name__}")
        return raw

    return structure


def _number(raw: object, _: object) -> float:
    if type(raw) not in (int, float):
        raise TypeError("expected a number")
    return float(cast("float", raw))


def _folder(raw: object, _: object) -> Path:
    if not isinstance(raw, (str, Path)) or not str(raw).strip() or "\0" in str(raw):
        raise TypeError("expected a path")
    return Path(raw).expanduser()


def _list_of_names(raw: object, _: object) -> tuple[str, ...]:
    if not isinstance(raw, (list, tuple)) or not all(isinstance(name, str) for name in raw):
        raise TypeError("expected a list of names")
    return tuple(raw)


def _comma_separated(raw: str, _: object) -> tuple[str, ...]:
    return tuple(name.strip() for name in raw.split(",") if name.strip())


def _table_of(number: type) -> Any:
    def structure(raw: object, _: object) -> dict[str, Any]:
        if not isinstance(raw, Mapping) or not all(isinstance(name, str) for name in raw):
            raise TypeError("expected a table")
        return {name: STRICT.structure(value, number) for name, value in raw.items()}

    return structure


def _equations(number: type) -> Any:
    """What a variable says of a table: `code=50,commits=30`."""

    def structure(raw: str, _: object) -> dict[str, Any]:
        parts = [part.split("=", 1) for part in raw.split(",") if part.strip()]
        return {name.strip(): number(value) for name, value in parts}

    return structure


def _is_optional(kind: Any) -> bool:
    return typing.get_origin(kind) is types.UnionType


def _optional_factory(converter: cattrs.Converter) -> Any:
    def factory(kind: Any) -> Any:
        inner = next(part for part in typing.get_args(kind) if part is not types.NoneType)
        return lambda raw, _: converter.structure(raw, inner)

    return factory


def _make_converter(
    hooks: Mapping[type, Any], names: Any, table: Callable[[type], Any]
) -> cattrs.Converter:
    converter = cattrs.Converter()
    for kind, hook in hooks.items():
        converter.register_structure_hook(kind, hook)
    converter.register_structure_hook(Path, _folder)
    converter.register_structure_hook_func(lambda kind: kind == tuple[str, ...], names)
    for number in (float, int):
        converter.register_structure_hook_func(
            partial(operator.eq, Mapping[str, number]),  # type: ignore[valid-type]
            table(number),
        )
    converter.register_structure_hook_factory(_is_optional, _optional_factory(converter))
    return converter


for _settings in (Config, SourceSettings, *SECTIONS.values()):
    resolve_types(_settings)
resolve_types(Strategy, localns={"Shares": Shares})

STRICT = _make_converter(
    {int: _exactly(int), bool: _exactly(bool), str: _exactly(str), float: _number},
    _list_of_names,
    _table_of,
)
TEXT = _make_converter(
    {
        int: lambda raw, _: int(raw),
        bool: lambda raw, _: _WORDS[raw.strip().lower()],
        float: lambda raw, _: float(raw),
    },
    _comma_separated,
    _equations,
)
