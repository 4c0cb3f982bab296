"""Reading the configuration's layers, and joining them into one `Config`."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import cattrs
import platformdirs
from attrs import Attribute, fields_dict, frozen, resolve_types

from contextkit.config import SECTIONS, Config, Origin, SourceSettings, normalized
from contextkit.errors import ConfigError
from contextkit.workspace import Workspace

__all__ = ["HOME_VARIABLE", "data_folder", "load_config", "user_config_file"]

HOME_VARIABLE = "CONTEXTKIT_HOME"
_PREFIX = "CONTEXTKIT_"
_RESERVED_VARIABLES = {HOME_VARIABLE, "CONTEXTKIT_DEBUG"}
_CORE_KEYS = tuple(name for name in fields_dict(SourceSettings) if name != "own")
_SOURCE_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_TABLE = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")


@frozen
class _Value:
    raw: Any
    origin: Origin
    file: Path | None = None
    as_text: bool = False


_Layer = Mapping[str, _Value]


def data_folder() -> Path:
    """Where stores and states live: `CONTEXTKIT_HOME`, or the user's data folder."""
    home = os.environ.get(HOME_VARIABLE)
    return Path(home) if home else platformdirs.user_data_path("contextkit", appauthor=False)


def user_config_file() -> Path:
    """The user's `config.toml`, whether it is there or not."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return Path(home) / "config.toml"
    return platformdirs.user_config_path("contextkit", appauthor=False) / "config.toml"


def load_config(
    workspace: Workspace,
    *,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Config:
    """Read every layer and join them.

    Args:
        workspace: whose project settings are read.
        environment: variables; default: the process's.
        flags: dotted key -> value, from the command line or from the host.

    Raises:
        ConfigError: naming file, line, key and what was expected.
    """
    layers: list[_Layer] = []
    if user_config_file().is_file():
        layers.append(_file_layer(user_config_file(), "user"))
    if workspace.config_file is not None:
        layers.append(_file_layer(workspace.config_file, "project"))
    layers.append(_environment_layer(os.environ if environment is None else environment))
    layers.append(
        {key: _Value(raw, Origin("flag", _flag(key, raw))) for key, raw in (flags or {}).items()}
    )
    joined: dict[str, _Value] = {}
    for layer in layers:
        joined.update(layer)
    return _structure(joined)


def _flag(key: str, raw: object) -> str:
    if key.startswith("sources.") and key.endswith(".enabled"):
        return f"--{'enable' if raw else 'disable'} {key.split('.')[1]}"
    return f"--{key.rsplit('.', 1)[-1].replace('_', '-')}"


# -- layers ---------------------------------------------------------------------------------


def _file_layer(file: Path, layer: str) -> _Layer:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", file=file) from error
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+)", str(error))
        last = text.count("\n") + 1
        raise ConfigError(
            f"not valid TOML: {error}", file=file, line=int(found.group(1)) if found else last
        ) from error
    prefix = ""
    if file.name == "pyproject.toml":
        table, prefix = table["tool"]["contextkit"], "tool.contextkit."
    values = {}
    for key, raw in _flatten(table, file):
        line = _line_of(text, f"{prefix}{key}")
        if layer == "project" and key.startswith("store."):
            raise ConfigError(
                "a project does not choose where the user's records live (a cloned repository "
                f"could send them away): set it in {user_config_file()} or in the environment",
                key=key,
                file=file,
                line=line,
            )
        values[key] = _Value(raw, Origin(layer, str(file), line), file)
    return values


def _flatten(table: Mapping[str, Any], file: Path) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if name not in {*SECTIONS, "sources"}:
            yield name, value
        elif not isinstance(value, Mapping):
            raise ConfigError(f"expected a table, [{name}]", key=name, file=file)
        elif name != "sources":
            yield from ((f"{name}.{key}", inner) for key, inner in value.items())
        else:
            yield from _flatten_sources(value, file)


def _flatten_sources(sources: Mapping[str, Any], file: Path) -> Iterator[tuple[str, Any]]:
    for source, settings in sources.items():
        if not isinstance(settings, Mapping):
            raise ConfigError(
                f"expected a table, [sources.{source}]", key=f"sources.{source}", file=file
            )
        if not _SOURCE_NAME.fullmatch(source):
            raise ConfigError(
                "a source's name is lower-case letters, digits, - and _",
                key=f"sources.{source}",
                file=file,
            )
        for key, inner in settings.items():
            yield f"sources.{normalized(source)}.{key}", inner


def _line_of(text: str, dotted: str) -> int | None:
    """The line on which a key is set; the heading of its table where that is all there is."""
    wanted = normalized(dotted)
    table, heading = "", None
    for number, line in enumerate(text.splitlines(), 1):
        found = _TABLE.match(line)
        if found:
            table = found.group(1).replace('"', "").replace(" ", "")
            if f"{wanted}.".startswith(f"{normalized(table)}."):
                heading = number
            continue
        key = line.split("=", 1)[0].strip().replace('"', "")
        full = f"{table}.{key}" if table else key
        if "=" in line and normalized(full) == wanted:
            return number
    return heading


def _environment_layer(environment: Mapping[str, str]) -> _Layer:
    known = {"project": "project"}
    for section, kind in SECTIONS.items():
        known.update({f"{section}_{name}": f"{section}.{name}" for name in fields_dict(kind)})
    values = {}
    for variable, raw in sorted(environment.items()):
        if not variable.startswith(_PREFIX) or variable in _RESERVED_VARIABLES:
            continue
        if variable.startswith("CONTEXTKIT_TEST_"):
            continue
        name = variable.removeprefix(_PREFIX).lower()
        key = known.get(name) or _source_key(name)
        if key is None:
            nearest = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {_PREFIX}{nearest[0].upper()}?" if nearest else ""
            raise ConfigError(
                f"no setting belongs to this environment variable{hint}", key=variable
            )
        values[key] = _Value(raw, Origin("environment", variable), as_text=True)
    return values


def _source_key(name: str) -> str | None:
    found = re.fullmatch(rf"sources_(.+)_({'|'.join(_CORE_KEYS)})", name)
    return f"sources.{normalized(found.group(1))}.{found.group(2)}" if found else None


# -- structure ------------------------------------------------------------------------------


def _structure(values: Mapping[str, _Value]) -> Config:
    project = None
    sections: dict[str, dict[str, Any]] = {name: {} for name in SECTIONS}
    sources: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        first, _, rest = key.partition(".")
        if key == "project":
            project = _checked(key, value, fields_dict(Config)["project"])
        elif first in SECTIONS:
            known = fields_dict(SECTIONS[first])
            if rest not in known:
                raise _unknown(key, value, [f"{first}.{name}" for name in known])
            sections[first][rest] = _checked(key, value, known[rest])
        elif first == "sources":
            name, _, setting = rest.partition(".")
            settings = sources.setdefault(name, {"own": {}})
            if setting in _CORE_KEYS:
                checked = _checked(key, value, fields_dict(SourceSettings)[setting])
                settings[setting] = checked
            else:
                settings["own"][setting] = value.raw
        else:
            raise _unknown(key, value, ["project", "sources", *SECTIONS])
    return Config(
        project=project,
        **{name: SECTIONS[name](**given) for name, given in sections.items()},
        sources={name: SourceSettings(**given) for name, given in sources.items()},
        origins={key: value.origin for key, value in values.items()},
    )


def _unknown(key: str, value: _Value, known: list[str]) -> ConfigError:
    nearest = difflib.get_close_matches(key, known, n=1)
    hint = f"; did you mean {nearest[0]}?" if nearest else f"; known: {', '.join(sorted(known))}"
    return ConfigError(f"unknown setting{hint}", key=key, file=value.file, line=value.origin.line)


def _checked(key: str, value: _Value, attribute: Attribute[Any]) -> Any:
    converter = _TEXT if value.as_text else _STRICT
    try:
        structured = converter.structure(value.raw, cast("Any", attribute.type))
        if attribute.validator is not None:
            attribute.validator(None, attribute, structured)
    except Exception as error:
        where = value.origin.label if value.file is None else None
        raise ConfigError(
            f"expected {attribute.metadata['expected']}, got {value.raw!r}"
            + (f" (from {where})" if where else ""),
            key=key,
            file=value.file,
            line=value.origin.line,
        ) from error
    return structured


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


def _text_bool(raw: str, _: object) -> bool:
    try:
        return {
            "1": True,
            "true": True,
            "yes": True,
            "on": True,
            "0": False,
            "false": False,
            "no": False,
            "off": False,
        }[raw.strip().lower()]
    except KeyError:
        raise ValueError("expected true or false") from None


def _optional_factory(converter: cattrs.Converter) -> Any:
    def factory(kind: Any) -> Any:
        inner = next(part for part in typing.get_args(kind) if part is not types.NoneType)
        return lambda raw, _: converter.structure(raw, inner)

    return factory


def _is_optional(kind: Any) -> bool:
    return typing.get_origin(kind) is types.UnionType


def _make_converter(hooks: Mapping[type, Any], names: Any) -> cattrs.Converter:
    converter = cattrs.Converter()
    for kind, hook in hooks.items():
        converter.register_structure_hook(kind, hook)
    converter.register_structure_hook(Path, lambda raw, _: Path(raw).expanduser())
    converter.register_structure_hook_func(lambda kind: kind == tuple[str, ...], names)
    converter.register_structure_hook_factory(_is_optional, _optional_factory(converter))
    return converter


def _list_of_names(raw: object, _: object) -> tuple[str, ...]:
    if not isinstance(raw, (list, tuple)) or not all(isinstance(name, str) for name in raw):
        raise TypeError("expected a list of names")
    return tuple(raw)


def _comma_separated(raw: str, _: object) -> tuple[str, ...]:
    return tuple(name.strip() for name in raw.split(",") if name.strip())


for _settings in (Config, SourceSettings, *SECTIONS.values()):
    resolve_types(_settings)

_STRICT = _make_converter(
    {int: _exactly(int), bool: _exactly(bool), str: _exactly(str), float: _number}, _list_of_names
)
_TEXT = _make_converter(
    {int: lambda raw, _: int(raw), bool: _text_bool, float: lambda raw, _: float(raw)},
    _comma_separated,
)
